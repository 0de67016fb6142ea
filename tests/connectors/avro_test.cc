// Avro container files, in and out: what is written is read again; other schemas, damage, and any
// bytes at all.
#include <gtest/gtest.h>

#include <random>

#include "connectors/formats/avro_encoder.h"
#include "connectors/formats/formats.h"
#include "engine/batch_builder.h"
#include "tests/connectors/avro_bytes.h"
#include "tests/connectors/table_reader.h"

namespace rowtide {
namespace {

TableSpec AvroTable(const std::string& path, Schema schema, TableOptions options = {}) {
  options["connector"] = "filesystem";
  options["format"] = "avro";
  options["path"] = path;
  return {"t", std::move(options), std::move(schema)};
}

const Schema kAllTypes({{"b", Type::Boolean()},
                        {"i8", Type::Of(TypeKind::kTinyInt)},
                        {"i16", Type::Of(TypeKind::kSmallInt)},
                        {"i", Type::Int()},
                        {"l", Type::BigInt()},
                        {"f", Type::Of(TypeKind::kFloat)},
                        {"d", Type::Double()},
                        {"s", Type::String()},
                        {"x", Type::Bytes()},
                        {"e", Type::Decimal(9, 2)},
                        {"w", Type::Decimal(38, 4)},
                        {"day", Type::Date()},
                        {"tm", Type::Of(TypeKind::kTime, 3)},
                        {"ts", Type::Timestamp(3)},
                        {"must", Type::BigInt().NotNull()}});

std::vector<Value> RandomRow(std::mt19937& random) {
  const auto below = [&](int64_t n) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(n));
  };
  const auto any = [&] {
    return static_cast<int64_t>(uint64_t{random()} << 32 | random()) >> below(64);
  };
  const auto text = [&] {
    std::string bytes;
    for (int64_t n = below(5) == 0 ? below(200) : below(16); n > 0; --n)
      bytes += below(9) == 0 ? "é" : std::string(1, static_cast<char>('a' + below(26)));
    return bytes;
  };
  const auto wide = [&] {
    return static_cast<int128>(any()) * (below(2) == 0 ? 1 : int128{1} << below(60));
  };
  std::vector<Value> row = {below(2) == 0,
                            below(256) - 128,
                            below(65536) - 32768,
                            static_cast<int64_t>(static_cast<int32_t>(any())),
                            any(),
                            static_cast<double>(static_cast<float>(any()) / 3),
                            static_cast<double>(any()) / 7,
                            text(),
                            text(),
                            int128{any() % 1000000000},
                            wide(),
                            any() % 100000,
                            below(86400000),
                            any() % 100000000000000,
                            any()};
  for (size_t i = 0; i + 1 < row.size(); ++i) {
    if (below(4) == 0) row[i] = {};
  }
  return row;
}

std::string Encoded(const TableSpec& table, const std::vector<RowBatch>& batches) {
  Result<std::unique_ptr<Encoder>> encoder = CreateEncoder(table);
  EXPECT_TRUE(encoder.ok()) << encoder.status().ToString();
  std::string bytes;
  EXPECT_TRUE((*encoder)->Begin(&bytes).ok());
  for (const RowBatch& batch : batches) {
    const Status status = (*encoder)->Encode(batch, &bytes);
    EXPECT_TRUE(status.ok()) << status.ToString();
  }
  EXPECT_TRUE((*encoder)->Finish(&bytes).ok());
  return bytes;
}

std::string TextsOf(const RowBatch& batch, const Schema& schema) {
  std::string text;
  for (int row = 0; row < batch.rows; ++row) {
    AppendScriptRow(batch, row, schema, &text);
    text += "\n";
  }
  return text;
}

class Avro : public ::testing::Test {
 protected:
  ReadResult Read(Schema schema, std::string_view bytes, BadData policy = BadData::kFail) {
    counters_ = std::make_unique<Counters>();
    ConnectorContext context;
    context.counters = counters_.get();
    context.settings.bad_data = policy;
    context.settings.key = "t";
    context.flink_compat = flink_compat_;
    const TableSpec table = AvroTable(folder_.Write("in.avro", bytes), std::move(schema));
    return ReadAll(table, AllColumns(table), context);
  }
  int64_t Count(const std::string& name) { return *counters_->Find(name); }

  TemporaryFolder folder_;
  std::unique_ptr<Counters> counters_;
  bool flink_compat_ = false;
};

