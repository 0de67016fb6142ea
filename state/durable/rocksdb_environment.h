// What RocksDB takes for the operating system: a test puts one between that fails when it is told
// to. Included by the backend and by such tests alone; no other header knows RocksDB.
#pragma once

#include <rocksdb/env.h>

namespace rowtide {

struct RocksDbEnvironment {
  rocksdb::Env* env;  // borrowed
};

}  // namespace rowtide
