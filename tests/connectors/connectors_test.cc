// Files in and out, and the small connectors.
#include <gtest/gtest.h>

#include <algorithm>

#include "connectors/checksum_hash.h"
#include "connectors/collect.h"
#include "connectors/rows.h"
#include "connectors/script_encoder.h"
#include "engine/batch_builder.h"
#include "tests/connectors/table_reader.h"

namespace rowtide {
namespace {

const Schema kIntString({{"id", Type::Int()}, {"v", Type::String()}});

using Rows = std::vector<std::pair<RowKind, std::vector<Value>>>;

// What a sink has to say, with everything written to it.
std::string Written(const TableSpec& table, const Rows& rows, ConnectorContext context = {}) {
  char* text = nullptr;
  size_t bytes = 0;
  context.output = open_memstream(&text, &bytes);
  Result<std::unique_ptr<Sink>> sink = CreateSink(table, context);
  EXPECT_TRUE(sink.ok()) << sink.status().ToString();
  if (!rows.empty()) {
    EXPECT_TRUE((*sink)->Write(BatchOf(table.schema, rows)).ok());
  }
  EXPECT_TRUE((*sink)->Finish().ok());
  std::fclose(context.output);
  std::string result(text, bytes);
  std::free(text);
  return result + (*sink)->Summary();
}

// The text of the one file in a folder; "" without a folder.
std::string OnlyPart(const std::string& folder) {
  if (!std::filesystem::exists(folder)) return "";
  std::vector<std::string> parts;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    parts.push_back(entry.path().string());
  EXPECT_EQ(parts.size(), 1u);
  EXPECT_TRUE(parts[0].starts_with(folder + "/part-")) << parts[0];
  return ReadText(parts[0]);
}

std::string CsvOf(const Schema& schema, const Rows& rows, TableOptions options = {}) {
  const TemporaryFolder folder;
  Written(CsvTable(folder.path() + "/out", schema, std::move(options)), rows);
  return OnlyPart(folder.path() + "/out");
}

Value S(const char* text) { return std::string(text); }
Value I(int64_t value) { return value; }

TEST(CsvSink, Quotes) {
  const Schema schema({{"v", Type::String()}, {"w", Type::String()}});
  const Rows rows = {
      {RowKind::kInsert, {S("plain"), S("a b")}},
      {RowKind::kInsert, {S("a,b"), S("say \"hi\"")}},
      {RowKind::kInsert, {S("it's"), S("semi;colon")}},
      {RowKind::kInsert, {S("abcdefghijklmnopqrstuvwx"), S("abcdefghijklmnopqrstuvwxy")}},
      {RowKind::kInsert, {S("back\\slash"), {}}},
      {RowKind::kInsert, {S(""), S("+1")}},
      {RowKind::kInsert, {S("\xc3\xbc"), S("2026-01-02")}}};
  EXPECT_EQ(
      CsvOf(schema, rows),
      "plain,\"a b\"\n\"a,b\",\"say "
      "\"\"hi\"\"\"\n\"it's\",semi;colon\nabcdefghijklmnopqrstuvwx,\"abcdefghijklmnopqrstuvwxy\"\n"
      "\"back\\slash\",\n,\"+1\"\n\xc3\xbc,2026-01-02\n");
  EXPECT_EQ(
      CsvOf(schema, {rows[4]}, {{"csv.escape-character", "\\"}, {"csv.null-literal", "null"}}),
      "\"back\\\\slash\",null\n");
  EXPECT_EQ(CsvOf(schema, {rows[1]}, {{"csv.disable-quote-character", "true"}}),
            "a,b,say \"hi\"\n");
  EXPECT_EQ(CsvOf(schema, {rows[2], rows[6]},
                  {{"csv.quote-character", "'"}, {"csv.field-delimiter", ";"}}),
            "'it''s';'semi;colon'\n\xc3\xbc;'2026-01-02'\n");
}

TEST(CsvSink, Types) {
  const Schema schema({{"b", Type::Boolean()},
                       {"i", Type::Int()},
                       {"f", Type::Of(TypeKind::kFloat)},
                       {"d", Type::Double()},
                       {"dc", Type::Decimal(20, 10)},
                       {"byt", Type::Bytes()},
                       {"dt", Type::Date()},
                       {"tm", Type::Of(TypeKind::kTime, 3)},
                       {"ts", Type::Timestamp(6)},
                       {"lt", Type::TimestampLtz(3)}});
  EXPECT_EQ(CsvOf(schema,
                  {{RowKind::kInsert,
                    {true, I(2), 1.5, 0.1, int128{125000000000}, std::string("\0\xff", 2), I(20455),
                     I(11045120), I(1767323045123456), I(1767290645120)}},
                   {RowKind::kInsert,
                    {false, I(-1), 1e20, 1e-7, int128{1}, S("A"), I(-1), I(0), I(-1000000), I(0)}},
                   {RowKind::kInsert, {{}, {}, {}, {}, {}, {}, {}, {}, {}, {}}}}),
            "true,2,1.5,0.1,12.5,AP8=,2026-01-02,03:04:05.12,\"2026-01-02 "
            "03:04:05.123456\",\"2026-01-01 18:04:05.12Z\"\n"
            "false,-1,1.0E20,1.0E-7,1E-10,QQ==,1969-12-31,00:00:00,\"1969-12-31 "
            "23:59:59\",\"1970-01-01 00:00:00Z\"\n,,,,,,,,,\n");
}

TEST(FileSink, NoRowsNoFolder) { EXPECT_EQ(CsvOf(kIntString, {}), ""); }

TEST(FileSink, RollsBySize) {
  const TemporaryFolder folder;
  const TableSpec table =
      CsvTable(folder.path() + "/out", kIntString, {{"sink.rolling-policy.file-size", "8b"}});
  Result<std::unique_ptr<Sink>> sink = CreateSink(table, {});
  ASSERT_TRUE(sink.ok());
  for (int64_t id : {1, 2, 3})
    ASSERT_TRUE(
        (*sink)->Write(BatchOf(kIntString, {{RowKind::kInsert, {I(id), S("value 1")}}})).ok());
  // nothing is visible yet
  EXPECT_EQ(ReadAll(CsvTable(folder.path() + "/out", kIntString), {{0}, {}, {}}).rows.size(), 0u);
  ASSERT_TRUE((*sink)->Finish().ok());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path() + "/out"), {}), 3);
  EXPECT_EQ(ReadAll(CsvTable(folder.path() + "/out", kIntString), {{0}, {}, {}}).rows.size(), 3u);
}

