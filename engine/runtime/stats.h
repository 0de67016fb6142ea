// What a job knows of each of its nodes while it runs and at its end: rows in and out,
// amplification, state, counters.
//
// Rows are counted per batch; time is sampled where the job is asked to
// (engine/runtime/time_samples.h).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/clock.h"
#include "engine/operator.h"
#include "engine/row_batch.h"
#include "engine/runtime/time_merger.h"

namespace rowtide {

struct NodeStats {
  std::string name;
  int64_t rows_in = 0;
  std::array<int64_t, 4> rows_out = {};  // by RowKind
  int64_t batches_out = 0;
  int64_t sampled_nanos = 0;  // its own, without what it calls
  int64_t state_entries = 0;
  int64_t state_bytes = 0;
  int64_t bytes = 0;  // that a source has read, or a sink has written
  // What it has told those that it feeds, a sink what it was told; none: the lane does not have it.
  std::optional<StreamTime> time;
  std::vector<std::pair<std::string, int64_t>> counters;

  int64_t total_out() const { return rows_out[0] + rows_out[1] + rows_out[2] + rows_out[3]; }
  // Rows out per row in; 0 where nothing came in.
  double amplification() const {
    return rows_in == 0 ? 0 : static_cast<double>(total_out()) / static_cast<double>(rows_in);
  }
  // Null kinds: all are +I.
  void CountOut(const RowKind* kinds, int rows);
  // Rows and counters, for a checkpoint: they go on counting in the job that is restored from it.
  std::string ToBytes(const Counters& counters_now) const;
  // Adds what a node has counted before; bytes that are empty add nothing.
  Status AddBytes(std::string_view bytes, Counters* counters_now);
  // What the same node has done in another lane.
  void Add(const NodeStats& other);
};

// The own time of the last of these nodes, when called along this way from a source or a gate.
struct PathTime {
  int lane = 0;
  std::vector<std::string> nodes;
  int64_t nanos = 0;
};

// How far a job is, cheap enough to ask for several times a second.
struct JobProgress {
  int64_t rows_read = 0;
  int64_t bytes_read = 0;  // of the input
  int64_t bytes_total = 0;
  bool knows_total = true;                 // false: some input's length is not known
  int64_t watermark = Time::kNoWatermark;  // the lowest that has come to a sink
  int64_t state_bytes = 0;

  // 0 to 1; negative: not known.
  double share() const {
    if (!knows_total || bytes_total == 0) return -1;
    return static_cast<double>(bytes_read) / static_cast<double>(bytes_total);
  }
};

}  // namespace rowtide
