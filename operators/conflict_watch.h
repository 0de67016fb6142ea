// Watches what a Deduplicate is given, and says of each row whose key was there before whether it
// is a resend of the kept row, byte for byte, or differs from it.
//
//   keep last    o1 created   o1 created   o1 paid        identical 1, duplicate 1
//                (kept)       identical    duplicate, and kept from now on
//
// It stands around the Deduplicate and hands everything on: the changelog is the same with and
// without it. It has state of its own, since most forms of Deduplicate do not keep the row itself:
// a hash a key, or the row where samples are asked for. Made only on request (--stats,
// rowtide.conflicts.<view>). Then its counters `identical` and `duplicate` are those of the node:
// rows in = keys + identical + duplicate + late, whatever the order and the mini-batch. With a
// state TTL its entries expire by clocks of their own.
#pragma once

#include <memory>
#include <string>

#include "operators/deduplicate.h"

namespace rowtide {

// Where samples of rows that differ go, a line of JSON each.
class ConflictLog {
 public:
  virtual ~ConflictLog() = default;
  virtual Status Write(const std::string& line) = 0;
};

inline constexpr int64_t kConflictSamplesMax = 10000;  // per node; all are counted

struct ConflictWatchSpec {
  DeduplicateSpec deduplicate;
  std::unique_ptr<ConflictLog> log;  // null: counting only
};

// The Deduplicate of the spec with a watch around it.
Result<std::unique_ptr<Operator>> CreateWatched(ConflictWatchSpec spec,
                                                const OperatorContext& context);

}  // namespace rowtide
