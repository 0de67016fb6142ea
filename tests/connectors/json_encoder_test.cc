// The json encoder, which writes numbers, times and texts straight into its room, at the edges of
// what it does so: growth, escapes, years of five digits, fractions, rows without a field.
#include "connectors/formats/json_encoder.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "connectors/formats/json_nested.h"
#include "connectors/java_text.h"
#include "engine/batch_builder.h"

namespace rowtide {
namespace {

using Rows = std::vector<std::pair<RowKind, std::vector<Value>>>;

std::string Encoded(const Schema& schema, const Rows& rows, JsonOptions options = {},
                    JsonEnvelope envelope = JsonEnvelope::kNone) {
  std::string out;
  std::vector<size_t> ends;
  const std::unique_ptr<Encoder> encoder = CreateJsonEncoder(schema, options, envelope);
  EXPECT_TRUE(encoder->Encode(BatchOf(schema, rows), &out, &ends).ok());
  EXPECT_EQ(ends.size(), rows.size());
  for (size_t row = 0; row < ends.size(); ++row) EXPECT_EQ(out[ends[row] - 1], '\n');
  return out;
}

std::string EncodedOne(const Type& type, Value value, JsonOptions options = {}) {
  return Encoded(Schema({{"v", type}}), {{RowKind::kInsert, {std::move(value)}}}, options);
}

TEST(JsonEncoder, WholeNumbers) {
  for (const int64_t number : {std::numeric_limits<int64_t>::min(), int64_t{-1}, int64_t{0},
                               int64_t{99999999}, std::numeric_limits<int64_t>::max()}) {
    EXPECT_EQ(EncodedOne(Type::BigInt(), number), "{\"v\":" + std::to_string(number) + "}\n");
  }
}

// The texts of times are those that are made one by one.
TEST(JsonEncoder, TimesOfAllPrecisions) {
  for (const int precision : {0, 3, 6}) {
    for (const TypeKind kind : {TypeKind::kTimestamp, TypeKind::kTimestampLtz}) {
      const Type type = Type::Of(kind, precision);
      const int64_t second = precision <= 3 ? 1000 : 1000000;
      for (const int64_t seconds : {int64_t{-62167219200}, int64_t{-1}, int64_t{0},
                                    int64_t{1767225600}, int64_t{253402300799},
                                    int64_t{253402300800}}) {
        for (const int64_t part : {int64_t{0}, second / 10, second / 1000 * 7, second - 1}) {
          const Value value = seconds * second + part;
          for (const bool iso : {false, true}) {
            JsonOptions options;
            options.iso_timestamps = iso;
            std::string text;
            AppendStrippedTime(value, type, iso ? 'T' : ' ', &text);
            EXPECT_EQ(EncodedOne(type, value, options), "{\"v\":\"" + text + "\"}\n");
          }
        }
      }
    }
  }
}

TEST(JsonEncoder, TextsOfAllLengthsAndEscapes) {
  std::mt19937 random(11);
  Rows rows;
  std::string expected;
  for (size_t size = 0; size < 400; ++size) {
    std::string text(size, 'x');
    if (size > 0 && size % 3 == 0) text[random() % size] = "\"\\\n\x01\x7f"[random() % 5];
    if (size > 4 && size % 7 == 0) text.replace(random() % (size - 4), 4, "😀");
    expected += "{\"id\":" + std::to_string(size) + ",\"v\":";
    AppendJacksonString(text, true, &expected);
    expected += "}\n";
    rows.push_back({RowKind::kInsert, {static_cast<int64_t>(size), text}});
  }
  const Schema schema({{"id", Type::BigInt()}, {"v", Type::String()}});
  EXPECT_EQ(Encoded(schema, rows), expected);
}

// One that is larger than all that there was room for, plain and escaped, among small ones.
TEST(JsonEncoder, RowsThatOutgrowTheRoom) {
  const std::string plain(1 << 20, 'p'), quotes(1 << 18, '"');
  const Schema schema({{"a", Type::String()}, {"b", Type::String()}});
  std::string expected;
  Rows rows;
  for (const std::string& text : {std::string("s"), plain, quotes, std::string(), plain + "\n"}) {
    expected += "{\"a\":";
    AppendJacksonString(text, true, &expected);
    expected += ",\"b\":\"end\"}\n";
    rows.push_back({RowKind::kInsert, {text, std::string("end")}});
  }
  EXPECT_EQ(Encoded(schema, rows), expected);
}

TEST(JsonEncoder, RowsWithoutValues) {
  const Schema schema({{"a", Type::String()}, {std::string(50, 'n'), Type::BigInt()}});
  const Rows rows = {{RowKind::kInsert, {Value(), Value()}},
                     {RowKind::kInsert, {Value(), int64_t{7}}},
                     {RowKind::kDelete, {std::string("x"), Value()}}};
  const std::string long_name = "\"" + std::string(50, 'n') + "\"";
  EXPECT_EQ(Encoded(schema, rows), "{\"a\":null," + long_name + ":null}\n{\"a\":null," + long_name +
                                       ":7}\n{\"a\":\"x\"," + long_name + ":null}\n");
  JsonOptions options;
  options.omits_nulls = true;
  EXPECT_EQ(Encoded(schema, rows, options), "{}\n{" + long_name + ":7}\n{\"a\":\"x\"}\n");
  EXPECT_EQ(Encoded(schema, rows, options, JsonEnvelope::kMaxwell),
            "{\"data\":{},\"type\":\"insert\"}\n{\"data\":{" + long_name +
                ":7},\"type\":\"insert\"}\n{\"data\":{\"a\":\"x\"},\"type\":\"delete\"}\n");
}

}  // namespace
}  // namespace rowtide