TEST_F(Avro, WhatIsWrittenIsReadAgain) {
  std::mt19937 random(7);
  std::vector<RowBatch> batches;
  std::string wanted;
  for (int i = 0; i < 6; ++i) {
    std::vector<std::pair<RowKind, std::vector<Value>>> rows;
    for (int row = 0; row < 1000; ++row) rows.emplace_back(RowKind::kInsert, RandomRow(random));
    batches.push_back(BatchOf(kAllTypes, rows));
    wanted += TextsOf(batches.back(), kAllTypes);
  }
  for (const char* codec : {"null", "deflate", "snappy", "zstandard"}) {
    const TableSpec table = AvroTable("-", kAllTypes, {{"avro.codec", codec}});
    const ReadResult read = Read(kAllTypes, Encoded(table, batches));
    EXPECT_TRUE(read.status.ok()) << read.status.ToString();
    EXPECT_TRUE(read.text() == wanted) << codec;
    EXPECT_EQ(Count("records_read"), 6000);
  }
}

TEST_F(Avro, TimesWithoutTheLegacyMapping) {
  const Schema schema({{"a", Type::Timestamp(3)},
                       {"b", Type::Timestamp(6)},
                       {"c", Type::Timestamp(9)},
                       {"d", Type::TimestampLtz(3)},
                       {"e", Type::TimestampLtz(9)}});
  const RowBatch batch = BatchOf(schema, {{RowKind::kInsert,
                                           {int64_t{-1}, int64_t{-1500001}, WideTime{-2, 999999},
                                            int64_t{5}, WideTime{1700000000000, 123456}}}});
  TableSpec table = AvroTable("-", schema, {{"avro.timestamp_mapping.legacy", "false"}});
  ASSERT_TRUE(CheckOptions(table).ok());
  table.options["path"] = folder_.Write("times.avro", Encoded(table, {batch}));
  const ReadResult read = ReadAll(table, AllColumns(table));
  EXPECT_TRUE(read.status.ok()) << read.status.ToString();
  EXPECT_EQ(read.text(), TextsOf(batch, schema));
  table.options["avro.timestamp_mapping.legacy"] = "true";
  EXPECT_FALSE(CheckOptions(table).ok());
}

TEST_F(Avro, FieldsAreFoundByName) {
  const std::string schema = AvroRecord({{"z", R"({"type":"array","items":"string"})"},
                                         {"id", R"("int")"},
                                         {"m", R"({"type":"map","values":["null","long"]})"},
                                         {"name", R"(["string","null"])"}});
  const std::string record = AvroLong(2) + AvroText("a") + AvroText("b") + AvroLong(0) +
                             AvroLong(7) + AvroLong(1) + AvroText("k") + AvroLong(1) + AvroLong(9) +
                             AvroLong(0) + AvroLong(0) + AvroText("Ann");
  const std::string file = AvroHead(schema) + AvroBlock(1, record);
  const ReadResult read =
      Read(Schema({{"name", Type::String()}, {"none", Type::Int()}, {"id", Type::BigInt()}}), file);
  EXPECT_TRUE(read.status.ok()) << read.status.ToString();
  EXPECT_EQ(read.text(), "+I [\"Ann\",null,7]\n");
}

TEST_F(Avro, NumbersAreWidenedAndUnitsConverted) {
  const std::string schema = AvroRecord(
      {{"a", R"("int")"},
       {"b", R"("long")"},
       {"c", R"("float")"},
       {"micros", R"({"type":"long","logicalType":"timestamp-micros"})"},
       {"nanos", R"({"type":"long","logicalType":"local-timestamp-nanos"})"},
       {"tm", R"({"type":"long","logicalType":"time-micros"})"},
       {"e", R"({"type":"bytes","logicalType":"decimal","precision":9,"scale":3})"},
       {"g",
        R"({"type":"fixed","name":"g","size":3,"logicalType":"decimal","precision":5,"scale":1})"},
       {"k", R"({"type":"enum","name":"k","symbols":["RED","GREEN"]})"}});
  const std::string record = AvroLong(-3) + AvroLong(1LL << 40) + AvroRaw(1.5f) + AvroLong(-1) +
                             AvroLong(1700000000123456789) + AvroLong(3661000999) +
                             AvroText("\x04\xd3") /* 1.235 */ +
                             std::string("\xff\xff\xf1", 3) /* -1.5 */ + AvroLong(1);
  const Schema columns({{"a", Type::Double()},
                        {"b", Type::Of(TypeKind::kFloat)},
                        {"c", Type::Double()},
                        {"micros", Type::Timestamp(3)},
                        {"nanos", Type::Timestamp(3)},
                        {"tm", Type::Of(TypeKind::kTime, 0)},
                        {"e", Type::Decimal(9, 2)},
                        {"g", Type::Decimal(20, 4)},
                        {"k", Type::String()}});
  const ReadResult read = Read(columns, AvroHead(schema) + AvroBlock(1, record));
  EXPECT_TRUE(read.status.ok()) << read.status.ToString();
  EXPECT_EQ(read.text(),
            "+I [-3.0,1099511600000.0,1.5,\"1969-12-31 23:59:59.999\",\"2023-11-14 22:13:20.123\","
            "\"01:01:01\",\"1.24\",\"-1.5000\",\"GREEN\"]\n");
}

