#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "state/key_codec.h"
#include "state/key_groups.h"
#include "state/row_codec.h"
#include "state/row_writer.h"

namespace rowtide {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

RowBatch OneColumn(const Type& type, const std::vector<Value>& values) {
  std::vector<std::pair<RowKind, std::vector<Value>>> rows;
  for (const Value& value : values) rows.push_back({RowKind::kInsert, {value}});
  return BatchOf(Schema({{"x", type}}), rows);
}

// Every value sorts before the next one.
void ExpectAscending(const Type& type, const std::vector<Value>& values, bool nulls_first) {
  for (const bool descending : {false, true}) {
    std::vector<Value> in_order = values;
    if (descending) std::reverse(in_order.begin(), in_order.end());
    in_order.insert(nulls_first ? in_order.begin() : in_order.end(), Value());
    const SortKeyCodec codec(Schema({{"x", type}}), {{0, descending, nulls_first, false}});
    SortKeyBatch keys;
    codec.Encode(OneColumn(type, in_order), 0, &keys);
    for (int i = 0; i + 1 < static_cast<int>(in_order.size()); ++i) {
      EXPECT_LT(keys.key(i), keys.key(i + 1))
          << ToString(type) << " " << i << (descending ? " DESC" : "");
      EXPECT_LE(keys.prefix(i), keys.prefix(i + 1));
    }
  }
}

TEST(SortKeyTest, OrdersEveryType) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min(),
                    kMax = std::numeric_limits<int64_t>::max();
  const int128 huge = static_cast<int128>(kMax) * 1000;
  for (const bool nulls_first : {false, true}) {
    ExpectAscending(Type::Boolean(), {false, true}, nulls_first);
    ExpectAscending(Type::Of(TypeKind::kTinyInt),
                    {int64_t{-128}, int64_t{-1}, int64_t{0}, int64_t{127}}, nulls_first);
    ExpectAscending(Type::Of(TypeKind::kSmallInt),
                    {int64_t{-32768}, int64_t{-1}, int64_t{0}, int64_t{300}}, nulls_first);
    ExpectAscending(Type::Int(), {int64_t{-2147483648}, int64_t{-1}, int64_t{0}, int64_t{70000}},
                    nulls_first);
    ExpectAscending(Type::BigInt(), {kMin, int64_t{-1}, int64_t{0}, int64_t{1}, kMax}, nulls_first);
    ExpectAscending(Type::Of(TypeKind::kFloat), {-1e30, -1.5, 0.0, 1e-30, 3.0, kNaN}, nulls_first);
    ExpectAscending(Type::Double(),
                    {-std::numeric_limits<double>::infinity(), -1.5, 0.0, 5e-324, 3.0, kNaN},
                    nulls_first);
    ExpectAscending(Type::Decimal(38, 2), {-huge, int128{-1}, int128{0}, huge}, nulls_first);
    ExpectAscending(
        Type::String(),
        {std::string(), std::string(1, '\0'), std::string("\0\0", 2), std::string("\0\1", 2),
         std::string("a"), std::string("a\0", 2), std::string("a\0b", 3),
         std::string("a string beyond 16 b"), std::string("a string beyond 16 bytes"),
         std::string("aa"), std::string("\xff")},
        nulls_first);
    ExpectAscending(Type::Timestamp(9),
                    {WideTime{-1, 999999}, WideTime{0, 0}, WideTime{0, 1}, WideTime{1, 0}},
                    nulls_first);
  }
}

TEST(SortKeyTest, FloatsHaveOneZeroAndOneNaN) {
  const SortKeyCodec codec(Schema({{"x", Type::Double()}}), {{0, false, true, false}});
  SortKeyBatch keys;
  codec.Encode(OneColumn(Type::Double(), {0.0, -0.0, kNaN, -kNaN}), 0, &keys);
  EXPECT_EQ(keys.key(0), keys.key(1));
  EXPECT_EQ(keys.key(2), keys.key(3));
}

TEST(SortKeyTest, ArrivalIsANumberOfItsOwn) {
  const SortKeyCodec codec(Schema({{"x", Type::BigInt()}}), {{0, true, true, true}});
  SortKeyBatch keys;
  codec.Encode(OneColumn(Type::BigInt(), {int64_t{5}, int64_t{5}}), 255, &keys);
  EXPECT_GT(keys.key(0), keys.key(1));
}