TEST(FileSink, AFailedJobPublishesNothing) {
  const TemporaryFolder folder;
  char* text = nullptr;
  size_t bytes = 0;
  ConnectorContext context;
  context.error = open_memstream(&text, &bytes);
  Result<std::unique_ptr<Sink>> sink =
      CreateSink(CsvTable(folder.path() + "/out", kIntString), context);
  ASSERT_TRUE(sink.ok());
  ASSERT_TRUE((*sink)->Write(BatchOf(kIntString, {{RowKind::kInsert, {I(1), S("a")}}})).ok());
  (*sink)->Abandon();
  std::fclose(context.error);
  EXPECT_NE(std::string(text, bytes).find(folder.path() + "/out/.part-"), std::string::npos)
      << text;
  std::free(text);
  EXPECT_EQ(ReadAll(CsvTable(folder.path() + "/out", kIntString), {{0}, {}, {}}).text(), "");
}

TEST(FileSource, FoldersAndPatterns) {
  const TemporaryFolder folder;
  const std::string a = folder.Write("dir/a.csv", "1,a\n2,a\n");
  folder.Write("dir/b.csv", "3,b\n");
  folder.Write("dir/note.txt", "7,note\n");
  const std::string hidden = folder.Write("dir/_hidden.csv", "4,x\n");
  folder.Write("dir/_out/e.csv", "5,x\n");
  folder.Write("dir/sub/c.csv", "6,c\n");
  folder.Write("dir/empty.csv", "");
  const std::string dir = folder.path() + "/dir";
  const auto ids = [&](const std::string& path, TableOptions options = {}) {
    std::string text;
    const ReadResult result =
        ReadAll(CsvTable(path, kIntString, std::move(options)), {{0}, {}, {}});
    for (const std::string& row : result.rows) text += row.substr(4, 1);
    return result.status.ok() ? text
                              : Name(result.status.kind()) + (": " + result.status.message());
  };
  EXPECT_EQ(ids(dir), "12376");
  EXPECT_EQ(ids(dir + "/"), "12376");
  EXPECT_EQ(ids("file://" + a), "12");
  EXPECT_EQ(ids(hidden), "4");
  EXPECT_EQ(ids(dir + "/*.csv"), "123");
  EXPECT_EQ(ids(dir, {{"source.path.regex-pattern", ".*/sub/.*"}}), "6");
  EXPECT_EQ(ids(dir, {{"source.path.regex-pattern", "a[.]csv"}}), "");
  EXPECT_EQ(ids(dir, {{"source.path.regex-pattern", "["}}).substr(0, 4), "run:");
  EXPECT_EQ(ids(dir + "/nothing.csv"), "run: no file or folder " + dir + "/nothing.csv");
}

