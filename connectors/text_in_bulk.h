// Numbers, texts and times as text, many at once: what the encoders of scripts and csv share.
//
//   PutInteger     -42                        eight digits a step, no division by ten
//   PutBareDigits  3426, 00           what DECIMALs without zeros at their end are made of
//   DigitsOfFour   1009 1001 557 12           four numbers in one register (AVX2)
//   CopyText       https://www.nexmark.com…   copied and looked through in the same pass
//   LastSecond     2026-01-01 00:00:00.       kept, because rows of one moment follow each other
//
// Everything writes to plain memory and may store up to 32 bytes beyond what it wrote. Wide
// instructions are for functions marked RT_AVX2, run only where HasAvx2() says so.
#pragma once

#include <immintrin.h>

#include <algorithm>
#include <cstring>

#include "engine/string_view.h"

namespace rowtide {

#define RT_AVX2 __attribute__((target("avx2,bmi,bmi2")))

inline bool HasAvx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
         __builtin_cpu_supports("bmi2");
}

// --- numbers -------------------------------------------------------------------------------------

inline constexpr uint32_t kEightDigits = 100000000;

// The decimal digits of a number below 10^8, one a byte, the first one lowest (Khuong and Lemire).
inline uint64_t DigitsOf(uint32_t value) {
  const uint64_t halves = value / 10000 | static_cast<uint64_t>(value % 10000) << 32;
  const uint64_t top = (halves * 10486 >> 20) & 0x0000007f0000007f;
  const uint64_t hundreds = (halves - 100 * top) << 16 | top;
  const uint64_t tens = (hundreds * 103 >> 10) & 0x000f000f000f000f;
  return tens + ((hundreds - 10 * tens) << 8);
}

inline char* StoreDigits(uint64_t digits, char* out) {
  digits |= 0x3030303030303030;
  std::memcpy(out, &digits, 8);
  return out + 8;
}

// Returns where the text ends, as all Put… do.
inline char* PutUnsigned(uint64_t value, char* out) {
  if (value >= kEightDigits) {
    out = PutUnsigned(value / kEightDigits, out);
    return StoreDigits(DigitsOf(static_cast<uint32_t>(value % kEightDigits)), out);
  }
  const uint64_t digits = DigitsOf(static_cast<uint32_t>(value));
  const int zeros = __builtin_ctzll(digits | 1ull << 56) / 8;  // a zero keeps one digit
  StoreDigits(digits >> (8 * zeros), out);
  return out + 8 - zeros;
}

inline uint64_t Magnitude(int64_t value) {
  return value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
}

inline char* PutInteger(int64_t value, char* out) {
  *out = '-';
  out += value < 0;
  return PutUnsigned(Magnitude(value), out);
}

// The digits of a number without the zeros behind, and how many those are; 0 is itself.
struct BareDigits {
  const char* begin;
  uint32_t bytes;
  uint32_t zeros;
};

// Writes the digits somewhere into `text`. Below 10^16 without a branch on how many there are.
inline BareDigits PutBareDigits(uint64_t value, char* text) {
  if (value < uint64_t{kEightDigits} * kEightDigits) {
    const uint64_t high = DigitsOf(static_cast<uint32_t>(value / kEightDigits));
    const uint64_t low = DigitsOf(static_cast<uint32_t>(value % kEightDigits));
    StoreDigits(low, StoreDigits(high, text));
    const int before =
        high != 0 ? __builtin_ctzll(high) / 8 : 8 + __builtin_ctzll(low | 1ull << 56) / 8;
    const int behind = low != 0    ? __builtin_clzll(low) / 8
                       : high != 0 ? 8 + __builtin_clzll(high) / 8
                                   : 0;
    return {text + before, static_cast<uint32_t>(16 - before - behind),
            static_cast<uint32_t>(behind)};
  }
  const char* end = PutUnsigned(value, text);
  uint32_t zeros = 0;
  for (; end[-1] == '0'; --end) ++zeros;
  return {text, static_cast<uint32_t>(end - text), zeros};
}

// As DigitsOf, of four numbers; false when one of them has a sign or more than eight digits.
RT_AVX2 inline bool DigitsOfFour(const int64_t* values, uint64_t* digits) {
  const __m256i four = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(values));
  const __m256i above = _mm256_cmpgt_epi64(four, _mm256_set1_epi64x(kEightDigits - 1));
  if (_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_or_si256(above, four))) != 0) return false;
  const __m256i top = _mm256_srli_epi64(_mm256_mul_epu32(four, _mm256_set1_epi64x(3518437209)),
                                        45);  // a division by 10000
  const __m256i rest = _mm256_sub_epi64(four, _mm256_mul_epu32(top, _mm256_set1_epi64x(10000)));
  const __m256i halves = _mm256_or_si256(top, _mm256_slli_epi64(rest, 32));
  const __m256i hundreds =
      _mm256_srli_epi16(_mm256_mulhi_epu16(halves, _mm256_set1_epi16(5243)), 3);
  const __m256i below =
      _mm256_sub_epi16(halves, _mm256_mullo_epi16(hundreds, _mm256_set1_epi16(100)));
  const __m256i pairs = _mm256_or_si256(hundreds, _mm256_slli_epi32(below, 16));
  const __m256i tens = _mm256_mulhi_epu16(pairs, _mm256_set1_epi16(6554));
  const __m256i ones = _mm256_sub_epi16(pairs, _mm256_mullo_epi16(tens, _mm256_set1_epi16(10)));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(digits),
                      _mm256_or_si256(tens, _mm256_slli_epi16(ones, 8)));
  return true;
}