TEST(KeyTest, KeysAreEqualIffTheValuesAre) {
  const Schema schema({{"a", Type::Int()}, {"b", Type::BigInt()}});
  const KeyCodec codec(schema, {0, 1});
  KeyBatch keys;
  const RowBatch batch = BatchOf(schema, {{RowKind::kInsert, {int64_t{0}, int64_t{0}}},
                                          {RowKind::kInsert, {Value(), int64_t{0}}},
                                          {RowKind::kInsert, {int64_t{0}, Value()}},
                                          {RowKind::kInsert, {Value(), Value()}},
                                          {RowKind::kInsert, {int64_t{0}, int64_t{1}}}});
  ASSERT_TRUE(codec.Encode(batch, &keys).ok());
  for (int i = 0; i < 5; ++i) {
    for (int j = 0; j < i; ++j) EXPECT_NE(keys.key(i), keys.key(j)) << i << " " << j;
  }
  const std::string with_nulls_beside(keys.key(0));
  ASSERT_TRUE(codec.Encode(Slice(batch, 0, 1), &keys).ok());
  EXPECT_EQ(keys.key(0), with_nulls_beside) << "a key must not depend on its neighbours";
  EXPECT_EQ(keys.key(0).size(), 12u);
}

TEST(KeyTest, ByteColumnsAndNullsDoNotCollide) {
  const Schema schema({{"a", Type::Boolean()}, {"b", Type::Boolean()}});
  const KeyCodec codec(schema, {0, 1});
  KeyBatch keys;
  ASSERT_TRUE(codec
                  .Encode(BatchOf(schema, {{RowKind::kInsert, {false, true}},
                                           {RowKind::kInsert, {Value(), true}},
                                           {RowKind::kInsert, {true, Value()}},
                                           {RowKind::kInsert, {false, Value()}}}),
                          &keys)
                  .ok());
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < i; ++j) EXPECT_NE(keys.key(i), keys.key(j));
  }
}

TEST(KeyTest, StringsDoNotRunIntoEachOther) {
  const Schema schema({{"a", Type::String()}, {"b", Type::String()}});
  const KeyCodec codec(schema, {0, 1});
  KeyBatch keys;
  const RowBatch batch = BatchOf(schema, {{RowKind::kInsert, {std::string("ab"), std::string("c")}},
                                          {RowKind::kInsert, {std::string("a"), std::string("bc")}},
                                          {RowKind::kInsert, {Value(), std::string("abc")}},
                                          {RowKind::kInsert, {std::string(), std::string("abc")}}});
  ASSERT_TRUE(codec.Encode(batch, &keys).ok());
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < i; ++j) EXPECT_NE(keys.key(i), keys.key(j));
  }
}

// 15.9: one zero is one group, but for Flink.
TEST(KeyTest, ZerosAreOneKeyUnlessToldApart) {
  const Schema schema({{"x", Type::Double()}});
  for (const bool separate : {false, true}) {
    KeyBatch keys;
    ASSERT_TRUE(KeyCodec(schema, {0}, separate)
                    .Encode(OneColumn(Type::Double(), {0.0, -0.0, kNaN, -kNaN}), &keys)
                    .ok());
    EXPECT_EQ(keys.key(0) == keys.key(1), !separate);
    EXPECT_EQ(keys.key(2), keys.key(3));
  }
}

Schema Everything() {
  return Schema({{"b", Type::Boolean()},
                 {"s", Type::String()},
                 {"i", Type::Int()},
                 {"l", Type::BigInt()},
                 {"d", Type::Double()},
                 {"m", Type::Decimal(38, 0)},
                 {"t", Type::Timestamp(9)},
                 {"u", Type::String()},
                 {"y", Type::Of(TypeKind::kTinyInt)}});
}

RowBatch EverythingBatch() {
  const std::string longer(40, 'q');
  std::vector<std::pair<RowKind, std::vector<Value>>> rows;
  for (int i = 0; i < 50; ++i) {
    rows.push_back({RowKind::kInsert,
                    {i % 2 == 0, longer.substr(0, static_cast<size_t>(i % 41)), int64_t{i},
                     int64_t{-i}, i / 2.0, static_cast<int128>(i) << 70, WideTime{i, i * 7},
                     i % 3 == 0 ? Value() : Value(longer.substr(5)), int64_t{i - 20}}});
    if (i % 5 == 0) {
      for (Value& value : rows.back().second) value = Value();
    }
  }
  return BatchOf(Everything(), rows);
}