TEST(FileSource, Metadata) {
  const TemporaryFolder folder;
  const std::string path = folder.Write("a.csv", "1,a\n2,a\n");
  const ReadResult result =
      ReadAll(CsvTable(path, kIntString), {{0}, {"file.path", "file.name", "file.size"}, {}});
  EXPECT_EQ(result.text(),
            "+I [1,\"" + path + "\",\"a.csv\",8]\n+I [2,\"" + path + "\",\"a.csv\",8]\n");
}

TEST(FileSource, BatchesOf1024WithinAFile) {
  const TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 100000; ++i) text += std::to_string(i) + ",some text to make it longer\n";
  folder.Write("d/a.csv", text);
  folder.Write("d/b.csv", "1,x\n");
  const TableSpec table = CsvTable(folder.path() + "/d", kIntString);
  Result<std::unique_ptr<Source>> source = CreateSource(table, AllColumns(table), {});
  ASSERT_TRUE(source.ok());
  RowCollector out((*source)->output_schema());
  while (*(*source)->Poll(out) == SourceState::kMore) continue;
  ASSERT_EQ(out.batches.size(), 99u);
  for (size_t i = 0; i < 97; ++i) ASSERT_EQ(out.batches[i].rows, 1024);
  EXPECT_EQ(out.batches[96].first_record, 96 * 1024);
  EXPECT_EQ(out.batches[97].rows, 100000 - 97 * 1024);
  EXPECT_EQ(out.batches[98].split, 1);
  EXPECT_EQ(out.batches[98].first_record, 0);
}

// Destroyed and restored after every batch, the source gives the same rows.
TEST(FileSource, RestoredAtEveryBatch) {
  const TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 5000; ++i)
    text += std::to_string(i) + (i % 3 ? ",plain\n" : ",\"quoted\nlines\"\n");
  folder.Write("d/a.csv", text);
  folder.Write("d/b.csv", text);
  const TableSpec table = CsvTable(folder.path() + "/d", kIntString);
  std::string snapshot;
  std::vector<std::string> rows;
  for (bool is_over = false; !is_over;) {
    Result<std::unique_ptr<Source>> source = CreateSource(table, AllColumns(table), {});
    ASSERT_TRUE(source.ok());
    SnapshotReader reader(snapshot);
    if (!snapshot.empty()) {
      ASSERT_TRUE((*source)->Restore(reader).ok());
    }
    RowCollector out((*source)->output_schema());
    is_over = *(*source)->Poll(out) == SourceState::kEnd;
    rows.insert(rows.end(), out.rows.begin(), out.rows.end());
    SnapshotWriter writer;
    ASSERT_TRUE((*source)->Snapshot(writer).ok());
    snapshot = writer.Take();
  }
  EXPECT_EQ(rows, ReadAll(table, AllColumns(table)).rows);
  EXPECT_EQ(rows.size(), 10000u);
}