// Flink takes the long and the unscaled number as they stand.
TEST_F(Avro, UnitsAreNotConvertedForFlink) {
  const std::string schema =
      AvroRecord({{"micros", R"({"type":"long","logicalType":"timestamp-micros"})"},
                  {"e", R"({"type":"bytes","logicalType":"decimal","precision":9,"scale":3})"},
                  {"i", R"("int")"}});
  const std::string file =
      AvroHead(schema) + AvroBlock(1, AvroLong(5000) + AvroText("\x04\xd3") + AvroLong(300));
  const Schema columns({{"micros", Type::Timestamp(3)},
                        {"e", Type::Decimal(9, 2)},
                        {"i", Type::Of(TypeKind::kTinyInt)}});
  EXPECT_FALSE(Read(columns, file).status.ok());
  flink_compat_ = true;
  EXPECT_EQ(Read(columns, file).text(), "+I [\"1970-01-01 00:00:05.000\",\"12.35\",44]\n");
}

TEST_F(Avro, AColumnThatTheFileCannotFillIsNamed) {
  const std::string file =
      AvroHead(AvroRecord({{"Id", R"("string")"}})) + AvroBlock(1, AvroText("x"));
  const ReadResult type = Read(Schema({{"Id", Type::Int()}}), file);
  EXPECT_NE(type.status.ToString().find("column 'Id' is INT, and the field is string"),
            std::string::npos)
      << type.status.ToString();
  const ReadResult name = Read(Schema({{"id", Type::String().NotNull()}}), file);
  EXPECT_NE(name.status.ToString().find("has no field 'id'"), std::string::npos);
  EXPECT_EQ(name.status.hint(), "is 'Id' meant?");
  EXPECT_EQ(Read(Schema({{"id", Type::String()}}), file).text(), "+I [null]\n");
  EXPECT_EQ(Count("other_case.id.Id"), 1);
  // A file without records may be of any schema.
  EXPECT_TRUE(Read(Schema({{"Id", Type::Int()}}), AvroHead(AvroRecord({{"Id", R"("string")"}})))
                  .status.ok());
}

TEST_F(Avro, ABadValueRejectsItsRecordAlone) {
  const std::string schema =
      AvroRecord({{"a", R"(["null","int","string"])"}, {"b", R"("string")"}});
  const std::string records = AvroLong(1) + AvroLong(1) + AvroText("x") +     //
                              AvroLong(2) + AvroText("no") + AvroText("x") +  //
                              AvroLong(0) + AvroText("\xff") +                //
                              AvroLong(0) + AvroText("y");
  const Schema columns({{"a", Type::Int()}, {"b", Type::String()}});
  const std::string file = AvroHead(schema) + AvroBlock(4, records);
  const ReadResult read = Read(columns, file, BadData::kSkip);
  EXPECT_EQ(read.text(), "+I [1,\"x\"]\n+I [null,\"y\"]\n");
  EXPECT_EQ(Count("records_read"), 4);
  EXPECT_EQ(Count("rejected"), 2);
  EXPECT_EQ(Count("invalid_encoding"), 1);
  const ReadResult failed = Read(columns, file);
  EXPECT_EQ(failed.text(), "+I [1,\"x\"]\n");
  EXPECT_NE(
      failed.status.ToString().find(", column 'a': record 2 of 4 in the block: string is no INT"),
      std::string::npos)
      << failed.status.ToString();
  EXPECT_EQ(Read(Schema({{"a", Type::Int().NotNull()}}), file, BadData::kSkip).text(), "+I [1]\n");
}

