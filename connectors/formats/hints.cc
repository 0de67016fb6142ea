#include "connectors/formats/hints.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/schema.h"

namespace rowtide {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

std::string_view Trimmed(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string_view Unquoted(std::string_view text) {
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"')
    return text.substr(1, text.size() - 2);
  return text;
}

// 'd' for digits, all else as it stands: `2026-01-02T03:04Z` is `d-d-dTd:dZ`.
std::string ShapeOf(std::string_view text) {
  std::string shape;
  for (const char c : text.substr(0, 64)) {
    if (!IsDigit(c)) {
      shape.push_back(c);
    } else if (shape.empty() || shape.back() != 'd') {
      shape.push_back('d');
    }
  }
  return shape;
}

bool HasZone(const std::string& shape) {
  const size_t time = shape.find(':');
  return time != std::string::npos && shape.find_first_of("Z+-", time) != std::string::npos;
}

// The field keeps its name, which a header may have given it: `ts STRING, ts_time AS …`.
std::string Computed(const std::string& column, const std::string& pattern, const Type& type) {
  const std::string call = fmt::format("TO_TIMESTAMP(`{}`, '{}')", column, pattern);
  std::string computed = call;
  if (type.kind == TypeKind::kDate) computed = fmt::format("CAST({} AS DATE)", call);
  if (type.kind == TypeKind::kTimestampLtz)
    computed = fmt::format("TO_TIMESTAMP_LTZ(`{}`, '{}', 'UTC')", column, pattern);
  return fmt::format("declare `{0}` STRING and compute a column of it: `{0}_{1}` AS {2}", column,
                     type.kind == TypeKind::kDate ? "date" : "time", computed);
}

std::string TimeHint(std::string_view value, const std::string& column, const Type& type,
                     TextFormat format) {
  const std::string shape = ShapeOf(value);
  const bool zoned = type.kind == TypeKind::kTimestampLtz;
  if (shape == "d" && (value.size() == 10 || value.size() == 13)) {
    return fmt::format(
        "the value counts {0} since 1970: declare `{1}` BIGINT and compute a column of it: "
        "`{1}_time` AS TO_TIMESTAMP_LTZ(`{1}`, {2})",
        value.size() == 10 ? "seconds" : "milliseconds", column, value.size() == 10 ? 0 : 3);
  }
  const bool is_iso = shape.starts_with("d-d-dTd:d");
  if (is_iso && format == TextFormat::kJson) {
    const std::string standard = "'json.timestamp-format.standard' = 'ISO-8601' in WITH";
    if (HasZone(shape) && !zoned)
      return "declare the column TIMESTAMP_LTZ(3), which takes the zone, with " + standard;
    return standard;
  }
  if (is_iso) {
    const bool has_millis = shape.find('.') != std::string::npos;
    const std::string zone = shape.ends_with('Z') ? "''Z''" : "";
    return "the csv format reads 'yyyy-MM-dd HH:mm:ss'; " +
           Computed(column,
                    fmt::format("yyyy-MM-dd''T''HH:mm:ss{}{}", has_millis ? ".SSS" : "", zone),
                    type);
  }
  if (shape.starts_with("d-d-d d:d") && format == TextFormat::kCsv && zoned && !HasZone(shape))
    return "a TIMESTAMP_LTZ of the csv format ends in Z (UTC); without one the column is a "
           "TIMESTAMP";
  if (shape.starts_with("d-d-d d:d") && HasZone(shape) && !zoned)
    return "a TIMESTAMP has no zone: declare the column TIMESTAMP_LTZ";
  if (shape.starts_with("d-d-d") && type.kind != TypeKind::kDate)
    return "the value has no time of day: declare the column DATE";
  for (const char* separator : {"/", "."}) {
    if (shape.starts_with(fmt::format("d{0}d{0}d", separator))) {
      const bool year_first = value.find(separator) == 4;
      const std::string pattern = year_first ? fmt::format("yyyy{0}MM{0}dd", separator)
                                             : fmt::format("dd{0}MM{0}yyyy", separator);
      const bool has_time = shape.find(':') != std::string::npos;
      return Computed(column, pattern + (has_time ? " HH:mm:ss" : ""), type);
    }
  }
  return "";
}

std::string IntegerHint(std::string_view value, const Type& type) {
  const std::string_view digits =
      value.starts_with('-') || value.starts_with('+') ? value.substr(1) : value;
  const bool whole = !digits.empty() && std::all_of(digits.begin(), digits.end(), IsDigit);
  if (whole && type.kind != TypeKind::kBigInt && digits.size() <= 18)
    return fmt::format("the value is beyond {}: declare the column BIGINT",
                       ToString(type.Nullable()));
  if (whole) return "the value is beyond BIGINT: declare the column DECIMAL(38, 0)";
  const std::string shape = ShapeOf(digits);
  if (shape == "d.d") return "the value has a fraction: declare the column DECIMAL or DOUBLE";
  if (shape.find("d,d") == 0 || shape.find("d'd") == 0 || shape.find("d d") == 0)
    return "digits are not grouped: declare the column STRING and compute the number with REPLACE "
           "and CAST";
  return "";
}

}  // namespace

std::string CastHint(std::string_view value, const std::string& column, const Type& type,
                     TextFormat format) {
  value = Unquoted(Trimmed(value));
  if (value.empty() && format == TextFormat::kCsv)
    return "'csv.null-literal' = '' in WITH reads an empty field as NULL";
  switch (type.kind) {
    case TypeKind::kTinyInt:
    case TypeKind::kSmallInt:
    case TypeKind::kInt:
    case TypeKind::kBigInt: return IntegerHint(value, type);
    case TypeKind::kDate:
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz: return TimeHint(value, column, type, format);
    default: return "";
  }
}

std::string DelimiterHint(std::string_view record, std::string_view delimiter, int fields,
                          int expected) {
  for (const char* other : {",", ";", "\t", "|"}) {
    if (delimiter == other) continue;
    const auto found = static_cast<int>(std::count(record.begin(), record.end(), other[0])) + 1;
    if (found == expected && found > fields)
      return fmt::format(
          "the fields seem to be parted by {0}: 'csv.field-delimiter' = '{1}' in WITH",
          other[0] == '\t' ? "tabs" : fmt::format("'{}'", other), other[0] == '\t' ? "\\t" : other);
  }
  return "";
}

std::string JsonHint(std::string_view record) {
  const std::string_view text = Trimmed(record);
  if (text.starts_with('['))
    return "one JSON object a line is wanted, and this is an array: jq -c '.[]' FILE";
  if (text == "{") return "one JSON object a line is wanted, and this one has many: jq -c . FILE";
  return "";
}

std::string PackedHint(std::string_view bytes) {
  struct Magic {
    std::string_view bytes;
    const char* name;
    const char* suffix;
  };
  constexpr Magic kMagics[] = {{"\x28\xb5\x2f\xfd", "zstd", ".zst"}, {"\x1f\x8b", "gzip", ".gz"}};
  for (const Magic& magic : kMagics) {
    if (bytes.starts_with(magic.bytes))
      return fmt::format(
          "the bytes are packed by {0}: a file whose name ends in {1} is unpacked, "
          "others by {0} -dc FILE | rowtide run …",
          magic.name, magic.suffix);
  }
  if (bytes.starts_with("Obj\x01"))
    return "this is an Avro container file: 'format' = 'avro' in WITH reads it";
  if (bytes.starts_with("PAR1")) return "this is a Parquet file, which cannot be read yet";
  return "";
}

}  // namespace rowtide
