#include "state/timers.h"

#include <algorithm>
#include <cstring>

namespace rowtide {
namespace {

// For a heap whose front is the earliest timer.
bool Later(const TimerQueue::Timer& a, const TimerQueue::Timer& b) {
  return a.millis != b.millis ? a.millis > b.millis : a.sequence > b.sequence;
}

}  // namespace

std::string_view TimerQueue::KeyOf(const Timer& timer) const {
  const char* block = arena_.At(timer.key);
  uint32_t size;
  std::memcpy(&size, block, sizeof(size));
  return {block + sizeof(size), size};
}

void TimerQueue::Add(std::string_view key, int64_t millis, uint64_t sequence) {
  const uint32_t size = static_cast<uint32_t>(key.size());
  const Arena::Ref ref = arena_.Allocate(sizeof(size) + key.size());
  std::memcpy(arena_.At(ref), &size, sizeof(size));
  if (size > 0) std::memcpy(arena_.At(ref) + sizeof(size), key.data(), size);
  heap_.push_back({millis, sequence, ref});
  std::push_heap(heap_.begin(), heap_.end(), Later);
}

void TimerQueue::PopDue(int64_t watermark, int rows_max, KeyBatch* keys, std::vector<Due>* due) {
  keys->Clear();
  due->clear();
  while (HasDue(watermark) && keys->rows() < rows_max) {
    std::pop_heap(heap_.begin(), heap_.end(), Later);
    const Timer timer = heap_.back();
    heap_.pop_back();
    const std::string_view key = KeyOf(timer);
    keys->Add(key);
    due->push_back({timer.millis, timer.sequence});
    arena_.Free(timer.key, Arena::ClassOf(sizeof(uint32_t) + key.size()));
  }
}

void TimerQueue::Snapshot(SnapshotWriter& writer) const {
  std::vector<Timer> sorted = heap_;
  std::sort(sorted.begin(), sorted.end(), [](const Timer& a, const Timer& b) { return Later(b, a); });
  writer.PutU64(next_sequence_);
  writer.PutU64(sorted.size());
  for (const Timer& timer : sorted) {
    writer.PutI64(timer.millis);
    writer.PutU64(timer.sequence);
    writer.PutBytes(KeyOf(timer));
  }
}

Status TimerQueue::Restore(SnapshotReader& reader) {
  heap_.clear();
  arena_.Clear();
  RT_ASSIGN(next_sequence_, reader.U64("next timer"));
  RT_ASSIGN(const uint64_t timers, reader.U64("timers"));
  for (uint64_t i = 0; i < timers; ++i) {
    RT_ASSIGN(const int64_t millis, reader.I64("timer"));
    RT_ASSIGN(const uint64_t sequence, reader.U64("timer sequence"));
    RT_ASSIGN(const std::string_view key, reader.Bytes("timer key"));
    Add(key, millis, sequence);
  }
  return Status::Ok();
}

}  // namespace rowtide
