#include "connectors/text_in_bulk.h"

#include <string>

#include "engine/value_text.h"

namespace rowtide {

[[gnu::noinline]] bool LastSecond::MoveTo(int64_t time, int64_t units_per_second) {
  int64_t second = time / units_per_second;
  if (time % units_per_second < 0) --second;
  constexpr int64_t kFourDigits = 253402300800;  // the beginning of the year 10000
  if (second < -kFourDigits || second >= kFourDigits) return false;
  std::string moment;
  AppendTimestamp(second * 1000, 0, 1, &moment);
  if (moment.size() != kTextBytes + 1) return false;
  std::memcpy(text, moment.data(), kTextBytes);
  begin = second * units_per_second;
  return true;
}

}  // namespace rowtide
