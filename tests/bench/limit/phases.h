// How much of its job a limit program does, so that a gap has an address:
//
//   limit_keep_last BIDS.csv parse     finds the rows, reads the numbers that it needs
//   limit_keep_last BIDS.csv state     … and keeps its state up to date
//   limit_keep_last BIDS.csv           … and puts out the changes: the whole job
//
// A job is a class template over the phase with Work(bids, rows), sum(), rows() and parsed(). What
// a phase leaves out is not compiled.
#pragma once

#include <string_view>

#include "tests/bench/limit/bids.h"

namespace rowtide::limit {

enum class Phase { kParse, kState, kOutput };

template <typename Job>
int RunJob(const char* path, std::chrono::steady_clock::time_point start) {
  const BidFile file(path);
  Job job(file.rows_max());
  file.ForEachBatch([&](const Bid* bids, int rows) { job.Work(bids, rows); });
  // Printed so that reading the numbers is not left out, too.
  if (job.parsed() != 0) std::fprintf(stderr, "parsed=%llx\n", job.parsed());
  Report(job.sum(), job.rows(), start);
  return std::fflush(stdout);
}

template <template <Phase> typename Job>
int RunPhase(int arguments, char** argument) {
  const auto start = std::chrono::steady_clock::now();
  const std::string_view phase = arguments == 3 ? argument[2] : "";
  if (arguments == 2) return RunJob<Job<Phase::kOutput>>(argument[1], start);
  if (phase == "state") return RunJob<Job<Phase::kState>>(argument[1], start);
  if (phase == "parse") return RunJob<Job<Phase::kParse>>(argument[1], start);
  std::fprintf(stderr, "usage: %s BIDS.csv [parse | state]\n", argument[0]);
  return 1;
}

}  // namespace rowtide::limit
