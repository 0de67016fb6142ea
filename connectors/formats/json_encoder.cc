#include "connectors/formats/json_encoder.h"

#include <array>
#include <cmath>

#include "engine/base64.h"
#include "connectors/formats/json_nested.h"
#include "connectors/java_text.h"
#include "engine/batch_builder.h"
#include "engine/value_text.h"
#include "engine/value_text_digits.h"

namespace rowtide {
namespace {

class JsonEncoder final : public Encoder {
 public:
  JsonEncoder(Schema schema, JsonOptions options, JsonEnvelope envelope)
      : schema_(std::move(schema)),
        options_(options),
        around_(EnvelopeOf(envelope, options.omits_nulls)) {
    for (const Field& field : schema_.fields()) {
      AppendJacksonString(field.name, true, &names_.emplace_back());
      names_.back() += ':';
    }
  }

  Status Encode(const RowBatch& batch, std::string* out, std::vector<size_t>* ends) override {
    for (int row = 0; row < batch.rows; ++row) {
      const Around& around = around_[Adds(batch.kind(row)) ? 0 : 1];
      *out += around.before;
      AppendRow(batch, row, out);
      *out += around.behind;
      if (ends != nullptr) ends->push_back(out->size());
    }
    return Status::Ok();
  }

 private:
  // What stands around a row that is added, and around one that is taken away.
  struct Around {
    std::string before, behind;
  };

  static std::array<Around, 2> EnvelopeOf(JsonEnvelope envelope, bool omits_nulls) {
    const auto halves = [&](const std::string& kind, const char* added, const char* removed) {
      return std::array{Around{omits_nulls ? "{\"after\":" : "{\"before\":null,\"after\":",
                               ",\"" + kind + "\":\"" + added + "\"}\n"},
                        Around{"{\"before\":", (omits_nulls ? ",\"" : ",\"after\":null,\"") + kind +
                                                   "\":\"" + removed + "\"}\n"}};
    };
    switch (envelope) {
      case JsonEnvelope::kDebezium: return halves("op", "c", "d");
      case JsonEnvelope::kOgg: return halves("op_type", "I", "D");
      case JsonEnvelope::kMaxwell:
        return {Around{"{\"data\":", ",\"type\":\"insert\"}\n"},
                Around{"{\"data\":", ",\"type\":\"delete\"}\n"}};
      case JsonEnvelope::kCanal:
        return {Around{"{\"data\":[", "],\"type\":\"INSERT\"}\n"},
                Around{"{\"data\":[", "],\"type\":\"DELETE\"}\n"}};
      case JsonEnvelope::kNone: break;
    }
    return {Around{"", "\n"}, Around{"", "\n"}};
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
    if (AppendWhole(column, type, row, out)) return;
    const Value value = ValueAt(batch, number, row, type);
    switch (type.kind) {
      case TypeKind::kBoolean: *out += std::get<bool>(value) ? "true" : "false"; return;
      case TypeKind::kTinyInt:
      case TypeKind::kSmallInt:
      case TypeKind::kInt:
      case TypeKind::kBigInt: return;  // they are appended already
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

  // Whole numbers, straight from the column. False: it is none.
  static bool AppendWhole(const Column& column, const Type& type, int row, std::string* out) {
    switch (type.kind) {
      case TypeKind::kTinyInt: AppendInteger(column.values<int8_t>()[row], out); return true;
      case TypeKind::kSmallInt: AppendInteger(column.values<int16_t>()[row], out); return true;
      case TypeKind::kInt: AppendInteger(column.values<int32_t>()[row], out); return true;
      case TypeKind::kBigInt: AppendInteger(column.values<int64_t>()[row], out); return true;
      default: return false;
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
  std::array<Around, 2> around_;
  std::vector<std::string> names_;  // in quotes, with the colon
};

}  // namespace

std::unique_ptr<Encoder> CreateJsonEncoder(Schema schema, JsonOptions options,
                                           JsonEnvelope envelope) {
  return std::make_unique<JsonEncoder>(std::move(schema), options, envelope);
}

}  // namespace rowtide
