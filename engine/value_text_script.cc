// Script input, and repaired UTF-8.
#include <charconv>
#include <limits>

#include "engine/value_text.h"

namespace rowtide {
namespace {

Status Wrong(std::string_view text, const Type& type) {
  return Status::DataError("{} is no {}", Quote(text), ToString(type.Nullable()));
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// x'00ff'
bool ParseBytes(std::string_view text, std::string* bytes) {
  if (text.size() < 3 || (text[0] != 'x' && text[0] != 'X') || text[1] != '\'' ||
      text.back() != '\'')
    return false;
  text = text.substr(2, text.size() - 3);
  if (text.size() % 2 != 0) return false;
  for (size_t i = 0; i < text.size(); i += 2) {
    const int high = HexDigit(text[i]);
    const int low = HexDigit(text[i + 1]);
    if (high < 0 || low < 0) return false;
    *bytes += static_cast<char>(high * 16 + low);
  }
  return true;
}

Result<Value> ParseNumber(std::string_view text, const Type& type) {
  if (IsApproximate(type)) {
    double number;
    if (!ParseDouble(text, &number)) return Wrong(text, type);
    return Value(type.kind == TypeKind::kFloat ? static_cast<double>(static_cast<float>(number))
                                               : number);
  }
  if (type.kind == TypeKind::kDecimal) {
    int128 unscaled;
    bool fits;
    if (!ParseDecimal(text, type.precision, type.scale, &unscaled, &fits) || !fits)
      return Wrong(text, type);
    return Value(unscaled);
  }
  int64_t number;
  if (!ParseInt64(text, &number)) return Wrong(text, type);
  const int bits = 8 * WidthOf(LayoutOf(type));
  const int64_t limit = std::numeric_limits<int64_t>::max() >> (64 - bits);
  if (number > limit || number < -limit - 1) return Wrong(text, type);
  return Value(number);
}

Result<Value> ParseTemporal(std::string_view text, const Type& type) {
  int64_t number;
  if (type.kind == TypeKind::kDate) {
    if (!ParseDate(text, &number)) return Wrong(text, type);
    return Value(number);
  }
  if (type.kind == TypeKind::kTime) {
    if (!ParseTime(text, &number)) return Wrong(text, type);
    return Value(number);
  }
  std::string_view time_text = text;
  if (type.kind == TypeKind::kTimestampLtz && time_text.ends_with('Z')) time_text.remove_suffix(1);
  WideTime time;
  if (!ParseTimestamp(time_text, &time)) return Wrong(text, type);
  return FromWideTime(time, type);
}

// The length of the valid UTF-8 sequence at the start of `text`, or 0; *bad = how many bytes a
// replacement stands for.
size_t SequenceLength(std::string_view text, size_t* bad) {
  const auto at = [&text](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = at(0);
  *bad = 1;
  if (first < 0x80) return 1;
  size_t length = 0;
  unsigned char low = 0x80, high = 0xBF;
  if (first >= 0xC2 && first <= 0xDF) {
    length = 2;
  } else if (first >= 0xE0 && first <= 0xEF) {
    length = 3;
    if (first == 0xE0) low = 0xA0;
    // A surrogate of its own is bad as a whole.
    if (first == 0xED && text.size() > 1 && at(1) >= 0xA0 && at(1) <= 0xBF) {
      *bad = text.size() > 2 && at(2) >= 0x80 && at(2) <= 0xBF ? 3 : 2;
      return 0;
    }
  } else if (first >= 0xF0 && first <= 0xF4) {
    length = 4;
    if (first == 0xF0) low = 0x90;
    if (first == 0xF4) high = 0x8F;
  } else {
    return 0;
  }
  for (size_t i = 1; i < length; ++i) {
    if (i >= text.size() || at(i) < low || at(i) > high) return 0;
    *bad = i + 1;
    low = 0x80;
    high = 0xBF;
  }
  return length;
}

}  // namespace

void AppendUtf8(std::string_view bytes, std::string* out) {
  while (!bytes.empty()) {
    size_t bad;
    const size_t length = SequenceLength(bytes, &bad);
    if (length > 0) {
      out->append(bytes.data(), length);
      bytes.remove_prefix(length);
    } else {
      out->append("\xEF\xBF\xBD");
      bytes.remove_prefix(bad);
    }
  }
}

Result<Value> ParseScriptValue(std::string_view text, bool was_quoted, const Type& type) {
  if (!was_quoted && text == "null") return Value();
  switch (type.kind) {
    case TypeKind::kNull: return Wrong(text, type);
    case TypeKind::kBoolean:
      if (text == "true" || text == "false") return Value(text == "true");
      return Wrong(text, type);
    case TypeKind::kTinyInt:
    case TypeKind::kSmallInt:
    case TypeKind::kInt:
    case TypeKind::kBigInt:
    case TypeKind::kIntervalMonths:
    case TypeKind::kIntervalMillis:
    case TypeKind::kFloat:
    case TypeKind::kDouble:
    case TypeKind::kDecimal: return ParseNumber(text, type);
    case TypeKind::kChar:
    case TypeKind::kVarChar:
    case TypeKind::kSymbol: return Value(std::string(text));
    case TypeKind::kBinary:
    case TypeKind::kVarBinary: {
      std::string bytes;
      if (!ParseBytes(text, &bytes)) return Wrong(text, type);
      return Value(std::move(bytes));
    }
    case TypeKind::kDate:
    case TypeKind::kTime:
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz: return ParseTemporal(text, type);
  }
  RT_CHECK(false);
}

}  // namespace rowtide
