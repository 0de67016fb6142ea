// One CSV field as a value of each SQL type, by the rules of Flink's csv format
// (tests/changelog/flink/files has each).
//
// All take a field's bytes and return false when they are no such value. Requires: 16 readable
// bytes behind the field. The quick ways (plain digits, `2026-01-01 00:00:00.123`) are inline;
// everything else goes through the slow one.
#pragma once

#include <immintrin.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "engine/types.h"

namespace rowtide {

// Java's Long.parseLong of the trimmed text, within [low, high].
[[gnu::noinline, gnu::cold]] bool CsvIntegerSlowly(std::string_view text, int64_t low, int64_t high,
                                                   int64_t* value);
bool CsvBoolean(std::string_view text);
bool CsvIsFalse(std::string_view text);
bool CsvDate(std::string_view text, int32_t* days);
bool CsvTime(std::string_view text, int precision, int32_t* millis);
// `zoned`: the text ends with Z. Milliseconds and the nanoseconds within.
bool CsvTimestamp(std::string_view text, bool zoned, WideTime* time);

inline uint64_t LoadEight(const char* text) {
  uint64_t word;
  std::memcpy(&word, text, 8);
  return word;
}

// Up to eight digits in the low bytes of a word, the first one lowest; false when any is none.
__attribute__((always_inline)) inline bool EightDigits(uint64_t word, size_t digits,
                                                       uint64_t* value) {
  word <<= 64 - 8 * digits;
  word |= digits == 8 ? 0 : 0x3030303030303030 >> (8 * digits);
  if (((word & 0xf0f0f0f0f0f0f0f0) | ((word + 0x0606060606060606) & 0xf0f0f0f0f0f0f0f0) >> 4) !=
      0x3333333333333333) {
    return false;
  }
  word = (word & 0x0f0f0f0f0f0f0f0f) * 2561 >> 8;
  word = (word & 0x00ff00ff00ff00ff) * 6553601 >> 16;
  *value = (word & 0x0000ffff0000ffff) * 42949672960001 >> 32;
  return true;
}

__attribute__((always_inline)) inline bool CsvInteger(const char* text, size_t bytes, int64_t low,
                                                      int64_t high, int64_t* value) {
  uint64_t digits, more;
  if (bytes - 1 < 8 && EightDigits(LoadEight(text), bytes, &digits)) [[likely]] {
    *value = static_cast<int64_t>(digits);
    return *value >= low && *value <= high;
  }
  if (bytes - 9 < 8 && EightDigits(LoadEight(text), 8, &digits) &&
      EightDigits(LoadEight(text + 8), bytes - 8, &more)) {
    constexpr int64_t kPowers[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
    *value = static_cast<int64_t>(digits) * kPowers[bytes - 8] + static_cast<int64_t>(more);
    return *value >= low && *value <= high;
  }
  return CsvIntegerSlowly({text, bytes}, low, high, value);
}

// `yyyy-MM-dd HH:mm:ss` with `.SSS` or nothing behind, the usual spellings of TIMESTAMP(3);
// remembers the last day.
class CsvMillis {
 public:
  bool Parse(const char* text, size_t bytes, bool zoned, int64_t* millis) {
    const size_t plain = bytes - zoned;
    if ((plain == 23 || plain == 19) && (!zoned || text[plain] == 'Z') &&
        ParseFixed(text, plain == 23, millis)) {
      return true;
    }
    WideTime time;
    if (!CsvTimestamp({text, bytes}, zoned, &time)) return false;
    *millis = time.millis;
    return true;
  }

 private:
  __attribute__((target("sse4.1"))) bool ParseFixed(const char* text, bool has_millis,
                                                    int64_t* millis) {
    // The day: ten bytes that seldom change. The time of day: sixteen bytes, `HH:mm:ss.SSS` among
    // them.
    uint16_t day_end;
    std::memcpy(&day_end, text + 8, 2);
    if ((LoadEight(text) != day_head_ || day_end != day_end_) && !ParseDay(text)) return false;
    if (text[10] != ' ') return false;
    __m128i time = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text + 11));
    if (!has_millis) {
      time = _mm_blendv_epi8(time,
                             _mm_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, '.', '0', '0', '0', 0, 0, 0, 0),
                             _mm_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, -1, -1, -1, -1, 0, 0, 0, 0));
    }
    const __m128i marks = _mm_setr_epi8(0, 0, ':', 0, 0, ':', 0, 0, '.', 0, 0, 0, 0, 0, 0, 0);
    // H H : m m : s s . S S S   ->   0 H H m m s s 0 . . as pairs for the multiply-add
    if ((_mm_movemask_epi8(_mm_cmpeq_epi8(time, marks)) & 0x124) != 0x124) return false;
    __m128i digits = _mm_shuffle_epi8(
        time, _mm_setr_epi8(0, 1, 3, 4, 6, 7, -1, 9, 10, 11, -1, -1, -1, -1, -1, -1));
    const __m128i zeros =
        _mm_setr_epi8('0', '0', '0', '0', '0', '0', 0, '0', '0', '0', 0, 0, 0, 0, 0, 0);
    digits = _mm_sub_epi8(digits, zeros);
    if (_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(digits, _mm_set1_epi8(9)), digits)) != 0xffff)
      return false;
    const __m128i pairs = _mm_maddubs_epi16(digits, _mm_set1_epi16(0x010a));
    const uint64_t words = static_cast<uint64_t>(_mm_cvtsi128_si64(pairs));
    const uint32_t hour = words & 0xff, minute = words >> 16 & 0xff, second = words >> 32 & 0xff;
    const uint32_t milli = static_cast<uint32_t>(words >> 48) * 100 +
                           static_cast<uint32_t>(_mm_extract_epi16(pairs, 4));
    if (hour > 23 || minute > 59 || second > 59) return false;
    *millis =
        day_millis_ + static_cast<int64_t>(((hour * 60 + minute) * 60 + second) * 1000 + milli);
    return true;
  }
  bool ParseDay(const char* text);

  uint64_t day_head_ = 0;
  uint16_t day_end_ = 0;
  int64_t day_millis_ = 0;
};

}  // namespace rowtide
