// A sink that encodes and writes on a thread of its own, seen as a sink by the task's thread.
//
//   task's thread      Write, Flush -> bounded queue (engine/runtime/bounded_queue.h)
//   writer's thread                       -> inner.Write, inner.Flush, in the same order
//
// What is written is what would be written without the thread. An error is told by the next call;
// nothing is written after it. Prepare, Commit, Finish and Abandon wait until all that came before
// is written and then call the inner sink themselves, so it is never called by two threads at once.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "engine/runtime/bounded_queue.h"
#include "engine/sink.h"

namespace rowtide {

class SinkThread final : public Sink {
 public:
  explicit SinkThread(std::unique_ptr<Sink> inner);
  ~SinkThread() override;

  Status Write(const RowBatch& batch) override { return Send({batch, false}); }
  Status Flush() override { return Send({std::nullopt, false}); }
  Result<std::string> Prepare(int64_t epoch) override;
  Status Commit(int64_t epoch) override;
  bool is_full() const override { return inner_->is_full(); }
  Status BeginAnew() override { return inner_->BeginAnew(); }
  Status Restore(std::string_view staged) override { return inner_->Restore(staged); }
  Status Finish() override;
  void Abandon() override;
  // Requires: the others are on threads as well.
  std::string Summary(std::span<const Sink* const> others = {}) const override;

 private:
  struct Order {
    std::optional<RowBatch> batch;  // none: flush
    bool is_last = false;           // or end the thread
  };

  Status Send(Order order);
  // All is written, or failed.
  Status Settle();
  Status failure();
  void Run();

  std::unique_ptr<Sink> inner_;
  BoundedQueue<Order> queue_;
  std::mutex mutex_;
  Status failure_ = Status::Ok();
  std::thread writer_;  // starts with the first order
};

}  // namespace rowtide
