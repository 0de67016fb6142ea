// What another thread asks of a running job: a savepoint, or to stop in good order.
//
//   any thread     Ask({savepoint, stops}) ......... waits ......... the answer
//   job's thread          Take, between two polls -> does it -> Answer
//
// One request at a time; others wait their turn. When the job is over, whoever waits is told so.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>

#include "engine/status.h"

namespace rowtide {

class JobRequests {
 public:
  struct Request {
    std::string savepoint;  // where to; empty: none
    bool stops = false;
  };

  // --- any thread ---
  Status Ask(Request request);

  // --- the job's thread ---
  // Cheap when there is none.
  bool is_waiting() const { return is_waiting_.load(std::memory_order_relaxed); }
  std::optional<Request> Take();
  // Requires: a request was taken and has not been answered.
  void Answer(Status status);
  // No request is taken any more.
  void Close();

 private:
  std::atomic<bool> is_waiting_{false};
  std::mutex turn_;  // held by the one who asks
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Request> request_;
  std::optional<Status> answer_;
  bool is_closed_ = false;
};

}  // namespace rowtide