// Fold after Fold, of many keys and of few, whole hashes equal or not.
TEST(KeyGroupsTest, EqualKeysShareAGroup) {
  KeyGroups groups;
  for (const int distinct : {1024, 1, 7, 390, 1000}) {
    KeyBatch keys;
    keys.Clear();
    for (int row = 0; row < kBatchRows; ++row) {
      const std::string key = std::to_string(row * row % distinct);
      keys.Add(key, distinct == 390 ? 5 : HashBytes(key));
    }
    groups.Fold(keys);
    std::map<std::string, int32_t> numbers;
    for (int row = 0; row < kBatchRows; ++row) {
      const auto number = static_cast<int32_t>(numbers.size());
      const auto [at, is_new] = numbers.emplace(keys.key(row), number);
      ASSERT_EQ(groups.of(row), at->second);
      if (is_new) {
        ASSERT_EQ(groups.first_rows()[static_cast<size_t>(number)], row);
      }
    }
    EXPECT_EQ(groups.groups(), static_cast<int>(numbers.size()));
  }
}

TEST(RowTest, ComesBackAsItWas) {
  const Schema schema = Everything();
  const RowCodec codec(schema);
  const RowBatch batch = EverythingBatch();
  EncodedRows rows;
  ASSERT_TRUE(codec.EncodeAll(batch, &rows).ok());
  RowWriter writer(codec);
  writer.Bind(batch);
  BatchBuilder builder(schema);
  std::vector<const char*> pointers;
  for (int row = 0; row < batch.rows; ++row) {
    std::string one(writer.SizeOf(row), '\0');
    writer.Write(row, one.data());
    EXPECT_EQ(rows.row(row), one);
    EXPECT_TRUE(codec.EqualsRow(one, batch, row));
    EXPECT_FALSE(codec.EqualsRow(one, batch, (row + 1) % batch.rows));
    builder.AppendKind(RowKind::kInsert);
    codec.AppendTo(rows.row(row).data(), &builder);
    pointers.push_back(rows.row(row).data());
  }
  const RowBatch back = builder.Finish();
  for (int column = 0; column < schema.size(); ++column) {
    RowBatch gathered;
    gathered.columns.resize(static_cast<size_t>(schema.size()));
    gathered.columns[static_cast<size_t>(column)] = codec.GatherColumn(pointers, column);
    for (int row = 0; row < batch.rows; ++row) {
      const Value expected = ValueAt(batch, column, row, schema.type(column));
      EXPECT_EQ(ValueAt(back, column, row, schema.type(column)), expected);
      EXPECT_EQ(ValueAt(gathered, column, row, schema.type(column)), expected);
      EXPECT_EQ(codec.ValueOf(rows.row(row).data(), column, schema.type(column)), expected);
    }
  }
}

TEST(RowTest, FloatsAndProcessingTimesCompareByMeaning) {
  const Schema schema({{"d", Type::Double()},
                       {"p", Type::TimestampLtz(3).WithTimeAttribute(TimeAttribute::kProctime)}});
  const RowCodec codec(schema);
  EncodedRows rows;
  ASSERT_TRUE(codec
                  .EncodeAll(BatchOf(schema, {{RowKind::kInsert, {0.0, int64_t{1}}},
                                              {RowKind::kInsert, {-0.0, Value()}},
                                              {RowKind::kInsert, {kNaN, int64_t{1}}},
                                              {RowKind::kInsert, {-kNaN, int64_t{2}}}}),
                             &rows)
                  .ok());
  EXPECT_TRUE(codec.Equal(rows.row(0), rows.row(1)));
  EXPECT_EQ(codec.HashContent(rows.row(0)), codec.HashContent(rows.row(1)));
  EXPECT_TRUE(codec.Equal(rows.row(2), rows.row(3)));
  EXPECT_EQ(codec.HashContent(rows.row(2)), codec.HashContent(rows.row(3)));
  EXPECT_FALSE(codec.Equal(rows.row(0), rows.row(2)));
  EXPECT_TRUE(std::signbit(std::get<double>(codec.ValueOf(rows.row(1).data(), 0, schema.type(0)))));
}

}  // namespace
}  // namespace rowtide
