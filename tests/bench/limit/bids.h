// What the limit programs share: the rows of a bids CSV found by SIMD, their numbers by position,
// their script text.
//
//   1001,1002,345,Google,https://…,2026-01-01 00:00:00.000,abc\n
//       ^    ^   ^      ^         ^                       ^   ^      seven marks a row
//   +I [1001,1002,345,"Google","https://…","2026-01-01 00:00:00.000","abc"]\n
//
// These programs know the schema and that bids hold no quotes and nothing to escape. One thread.
#pragma once

#include <fcntl.h>
#include <immintrin.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "connectors/checksum_hash.h"

namespace rowtide::limit {

inline constexpr int kMarks = 7;
inline constexpr int kBatchRows = 256;
inline constexpr int kTimeBytes = 23;

[[noreturn]] inline void Fail(const char* what) {
  std::fprintf(stderr, "limit: %s\n", what);
  std::exit(1);
}

// Zeroed memory on huge pages, never given back.
inline char* HugeBytes(size_t bytes) {
  constexpr size_t kHuge = 2u << 20;
  bytes = (bytes + 2 * kHuge) / kHuge * kHuge;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) Fail("out of memory");
  auto address = (reinterpret_cast<uintptr_t>(memory) + kHuge - 1) / kHuge * kHuge;
  madvise(reinterpret_cast<void*>(address), bytes - kHuge, MADV_HUGEPAGE);
  return reinterpret_cast<char*>(address);
}

// Row texts, in sizes of 32 bytes, from a bump pointer.
class TextArena {
 public:
  explicit TextArena(size_t bytes) : next_(HugeBytes(bytes)) {}
  char* Take(uint32_t bytes) {
    char* text = next_;
    next_ += bytes;
    return text;
  }
  // copies run over by up to 31
  static uint32_t Capacity(uint32_t bytes) { return (bytes + 31 + 32) / 32 * 32; }

 private:
  char* next_;
};

inline uint64_t EightDigits(uint64_t text) {
  text = (text & 0x0f0f0f0f0f0f0f0f) * 2561 >> 8;
  text = (text & 0x00ff00ff00ff00ff) * 6553601 >> 16;
  return (text & 0x0000ffff0000ffff) * 42949672960001 >> 32;
}

// The number in [begin, end). Requires: it has 1 to 10 digits and is followed by 8 readable bytes.
inline uint32_t Number(const char* begin, const char* end) {
  uint64_t text;
  const int64_t digits = end - begin;
  if (digits <= 8) [[likely]] {
    std::memcpy(&text, begin, 8);
    return static_cast<uint32_t>(EightDigits(text << (64 - 8 * digits)));
  }
  uint64_t value = 0;
  for (; begin < end; ++begin) value = value * 10 + static_cast<uint64_t>(*begin - '0');
  return static_cast<uint32_t>(value);
}

// A number that orders `yyyy-MM-dd HH:mm:ss.SSS` within a millennium: its last 16 digits.
__attribute__((target("sse4.1"))) inline int64_t TimeOrder(const char* text) {
  const __m128i left = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text));
  const __m128i right = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text + 7));
  const __m128i from_left = _mm_setr_epi8(1, 2, 3, 5, 6, 8, 9, -1, -1, -1, -1, -1, -1, -1, -1, -1);
  const __m128i from_right =
      _mm_setr_epi8(-1, -1, -1, -1, -1, -1, -1, 4, 5, 7, 8, 10, 11, 13, 14, 15);
  __m128i digits =
      _mm_or_si128(_mm_shuffle_epi8(left, from_left), _mm_shuffle_epi8(right, from_right));
  digits = _mm_and_si128(digits, _mm_set1_epi8(0x0f));
  digits = _mm_maddubs_epi16(digits, _mm_set1_epi16(0x010a));
  digits = _mm_madd_epi16(digits, _mm_set1_epi32(0x00010064));
  digits = _mm_packus_epi32(digits, digits);
  digits = _mm_madd_epi16(digits, _mm_set1_epi32(0x00012710));
  const auto both = static_cast<uint64_t>(_mm_cvtsi128_si64(digits));
  return static_cast<int64_t>((both & 0xffffffff) * 100000000 + (both >> 32));
}

struct Bid {
  const char* begin;
  const char* marks[kMarks];

  uint32_t auction() const { return Number(begin, marks[0]); }
  uint32_t bidder() const { return Number(marks[0] + 1, marks[1]); }
  uint32_t price() const { return Number(marks[1] + 1, marks[2]); }
  int64_t time() const { return TimeOrder(marks[4] + 1); }
  // Of the script line: `+I [`, the fields, eight quotes, `]` and the newline.
  uint32_t text_bytes() const { return static_cast<uint32_t>(marks[6] - begin) + 4 + 8 + 2; }

  // Writes the script line without its kind; up to 31 bytes behind the end are overwritten.
  void WriteText(char* out) const {
    std::memcpy(out, "+I [", 4);
    out = Copy(begin, marks[2] + 1, out + 4);
    *out++ = '"';
    out = Copy(marks[2] + 1, marks[3], out);
    out = Quotes(out);
    out = Copy(marks[3] + 1, marks[4], out);
    out = Quotes(out);
    out = Copy(marks[4] + 1, marks[5], out);
    out = Quotes(out);
    out = Copy(marks[5] + 1, marks[6], out);
    std::memcpy(out, "\"]\n", 3);
  }

