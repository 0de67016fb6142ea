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

// Moves the first n of sixteen bytes to the end, with zeros before them: the shuffle is at 16 - n
// from the right.
alignas(16) inline constexpr uint8_t kToTheEnd[32] = {
    0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
    0,    1,    2,    3,    4,    5,    6,    7,    8,    9,    10,   11,   12,   13,   14,   15};

// Sixteen digits at once: pairs, fours, eights by multiply-add.
__attribute__((target("sse4.1"))) inline bool CsvInteger(const char* text, size_t bytes,
                                                         int64_t low, int64_t high,
                                                         int64_t* value) {
  if (bytes - 1 < 16) [[likely]] {
    __m128i digits =
        _mm_sub_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(text)), _mm_set1_epi8('0'));
    digits = _mm_shuffle_epi8(digits,
                              _mm_loadu_si128(reinterpret_cast<const __m128i*>(kToTheEnd + bytes)));
    const __m128i above = _mm_subs_epu8(digits, _mm_set1_epi8(9));
    if (_mm_testz_si128(above, above)) [[likely]] {
      const __m128i pairs = _mm_maddubs_epi16(digits, _mm_set1_epi16(0x010a));
      const __m128i fours = _mm_madd_epi16(pairs, _mm_set1_epi32(0x00010064));
      const __m128i eights =
          _mm_madd_epi16(_mm_packus_epi32(fours, fours), _mm_set1_epi32(0x00012710));
      const auto both = static_cast<uint64_t>(_mm_cvtsi128_si64(eights));
      *value = static_cast<int64_t>((both & 0xffffffff) * 100000000 + (both >> 32));
      return *value >= low && *value <= high;
    }
  }
  return CsvIntegerSlowly({text, bytes}, low, high, value);
}

// `yyyy-MM-dd HH:mm:ss` with `.SSS` or nothing behind, the usual spellings of TIMESTAMP(3);
// remembers the last day, and the last time of day.
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
    // Rows of one moment follow each other.
    const __m128i last = _mm_loadu_si128(reinterpret_cast<const __m128i*>(last_time_));
    if ((_mm_movemask_epi8(_mm_cmpeq_epi8(time, last)) & 0xfff) == 0xfff) {
      *millis = day_millis_ + last_millis_;
      return true;
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
    last_millis_ = static_cast<int64_t>(((hour * 60 + minute) * 60 + second) * 1000 + milli);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(last_time_), time);
    *millis = day_millis_ + last_millis_;
    return true;
  }
  bool ParseDay(const char* text);

  uint64_t day_head_ = 0;
  uint16_t day_end_ = 0;
  int64_t day_millis_ = 0;
  char last_time_[16] = {};  // no time of day
  int64_t last_millis_ = 0;  // within the day
};

}  // namespace rowtide
