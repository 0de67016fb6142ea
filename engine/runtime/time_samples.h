// Where the time of a job goes: each node's own time, without that of what it calls, by the path of
// calls that led there.
//
//   Poll(bids) -> Calc -> Rank -> sink      bids 120 us | bids, Calc 30 us | bids, Calc, Rank …
//
// Polls are measured as wholes. What that costs is known, a pair of looks at the clock a call, and
// is kept below 1/200 of the job's time: polls of full batches are measured all, of polls of a row
// each only some. A sample counts for the polls that were left out before it, too; gaps are uneven,
// so that nothing that recurs is always met or always missed. What happens outside of polls (ticks,
// the end of the input, finishing a sink) is measured each time. Used by one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace rowtide {

class TimeSamples {
 public:
  struct Path {
    int caller;  // a path; kNone: called by the task
    int node;
    int64_t nanos = 0;
  };
  static constexpr int kNone = -1;

  // Off, nothing is measured. To be called before the first poll.
  void SwitchOn();

  // Whether calls are to be measured.
  bool active() const { return weight_ > 0; }
  void StartPoll() {
    if (on_ && ++polls_ >= next_sample_) StartSample();
  }
  void EndPoll() {
    if (active()) EndSample();
  }
  void StartRare() { weight_ = on_; }
  void EndRare() { weight_ = 0; }

  // Requires: active(). Returns what the call returns.
  template <typename Call>
  auto Measured(int node, Call call) {
    const int caller = std::exchange(current_, PathTo(node));
    const int64_t outer_nanos = std::exchange(inner_nanos_, 0);
    const int64_t begin = NowNanos();
    auto result = call();
    const int64_t whole = NowNanos() - begin;
    paths_[static_cast<size_t>(current_)].nanos += (whole - inner_nanos_) * weight_;
    inner_nanos_ = outer_nanos + whole;
    current_ = caller;
    ++calls_;
    return result;
  }

  // A path comes behind its caller.
  const std::vector<Path>& paths() const { return paths_; }

 private:
  static int64_t NowNanos();
  void StartSample();
  void EndSample();
  // The path from the current one to `node`, made when it is met first.
  int PathTo(int node);

  bool on_ = false;
  int64_t weight_ = 0;  // polls that the current sample stands for
  int64_t polls_ = 0;   // since the last sample
  int64_t next_sample_ = 1;
  int64_t calls_ = 0;            // of the current sample
  int64_t nanos_of_a_call_ = 0;  // what it costs to measure one
  uint32_t random_ = 1;
  int current_ = kNone;
  int64_t inner_nanos_ = 0;  // spent in the calls below the current one
  std::vector<Path> paths_;
};

}  // namespace rowtide
