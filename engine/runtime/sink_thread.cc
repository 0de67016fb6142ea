#include "engine/runtime/sink_thread.h"

#include <utility>

#include "engine/runtime/batch_prefetch.h"
#include "engine/thread_start.h"

namespace rowtide {

namespace {

constexpr size_t kQueueSlots = 8;

}  // namespace

SinkThread::SinkThread(std::unique_ptr<Sink> inner)
    : inner_(std::move(inner)), queue_(kQueueSlots) {}

SinkThread::~SinkThread() {
  if (!writer_.joinable()) return;
  *queue_.Room() = {std::nullopt, true};
  queue_.Push();
  writer_.join();
}

// The batch is copied, which copies no rows: its last owner shall be this thread.
Status SinkThread::Send(Order order) {
  if (!writer_.joinable()) {
    RT_ASSIGN(writer_, StartThread([this] { Run(); }));
  }
  RT_TRY(failure());
  *queue_.Room() = std::move(order);
  queue_.Push();
  return Status::Ok();
}

Status SinkThread::Settle() {
  queue_.AwaitEmpty();
  return failure();
}

Status SinkThread::failure() {
  const std::lock_guard lock(mutex_);
  return failure_;
}

Result<std::string> SinkThread::Prepare(int64_t epoch) {
  RT_TRY(Settle());
  return inner_->Prepare(epoch);
}

Status SinkThread::Commit(int64_t epoch) {
  RT_TRY(Settle());
  return inner_->Commit(epoch);
}

Status SinkThread::Finish() {
  RT_TRY(Settle());
  return inner_->Finish();
}

void SinkThread::Abandon() {
  (void)Settle().ok();
  inner_->Abandon();
}

std::string SinkThread::Summary(std::span<const Sink* const> others) const {
  std::vector<const Sink*> inner;
  for (const Sink* other : others)
    inner.push_back(static_cast<const SinkThread*>(other)->inner_.get());
  return inner_->Summary(inner);
}

// --- the writer's thread ---

void SinkThread::Run() {
  Status status = Status::Ok();
  while (true) {
    const Order& order = queue_.AwaitFront();
    if (order.is_last) return;
    if (status.ok()) {
      if (order.batch) Prefetch(*order.batch);
      status = order.batch ? inner_->Write(*order.batch) : inner_->Flush();
      if (!status.ok()) {
        const std::lock_guard lock(mutex_);
        failure_ = status;
      }
    }
    queue_.Pop();
  }
}

}  // namespace rowtide
