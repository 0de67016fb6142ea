// Numbers, times and texts in their usual spellings, read without a branch a character: what csv
// and json share.
//
//   1009                       1 to 16 digits       eight at a time
//   2026-01-01 00:00:00.123    19 or 23 bytes       the day is that of the row before, mostly
//
// They return false when the text is another spelling, or no such value at all: the caller asks its
// format. Requires: 32 readable bytes from the text's first one on.
#pragma once

#include <immintrin.h>

#include <cstdint>
#include <cstring>

#include "connectors/formats/iso_times.h"
#include "engine/string_view.h"

namespace rowtide {

inline uint64_t LoadEight(const char* text) {
  uint64_t word;
  std::memcpy(&word, text, 8);
  return word;
}

// How many of eight bytes are digits, up to the first that is none.
inline size_t LeadingDigits(uint64_t word) {
  const uint64_t values = word ^ 0x3030303030303030;
  const uint64_t others = ((values + 0x7676767676767676) | values) & 0x8080808080808080;
  return others == 0 ? 8 : static_cast<size_t>(__builtin_ctzll(others)) / 8;
}

// Moves the first n of sixteen bytes to the end, with zeros before them: the shuffle is at 16 - n
// from the right.
alignas(16) inline constexpr uint8_t kToTheEnd[32] = {
    0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
    0,    1,    2,    3,    4,    5,    6,    7,    8,    9,    10,   11,   12,   13,   14,   15};

// Up to sixteen digits at once, no sign: pairs, fours, eights by multiply-add.
__attribute__((target("sse4.1"))) inline bool QuickInteger(const char* text, size_t bytes,
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
      return true;
    }
  }
  return false;
}

// As QuickInteger, of the two texts that end before marks[0] and marks[stride]; a text begins
// behind the mark before its end. False when one of them is not quick: then nothing is written.
__attribute__((target("avx2"))) inline bool QuickIntegerPair(const char* text,
                                                             const uint32_t* marks, size_t stride,
                                                             int64_t* values) {
  const uint32_t first = marks[-1] + 1, second = (marks + stride)[-1] + 1;
  const size_t first_bytes = marks[0] - first, second_bytes = marks[stride] - second;
  if (first_bytes - 1 >= 16 || second_bytes - 1 >= 16) [[unlikely]]
    return false;
  const auto half = [](const void* from) {
    return _mm_loadu_si128(static_cast<const __m128i*>(from));
  };
  __m256i digits =
      _mm256_inserti128_si256(_mm256_castsi128_si256(half(text + first)), half(text + second), 1);
  digits = _mm256_sub_epi8(digits, _mm256_set1_epi16(0x3030));  // wider: not made in the loop
  digits = _mm256_shuffle_epi8(
      digits, _mm256_inserti128_si256(_mm256_castsi128_si256(half(kToTheEnd + first_bytes)),
                                      half(kToTheEnd + second_bytes), 1));
  const __m256i above = _mm256_subs_epu8(digits, _mm256_set1_epi16(0x0909));
  if (!_mm256_testz_si256(above, above)) [[unlikely]]
    return false;
  const __m256i pairs = _mm256_maddubs_epi16(digits, _mm256_set1_epi16(0x010a));
  const __m256i fours = _mm256_madd_epi16(pairs, _mm256_set1_epi32(0x00010064));
  const __m256i eights =
      _mm256_madd_epi16(_mm256_packus_epi32(fours, fours), _mm256_set1_epi32(0x00012710));
  const __m256i sums = _mm256_add_epi64(_mm256_mul_epu32(eights, _mm256_set1_epi64x(100000000)),
                                        _mm256_srli_epi64(eights, 32));
  values[0] = _mm256_extract_epi64(sums, 0);
  values[1] = _mm256_extract_epi64(sums, 2);
  return true;
}

// A string view of bytes in a block. Requires: 16 readable bytes behind their beginning.
__attribute__((target("sse4.1"))) inline void MakeView(const char* text, uint32_t bytes,
                                                       StringView* view) {
  if (bytes > StringView::kInlineBytes) {
    // As its constructor, without the question that is answered already.
    char* const to = reinterpret_cast<char*>(view);
    std::memcpy(to, &bytes, 4);
    std::memcpy(to + 4, text, 4);
    std::memcpy(to + 8, &text, 8);
    return;
  }
  alignas(16) static constexpr uint8_t kKeep[32] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                                    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
  __m128i value = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text));
  value =
      _mm_and_si128(value, _mm_loadu_si128(reinterpret_cast<const __m128i*>(kKeep + 16 - bytes)));
  value = _mm_insert_epi32(_mm_slli_si128(value, 4), static_cast<int>(bytes), 0);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(view), value);
}

// `yyyy-MM-dd HH:mm:ss` with `.SSS` or nothing behind, the usual spellings of TIMESTAMP(3), and the
// same with a Z; remembers the last day and the last time of day.
class QuickMillis {
 public:
  QuickMillis(char separator, DayOverflow overflow) : separator_(separator), overflow_(overflow) {}

  bool Parse(const char* text, size_t bytes, bool zoned, int64_t* millis) {
    const size_t plain = bytes - zoned;
    return (plain == 23 || plain == 19) && (!zoned || text[plain] == 'Z') &&
           ParseFixed(text, plain == 23, millis);
  }

 private:
  __attribute__((target("sse4.1"))) bool ParseFixed(const char* text, bool has_millis,
                                                    int64_t* millis) {
    // The day: ten bytes that seldom change. The time of day: sixteen bytes, `HH:mm:ss.SSS` among
    // them.
    uint16_t day_end;
    std::memcpy(&day_end, text + 8, 2);
    if ((LoadEight(text) != day_head_ || day_end != day_end_) && !ParseDay(text)) return false;
    if (text[10] != separator_) return false;
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

  char separator_;
  DayOverflow overflow_;
  uint64_t day_head_ = ~uint64_t{0};  // no text begins like this
  uint16_t day_end_ = 0;
  int64_t day_millis_ = 0;
  char last_time_[16] = {'0', '0', ':', '0', '0', ':', '0', '0', '.', '0', '0', '0'};
  int64_t last_millis_ = 0;  // within the day
};

}  // namespace rowtide
