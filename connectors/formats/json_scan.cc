#include "connectors/formats/json_scan.h"

#include <immintrin.h>

namespace rowtide {

// Of all bytes with the bit of 2 turned, those up to 0x20 are the control characters and the quote.

JsonScan::JsonScan(bool wide) : scan_(wide ? ScanAvx2 : ScanSse) {}

void JsonScan::Look(const char* begin, const char* end) {
  begin_ = begin;
  const size_t words = (static_cast<size_t>(end - begin) + 63) / 64;
  if (words > words_) {
    stops_ = nullptr;
    stops_ = std::make_unique_for_overwrite<uint64_t[]>(words);
    words_ = words;
  }
  is_ascii_ = scan_(begin, end, stops_.get());
}

__attribute__((target("avx2"))) bool JsonScan::ScanAvx2(const char* begin, const char* end,
                                                        uint64_t* stops) {
  const __m256i two = _mm256_set1_epi8(2), blank = _mm256_set1_epi8(0x20);
  const __m256i backslash = _mm256_set1_epi8('\\');
  __m256i seen = _mm256_setzero_si256();
  for (const char* at = begin; at < end; at += 64) {
    uint64_t bits = 0;
    for (int half = 0; half < 2; ++half) {
      const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at + 32 * half));
      const __m256i turned = _mm256_xor_si256(bytes, two);
      const __m256i hits =
          _mm256_or_si256(_mm256_cmpeq_epi8(_mm256_min_epu8(turned, blank), turned),
                          _mm256_cmpeq_epi8(bytes, backslash));
      bits |= static_cast<uint64_t>(static_cast<uint32_t>(_mm256_movemask_epi8(hits)))
              << (32 * half);
      seen = _mm256_or_si256(seen, bytes);
    }
    *stops++ = bits;
  }
  return _mm256_movemask_epi8(seen) == 0;
}

bool JsonScan::ScanSse(const char* begin, const char* end, uint64_t* stops) {
  const __m128i two = _mm_set1_epi8(2), blank = _mm_set1_epi8(0x20);
  const __m128i backslash = _mm_set1_epi8('\\');
  __m128i seen = _mm_setzero_si128();
  for (const char* at = begin; at < end; at += 64) {
    uint64_t bits = 0;
    for (int quarter = 0; quarter < 4; ++quarter) {
      const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at + 16 * quarter));
      const __m128i turned = _mm_xor_si128(bytes, two);
      const __m128i hits = _mm_or_si128(_mm_cmpeq_epi8(_mm_min_epu8(turned, blank), turned),
                                        _mm_cmpeq_epi8(bytes, backslash));
      bits |= static_cast<uint64_t>(_mm_movemask_epi8(hits)) << (16 * quarter);
      seen = _mm_or_si128(seen, bytes);
    }
    *stops++ = bits;
  }
  return _mm_movemask_epi8(seen) == 0;
}

}  // namespace rowtide
