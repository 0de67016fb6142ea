// Script text, JSON strings, cast text, and script input.
#include "engine/value_text.h"

#include <cstring>

#include "engine/value_text_digits.h"

namespace rowtide {
namespace {

constexpr uint64_t kOnes = 0x0101010101010101;
constexpr uint64_t kHighs = 0x8080808080808080;

uint64_t ZeroBytes(uint64_t word) { return (word - kOnes) & ~word & kHighs; }

// How many bytes from `at` on need no escape.
size_t CleanBytes(const char* at, size_t size) {
  size_t i = 0;
  for (; i + 8 <= size; i += 8) {
    uint64_t word;
    std::memcpy(&word, at + i, 8);
    const uint64_t below_space = (word - kOnes * 0x20) & ~word & kHighs;
    const uint64_t hits =
        ZeroBytes(word ^ (kOnes * '"')) | ZeroBytes(word ^ (kOnes * '\\')) | below_space;
    if (hits) return i + static_cast<size_t>(__builtin_ctzll(hits)) / 8;
  }
  while (i < size && at[i] != '"' && at[i] != '\\' && static_cast<unsigned char>(at[i]) >= 0x20)
    ++i;
  return i;
}

void AppendEscaped(char c, std::string* out) {
  switch (c) {
    case '"': out->append("\\\""); return;
    case '\\': out->append("\\\\"); return;
    case '\n': out->append("\\n"); return;
    case '\r': out->append("\\r"); return;
    case '\t': out->append("\\t"); return;
    default: break;
  }
  static constexpr char kHex[] = "0123456789abcdef";
  out->append("\\u00");
  *out += kHex[static_cast<unsigned char>(c) >> 4];
  *out += kHex[static_cast<unsigned char>(c) & 15];
}

void AppendHex(std::string_view bytes, std::string* out) {
  static constexpr char kHex[] = "0123456789abcdef";
  for (const char c : bytes) {
    *out += kHex[static_cast<unsigned char>(c) >> 4];
    *out += kHex[static_cast<unsigned char>(c) & 15];
  }
}

void AppendScriptBytes(std::string_view bytes, std::string* out) {
  out->append("\"x'");
  AppendHex(bytes, out);
  out->append("'\"");
}

void AppendScriptTime(WideTime time, const Type& type, std::string* out) {
  *out += '"';
  AppendTimestamp(time.millis, time.nanos, type.precision, out);
  out->append(type.kind == TypeKind::kTimestampLtz ? "Z\"" : "\"");
}

void AppendQuotedDecimal(int128 unscaled, int scale, std::string* out) {
  *out += '"';
  AppendDecimal(unscaled, scale, out);
  *out += '"';
}

WideTime WideTimeAt(const Column& column, int row, const Type& type) {
  if (type.precision > 6) return column.values<WideTime>()[row];
  return ToWideTime(column.values<int64_t>()[row], type);
}

// Milliseconds as `+1 02:03:04.500`, months as `+1-02`: Flink's text of intervals.
void AppendInterval(int64_t value, TypeKind kind, std::string* out) {
  *out += value < 0 ? '-' : '+';
  const int64_t magnitude = value < 0 ? -value : value;
  if (kind == TypeKind::kIntervalMonths) {
    AppendInteger(magnitude / 12, out);
    char month[2];
    PutPair(month, static_cast<uint32_t>(magnitude % 12));
    *out += '-';
    out->append(month, 2);
    return;
  }
  AppendInteger(magnitude / 86'400'000, out);
  *out += ' ';
  AppendTime(magnitude % 86'400'000, 3, out);
}

}  // namespace

std::string Shortened(std::string_view text, size_t bytes_max) {
  if (text.size() <= bytes_max) return std::string(text);
  size_t end = bytes_max;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "…";
}

void AppendJsonString(std::string_view text, std::string* out) {
  *out += '"';
  while (true) {
    const size_t clean = CleanBytes(text.data(), text.size());
    out->append(text.data(), clean);
    if (clean == text.size()) break;
    AppendEscaped(text[clean], out);
    text.remove_prefix(clean + 1);
  }
  *out += '"';
}

void AppendScriptText(const Column& column, int row, const Type& type, std::string* out) {
  if (column.IsNull(row)) {
    out->append("null");
    return;
  }
  switch (type.kind) {
    case TypeKind::kNull: out->append("null"); return;
    case TypeKind::kBoolean: out->append(column.values<uint8_t>()[row] ? "true" : "false"); return;
    case TypeKind::kTinyInt: AppendInteger(column.values<int8_t>()[row], out); return;
    case TypeKind::kSmallInt: AppendInteger(column.values<int16_t>()[row], out); return;
    case TypeKind::kInt: AppendInteger(column.values<int32_t>()[row], out); return;
    case TypeKind::kBigInt:
    case TypeKind::kIntervalMonths:
    case TypeKind::kIntervalMillis: AppendInteger(column.values<int64_t>()[row], out); return;
    case TypeKind::kFloat: AppendScriptFloat(column.values<float>()[row], out); return;
    case TypeKind::kDouble: AppendScriptDouble(column.values<double>()[row], out); return;
    case TypeKind::kDecimal:
      AppendQuotedDecimal(type.precision <= 18 ? int128{column.values<int64_t>()[row]}
                                               : column.values<int128>()[row],
                          type.scale, out);
      return;
    case TypeKind::kChar:
    case TypeKind::kVarChar:
    case TypeKind::kSymbol: AppendJsonString(column.values<StringView>()[row].view(), out); return;
    case TypeKind::kBinary:
    case TypeKind::kVarBinary:
      AppendScriptBytes(column.values<StringView>()[row].view(), out);
      return;
    case TypeKind::kDate:
      *out += '"';
      AppendDate(column.values<int32_t>()[row], out);
      *out += '"';
      return;
    case TypeKind::kTime:
      *out += '"';
      AppendTime(column.values<int32_t>()[row], type.precision, out);
      *out += '"';
      return;
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz:
      AppendScriptTime(WideTimeAt(column, row, type), type, out);
      return;
  }
}

void AppendScriptText(const Value& value, const Type& type, std::string* out) {
  if (IsNull(value)) {
    out->append("null");
    return;
  }
  switch (type.kind) {
    case TypeKind::kNull: out->append("null"); return;
    case TypeKind::kBoolean: out->append(std::get<bool>(value) ? "true" : "false"); return;
    case TypeKind::kTinyInt:
    case TypeKind::kSmallInt:
    case TypeKind::kInt:
    case TypeKind::kBigInt:
    case TypeKind::kIntervalMonths:
    case TypeKind::kIntervalMillis: AppendInteger(std::get<int64_t>(value), out); return;
    case TypeKind::kFloat:
      AppendScriptFloat(static_cast<float>(std::get<double>(value)), out);
      return;
    case TypeKind::kDouble: AppendScriptDouble(std::get<double>(value), out); return;
    case TypeKind::kDecimal: AppendQuotedDecimal(std::get<int128>(value), type.scale, out); return;
    case TypeKind::kChar:
    case TypeKind::kVarChar:
    case TypeKind::kSymbol: AppendJsonString(std::get<std::string>(value), out); return;
    case TypeKind::kBinary:
    case TypeKind::kVarBinary: AppendScriptBytes(std::get<std::string>(value), out); return;
    case TypeKind::kDate:
      *out += '"';
      AppendDate(std::get<int64_t>(value), out);
      *out += '"';
      return;
    case TypeKind::kTime:
      *out += '"';
      AppendTime(std::get<int64_t>(value), type.precision, out);
      *out += '"';
      return;
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz: AppendScriptTime(ToWideTime(value, type), type, out); return;
  }
}

void AppendScriptRow(const RowBatch& batch, int row, const Schema& schema, std::string* out) {
  static constexpr const char* kKinds[] = {"+I [", "-U [", "+U [", "-D ["};
  out->append(kKinds[static_cast<size_t>(batch.kind(row))], 4);
  for (int i = 0; i < schema.size(); ++i) {
    if (i > 0) *out += ',';
    AppendScriptText(batch.columns[static_cast<size_t>(i)], row, schema.type(i), out);
  }
  *out += ']';
}

void AppendCastText(const Value& value, const Type& type, std::string_view zone, std::string* out) {
  if (IsNull(value)) {
    out->append("NULL");
    return;
  }
  switch (type.kind) {
    case TypeKind::kNull: out->append("NULL"); return;
    case TypeKind::kBoolean: out->append(std::get<bool>(value) ? "TRUE" : "FALSE"); return;
    case TypeKind::kTinyInt:
    case TypeKind::kSmallInt:
    case TypeKind::kInt:
    case TypeKind::kBigInt: AppendInteger(std::get<int64_t>(value), out); return;
    case TypeKind::kFloat:
      AppendJavaFloat(static_cast<float>(std::get<double>(value)), out);
      return;
    case TypeKind::kDouble: AppendJavaDouble(std::get<double>(value), out); return;
    case TypeKind::kDecimal: AppendDecimal(std::get<int128>(value), type.scale, out); return;
    case TypeKind::kChar:
    case TypeKind::kVarChar:
    case TypeKind::kSymbol: out->append(std::get<std::string>(value)); return;
    case TypeKind::kBinary:
    case TypeKind::kVarBinary: AppendUtf8(std::get<std::string>(value), out); return;
    case TypeKind::kDate: AppendCastDate(std::get<int64_t>(value), out); return;
    case TypeKind::kTime: AppendCastTime(std::get<int64_t>(value), type.precision, out); return;
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz: {
      const WideTime time = ToWideTime(value, type);
      int64_t offset = 0;
      if (type.kind == TypeKind::kTimestampLtz) ZoneOffsetAtInstant(zone, time.millis, &offset);
      AppendCastTimestamp(time.millis + offset, time.nanos, type.precision, out);
      return;
    }
    case TypeKind::kIntervalMonths:
    case TypeKind::kIntervalMillis:
      AppendInterval(std::get<int64_t>(value), type.kind, out);
      return;
  }
}

}  // namespace rowtide
