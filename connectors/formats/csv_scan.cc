#include "connectors/formats/csv_scan.h"

#include <immintrin.h>

#include "engine/status.h"

namespace rowtide {
namespace {

// What stands for the place of a bit in a word without one does not matter: it is overwritten.
struct AnyCpu {
  static uint64_t LowestBit(uint64_t bits) {
    return static_cast<uint64_t>(__builtin_ctzll(bits | 1ull << 63));
  }
};
struct WithBmi {
  __attribute__((target("bmi"))) static uint64_t LowestBit(uint64_t bits) {
    return _tzcnt_u64(bits);
  }
};

// Appends the places of the set bits; writes up to four, or as many as there are.
template <typename Cpu>
__attribute__((always_inline)) inline uint32_t* AppendBits(uint64_t bits, uint32_t base,
                                                           uint32_t* marks) {
  const int count = __builtin_popcountll(bits);
  for (int i = 0; i < 4; ++i) {
    marks[i] = base + static_cast<uint32_t>(Cpu::LowestBit(bits));
    bits &= bits - 1;
  }
  if (count > 4) {
    for (int i = 4; i < count; ++i) {
      marks[i] = base + static_cast<uint32_t>(Cpu::LowestBit(bits));
      bits &= bits - 1;
    }
  }
  return marks + count;
}

uint64_t KeepFirst(uint64_t bits, size_t bytes) {
  return bytes >= 64 ? bits : bits & ((1ull << bytes) - 1);
}

}  // namespace

CsvScanner::CsvScanner(std::string_view characters) {
  for (int i = 0; i < 16; ++i) {  // a value that no byte with these low bits has
    tables_[0][i] = tables_[1][i] = static_cast<uint8_t>((i + 1) & 15);
  }
  uint8_t used[2][16] = {};
  for (const char character : characters) {
    const auto byte = static_cast<uint8_t>(character);
    RT_CHECK(byte < 0x80);
    const int low = byte & 15;
    const int table = used[0][low] != 0 && tables_[0][low] != byte ? 1 : 0;
    RT_CHECK(used[table][low] == 0 || tables_[table][low] == byte);
    used[table][low] = 1;
    tables_[table][low] = byte;
    two_tables_ |= table == 1;
  }
  scan_ = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") ? ScanAvx2 : ScanSse;
}

void CsvScanner::Find(const char* text, size_t bytes, CsvMarks* marks) const {
  if (marks->capacity < bytes + 64) {
    marks->capacity = bytes + 64;
    marks->memory = nullptr;  // before the new one is there, for the sake of long records
    marks->memory = std::make_unique_for_overwrite<uint32_t[]>(marks->capacity + 1);
    marks->memory[0] = ~0u;
    marks->offsets = marks->memory.get() + 1;
  }
  marks->beyond_ascii = false;
  marks->count = scan_(*this, text, bytes, marks->offsets, &marks->beyond_ascii);
}

__attribute__((target("avx2,bmi,popcnt"))) size_t CsvScanner::ScanAvx2(const CsvScanner& scanner,
                                                                       const char* text,
                                                                       size_t bytes,
                                                                       uint32_t* marks,
                                                                       bool* beyond_ascii) {
  const __m256i first = _mm256_broadcastsi128_si256(
      _mm_load_si128(reinterpret_cast<const __m128i*>(scanner.tables_[0])));
  const __m256i second = _mm256_broadcastsi128_si256(
      _mm_load_si128(reinterpret_cast<const __m128i*>(scanner.tables_[1])));
  const bool two_tables = scanner.two_tables_;
  __m256i seen = _mm256_setzero_si256();
  uint32_t* out = marks;
  for (size_t i = 0; i < bytes; i += 64) {
    const __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(text + i));
    const __m256i high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(text + i + 32));
    __m256i low_hits = _mm256_cmpeq_epi8(_mm256_shuffle_epi8(first, low), low);
    __m256i high_hits = _mm256_cmpeq_epi8(_mm256_shuffle_epi8(first, high), high);
    if (two_tables) {
      low_hits =
          _mm256_or_si256(low_hits, _mm256_cmpeq_epi8(_mm256_shuffle_epi8(second, low), low));
      high_hits =
          _mm256_or_si256(high_hits, _mm256_cmpeq_epi8(_mm256_shuffle_epi8(second, high), high));
    }
    uint64_t bits = static_cast<uint32_t>(_mm256_movemask_epi8(low_hits)) |
                    static_cast<uint64_t>(static_cast<uint32_t>(_mm256_movemask_epi8(high_hits)))
                        << 32;
    if (bytes - i < 64) {
      bits = KeepFirst(bits, bytes - i);
      const uint64_t signs =
          static_cast<uint32_t>(_mm256_movemask_epi8(low)) |
          static_cast<uint64_t>(static_cast<uint32_t>(_mm256_movemask_epi8(high))) << 32;
      *beyond_ascii |= KeepFirst(signs, bytes - i) != 0;
    } else {
      seen = _mm256_or_si256(seen, _mm256_or_si256(low, high));
    }
    out = AppendBits<WithBmi>(bits, static_cast<uint32_t>(i), out);
  }
  *beyond_ascii |= _mm256_movemask_epi8(seen) != 0;
  return static_cast<size_t>(out - marks);
}

__attribute__((target("ssse3,popcnt"))) size_t CsvScanner::ScanSse(const CsvScanner& scanner,
                                                                   const char* text, size_t bytes,
                                                                   uint32_t* marks,
                                                                   bool* beyond_ascii) {
  const __m128i first = _mm_load_si128(reinterpret_cast<const __m128i*>(scanner.tables_[0]));
  const __m128i second = _mm_load_si128(reinterpret_cast<const __m128i*>(scanner.tables_[1]));
  uint32_t* out = marks;
  for (size_t i = 0; i < bytes; i += 64) {
    uint64_t bits = 0, signs = 0;
    for (size_t j = 0; j < 4; ++j) {
      const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text + i + 16 * j));
      __m128i hits = _mm_cmpeq_epi8(_mm_shuffle_epi8(first, block), block);
      if (scanner.two_tables_)
        hits = _mm_or_si128(hits, _mm_cmpeq_epi8(_mm_shuffle_epi8(second, block), block));
      bits |= static_cast<uint64_t>(static_cast<uint32_t>(_mm_movemask_epi8(hits))) << (16 * j);
      signs |= static_cast<uint64_t>(static_cast<uint32_t>(_mm_movemask_epi8(block))) << (16 * j);
    }
    *beyond_ascii |= KeepFirst(signs, bytes - i) != 0;
    out = AppendBits<AnyCpu>(KeepFirst(bits, bytes - i), static_cast<uint32_t>(i), out);
  }
  return static_cast<size_t>(out - marks);
}

}  // namespace rowtide
