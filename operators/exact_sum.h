// The exact sum of doubles that come and go: a fixed-point number wide enough for every double.
//
//   +1.8e16  +1.0  -1.8e16   ->   1.0          adding and subtracting doubles would give 0.0
//
//   | 2^-1074 ... 2^-1011 | 2^-1010 ... | ... 2^1101 |     34 limbs of 64 bits, two's complement
//
// NaN and the infinities are counted beside it, so that they leave without a trace. Equal sums have
// equal bytes, whatever way led to them. Adding costs a few limbs, reading the rounded sum a look
// at those that are not zero.
#pragma once

#include <cstdint>

namespace rowtide {

class ExactSum {
 public:
  void Add(double value) { Change(value, 1); }
  void Subtract(double value) { Change(value, -1); }
  void Merge(const ExactSum& other);
  // The nearest double, ties to even; NaN and infinities as IEEE 754 adds them. A sum of nothing is
  // 0.0.
  double Rounded() const;

 private:
  static constexpr int kLimbs = 34;
  static constexpr int kLowestExponent = -1074;  // of the last bit

  void Change(double value, int sign);
  void AddAt(int limb, uint64_t low, uint64_t high);
  void SubtractAt(int limb, uint64_t low, uint64_t high);

  uint64_t limbs_[kLimbs] = {};
  int64_t nans_ = 0;
  int64_t infinities_ = 0;
  int64_t minus_infinities_ = 0;
};

}  // namespace rowtide