TEST(Options, UnknownOnesNameTheNearest) {
  const auto message = [](TableOptions options) {
    const Status status = CheckOptions({"t", std::move(options), kIntString});
    return status.message() + " / " + status.hint();
  };
  const TableOptions files = {{"connector", "filesystem"}, {"path", "/x"}, {"format", "csv"}};
  const auto with = [&](const std::string& key, const std::string& value) {
    TableOptions options = files;
    options[key] = value;
    return message(options);
  };
  EXPECT_EQ(message(files), " / ");
  EXPECT_EQ(
      with("csv.field-delimeter", ";"),
      "unknown option 'csv.field-delimeter' of table t / did you mean 'csv.field-delimiter'?");
  EXPECT_EQ(with("csv.quote-character", "ab"),
            "option 'csv.quote-character' of table t is one character, not 'ab' / ");
  EXPECT_EQ(with("csv.allow-comments", "maybe"),
            "option 'csv.allow-comments' of table t is true or false, not 'maybe' / ");
  EXPECT_EQ(with("format", "xml"),
            "table t names the format 'xml', which is unknown / supported are: csv, json, raw, "
            "avro, avro-confluent, protobuf, debezium-json, canal-json, maxwell-json, ogg-json");
  EXPECT_EQ(message({{"connector", "filesystem"}, {"format", "csv"}}),
            "table t lacks the option 'path' / ");
  EXPECT_EQ(message({{"connector", "prnt"}}),
            "table t names the connector 'prnt', which is unknown / did you mean 'print'?");
}

TEST(Print, LinesAsFlinkPrintsThem) {
  const Schema schema({{"i", Type::Int()},
                       {"s", Type::String()},
                       {"b", Type::Boolean()},
                       {"d", Type::Decimal(10, 2)},
                       {"f", Type::Double()},
                       {"t", Type::Timestamp(3)},
                       {"l", Type::TimestampLtz(3)},
                       {"x", Type::Bytes()}});
  const Rows rows = {{RowKind::kInsert,
                      {I(1), S("a b"), true, int128{120}, 1e10, I(1577872801123), I(1577872800000),
                       std::string("\x01\xff", 2)}},
                     {RowKind::kUpdateBefore, {{}, {}, {}, {}, {}, I(1577872800000), {}, {}}}};
  EXPECT_EQ(
      Written({"t", {{"connector", "print"}}, schema}, rows),
      "+I[1, a b, true, 1.20, 1.0E10, 2020-01-01T10:00:01.123, 2020-01-01T10:00:00Z, [1, -1]]\n"
      "-U[null, null, null, null, null, 2020-01-01T10:00, null, null]\n");
  EXPECT_EQ(Written({"t", {{"connector", "print"}, {"print-identifier", "x"}}, kIntString},
                    {{RowKind::kDelete, {I(1), S("a")}}}),
            "x> -D[1, a]\n");
}

TEST(Checksum, CountsAndSumsOfScriptLines) {
  const Rows rows = {{RowKind::kInsert, {I(1), S("a")}},
                     {RowKind::kUpdateBefore, {I(1), S("a")}},
                     {RowKind::kUpdateAfter, {I(1), {}}}};
  ChecksumState expected;
  expected.Add(0, "+I [1,\"a\"]\n");
  expected.Add(1, "-U [1,\"a\"]\n");
  expected.Add(2, "+U [1,null]\n");
  EXPECT_EQ(Written({"t", {{"connector", "checksum"}}, kIntString}, rows), expected.Text());
  EXPECT_EQ(expected.Text().substr(0, 21), "+I 1 -U 1 +U 1 -D 0 o");
}

// The bulk encoder writes what engine/value_text.h writes.
TEST(ScriptEncoder, SameTextAsRowByRow) {
  const Schema schema({{"a", Type::Of(TypeKind::kTinyInt)},
                       {"b", Type::Of(TypeKind::kSmallInt)},
                       {"c", Type::Int()},
                       {"d", Type::BigInt()},
                       {"s", Type::String()},
                       {"t", Type::Timestamp(3)},
                       {"u", Type::Timestamp(6)},
                       {"x", Type::Decimal(10, 2)},
                       {"e", Type::Double()}});
  Rows rows;
  int64_t number = 1;
  for (int i = 0; i < 200; ++i) {
    std::string text(static_cast<size_t>(i % 40), 'x');
    if (i % 3 == 0 && !text.empty())
      text[static_cast<size_t>(i) % text.size()] = "\"\\\n\x01\xc3\x1f "[i % 7];
    number = static_cast<int64_t>(uint64_t{0} - static_cast<uint64_t>(number) * 7);  // wraps
    rows.push_back({static_cast<RowKind>(i % 4),
                    {I(number % 128), I(number % 32768), I(number % 2147483648), I(number), text,
                     I(number % 300000000000), I(number), int128{i - 100}, i / 8.0}});
    if (i % 5 == 0) rows.back().second[static_cast<size_t>(i) % 9] = {};
  }
  rows.push_back({RowKind::kInsert,
                  {I(-128), I(-32768), I(INT32_MIN), I(INT64_MIN), S(""), I(253402300800000), I(0),
                   int128{0}, -0.0}});
  rows.push_back({RowKind::kInsert,
                  {I(0), I(0), I(0), I(INT64_MAX), std::string(100000, '"'), I(-62135596800001),
                   I(0), int128{0}, 0.0}});
  const RowBatch batch = BatchOf(schema, rows);
  ScriptEncoder encoder(schema);
  for (int row = 0; row < batch.rows; ++row) {
    if (row % 20 == 0) encoder.Encode(batch, row, std::min(20, batch.rows - row));
    std::string expected;
    AppendScriptRow(batch, row, schema, &expected);
    ASSERT_EQ(encoder.line(row % 20), expected + "\n");
  }
}

