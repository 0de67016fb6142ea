#include "state/arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "engine/status.h"
#include "state/page_supply.h"

namespace rowtide {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kSlotBytes = size_t{1} << 20;
constexpr size_t kFirstRegionBytes = size_t{16} << 10;
// Larger blocks get a region of their own, so that the open region is not given up for them.
constexpr size_t kLargeBlockBytes = size_t{256} << 10;

size_t RoundUp(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

// Touching a page for the first time costs 80 to 530 ns a row otherwise (performance.md 6).
void TouchInAdvance(char* memory, size_t bytes) {
#ifdef MADV_POPULATE_WRITE
  // In pieces: until one is done, no thread of the process can map memory, and those that wait for
  // that hold up everybody's page faults.
  constexpr size_t kPiece = size_t{512} << 10;
  size_t done = 0;
  while (done < bytes &&
         madvise(memory + done, std::min(kPiece, bytes - done), MADV_POPULATE_WRITE) == 0)
    done += kPiece;
  if (done >= bytes) return;
#endif
  constexpr size_t kPage = 4096;
  for (size_t at = 0; at < bytes; at += kPage) static_cast<volatile char*>(memory)[at] = 0;
}

}  // namespace

char* AllocatePages(size_t bytes) {
  if (bytes < kHugePage) {
    const size_t size = RoundUp(bytes, 4096);
    char* memory = static_cast<char*>(std::aligned_alloc(4096, size));
    RT_CHECK(memory != nullptr);
    std::memset(memory, 0, size);
    return memory;
  }
  const size_t size = RoundUp(bytes, kHugePage);
  void* mapped =
      mmap(nullptr, size + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  RT_CHECK(mapped != MAP_FAILED);
  char* const begin = static_cast<char*>(mapped);
  char* const memory = reinterpret_cast<char*>(RoundUp(reinterpret_cast<size_t>(begin), kHugePage));
  if (memory > begin) munmap(begin, static_cast<size_t>(memory - begin));
  char* const end = begin + size + kHugePage;
  if (end > memory + size) munmap(memory + size, static_cast<size_t>(end - memory) - size);
  madvise(memory, size, MADV_HUGEPAGE);
  TouchInAdvance(memory, size);
  return memory;
}

void FreePages(char* memory, size_t bytes) {
  if (bytes < kHugePage) {
    std::free(memory);
  } else {
    munmap(memory, RoundUp(bytes, kHugePage));
  }
}

Arena::~Arena() { Clear(); }

void Arena::Clear() {
  for (const Region& region : regions_) FreePages(region.memory, region.bytes);
  regions_.clear();
  slots_.clear();
  free_.fill(0);
  next_ = end_ = 0;
  size_->bytes -= in_use_;
  in_use_ = 0;
}

Arena::Ref Arena::AllocateSlowly(size_t bytes) {
  static_assert(kRegionBytesMax == PageSupply::kBytes);
  if (bytes > kLargeBlockBytes) return AddRegion(bytes);
  const size_t wanted =
      std::min(region_bytes_max_, kFirstRegionBytes << (2 * std::min<size_t>(regions_.size(), 8)));
  const size_t region_bytes = std::max(wanted, bytes + 16);
  const Ref begin = AddRegion(region_bytes);
  next_ = begin;
  end_ = begin + region_bytes / kUnit;
  if (begin == 0) next_ = 2;  // references 0 and 1 mean something else in a slot
  const Ref ref = next_;
  next_ += bytes / kUnit;
  return ref;
}

Arena::Ref Arena::AddRegion(size_t bytes) {
  // The first place of all is never given out, whatever asks for it first.
  if (slots_.empty() && bytes > kLargeBlockBytes) {
    slots_.push_back(nullptr);
  }
  char* memory =
      bytes == PageSupply::kBytes ? PageSupply::OfProcess().Take() : AllocatePages(bytes);
  regions_.push_back({memory, bytes});
  const Ref begin = static_cast<Ref>(slots_.size()) << kSlotShift;
  for (size_t at = 0; at < bytes; at += kSlotBytes) slots_.push_back(memory + at);
  RT_CHECK(slots_.size() <= (size_t{1} << (kRefBits - kSlotShift)));  // 128 GiB for one state
  return begin;
}

}  // namespace rowtide
