// The slots of a hash table over blocks of an arena, made to be asked for a batch of keys at a
// time.
//
//   hash      | directory: depth bits | ... | home line: 9 bits | rest |   the first 30: the tag
//   slot      | tag: 30 bits | reference: 34 bits |   8 bytes; 0 = empty, 1 = erased
//   segment   512 lines of 8 slots = 32 KiB; a full line flows over into the next one
//
// Grows by splitting one segment at a time (extendible hashing), which needs no key because the tag
// holds directory and home bits: no pause at any size. A slot pointer holds until the next split;
// `splits()` tells. The caller compares keys. Segments are at most 80 % full.
#pragma once

#include <emmintrin.h>

#include <cstdint>
#include <vector>

#include "state/arena.h"

namespace rowtide {

class HotTable {
 public:
  using Slot = uint64_t;
  static constexpr int kTagShift = Arena::kRefBits;
  static constexpr Slot kRefMask = (Slot{1} << kTagShift) - 1;
  static constexpr Slot kErased = 1;
  static constexpr int kLineSlots = 8;
  static constexpr int kLines = 512;
  static constexpr int kSegmentSlots = kLines * kLineSlots;
  static constexpr int kUsedMax = kSegmentSlots / 5 * 4;

  HotTable();
  ~HotTable();
  HotTable(const HotTable&) = delete;
  HotTable& operator=(const HotTable&) = delete;

  static Arena::Ref RefOf(Slot slot) { return slot & kRefMask; }
  // The same entry at another place.
  static Slot Moved(Slot slot, Arena::Ref ref) { return (slot & ~kRefMask) | ref; }

  void Prefetch(uint64_t hash) const { __builtin_prefetch(HomeLine(hash), 1); }
  // The first slot in the home line that may hold the key; null when none there does (the key may
  // have flowed over).
  Slot* Candidate(uint64_t hash) const {
    Slot* line = HomeLine(hash);
    const uint32_t mask = Matches(line, hash >> kTagShift);
    return mask == 0 ? nullptr : line + __builtin_ctz(mask);
  }
  // For a key of which Candidate knows nothing: fetches where it may have flowed over to, and what
  // Insert asks. Requires: its home line is in the cache.
  void PrefetchMiss(uint64_t hash) const {
    const Slot* const line = HomeLine(hash);
    if (line[kLineSlots - 1] != 0) __builtin_prefetch(line + kLineSlots, 1);
    __builtin_prefetch(directory_[DirectoryIndex(hash)]);
  }
  // The slot for which `matches(reference)` holds, or null.
  template <typename Match>
  Slot* Find(uint64_t hash, const Match& matches) const {
    Slot* const segment = SegmentOf(hash);
    for (uint64_t line = HomeOf(hash), left = kLines; left > 0;
         line = (line + 1) % kLines, --left) {
      Slot* const slots = segment + line * kLineSlots;
      for (uint32_t mask = Matches(slots, hash >> kTagShift); mask != 0; mask &= mask - 1) {
        Slot* slot = slots + __builtin_ctz(mask);
        if (matches(RefOf(*slot))) return slot;
      }
      // Lines fill from the left: this one never flowed over.
      if (slots[kLineSlots - 1] == 0) return nullptr;
    }
    return nullptr;
  }
  // Requires: the key is not there.
  Slot* Insert(uint64_t hash, Arena::Ref ref);
  void Erase(Slot* slot, uint64_t hash);
  uint64_t splits() const { return splits_; }
  int64_t entries() const { return entries_; }
  size_t bytes() const { return bytes_; }  // of its segments
  void Clear();

  // Calls `visit(slot)` for the used slots of one segment; segments come in the order of their
  // hashes.
  size_t segments() const { return directory_.size(); }
  template <typename Visit>
  void VisitSegment(size_t index, const Visit& visit) const {
    // A segment that is not split so far has several places in the directory.
    if (index > 0 && directory_[index] == directory_[index - 1]) return;
    Slot* const slots = directory_[index]->slots;
    for (int i = 0; i < kSegmentSlots; ++i) {
      if (slots[i] > kErased) visit(&slots[i]);
    }
  }

 private:
  struct Segment {
    Slot* slots;
    int depth;
    int used;  // entries and erased slots
    int erased;
  };
  struct Chunk {
    char* memory;
    size_t bytes;
  };
  static uint64_t HomeOf(uint64_t hash) { return (hash >> kTagShift) % kLines; }
  size_t DirectoryIndex(uint64_t hash) const { return depth_ == 0 ? 0 : hash >> (64 - depth_); }
  Slot* SegmentOf(uint64_t hash) const { return slots_of_.data()[DirectoryIndex(hash)]; }
  Slot* HomeLine(uint64_t hash) const { return SegmentOf(hash) + HomeOf(hash) * kLineSlots; }
  // One bit for each slot of the line with that tag.
  static uint32_t Matches(const Slot* line, uint64_t tag) {
    // The tag is the upper part of a slot's upper half, so the eight upper halves are compared.
    const __m128i wanted = _mm_set1_epi32(static_cast<int>(tag << (kTagShift - 32)));
    const __m128i mask = _mm_set1_epi32(static_cast<int>(~kRefMask >> 32));
    const float* at = reinterpret_cast<const float*>(line);
    const __m128 first =
        _mm_shuffle_ps(_mm_load_ps(at), _mm_load_ps(at + 4), _MM_SHUFFLE(3, 1, 3, 1));
    const __m128 second =
        _mm_shuffle_ps(_mm_load_ps(at + 8), _mm_load_ps(at + 12), _MM_SHUFFLE(3, 1, 3, 1));
    const __m128i a = _mm_cmpeq_epi32(_mm_and_si128(_mm_castps_si128(first), mask), wanted);
    const __m128i b = _mm_cmpeq_epi32(_mm_and_si128(_mm_castps_si128(second), mask), wanted);
    const __m128i bytes = _mm_packs_epi16(_mm_packs_epi32(a, b), _mm_setzero_si128());
    const uint32_t bits = static_cast<uint32_t>(_mm_movemask_epi8(bytes));
    return tag == 0 ? bits & UsedSlots(line) : bits;
  }
  static uint32_t UsedSlots(const Slot* line);
  Slot* NewSlots();
  Slot* PlaceInto(Segment* segment, Slot slot);
  Segment* AddSegment(int depth);
  void Split(uint64_t hash);
  void Rebuild(Segment* segment);

  int depth_ = 0;
  uint64_t splits_ = 0;
  int64_t entries_ = 0;
  std::vector<Slot*> slots_of_;      // by directory index; what lookups read
  std::vector<Segment*> directory_;  // the same, with the counts
  std::vector<Segment*> all_segments_;
  std::vector<Chunk> chunks_;
  size_t chunk_used_ = 0;
  size_t bytes_ = 0;
};

}  // namespace rowtide
