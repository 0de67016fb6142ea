#include "state/hot_table.h"

#include <algorithm>
#include <cstring>

#include "engine/status.h"

namespace rowtide {
namespace {
constexpr size_t kSegmentBytes =
    static_cast<size_t>(HotTable::kSegmentSlots) * sizeof(HotTable::Slot);
constexpr size_t kChunkBytesMax = size_t{2} << 20;
static_assert(kSegmentBytes == 32 << 10, "the drawing in the header");
}  // namespace

HotTable::HotTable() { Clear(); }

HotTable::~HotTable() {
  for (Segment* segment : all_segments_) delete segment;
  for (const Chunk& chunk : chunks_) FreePages(chunk.memory, chunk.bytes);
}

void HotTable::Clear() {
  for (Segment* segment : all_segments_) delete segment;
  for (const Chunk& chunk : chunks_) FreePages(chunk.memory, chunk.bytes);
  all_segments_.clear();
  chunks_.clear();
  chunk_used_ = bytes_ = 0;
  depth_ = 0;
  entries_ = 0;
  ++splits_;
  directory_.assign(1, AddSegment(0));
  slots_of_.assign(1, directory_[0]->slots);
}

HotTable::Slot* HotTable::NewSlots() {
  if (chunks_.empty() || chunk_used_ == chunks_.back().bytes) {
    // A quarter more each time, so that little of it lies idle.
    const size_t quarter = bytes_ / 4 / kSegmentBytes * kSegmentBytes;
    const size_t bytes = std::clamp(quarter, kSegmentBytes, kChunkBytesMax);
    chunks_.push_back({AllocatePages(bytes), bytes});
    chunk_used_ = 0;
    bytes_ += bytes;
  }
  char* slots = chunks_.back().memory + chunk_used_;
  chunk_used_ += kSegmentBytes;
  return reinterpret_cast<Slot*>(slots);
}

HotTable::Segment* HotTable::AddSegment(int depth) {
  all_segments_.push_back(new Segment{NewSlots(), depth, 0, 0});
  return all_segments_.back();
}

uint32_t HotTable::UsedSlots(const Slot* line) {
  uint32_t used = 0;
  for (int i = 0; i < kLineSlots; ++i) used |= static_cast<uint32_t>(line[i] > kErased) << i;
  return used;
}

HotTable::Slot* HotTable::PlaceInto(Segment* segment, Slot slot) {
  for (uint64_t line = (slot >> kTagShift) % kLines;; line = (line + 1) % kLines) {
    Slot* slots = segment->slots + line * kLineSlots;
    for (int i = 0; i < kLineSlots; ++i) {
      if (slots[i] > kErased) continue;
      if (slots[i] == kErased) {
        --segment->erased;
      } else {
        ++segment->used;
      }
      slots[i] = slot;
      return &slots[i];
    }
  }
}

HotTable::Slot* HotTable::Insert(uint64_t hash, Arena::Ref ref) {
  Segment* segment = directory_[DirectoryIndex(hash)];
  while (segment->used >= kUsedMax) {
    if (segment->erased > kUsedMax / 4) {
      Rebuild(segment);
    } else {
      Split(hash);
    }
    segment = directory_[DirectoryIndex(hash)];
  }
  ++entries_;
  return PlaceInto(segment, (hash >> kTagShift << kTagShift) | ref);
}

void HotTable::Erase(Slot* slot, uint64_t hash) {
  Segment* segment = directory_[DirectoryIndex(hash)];
  RT_DCHECK(slot >= segment->slots && slot < segment->slots + kSegmentSlots);
  *slot = kErased;
  ++segment->erased;
  --entries_;
}

// The half of the segment whose next hash bit is 1 moves into a new one.
void HotTable::Split(uint64_t hash) {
  Segment* segment = directory_[DirectoryIndex(hash)];
  RT_CHECK(segment->depth < 64 - kTagShift - 9);  // the tag has no more bits: 7 billion entries
  if (segment->depth == depth_) {
    std::vector<Segment*> wider(directory_.size() * 2);
    for (size_t i = 0; i < wider.size(); ++i) wider[i] = directory_[i / 2];
    directory_ = std::move(wider);
    ++depth_;
    slots_of_.resize(directory_.size());
    for (size_t i = 0; i < directory_.size(); ++i) slots_of_[i] = directory_[i]->slots;
  }
  Segment* upper = AddSegment(segment->depth + 1);
  segment->depth = upper->depth;
  const size_t span = size_t{1} << (depth_ - segment->depth);  // directory entries of each half
  const size_t first = DirectoryIndex(hash) / (2 * span) * (2 * span);
  for (size_t i = first + span; i < first + 2 * span; ++i) {
    directory_[i] = upper;
    slots_of_[i] = upper->slots;
  }
  Rebuild(segment);
}

// Places every slot anew, into the segment that the directory names for it.
void HotTable::Rebuild(Segment* segment) {
  std::vector<Slot> old(segment->slots, segment->slots + kSegmentSlots);
  std::memset(static_cast<void*>(segment->slots), 0, kSegmentBytes);
  segment->used = 0;
  segment->erased = 0;
  for (const Slot slot : old) {
    if (slot > kErased) PlaceInto(directory_[DirectoryIndex(slot)], slot);
  }
  ++splits_;
}

}  // namespace rowtide