TEST_F(Avro, DamageCostsABlock) {
  const std::string schema = AvroRecord({{"a", R"("int")"}});
  const Schema columns({{"a", Type::Int()}});
  const std::string one = AvroBlock(2, AvroLong(1) + AvroLong(2), "snappy");
  std::string torn = AvroBlock(2, AvroLong(3) + AvroLong(4), "snappy");
  torn[4] ^= 1;
  const std::string broken = AvroBlock(2, AvroLong(5) + "\x80", "snappy");
  const std::string longer = AvroBlock(1, AvroLong(6) + "rest", "snappy");
  std::string unsynced = one;
  unsynced.back() = 'x';
  const std::string file = AvroHead(schema, "snappy") + one + torn + one + broken + longer +
                           unsynced + "garbage" + kTestSync + one + one.substr(0, 6);
  const ReadResult read = Read(columns, file, BadData::kSkip);
  EXPECT_TRUE(read.status.ok()) << read.status.ToString();
  EXPECT_EQ(read.text(), "+I [1]\n+I [2]\n+I [1]\n+I [2]\n+I [5]\n+I [6]\n+I [1]\n+I [2]\n");
  EXPECT_EQ(Count("records_read"), 8 + Count("rejected"));
  EXPECT_EQ(Count("rejected"), 5);
}

TEST_F(Avro, WhatIsNoAvroFileIsSaid) {
  const Schema columns({{"a", Type::Int()}});
  const auto error = [&](std::string_view bytes) { return Read(columns, bytes).status.ToString(); };
  EXPECT_NE(error("").find("it is empty, and no Avro file"), std::string::npos) << error("");
  EXPECT_NE(error("a,b\n1,2\n").find("it is no Avro file: it begins with a,b"), std::string::npos);
  EXPECT_NE(error("Obj\x01").find("cut short"), std::string::npos);
  EXPECT_NE(error(AvroHead("{}")).find("lacks its \"type\""), std::string::npos);
  EXPECT_NE(error(AvroHead(R"("int")", "xz")).find("avro codec 'xz'"), std::string::npos);
  EXPECT_NE(error(AvroHead(R"("int")") + AvroBlock(1, AvroLong(1))).find("its records are int"),
            std::string::npos);
}

TEST_F(Avro, LimitsHold) {
  const Schema columns({{"a", Type::Int()}});
  const std::string zeros(40 << 20, '\0');
  for (const char* codec : {"deflate", "snappy", "zstandard"}) {
    const std::string bomb = AvroHead(AvroRecord({{"a", R"("int")"}}), codec) +
                             AvroBlock(int64_t{40} << 20, zeros, codec);
    const ReadResult read = Read(columns, bomb, BadData::kSkip);
    EXPECT_TRUE(read.status.ok());
    EXPECT_EQ(read.text(), "") << codec;
  }
  const std::string empty = AvroHead(AvroRecord({{"a", R"("null")"}}));
  EXPECT_EQ(Read(columns, empty + AvroBlock(3, "")).rows.size(), 3u);
  EXPECT_FALSE(Read(columns, empty + AvroBlock(int64_t{1} << 60, "")).status.ok());
  std::string deep = R"("null")";
  for (int i = 0; i < 300; ++i) deep = R"({"type":"array","items":)" + deep + "}";
  EXPECT_FALSE(Read(columns, AvroHead(AvroRecord({{"a", deep}}))).status.ok());
  // A list that holds itself, deeper than the limit.
  const std::string list =
      R"({"type":"record","name":"n","fields":[{"name":"next","type":["null","n"]}]})";
  std::string nested;
  for (int i = 0; i < 5000; ++i) nested += AvroLong(1);
  const ReadResult read = Read(
      Schema({{"b", Type::Int()}}),
      AvroHead(AvroRecord({{"a", list}})) + AvroBlock(1, nested + AvroLong(0)), BadData::kSkip);
  EXPECT_EQ(Count("rejected"), 1);
  EXPECT_EQ(read.text(), "");
}

