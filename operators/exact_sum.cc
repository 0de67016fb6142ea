#include "operators/exact_sum.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace rowtide {
namespace {

constexpr int kMantissaBits = 52;
constexpr uint64_t kMantissaMask = (uint64_t{1} << kMantissaBits) - 1;
constexpr int kExponentMask = 0x7ff;

}  // namespace

void ExactSum::Change(double value, int sign) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  const int exponent = static_cast<int>(bits >> kMantissaBits) & kExponentMask;
  uint64_t mantissa = bits & kMantissaMask;
  const bool negative = (bits >> 63) != 0;
  if (exponent == kExponentMask) {
    (mantissa != 0 ? nans_ : negative ? minus_infinities_ : infinities_) += sign;
    return;
  }
  // A subnormal has the exponent of the smallest normal number and no hidden bit.
  const int place = exponent == 0 ? 0 : exponent - 1;
  if (exponent != 0) mantissa |= uint64_t{1} << kMantissaBits;
  const int shift = place % 64;
  const uint64_t low = mantissa << shift;
  const uint64_t high = shift == 0 ? 0 : mantissa >> (64 - shift);
  if (negative == (sign > 0)) {
    SubtractAt(place / 64, low, high);
  } else {
    AddAt(place / 64, low, high);
  }
}

void ExactSum::AddAt(int limb, uint64_t low, uint64_t high) {
  uint64_t carry = __builtin_add_overflow(limbs_[limb], low, &limbs_[limb]) ? 1 : 0;
  uint64_t next = high + carry;  // high has room: it is at most 53 bits
  for (int i = limb + 1; i < kLimbs && next != 0; ++i) {
    next = __builtin_add_overflow(limbs_[i], next, &limbs_[i]) ? 1 : 0;
  }
}

void ExactSum::SubtractAt(int limb, uint64_t low, uint64_t high) {
  uint64_t borrow = __builtin_sub_overflow(limbs_[limb], low, &limbs_[limb]) ? 1 : 0;
  uint64_t next = high + borrow;
  for (int i = limb + 1; i < kLimbs && next != 0; ++i) {
    next = __builtin_sub_overflow(limbs_[i], next, &limbs_[i]) ? 1 : 0;
  }
}

void ExactSum::Merge(const ExactSum& other) {
  unsigned char carry = 0;
  for (int i = 0; i < kLimbs; ++i) {
    uint64_t sum = 0;
    const bool first = __builtin_add_overflow(limbs_[i], other.limbs_[i], &sum);
    const bool second = __builtin_add_overflow(sum, uint64_t{carry}, &limbs_[i]);
    carry = first || second ? 1 : 0;
  }
  nans_ += other.nans_;
  infinities_ += other.infinities_;
  minus_infinities_ += other.minus_infinities_;
}

double ExactSum::Rounded() const {
  if (nans_ > 0 || (infinities_ > 0 && minus_infinities_ > 0))
    return std::numeric_limits<double>::quiet_NaN();
  if (infinities_ > 0) return std::numeric_limits<double>::infinity();
  if (minus_infinities_ > 0) return -std::numeric_limits<double>::infinity();
  const bool negative = (limbs_[kLimbs - 1] >> 63) != 0;
  uint64_t magnitude[kLimbs];
  uint64_t carry = negative ? 1 : 0;
  for (int i = 0; i < kLimbs; ++i) {
    const uint64_t limb = negative ? ~limbs_[i] : limbs_[i];
    carry = __builtin_add_overflow(limb, carry, &magnitude[i]) ? 1 : 0;
  }
  int top = kLimbs - 1;
  while (top >= 0 && magnitude[top] == 0) --top;
  if (top < 0) return 0.0;
  const int highest = top * 64 + 63 - __builtin_clzll(magnitude[top]);
  const int lowest = highest - 63;
  if (lowest <= 0) {  // the whole number fits into 64 bits
    const double rounded = static_cast<double>(magnitude[0]);
    return std::ldexp(negative ? -rounded : rounded, kLowestExponent);
  }
  // The 64 bits from the highest one down, and whether anything lies below them.
  const int limb = lowest / 64;
  const int shift = lowest % 64;
  const uint64_t window = shift == 0
                              ? magnitude[limb]
                              : (magnitude[limb] >> shift) | (magnitude[limb + 1] << (64 - shift));
  bool sticky = shift != 0 && (magnitude[limb] << (64 - shift)) != 0;
  for (int i = 0; i < limb && !sticky; ++i) sticky = magnitude[i] != 0;
  // Sticky bits only matter on a tie: the window has eleven bits more than a double keeps.
  const double rounded = static_cast<double>(window | (sticky ? 1 : 0));
  return std::ldexp(negative ? -rounded : rounded, lowest + kLowestExponent);
}

}  // namespace rowtide
