#include "connectors/formats/quick_values.h"

#include <string_view>

namespace rowtide {

bool QuickMillis::ParseDay(const char* text) {
  std::string_view day(text, 10);
  int64_t days;
  if (!TakeIsoDate(&day, overflow_, &days)) return false;
  day_head_ = LoadEight(text);
  std::memcpy(&day_end_, text + 8, 2);
  day_millis_ = days * 86400000;
  return true;
}

}  // namespace rowtide