TEST(Rows, OneSequenceOverAllTables) {
  std::vector<ScriptEvent> events;
  for (const char* line :
       {"a +I [1,\"x\"]", "a +I [2,\"x\"]", "b +I [3,null]", "other +I [0]",
        "b WATERMARK \"1970-01-01 00:00:01\"", "a +I [\"4\", \"y\"]", "b +I [5,\"z\"]"}) {
    Result<ScriptEvent> event = ParseScriptEvent(line, static_cast<int>(events.size()) + 1);
    ASSERT_TRUE(event.ok());
    events.push_back(std::move(*event));
  }
  RowsFeed feed(std::move(events));
  ConnectorContext context;
  context.feed = &feed;
  const TableSpec a{"c.d.a", {{"connector", "rows"}}, kIntString},
      b{"c.d.b", {{"connector", "rows"}}, kIntString};
  Result<std::unique_ptr<Source>> source_b = CreateSource(b, AllColumns(b), context);
  Result<std::unique_ptr<Source>> source_a = CreateSource(a, AllColumns(a), context);
  ASSERT_TRUE(source_a.ok() && source_b.ok());
  RowCollector out(kIntString);
  std::string ends;
  for (int i = 0; i < 20; ++i) {  // asked in turn, the wrong one first
    if (ends.find('b') == std::string::npos && *(*source_b)->Poll(out) == SourceState::kEnd)
      ends += 'b';
    if (ends.find('a') == std::string::npos && *(*source_a)->Poll(out) == SourceState::kEnd)
      ends += 'a';
  }
  EXPECT_EQ(out.rows, (std::vector<std::string>{"+I [1,\"x\"]", "+I [2,\"x\"]", "+I [3,null]",
                                                "watermark 1000", "+I [4,\"y\"]", "+I [5,\"z\"]"}));
  EXPECT_EQ(ends, "ab");
}

TEST(Rows, WrongKindsAndValuesAreRefused) {
  RowsFeed feed({{"t", false, RowKind::kDelete, "[1,\"a\"]", 3}});
  ConnectorContext context;
  context.feed = &feed;
  const TableSpec table{"t", {{"connector", "rows"}}, kIntString};
  EXPECT_EQ(CreateSource(table, AllColumns(table), context).status().message(),
            "line 3: table t has no -D rows ('changelog-mode' is I)");
  RowsFeed short_row({{"t", false, RowKind::kInsert, "[1]", 4}});
  context.feed = &short_row;
  EXPECT_EQ(CreateSource(table, AllColumns(table), context).status().message(),
            "line 4: 1 values for the 2 columns of t");
}

TEST(Rows, CsvLinesBecomeEvents) {
  std::vector<ScriptEvent> events;
  AppendCsvEvents("t", "1,a\n2,\n,b\r\n", &events);
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[1].text, "[\"2\",null]");
  EXPECT_EQ(events[2].text, "[null,\"b\"]");
}

TEST(Collect, KeepsScriptText) {
  CollectedRows collected;
  ConnectorContext context;
  context.collected = &collected;
  Written({"s", {{"connector", "collect"}}, kIntString},
          {{RowKind::kInsert, {I(1), S("a")}}, {RowKind::kDelete, {I(1), {}}}}, context);
  ASSERT_EQ(collected.of("s").size(), 2u);
  EXPECT_EQ(collected.of("s")[0].text, "[1,\"a\"]");
  EXPECT_EQ(collected.of("s")[1].kind, RowKind::kDelete);
}

}  // namespace
}  // namespace rowtide
