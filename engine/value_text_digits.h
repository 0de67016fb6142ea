// Digits, two at a time: what the text of values is made of. Inline, because the checksum sink and
// pipes run it on every value of every row.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

namespace rowtide {

inline constexpr char kDigitPairs[] =
    "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
    "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
    "8081828384858687888990919293949596979899";

// Writes the two digits of 0..99 at `at`.
inline void PutPair(char* at, uint32_t number) { std::memcpy(at, kDigitPairs + 2 * number, 2); }

// Writes `number` so that it ends just before `end`; returns where it begins.
inline char* PutBackwards(char* end, uint64_t number) {
  while (number >= 100) {
    end -= 2;
    PutPair(end, static_cast<uint32_t>(number % 100));
    number /= 100;
  }
  if (number >= 10) {
    end -= 2;
    PutPair(end, static_cast<uint32_t>(number));
    return end;
  }
  *--end = static_cast<char>('0' + number);
  return end;
}

inline void AppendInteger(int64_t number, std::string* out) {
  char buffer[24];
  char* const end = buffer + sizeof(buffer);
  const bool negative = number < 0;
  char* begin = PutBackwards(
      end, negative ? uint64_t{0} - static_cast<uint64_t>(number) : static_cast<uint64_t>(number));
  if (negative) *--begin = '-';
  out->append(begin, static_cast<size_t>(end - begin));
}

// Exactly `width` digits, with leading zeros.
inline void PutPadded(char* at, uint32_t number, int width) {
  for (int i = width - 1; i >= 0; --i) {
    at[i] = static_cast<char>('0' + number % 10);
    number /= 10;
  }
}

// 0.00123, 123.0, 123000.0: digits without an exponent; `exponent` is the power of ten of the
// first.
void AppendPlainDigits(const char* digits, int count, int exponent, std::string* out);

}  // namespace rowtide
