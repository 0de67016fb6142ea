#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "engine/batch_builder.h"
#include "state/key_codec.h"

namespace rowtide {
namespace {

const std::vector<Type> kTypes = {Type::Boolean(),
                                  Type::Of(TypeKind::kTinyInt),
                                  Type::Of(TypeKind::kSmallInt),
                                  Type::Int(),
                                  Type::BigInt(),
                                  Type::Decimal(10, 2),
                                  Type::Decimal(38, 5),
                                  Type::Of(TypeKind::kFloat),
                                  Type::Double(),
                                  Type::Date(),
                                  Type::Timestamp(3),
                                  Type::Timestamp(6),
                                  Type::Timestamp(9),
                                  Type::String(),
                                  Type::Bytes()};

Value RandomValue(const Type& type, std::mt19937_64& random) {
  const auto bits = static_cast<int64_t>(random());
  switch (LayoutOf(type)) {
    case Layout::kBool: return (bits & 1) != 0;
    case Layout::kInt8: return int64_t{static_cast<int8_t>(bits)};
    case Layout::kInt16: return int64_t{static_cast<int16_t>(bits)};
    case Layout::kInt32: return int64_t{static_cast<int32_t>(bits)};
    case Layout::kInt64:
      if (type.kind == TypeKind::kDecimal) return int128{bits};
      return bits;
    case Layout::kInt128: return (int128{bits} << 40) + bits;
    case Layout::kFloat: return double{static_cast<float>(bits % 100000) / 16};
    case Layout::kDouble: return static_cast<double>(bits % 1000000) / 7;
    case Layout::kWideTime: return WideTime{bits >> 12, static_cast<int32_t>(random() % 1000000)};
    case Layout::kBytes: {
      std::string text;
      for (size_t n = random() % 20; n > 0; --n)
        text.push_back(
            "\0\xff"
            "ab"[random() % 4]);
      return text;
    }
  }
  return {};
}

struct Made {
  Schema schema;
  std::vector<std::pair<RowKind, std::vector<Value>>> rows;
};

Made MakeRows(std::mt19937_64& random) {
  Made made;
  for (size_t n = 1 + random() % 4; n > 0; --n) {
    const Type type = kTypes[random() % kTypes.size()].WithNullable(random() % 2 == 0);
    made.schema.Add({"c" + std::to_string(n), type});
  }
  for (int row = 0; row < 20; ++row) {
    std::vector<Value> values;
    for (const Field& field : made.schema.fields()) {
      const bool is_null = field.type.nullable && random() % 4 == 0;
      values.push_back(is_null ? Value() : RandomValue(field.type, random));
    }
    made.rows.emplace_back(RowKind::kInsert, std::move(values));
  }
  return made;
}

TEST(KeyValues, GroupKeysComeBack) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 300; ++round) {
    const Made made = MakeRows(random);
    std::vector<int> columns;
    for (int i = made.schema.size(); i-- > 0;) columns.push_back(i);
    const KeyCodec codec(made.schema, columns);
    KeyBatch keys;
    ASSERT_TRUE(codec.Encode(BatchOf(made.schema, made.rows), &keys).ok());
    for (int row = 0; row < keys.rows(); ++row) {
      std::vector<Value> want = made.rows[static_cast<size_t>(row)].second;
      std::reverse(want.begin(), want.end());
      const Result<std::vector<Value>> got = codec.Decode(keys.key(row));
      ASSERT_TRUE(got.ok()) << got.status().message();
      EXPECT_EQ(want, *got);
    }
  }
}

TEST(KeyValues, SortKeysComeBack) {
  std::mt19937_64 random(8);
  for (int round = 0; round < 300; ++round) {
    const Made made = MakeRows(random);
    std::vector<SortField> fields;
    for (int i = 0; i < made.schema.size(); ++i)
      fields.push_back({i, random() % 2 == 0, random() % 2 == 0, false});
    const SortKeyCodec codec(made.schema, fields);
    SortKeyBatch keys;
    codec.Encode(BatchOf(made.schema, made.rows), 0, &keys);
    for (size_t row = 0; row < made.rows.size(); ++row) {
      const Result<std::vector<Value>> got = codec.Decode(keys.key(static_cast<int>(row)));
      ASSERT_TRUE(got.ok()) << got.status().message();
      EXPECT_EQ(made.rows[row].second, *got);
    }
  }
}

// Bytes that are no key give an error, or values, but never more bytes than there are.
TEST(KeyValues, AnyBytes) {
  std::mt19937_64 random(9);
  for (int round = 0; round < 20000; ++round) {
    const Made made = MakeRows(random);
    std::vector<int> columns;
    std::vector<SortField> fields;
    for (int i = 0; i < made.schema.size(); ++i) {
      columns.push_back(i);
      fields.push_back({i, random() % 2 == 0, random() % 2 == 0, false});
    }
    std::string bytes;
    for (size_t n = random() % 60; n > 0; --n) bytes.push_back(static_cast<char>(random() % 4));
    (void)KeyCodec(made.schema, columns).Decode(bytes).ok();
    (void)SortKeyCodec(made.schema, fields).Decode(bytes).ok();
  }
}

}  // namespace
}  // namespace rowtide
