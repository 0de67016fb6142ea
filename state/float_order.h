// The one notion of equal and less for floats: -0.0 is 0.0, all NaN are one and the largest
// (flink-rank-dedup.md 1.3).
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace rowtide {

template <typename F>
F CanonicalFloat(F value) {
  if (value != value) return std::numeric_limits<F>::quiet_NaN();
  return value == 0 ? F{0} : value;
}

// Unsigned numbers that order as the floats do.
inline uint32_t OrderedBits(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(CanonicalFloat(value));
  return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}
inline uint64_t OrderedBits(double value) {
  const uint64_t bits = std::bit_cast<uint64_t>(CanonicalFloat(value));
  return bits & 0x8000000000000000u ? ~bits : bits | 0x8000000000000000u;
}

}  // namespace rowtide
