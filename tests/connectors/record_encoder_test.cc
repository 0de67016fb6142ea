// Records one by one are the lines that files get, without their ends.
#include "connectors/formats/record_encoder.h"

#include <gtest/gtest.h>

#include "connectors/formats/formats.h"
#include "engine/batch_builder.h"

namespace rowtide {
namespace {

Schema Columns() {
  return Schema({{"id", Type::BigInt()}, {"name", Type::String()}, {"price", Type::Double()}});
}

RowBatch Rows(int rows) {
  std::vector<std::pair<RowKind, std::vector<Value>>> values;
  const std::string names[] = {"plain", "two\nlines", "a, \"b\"",
                               "",      "Straße",     std::string(300, 'x')};
  for (int i = 0; i < rows; ++i) {
    values.push_back({i % 3 == 0 ? RowKind::kUpdateBefore : RowKind::kUpdateAfter,
                      {int64_t{i}, i % 7 == 0 ? Value() : Value(names[i % 6]), i / 3.0}});
  }
  return BatchOf(Columns(), values);
}

TEST(RecordEncoder, RecordsAreTheLinesOfFiles) {
  for (const char* format :
       {"csv", "json", "debezium-json", "canal-json", "maxwell-json", "ogg-json"}) {
    const TableSpec table{"t", {{"format", format}}, Columns()};
    const auto lines = CreateEncoder(table);
    const auto records = CreateRecordEncoder(table);
    ASSERT_TRUE(lines.ok() && records.ok()) << format;
    EncodedRecords out;
    std::string expected, joined;
    for (const int rows : {1, 100, 0, 33}) {  // one behind the other
      const RowBatch batch = Rows(rows);
      ASSERT_TRUE((*lines)->Encode(batch, &expected).ok());
      ASSERT_TRUE((*records)->Encode(batch, &out).ok());
    }
    ASSERT_EQ(out.records.size(), 134u) << format;
    for (size_t i = 0; i < out.records.size(); ++i) {
      EXPECT_FALSE(out.records[i].is_null);
      joined += std::string(out.at(i)) + "\n";
    }
    EXPECT_EQ(joined, expected) << format;
  }
}

TEST(RecordEncoder, RawNullIsNoValue) {
  const Schema schema({{"line", Type::String()}});
  const auto records = CreateRecordEncoder({"t", {{"format", "raw"}}, schema});
  ASSERT_TRUE(records.ok());
  EncodedRecords out;
  const RowBatch batch = BatchOf(schema, {{RowKind::kInsert, {std::string("a")}},
                                          {RowKind::kInsert, {Value()}},
                                          {RowKind::kInsert, {std::string()}}});
  ASSERT_TRUE((*records)->Encode(batch, &out).ok());
  ASSERT_EQ(out.records.size(), 3u);
  EXPECT_EQ(out.at(0), "a");
  EXPECT_TRUE(out.records[1].is_null);
  EXPECT_FALSE(out.records[2].is_null);
  EXPECT_EQ(out.at(2), "");
}

}  // namespace
}  // namespace rowtide
