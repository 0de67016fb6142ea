#include "connectors/formats/json_encoder.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "connectors/formats/json_nested.h"
#include "connectors/java_text.h"
#include "connectors/text_in_bulk.h"
#include "engine/base64.h"
#include "engine/batch_builder.h"
#include "engine/value_text.h"

namespace rowtide {
namespace {

// Rows that are written before they are copied to where they go: they stay in the nearest cache.
constexpr int kStepRows = 64;
// A number, a time in quotes or `null`, and what is stored beyond its end.
constexpr size_t kShortBytes = 64;

// What a text cannot have as it is: see AppendJacksonString.
struct EscapedLook {
  __m128i Specials(__m128i bytes) const {
    const __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1f)), bytes);
    const __m128i pair =
        _mm_cmpeq_epi8(_mm_max_epu8(bytes, _mm_set1_epi8(static_cast<char>(0xf0))), bytes);
    const __m128i named = _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')),
                                       _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
    return _mm_or_si128(_mm_or_si128(control, pair), named);
  }
};

// The head of a field, `,"price":`. The first one's comma becomes the brace of its row.
class FieldName {
 public:
  explicit FieldName(std::string text) : text_(std::move(text)) {
    text_.resize(std::max(bytes_ = text_.size(), kHeadBytes));
  }
  size_t bytes() const { return bytes_; }
  char* PutTo(char* out) const {
    std::memcpy(out, text_.data(), kHeadBytes);
    if (bytes_ > kHeadBytes) [[unlikely]]
      std::memcpy(out, text_.data(), bytes_);
    return out + bytes_;
  }

 private:
  static constexpr size_t kHeadBytes = 32;
  size_t bytes_ = 0;
  std::string text_;
};

class JsonEncoder final : public Encoder {
 public:
  JsonEncoder(Schema schema, JsonOptions options, JsonEnvelope envelope)
      : schema_(std::move(schema)),
        options_(options),
        around_(EnvelopeOf(envelope, options.omits_nulls)) {
    row_bytes_ = 2 * kShortBytes;
    for (const Around& around : around_) row_bytes_ += around.before.size() + around.behind.size();
    for (const Field& field : schema_.fields()) {
      std::string name = ",";
      AppendJacksonString(field.name, true, &name);
      fields_.push_back({FieldName(name + ":"), {}});
      row_bytes_ += fields_.back().name.bytes() + kShortBytes;
    }
    room_bytes_ = kStepRows * row_bytes_;
    room_ = std::make_unique_for_overwrite<char[]>(room_bytes_);
  }

