#include "state/value_bytes.h"

#include <cstring>
#include <string>

namespace rowtide {
namespace {

template <typename T>
T Get(std::string_view bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof(value));
  return value;
}

}  // namespace

uint32_t PackedWidth(Layout layout) {
  if (layout == Layout::kBytes) return 0;
  return layout == Layout::kWideTime ? 12 : static_cast<uint32_t>(WidthOf(layout));
}

Value ValueOfBytes(std::string_view bytes, const Type& type) {
  switch (LayoutOf(type)) {
    case Layout::kBool: return Get<uint8_t>(bytes) != 0;
    case Layout::kInt8: return int64_t{Get<int8_t>(bytes)};
    case Layout::kInt16: return int64_t{Get<int16_t>(bytes)};
    case Layout::kInt32: return int64_t{Get<int32_t>(bytes)};
    case Layout::kInt64:
      if (type.kind == TypeKind::kDecimal) return int128{Get<int64_t>(bytes)};
      return Get<int64_t>(bytes);
    case Layout::kFloat: return double{Get<float>(bytes)};
    case Layout::kDouble: return Get<double>(bytes);
    case Layout::kInt128: return Get<int128>(bytes);
    case Layout::kWideTime: return WideTime{Get<int64_t>(bytes), Get<int32_t>(bytes.substr(8))};
    case Layout::kBytes: return std::string(bytes);
  }
  return {};
}

}  // namespace rowtide