// A source destroyed at every batch, and restored from bytes, gives the same rows.
TEST_F(Avro, GoesOnInTheMiddleOfABlock) {
  const Schema columns({{"a", Type::Int()}, {"s", Type::String()}});
  for (const char* codec : {"null", "snappy"}) {
    std::string file = AvroHead(AvroRecord({{"a", R"("int")"}, {"s", R"("string")"}}), codec);
    int next = 0;
    for (const int records : {1, 3000, 0, 1024, 500}) {
      std::string bytes;
      for (int i = 0; i < records; ++i, ++next)
        bytes += AvroLong(next) + AvroText(next % 3 == 0 ? "a text of more than 12 bytes" : "x");
      file += AvroBlock(records, bytes, codec);
    }
    const TableSpec table = AvroTable(folder_.Write("blocks.avro", file), columns);
    const ReadResult whole = ReadAll(table, AllColumns(table));
    ASSERT_TRUE(whole.status.ok()) << whole.status.ToString();
    ASSERT_EQ(whole.rows.size(), 4525u);
    std::vector<std::string> rows;
    std::string snapshot;
    for (bool goes_on = true; goes_on;) {
      Result<std::unique_ptr<Source>> source = CreateSource(table, AllColumns(table), {});
      ASSERT_TRUE(source.ok());
      if (!snapshot.empty()) {
        SnapshotReader reader(snapshot);
        ASSERT_TRUE((*source)->Restore(reader).ok());
      }
      RowCollector out((*source)->output_schema());
      const Result<SourceState> state = (*source)->Poll(out);
      ASSERT_TRUE(state.ok()) << state.status().ToString();
      goes_on = *state != SourceState::kEnd;
      SnapshotWriter writer;
      ASSERT_TRUE((*source)->Snapshot(writer).ok());
      snapshot = writer.Take();
      for (std::string& row : out.rows) rows.push_back(std::move(row));
    }
    EXPECT_TRUE(rows == whole.rows) << codec;
  }
}

TEST_F(Avro, AnyBytesGiveRowsOrAnError) {
  std::mt19937 random(11);
  std::vector<std::pair<RowKind, std::vector<Value>>> rows;
  for (int row = 0; row < 20; ++row) rows.emplace_back(RowKind::kInsert, RandomRow(random));
  const RowBatch batch = BatchOf(kAllTypes, rows);
  for (const char* codec : {"null", "deflate", "snappy", "zstandard"}) {
    const std::string whole = Encoded(AvroTable("-", kAllTypes, {{"avro.codec", codec}}), {batch});
    for (int i = 0; i < 300; ++i) {
      std::string bytes = whole;
      for (int flips = 1 + static_cast<int>(random() % 4); flips > 0; --flips) {
        // Mostly behind the schema.
        const size_t at =
            i % 4 == 0 ? random() % bytes.size() : bytes.size() - 1 - random() % (bytes.size() / 4);
        bytes[at] = static_cast<char>(random());
      }
      if (i % 5 == 0) bytes.resize(random() % bytes.size());
      const ReadResult read = Read(kAllTypes, bytes, BadData::kSkip);
      EXPECT_NE(read.status.code(), StatusCode::kInternal);
      if (read.status.ok()) {
        EXPECT_EQ(Count("records_read"),
                  static_cast<int64_t>(read.rows.size()) + Count("rejected"));
      }
    }
  }
}

TEST_F(Avro, OptionsAreChecked) {
  const auto check = [&](TableOptions options, const Schema& schema) {
    return CheckOptions(AvroTable("-", schema, std::move(options)));
  };
  const Schema columns({{"a", Type::Int()}});
  EXPECT_TRUE(check({}, columns).ok());
  EXPECT_FALSE(check({{"avro.codec", "zstd"}}, columns).ok());
  EXPECT_FALSE(check({{"avro.encoding", "xml"}}, columns).ok());
  EXPECT_FALSE(check({{"avro.coded", "null"}}, columns).ok());
  EXPECT_FALSE(check({}, Schema({{"a b", Type::Int()}})).ok());
  EXPECT_FALSE(check({}, Schema({{"a", Type::Timestamp(6)}})).ok());
  EXPECT_FALSE(check({}, Schema({{"a", Type::TimestampLtz(3)}})).ok());
}

TEST_F(Avro, NullIsNotWrittenIntoNotNull) {
  const Schema columns({{"a", Type::Int().NotNull()}});
  Schema nullable({{"a", Type::Int()}});
  const RowBatch batch = BatchOf(nullable, {{RowKind::kInsert, {Value()}}});
  Result<std::unique_ptr<Encoder>> encoder = CreateEncoder(AvroTable("-", columns));
  std::string bytes;
  EXPECT_EQ((*encoder)->Encode(batch, &bytes).code(), StatusCode::kDataError);
}

}  // namespace
}  // namespace rowtide
