// Where one epoch ends and the next begins in the stream of every lane: all rows before the barrier
// are in the snapshot of its epoch, none behind it.
//
//   rows rows W 5 | barrier 7 | rows …        stands in order with rows and times
//
// Sources meet it between two polls, gates when all their channels have brought it
// (engine/runtime/input_gate.h), and a task snapshots a fragment when all that feeds it has.
#pragma once

#include <cstdint>

namespace rowtide {

struct Barrier {
  enum class Kind : uint8_t {
    kCheckpoint,
    kSavepoint,  // the user's: whole, with nothing shared
    kFinal,      // all input is over
  };
  int64_t epoch = 0;
  Kind kind = Kind::kCheckpoint;
};

}  // namespace rowtide