  Status Encode(const RowBatch& batch, std::string* out, std::vector<size_t>* ends) override {
    for (int first = 0; first < batch.rows; first += kStepRows) {
      char* at = room_.get();
      for (int row = first; row < std::min(first + kStepRows, batch.rows); ++row) {
        const Around& around = around_[Adds(batch.kind(row)) ? 0 : 1];
        at = Put(around.before, RoomFor(0, at));
        at = PutRow(batch, row, at);
        at = Put(around.behind, at);
        if (ends != nullptr) ends->push_back(out->size() + static_cast<size_t>(at - room_.get()));
      }
      out->append(room_.get(), static_cast<size_t>(at - room_.get()));
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

  struct OutField {
    FieldName name;
    LastSecond second;  // of its last time
  };

  // --- room ---

  // Moves what was written, if need be, so that behind so many bytes there is room for whatever a
  // row has beside its texts.
  char* RoomFor(size_t bytes, char* out) {
    const auto written = static_cast<size_t>(out - room_.get());
    if (written + bytes + row_bytes_ <= room_bytes_) [[likely]]
      return out;
    room_bytes_ = 2 * (written + bytes + row_bytes_);
    auto larger = std::make_unique_for_overwrite<char[]>(room_bytes_);
    std::memcpy(larger.get(), room_.get(), written);
    room_ = std::move(larger);
    return room_.get() + written;
  }
  static char* Put(std::string_view text, char* out) {
    std::memcpy(out, text.data(), text.size());
    return out + text.size();
  }

  // --- rows ---

  char* PutRow(const RowBatch& batch, int row, char* out) {
    const auto begin = static_cast<size_t>(out - room_.get());
    for (int number = 0; number < schema_.size(); ++number) {
      const bool is_null = batch.columns[static_cast<size_t>(number)].IsNull(row);
      if (is_null && options_.omits_nulls) continue;
      out = fields_[static_cast<size_t>(number)].name.PutTo(out);
      out = is_null ? Put("null", out) : PutValue(batch, number, row, out);
    }
    if (out == room_.get() + begin) ++out;  // no field
    room_[begin] = '{';
    *out = '}';
    return out + 1;
  }

  char* PutValue(const RowBatch& batch, int number, int row, char* out) {
    const Column& column = batch.columns[static_cast<size_t>(number)];
    const Type& type = schema_.type(number);
    switch (type.kind) {
      case TypeKind::kTinyInt: return PutInteger(column.values<int8_t>()[row], out);
      case TypeKind::kSmallInt: return PutInteger(column.values<int16_t>()[row], out);
      case TypeKind::kInt: return PutInteger(column.values<int32_t>()[row], out);
      case TypeKind::kBigInt: return PutInteger(column.values<int64_t>()[row], out);
      case TypeKind::kChar:
      case TypeKind::kVarChar: return PutText(column.values<StringView>()[row], out);
      case TypeKind::kTimestamp:
      case TypeKind::kTimestampLtz:
        if (column.layout() == Layout::kInt64) {
          OutField& field = fields_[static_cast<size_t>(number)];
          if (char* const end = PutTime(column.values<int64_t>()[row], type, &field.second, out))
            return end;
        }
        break;
      default: break;
    }
    scratch_.clear();
    AppendValue(batch, number, row, &scratch_);
    return Put(scratch_, RoomFor(scratch_.size(), out));
  }

  char* PutText(const StringView& text, char* out) {
    const size_t size = text.size();
    out = RoomFor(size, out);
    if (CopyText<SsePiece>(text, out + 1, EscapedLook()) == 0) [[likely]] {
      *out = '"';
      out[size + 1] = '"';
      return out + size + 2;
    }
    scratch_.clear();
    AppendJacksonString(text.view(), true, &scratch_);
    return Put(scratch_, RoomFor(scratch_.size(), out));
  }

  // `"2026-01-02 03:04:05.12"`, and Z behind it for an instant. Null: a year of five digits.
  char* PutTime(int64_t time, const Type& type, LastSecond* last, char* out) const {
    const bool in_millis = type.precision <= 3;
    const int64_t second = in_millis ? 1000 : 1000000;
    const int cut = in_millis ? 40 : 16;  // bits of the digits that a fraction does not have
    if (last->Within(time) >= static_cast<uint64_t>(second) && !last->MoveTo(time, second))
      return nullptr;
    *out++ = '"';
    std::memcpy(out, last->text, sizeof(last->text));
    out[10] = options_.iso_timestamps ? 'T' : ' ';
    // Without the zeros at its end, which are the highest bytes; and no point before nothing.
    const uint64_t fraction = DigitsOf(static_cast<uint32_t>(last->Within(time))) >> cut;
    StoreDigits(fraction, out + LastSecond::kTextBytes);
    out += LastSecond::kTextBytes + (fraction == 0 ? -1 : 8 - __builtin_clzll(fraction) / 8);
    *out = 'Z';
    out += type.kind == TypeKind::kTimestampLtz;
    *out = '"';
    return out + 1;
  }

  // --- values one by one ---

  // Requires: no NULL, and none of what PutValue writes itself, but for times far away.
  void AppendValue(const RowBatch& batch, int number, int row, std::string* out) {
    const Type& type = schema_.type(number);
    const Value value = ValueAt(batch, number, row, type);
    switch (type.kind) {
      case TypeKind::kBoolean: *out += std::get<bool>(value) ? "true" : "false"; return;
      case TypeKind::kTinyInt:
      case TypeKind::kSmallInt:
      case TypeKind::kInt:
      case TypeKind::kBigInt: return;
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
  std::array<Around, 2> around_;
  std::vector<OutField> fields_;
  size_t row_bytes_ = 0;  // of a row without its texts, at most
  size_t room_bytes_ = 0;
  std::unique_ptr<char[]> room_;
  std::string scratch_;
};

}  // namespace

std::unique_ptr<Encoder> CreateJsonEncoder(Schema schema, JsonOptions options,
                                           JsonEnvelope envelope) {
  return std::make_unique<JsonEncoder>(std::move(schema), options, envelope);
}

}  // namespace rowtide
