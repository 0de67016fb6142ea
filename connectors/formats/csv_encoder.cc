#include "connectors/formats/csv_encoder.h"

#include <algorithm>

#include "engine/base64.h"
#include "connectors/java_text.h"
#include "engine/batch_builder.h"
#include "engine/value_text.h"

namespace rowtide {
namespace {

// Above this many UTF-16 units a text is quoted without a look at it.
constexpr size_t kLookedAtMax = 24;

}  // namespace

Result<std::unique_ptr<CsvEncoder>> CsvEncoder::Create(Schema schema, CsvOptions options) {
  for (const Field& field : schema.fields()) {
    if (field.type.kind == TypeKind::kNull || field.type.kind == TypeKind::kSymbol ||
        IsInterval(field.type)) {
      return Status::Plan("csv cannot hold column {} of type {}", Quote(field.name),
                          ToString(field.type));
    }
  }
  return std::unique_ptr<CsvEncoder>(new CsvEncoder(std::move(schema), std::move(options)));
}

CsvEncoder::CsvEncoder(Schema schema, CsvOptions options)
    : schema_(std::move(schema)),
      options_(std::move(options)),
      seconds_(static_cast<size_t>(schema_.size())) {
  // Jackson quotes whatever is not above both the delimiter and the quote.
  const auto delimiter = static_cast<unsigned char>(options_.delimiter.front());
  const auto quote = static_cast<unsigned char>(options_.quote);
  for (size_t c = 0; c <= std::max(delimiter, quote); ++c) needs_quotes_[c] = 1;
  needs_quotes_['\\'] = 1;
  if (options_.escape != '\0') needs_quotes_[static_cast<unsigned char>(options_.escape)] = 1;
}

Status CsvEncoder::Encode(const RowBatch& batch, std::string* out) {
  for (int row = 0; row < batch.rows; ++row) {
    for (int column = 0; column < schema_.size(); ++column) {
      if (column > 0) *out += options_.delimiter;
      AppendValue(batch, column, row, out);
    }
    *out += '\n';
  }
  return Status::Ok();
}

void CsvEncoder::AppendValue(const RowBatch& batch, int number, int row, std::string* out) {
  const Column& column = batch.columns[static_cast<size_t>(number)];
  const Type& type = schema_.type(number);
  if (column.IsNull(row)) {
    *out += options_.null_literal.value_or("");
    return;
  }
  if (IsCharacter(type)) return AppendText(column.values<StringView>()[row].view(), out);
  const auto append_integer = [out](int64_t value) {
    const fmt::format_int digits(value);
    out->append(digits.data(), digits.size());
  };
  switch (type.kind) {
    case TypeKind::kTinyInt: return append_integer(column.values<int8_t>()[row]);
    case TypeKind::kSmallInt: return append_integer(column.values<int16_t>()[row]);
    case TypeKind::kInt: return append_integer(column.values<int32_t>()[row]);
    case TypeKind::kBigInt: return append_integer(column.values<int64_t>()[row]);
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz:
      if (type.precision <= 3 && column.layout() == Layout::kInt64)
        return AppendMillis(column.values<int64_t>()[row], number, out);
      break;
    default: break;
  }
  const Value value = ValueAt(batch, number, row, type);
  scratch_.clear();
  switch (type.kind) {
    case TypeKind::kBoolean: *out += std::get<bool>(value) ? "true" : "false"; return;
    case TypeKind::kFloat: return AppendJavaFloat(static_cast<float>(std::get<double>(value)), out);
    case TypeKind::kDouble: return AppendJavaDouble(std::get<double>(value), out);
    case TypeKind::kDecimal:
      return AppendJavaDecimalStripped(std::get<int128>(value), type.scale, out);
    case TypeKind::kBinary:
    case TypeKind::kVarBinary: AppendBase64(std::get<std::string>(value), &scratch_); break;
    case TypeKind::kDate:
    case TypeKind::kTime:
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz: AppendStrippedTime(value, type, ' ', &scratch_); break;
    case TypeKind::kTinyInt:
    case TypeKind::kSmallInt:
    case TypeKind::kInt:
    case TypeKind::kBigInt:
    case TypeKind::kChar:
    case TypeKind::kVarChar:
    case TypeKind::kNull:
    case TypeKind::kIntervalMonths:
    case TypeKind::kIntervalMillis:
    case TypeKind::kSymbol: break;
  }
  AppendText(scratch_, out);
}

// `2026-01-02 03:04:05.12`, and Z behind it for an instant.
void CsvEncoder::AppendMillis(int64_t millis, int number, std::string* out) {
  const Type& type = schema_.type(number);
  int64_t second = millis / 1000, fraction = millis % 1000;
  if (fraction < 0) {
    fraction += 1000;
    --second;
  }
  SecondText& last = seconds_[static_cast<size_t>(number)];
  if (last.second != second) {
    last.text.clear();
    AppendStrippedTime(second * 1000, Type(type).NotNull(), ' ', &last.text);
    last.second = second;
  }
  scratch_ = last.text;
  if (fraction > 0) {
    char digits[4] = {'.', static_cast<char>('0' + fraction / 100),
                      static_cast<char>('0' + fraction / 10 % 10),
                      static_cast<char>('0' + fraction % 10)};
    size_t used = 4;
    while (digits[used - 1] == '0') --used;
    const bool has_zone = type.kind == TypeKind::kTimestampLtz;
    scratch_.insert(scratch_.size() - has_zone, digits, used);
  }
  AppendText(scratch_, out);
}

void CsvEncoder::AppendText(std::string_view text, std::string* out) const {
  if (NeedsQuotes(text)) return AppendQuoted(text, out);
  *out += text;
}

void CsvEncoder::AppendQuoted(std::string_view text, std::string* out) const {
  *out += options_.quote;
  if (options_.escape == '\0') {
    for (size_t at = text.find(options_.quote); at != text.npos; at = text.find(options_.quote)) {
      *out += text.substr(0, at + 1);
      *out += options_.quote;
      text.remove_prefix(at + 1);
    }
    *out += text;
  } else {
    for (const char c : text) {
      if (c == options_.quote) *out += c;
      if (c == options_.escape) *out += c;
      *out += c;
    }
  }
  *out += options_.quote;
}

bool CsvEncoder::NeedsQuotes(std::string_view text) const {
  if (options_.quote == '\0') return false;
  if (text.size() > 3 * kLookedAtMax) return true;  // no unit has more than three bytes
  size_t units = 0;                                 // that Java would count
  uint8_t needs = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    needs |= needs_quotes_[byte];
    units += (byte & 0xc0) != 0x80;
    units += byte >= 0xf0;
  }
  return needs != 0 || units > kLookedAtMax;
}

}  // namespace rowtide