 private:
  static char* Quotes(char* out) {
    std::memcpy(out, "\",\"", 3);
    return out + 3;
  }
  static char* Copy(const char* from, const char* end, char* out) {
    char* const out_end = out + (end - from);
    do {
      std::memcpy(out, from, 32);
      out += 32;
      from += 32;
    } while (out < out_end);
    return out_end;
  }
};

// A file in memory. Behind its end lies at least one readable page.
class BidFile {
 public:
  explicit BidFile(const char* path) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat stat;
    if (file < 0 || fstat(file, &stat) != 0) Fail("cannot open the file");
    bytes_ = static_cast<size_t>(stat.st_size);
    data_ = static_cast<char*>(
        mmap(nullptr, bytes_ + 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    void* mapped = mmap(data_, bytes_, PROT_READ, MAP_PRIVATE | MAP_FIXED | MAP_POPULATE, file, 0);
    if (mapped == MAP_FAILED) Fail("cannot map the file");
    close(file);
  }
  size_t bytes() const { return bytes_; }
  // No bid is shorter than this, so there are at most bytes / 128 of them.
  size_t rows_max() const { return bytes_ / 128 + 1; }

  // Calls work(const Bid*, rows) for all rows, up to kBatchRows at a time.
  template <typename Work>
  void ForEachBatch(Work&& work) const {
    if (!__builtin_cpu_supports("avx2")) Fail("this machine has no AVX2");
    Bid batch[kBatchRows];
    static uint32_t marks[kScanBytes + 64];
    size_t begin = 0;
    while (begin < bytes_) {
      const size_t scan = std::min<size_t>(kScanBytes, bytes_ - begin);
      const size_t count = FindMarks(data_ + begin, scan, marks) / kMarks;
      if (count == 0) Fail("the last line has no newline");
      const char* base = data_ + begin;
      const char* line = base;
      for (size_t row = 0; row < count;) {
        const int rows = static_cast<int>(std::min<size_t>(kBatchRows, count - row));
        for (int i = 0; i < rows; ++i, ++row) {
          batch[i].begin = line;
          for (int j = 0; j < kMarks; ++j)
            batch[i].marks[j] = base + marks[row * kMarks + static_cast<size_t>(j)];
          line = batch[i].marks[kMarks - 1] + 1;
          if (line[-1] != '\n') Fail("a row without seven fields");
        }
        work(batch, rows);
      }
      begin += static_cast<size_t>(line - base);
    }
  }

 private:
  static constexpr size_t kScanBytes = 96 << 10;  // about 512 rows; they and their marks stay in L2

  // Offsets of commas and newlines in [text, text + bytes).
  __attribute__((target("avx2,bmi,bmi2"))) static size_t FindMarks(const char* text, size_t bytes,
                                                                   uint32_t* marks) {
    const __m256i comma = _mm256_set1_epi8(',');
    const __m256i newline = _mm256_set1_epi8('\n');
    uint32_t* out = marks;
    for (size_t i = 0; i < bytes; i += 64) {
      uint64_t found = 0;
      for (size_t half = 0; half < 2; ++half) {
        const __m256i block =
            _mm256_loadu_si256(reinterpret_cast<const __m256i*>(text + i + 32 * half));
        const __m256i hits =
            _mm256_or_si256(_mm256_cmpeq_epi8(block, comma), _mm256_cmpeq_epi8(block, newline));
        found |= static_cast<uint64_t>(static_cast<uint32_t>(_mm256_movemask_epi8(hits)))
                 << (32 * half);
      }
      if (bytes - i < 64) found &= (1ull << (bytes - i)) - 1;
      const int count = __builtin_popcountll(found);
      for (int j = 0; j < 4; ++j) {  // usually enough; what is too much is overwritten
        out[j] = static_cast<uint32_t>(i) + static_cast<uint32_t>(_tzcnt_u64(found));
        found = _blsr_u64(found);
      }
      for (int j = 4; j < count; ++j) {
        out[j] = static_cast<uint32_t>(i) + static_cast<uint32_t>(_tzcnt_u64(found));
        found = _blsr_u64(found);
      }
      out += count;
    }
    return static_cast<size_t>(out - marks);
  }

  char* data_;
  size_t bytes_;
};

inline uint64_t HashOf(uint64_t key) {
  const auto product =
      static_cast<unsigned __int128>(key ^ 0x9e3779b97f4a7c15) * 0xd1342543de82ef95;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

inline void PrefetchText(const char* text) {
  for (int line = 0; line < 4; ++line) __builtin_prefetch(text + 64 * line, 1);
}

// Prints what the run gave; `start` is when the program began.
inline void Report(const ChecksumState& sum, size_t rows,
                   std::chrono::steady_clock::time_point start) {
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  std::printf("%s\nrows=%zu seconds=%.4f rss_mb=%ld\n", sum.Text().c_str(), rows, seconds.count(),
              usage.ru_maxrss / 1024);
}

}  // namespace rowtide::limit
