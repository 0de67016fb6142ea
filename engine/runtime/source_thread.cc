#include "engine/runtime/source_thread.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "engine/runtime/batch_prefetch.h"
#include "engine/thread_start.h"

namespace rowtide {

namespace {

// Enough to bridge a pause of the other side; few enough to stay in its caches.
constexpr size_t kQueueSlots = 8;
constexpr int64_t kLongestGuessMillis = 20;

}  // namespace

// Keeps what a poll gives.
class SourceThread::Recorder final : public Collector {
 public:
  explicit Recorder(Event* event) : event_(event) {}
  Status Emit(RowBatch batch) override {
    RT_CHECK(!event_->batch && !event_->time);
    event_->batch = std::move(batch);
    return Status::Ok();
  }
  Status Advance(Time time) override {
    RT_CHECK(!event_->time);
    event_->time = time;
    return Status::Ok();
  }

 private:
  Event* event_;
};

SourceThread::SourceThread(std::unique_ptr<Source> inner, std::unique_ptr<Counters> own,
                           Counters* counted)
    : inner_(std::move(inner)), own_(std::move(own)), queue_(kQueueSlots), counted_(counted) {
  for (const Counters::Named& one : own_->all()) counts_.push_back({counted->Find(one.name), 0});
  named_ = counts_.size();
}

SourceThread::~SourceThread() {
  queue_.Close();
  if (reader_.joinable()) reader_.join();
}

// --- the reader's thread ---

void SourceThread::Read() {
  std::string position;
  bool has_waited = false;
  int64_t guess_millis = 1;
  for (Event* event = queue_.Room(); event != nullptr;) {
    Fill(event);
    const bool is_over = !event->state.ok() || *event->state == SourceState::kEnd;
    const bool waits = !is_over && *event->state == SourceState::kWait;
    const bool is_news = !waits || !has_waited || event->time || !event->new_counters.empty() ||
                         event->position != position;
    position = event->position;
    if (is_news) queue_.Push();
    if (is_over) return;
    has_waited = waits;
    guess_millis = waits ? std::min(guess_millis * 2, kLongestGuessMillis) : 1;
    if (waits) AwaitInput(guess_millis);
    if (is_news) event = queue_.Room();
    if (queue_.is_closed()) return;
  }
}

void SourceThread::Fill(Event* event) {
  event->batch.reset();
  event->time.reset();
  Recorder recorder(event);
  event->state = inner_->Poll(recorder);
  SnapshotWriter writer;
  const Status written = inner_->Snapshot(writer);
  if (!written.ok() && event->state.ok()) event->state = written;
  event->position = writer.Take();
  event->progress = inner_->progress();
  event->counts.clear();
  event->new_counters.clear();
  for (const Counters::Named& one : own_->all()) {
    event->counts.push_back(*one.value);
    if (event->counts.size() > named_) event->new_counters.push_back(one.name);
  }
  named_ = event->counts.size();
}

void SourceThread::AwaitInput(int64_t guess_millis) const {
  const SourceWakeup wakeup = inner_->wakeup();
  int64_t millis = wakeup.descriptor < 0 ? guess_millis : -1;
  if (wakeup.millis) millis = std::min<int64_t>(*wakeup.millis, std::numeric_limits<int>::max());
  // poll() passes over a descriptor below 0.
  pollfd either[] = {{wakeup.descriptor, POLLIN, 0}, {queue_.closed_descriptor(), POLLIN, 0}};
  ::poll(either, std::size(either), static_cast<int>(millis));
}

// --- the task's thread ---

Result<SourceState> SourceThread::Poll(Collector& out) {
  if (!reader_.joinable()) {
    RT_ASSIGN(reader_, StartThread([this] { Read(); }));
  }
  Event* event = queue_.Front();
  if (event == nullptr && waits_) return SourceState::kWait;
  if (event == nullptr) event = &queue_.AwaitFront();
  Status taken = Take(*event, out);
  Result<SourceState> state = event->state;
  waits_ = state.ok() && *state == SourceState::kWait;
  queue_.Pop();
  if (!taken.ok()) return taken;
  return state;
}

// The batch is copied, which copies no rows: its last owner shall be the reader's thread.
Status SourceThread::Take(const Event& event, Collector& out) {
  for (const std::string& name : event.new_counters) counts_.push_back({counted_->Find(name), 0});
  for (size_t i = 0; i < counts_.size(); ++i) {
    *counts_[i].counter += event.counts[i] - counts_[i].taken;
    counts_[i].taken = event.counts[i];
  }
  position_ = event.position;
  progress_ = event.progress;
  if (event.batch) {
    Prefetch(*event.batch);
    RT_TRY(out.Emit(*event.batch));
  }
  return event.time ? out.Advance(*event.time) : Status::Ok();
}

Status SourceThread::Snapshot(SnapshotWriter& writer) const {
  if (!reader_.joinable()) return inner_->Snapshot(writer);
  writer.Append(position_);
  return Status::Ok();
}

Status SourceThread::Restore(SnapshotReader& reader) {
  RT_CHECK(!reader_.joinable());
  return inner_->Restore(reader);
}

Status SourceThread::Merge(SnapshotReader& reader) {
  RT_CHECK(!reader_.joinable());
  return inner_->Merge(reader);
}

SourceProgress SourceThread::progress() const {
  return reader_.joinable() ? progress_ : inner_->progress();
}

}  // namespace rowtide