// What DigitsOfFour found for one of the numbers, as text.
RT_AVX2 inline char* PutDigits(uint64_t digits, char* out) {
  const uint64_t zeros = _tzcnt_u64(digits | 1ull << 56) & ~7ull;  // in bits
  StoreDigits(digits >> zeros, out);
  return out + 8 - zeros / 8;
}

// --- texts ---------------------------------------------------------------------------------------

// Sixteen or 32 bytes at once: loaded, stored, and reduced by a `Look` to a byte each, of which the
// highest bit says whether the encoder has to do something about it.
struct SsePiece {
  static constexpr size_t kBytes = 16;
  __m128i bytes;

  static SsePiece Of(char byte) { return SsePiece(_mm_set1_epi8(byte)); }
  explicit SsePiece(__m128i all) : bytes(all) {}
  explicit SsePiece(const char* from)
      : bytes(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))) {}
  void StoreTo(char* to) const { _mm_storeu_si128(reinterpret_cast<__m128i*>(to), bytes); }
  __m128i low() const { return bytes; }
  template <typename Look>
  SsePiece Seen(const Look& look) const {
    return SsePiece(look.Specials(bytes));
  }
  void Add(const SsePiece& other) { bytes = _mm_or_si128(bytes, other.bytes); }
  uint32_t Bits() const { return static_cast<uint32_t>(_mm_movemask_epi8(bytes)); }
};

struct Avx2Piece {
  static constexpr size_t kBytes = 32;
  __m256i bytes;

  RT_AVX2 static Avx2Piece Of(char byte) { return Avx2Piece(_mm256_set1_epi8(byte)); }
  // By reference: without AVX2 there is no way to pass such a value.
  RT_AVX2 explicit Avx2Piece(const __m256i& all) : bytes(all) {}
  RT_AVX2 explicit Avx2Piece(const char* from)
      : bytes(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))) {}
  RT_AVX2 void StoreTo(char* to) const {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), bytes);
  }
  RT_AVX2 __m128i low() const { return _mm256_castsi256_si128(bytes); }
  template <typename Look>
  RT_AVX2 Avx2Piece Seen(const Look& look) const {
    Avx2Piece seen(bytes);
    look.TurnToSpecials(&seen.bytes);
    return seen;
  }
  RT_AVX2 void Add(const Avx2Piece& other) { bytes = _mm256_or_si256(bytes, other.bytes); }
  RT_AVX2 uint32_t Bits() const { return static_cast<uint32_t>(_mm256_movemask_epi8(bytes)); }
};

// Copies a text to `out`; returns not 0 when the look finds something in it. `Piece` is the widest
// one that may be used.
template <typename Piece, typename Look>
inline uint32_t CopyText(const StringView& view, char* out, const Look& look) {
  const size_t size = view.size();
  if (view.is_inline()) {
    // The view holds a short text in its last 12 bytes.
    const SsePiece piece(_mm_srli_si128(SsePiece(reinterpret_cast<const char*>(&view)).bytes, 4));
    piece.StoreTo(out);
    return piece.Seen(look).Bits() & ((1u << size) - 1);
  }
  const char* from = view.data();
  if (size >= Piece::kBytes) {
    // Three pieces, of which the middle one may overlap the others: no branch on lengths that vary
    // from row to row.
    const char* const last = from + size - Piece::kBytes;
    char* const last_out = out + size - Piece::kBytes;
    const Piece end(last);
    end.StoreTo(last_out);
    Piece found = end.Seen(look);
    for (; last - from > static_cast<ptrdiff_t>(2 * Piece::kBytes);
         from += Piece::kBytes, out += Piece::kBytes) {
      const Piece piece(from);
      found.Add(piece.Seen(look));
      piece.StoreTo(out);
    }
    const Piece first(from), middle(std::min(from + Piece::kBytes, last));
    found.Add(first.Seen(look));
    found.Add(middle.Seen(look));
    first.StoreTo(out);
    middle.StoreTo(std::min(out + Piece::kBytes, last_out));
    return found.Bits();
  }
  if (size >= SsePiece::kBytes) {
    const SsePiece first(from), last(from + size - SsePiece::kBytes);
    first.StoreTo(out);
    last.StoreTo(out + size - SsePiece::kBytes);
    SsePiece found = first.Seen(look);
    found.Add(last.Seen(look));
    return found.Bits();
  }
  // Thirteen to fifteen bytes, as two halves that overlap.
  uint64_t halves[2];
  std::memcpy(&halves[0], from, 8);
  std::memcpy(&halves[1], from + size - 8, 8);
  std::memcpy(out, &halves[0], 8);
  std::memcpy(out + size - 8, &halves[1], 8);
  return SsePiece(reinterpret_cast<const char*>(halves)).Seen(look).Bits();
}

// --- times ---------------------------------------------------------------------------------------

// The last second that was asked for, and its text.
struct LastSecond {
  static constexpr size_t kTextBytes = 20;  // `yyyy-MM-dd HH:mm:ss.`

  int64_t begin = 0;
  char text[24] = "1970-01-01 00:00:00.";

  // How far into the last second a moment is; not less than a second when it is in another one.
  uint64_t Within(int64_t time) const {
    return static_cast<uint64_t>(time) - static_cast<uint64_t>(begin);
  }
  // Moves to the second of another moment. False for a year of more than four digits, whose text
  // is longer; then nothing changes.
  bool MoveTo(int64_t time, int64_t units_per_second);
};

}  // namespace rowtide
