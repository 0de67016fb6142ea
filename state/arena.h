// The memory of one state: blocks in size classes, addressed by short references, reused as soon as
// they are freed.
//
//   reference      | slot of 1 MiB | place in it |   34 bits, in units of 8 bytes
//   size classes   8, 16, ... 128, then eight steps a doubling: 144, 160, ... 256, 288, ...
//   regions        16 KiB, 64 KiB, 256 KiB, 1 MiB, then 4 MiB huge pages, touched in advance
//
// Blocks never move. A freed block goes on the list of its class, so replaced rows do not leak.
// References stay below 128 GiB and may be stored; they mean nothing outside this arena. Bytes in
// use are accounted in StateSize.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/operator.h"

namespace rowtide {

class Arena {
 public:
  using Ref = uint64_t;  // 0 = no block
  static constexpr int kRefBits = 34;

  explicit Arena(StateSize* size) : size_(size) {}
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // A block of at least `bytes`, 8-aligned, not zeroed.
  Ref Allocate(size_t bytes) { return AllocateClass(ClassOf(bytes)); }
  Ref AllocateClass(uint8_t size_class) {
    const size_t bytes = BytesOf(size_class);
    size_->bytes += static_cast<int64_t>(bytes);
    in_use_ += static_cast<int64_t>(bytes);
    if (const Ref ref = free_[size_class]; ref != 0) {
      free_[size_class] = *reinterpret_cast<Ref*>(At(ref));
      return ref;
    }
    if (bytes <= static_cast<size_t>(end_ - next_) * kUnit) [[likely]] {
      const Ref ref = next_;
      next_ += bytes / kUnit;
      return ref;
    }
    return AllocateSlowly(bytes);
  }
  // Requires: `ref` came from Allocate with a size of the same class.
  void Free(Ref ref, uint8_t size_class) {
    const int64_t bytes = static_cast<int64_t>(BytesOf(size_class));
    size_->bytes -= bytes;
    in_use_ -= bytes;
    *reinterpret_cast<Ref*>(At(ref)) = free_[size_class];
    free_[size_class] = ref;
  }
  char* At(Ref ref) const {  // the index is not checked for each row
    return slots_.data()[ref >> kSlotShift] + ((ref & kSlotMask) * kUnit);
  }

  static uint8_t ClassOf(size_t bytes) {
    const size_t units = bytes == 0 ? 1 : (bytes + kUnit - 1) / kUnit;
    if (units <= kExactClasses) return static_cast<uint8_t>(units);
    const int log = 63 - __builtin_clzll(units - 1);
    return static_cast<uint8_t>(kExactClasses + static_cast<size_t>(log - 4) * 8 +
                                ((units - 1) >> (log - 3)) - 7);
  }
  static size_t BytesOf(uint8_t size_class) {
    if (size_class <= kExactClasses) return size_class * kUnit;
    const size_t step = size_class - kExactClasses - 1;
    return ((step % 8 + 9) << (step / 8 + 1)) * kUnit;
  }

  int64_t in_use() const { return in_use_; }  // bytes of blocks
  // Regions are no larger, from now on: where memory is little, one that is hardly begun counts.
  void LimitRegions(size_t bytes) { region_bytes_max_ = bytes; }

  // Gives all blocks back at once.
  void Clear();

 private:
  static constexpr size_t kUnit = 8;
  static constexpr size_t kExactClasses = 16;
  static constexpr size_t kRegionBytesMax = size_t{4} << 20;
  static constexpr int kSlotShift = 17;  // 1 MiB in units
  static constexpr Ref kSlotMask = (Ref{1} << kSlotShift) - 1;
  struct Region {
    char* memory;
    size_t bytes;
  };
  Ref AllocateSlowly(size_t bytes);
  Ref AddRegion(size_t bytes);

  StateSize* size_;
  size_t region_bytes_max_ = kRegionBytesMax;
  int64_t in_use_ = 0;
  Ref next_ = 0;  // the open region: units [next_, end_)
  Ref end_ = 0;
  std::array<Ref, 256> free_{};
  std::vector<char*> slots_;
  std::vector<Region> regions_;
};

// Zeroed memory, aligned to its page; 2 MiB and more on huge pages, touched in advance. Given back
// with FreePages.
char* AllocatePages(size_t bytes);
void FreePages(char* memory, size_t bytes);

}  // namespace rowtide
