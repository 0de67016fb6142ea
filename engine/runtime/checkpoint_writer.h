// Where checkpoints are written: on a thread, beside the rows. A port, so that a simulation decides
// when the writing is done and what time it is.
#pragma once

#include <chrono>
#include <functional>
#include <thread>

#include "engine/thread_start.h"

namespace rowtide {

class CheckpointWriter {
 public:
  using Moment = std::chrono::steady_clock::time_point;

  virtual ~CheckpointWriter() = default;
  // Requires: what was started before is done.
  virtual void Start(std::function<void()> work) = 0;
  virtual void Join() = 0;  // waits until it is
  virtual Moment Now() const { return std::chrono::steady_clock::now(); }
};

class ThreadWriter final : public CheckpointWriter {
 public:
  ~ThreadWriter() override { Join(); }
  // Where no thread can be had, the rows wait. A thread that is done is joined here, long after,
  // since it may take its time to leave.
  void Start(std::function<void()> work) override {
    Join();
    Result<std::thread> thread = StartBackgroundThread(work);
    if (thread.ok()) {
      thread_ = std::move(*thread);
    } else {
      work();
    }
  }
  void Join() override {
    if (thread_.joinable()) thread_.join();
  }

 private:
  std::thread thread_;
};

}  // namespace rowtide
