// How the blocks of an Avro container file are packed.
//
//   null   deflate (without a zlib head)   snappy (CRC-32 of the bytes behind it)   zstandard
//
// What is unpacked is bounded: a few bytes may claim to be gigabytes.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "engine/row_batch.h"
#include "engine/status.h"

namespace rowtide {

class AvroCodec {
 public:
  virtual ~AvroCodec() = default;
  virtual std::string_view name() const = 0;
  // Where the block's bytes are read where they lie.
  virtual bool is_plain() const { return false; }

  struct Unpacked {
    BlockPointer block;
    size_t bytes = 0;
  };
  virtual Result<Unpacked> Unpack(std::string_view packed, size_t bytes_max) = 0;
  virtual Status Pack(std::string_view bytes, std::string* out) = 0;
};

// By the name that a file, or 'avro.codec', gives it.
Result<std::unique_ptr<AvroCodec>> CreateAvroCodec(std::string_view name);

}  // namespace rowtide
