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

// Units that Java would count.
size_t JavaLength(std::string_view text) {
  size_t units = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    units += (byte & 0xc0) != 0x80;
    units += byte >= 0xf0;
  }
  return units;
}

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
    : schema_(std::move(schema)), options_(std::move(options)) {
  const auto delimiter = static_cast<unsigned char>(options_.delimiter.front());
  safe_from_ = static_cast<unsigned char>(
      std::max<unsigned char>(delimiter, static_cast<unsigned char>(options_.quote)) + 1);
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
  const Value value = ValueAt(batch, number, row, type);
  scratch_.clear();
  switch (type.kind) {
    case TypeKind::kBoolean: *out += std::get<bool>(value) ? "true" : "false"; return;
    case TypeKind::kTinyInt:
    case TypeKind::kSmallInt:
    case TypeKind::kInt:
    case TypeKind::kBigInt:
      fmt::format_to(std::back_inserter(*out), "{}", std::get<int64_t>(value));
      return;
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
    case TypeKind::kChar:
    case TypeKind::kVarChar:
    case TypeKind::kNull:
    case TypeKind::kIntervalMonths:
    case TypeKind::kIntervalMillis:
    case TypeKind::kSymbol: break;
  }
  AppendText(scratch_, out);
}

void CsvEncoder::AppendText(std::string_view text, std::string* out) const {
  if (!NeedsQuotes(text)) {
    *out += text;
    return;
  }
  *out += options_.quote;
  for (const char c : text) {
    if (c == options_.quote) *out += c;
    if (c == options_.escape && c != '\0') *out += c;
    *out += c;
  }
  *out += options_.quote;
}

bool CsvEncoder::NeedsQuotes(std::string_view text) const {
  if (options_.quote == '\0') return false;
  if (text.size() > kLookedAtMax && JavaLength(text) > kLookedAtMax) return true;
  return std::any_of(text.begin(), text.end(), [this](char c) {
    return static_cast<unsigned char>(c) < safe_from_ || c == '\\' ||
           (c == options_.escape && c != '\0');
  });
}

}  // namespace rowtide
