#include "connectors/formats/json_encoder.h"

#include <cmath>

#include "engine/base64.h"
#include "connectors/formats/json_nested.h"
#include "connectors/java_text.h"
#include "engine/batch_builder.h"
#include "engine/value_text.h"

namespace rowtide {
namespace {

class JsonEncoder final : public Encoder {
 public:
  JsonEncoder(Schema schema, JsonOptions options, JsonEnvelope envelope)
      : schema_(std::move(schema)), options_(options), envelope_(envelope) {
    for (const Field& field : schema_.fields()) {
      AppendJacksonString(field.name, true, &names_.emplace_back());
      names_.back() += ':';
    }
  }

  Status Encode(const RowBatch& batch, std::string* out) override {
    for (int row = 0; row < batch.rows; ++row) {
      if (envelope_ == JsonEnvelope::kNone) {
        AppendRow(batch, row, out);
      } else if (IsAdded(batch.kind(row))) {
        *out += options_.omits_nulls ? "{\"after\":" : "{\"before\":null,\"after\":";
        AppendRow(batch, row, out);
        *out += ",\"op\":\"c\"}";
      } else {
        *out += "{\"before\":";
        AppendRow(batch, row, out);
        *out += options_.omits_nulls ? ",\"op\":\"d\"}" : ",\"after\":null,\"op\":\"d\"}";
      }
      *out += '\n';
    }
    return Status::Ok();
  }

 private:
  static bool IsAdded(RowKind kind) {
    return kind == RowKind::kInsert || kind == RowKind::kUpdateAfter;
  }

  void AppendRow(const RowBatch& batch, int row, std::string* out) {
    *out += '{';
    for (int column = 0; column < schema_.size(); ++column) {
      const Column& values = batch.columns[static_cast<size_t>(column)];
      if (values.IsNull(row) && options_.omits_nulls) continue;
      if (out->back() != '{') *out += ',';
      *out += names_[static_cast<size_t>(column)];
      AppendValue(batch, column, row, out);
    }
    *out += '}';
  }

  void AppendValue(const RowBatch& batch, int number, int row, std::string* out) {
    const Column& column = batch.columns[static_cast<size_t>(number)];
    const Type& type = schema_.type(number);
    if (column.IsNull(row)) {
      *out += "null";
      return;
    }
    if (IsCharacter(type))
      return AppendJacksonString(column.values<StringView>()[row].view(), true, out);
    const Value value = ValueAt(batch, number, row, type);
    switch (type.kind) {
      case TypeKind::kBoolean: *out += std::get<bool>(value) ? "true" : "false"; return;
      case TypeKind::kTinyInt:
      case TypeKind::kSmallInt:
      case TypeKind::kInt:
      case TypeKind::kBigInt:
        fmt::format_to(std::back_inserter(*out), "{}", std::get<int64_t>(value));
        return;
      case TypeKind::kFloat:
      case TypeKind::kDouble: return AppendNumber(std::get<double>(value), type, out);
      case TypeKind::kDecimal:
        if (options_.plain_decimals) return AppendDecimal(std::get<int128>(value), type.scale, out);
        return AppendJavaDecimalStripped(std::get<int128>(value), type.scale, out);
      case TypeKind::kBinary:
      case TypeKind::kVarBinary:
        *out += '"';
        AppendBase64(std::get<std::string>(value), out);
        *out += '"';
        return;
      case TypeKind::kDate:
      case TypeKind::kTime:
      case TypeKind::kTimestamp:
      case TypeKind::kTimestampLtz:
        *out += '"';
        AppendStrippedTime(value, type, options_.iso_timestamps ? 'T' : ' ', out);
        *out += '"';
        return;
      case TypeKind::kChar:
      case TypeKind::kVarChar:
      case TypeKind::kNull:
      case TypeKind::kIntervalMonths:
      case TypeKind::kIntervalMillis:
      case TypeKind::kSymbol: return;
    }
  }

  static void AppendNumber(double number, const Type& type, std::string* out) {
    const bool is_text = !std::isfinite(number);
    if (is_text) *out += '"';
    if (type.kind == TypeKind::kFloat) {
      AppendJavaFloat(static_cast<float>(number), out);
    } else {
      AppendJavaDouble(number, out);
    }
    if (is_text) *out += '"';
  }

  Schema schema_;
  JsonOptions options_;
  JsonEnvelope envelope_;
  std::vector<std::string> names_;  // in quotes, with the colon
};

}  // namespace

std::unique_ptr<Encoder> CreateJsonEncoder(Schema schema, JsonOptions options,
                                           JsonEnvelope envelope) {
  return std::make_unique<JsonEncoder>(std::move(schema), options, envelope);
}

}  // namespace rowtide
