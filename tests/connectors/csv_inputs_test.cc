// CSV texts, good and bad, in the manner of csv-spectrum; headers; packed files.
#include <gtest/gtest.h>

#include "engine/batch_builder.h"
#include "tests/connectors/table_reader.h"

namespace rowtide {
namespace {

const Schema kTwo({{"a", Type::String()}, {"b", Type::String()}});

std::string One(std::string_view text, const Schema& schema, const ConnectorContext& context = {},
                TableOptions options = {}) {
  const TemporaryFolder folder;
  const TableSpec table = CsvTable(folder.Write("t.csv", text), schema, std::move(options));
  const ReadResult result = ReadAll(table, AllColumns(table), context);
  if (result.status.ok()) return result.text();
  const std::string& message = result.status.message();
  const size_t begin = message.find("line ");
  return result.text() + "error: " + message.substr(begin, message.find("\nthe record: ") - begin);
}

struct Input {
  const char* csv;
  const char* rows;
};

const Input kInputs[] = {
    {"", ""},
    {"1,2", "+I [\"1\",\"2\"]\n"},
    {"1,2\n", "+I [\"1\",\"2\"]\n"},
    {"1,2\r\n", "+I [\"1\",\"2\"]\n"},
    {"1,2\r", "+I [\"1\",\"2\"]\n"},
    {"1,2\r3,4\r", "+I [\"1\",\"2\"]\n+I [\"3\",\"4\"]\n"},
    {"1,2\r\n3,4\n5,6\r", "+I [\"1\",\"2\"]\n+I [\"3\",\"4\"]\n+I [\"5\",\"6\"]\n"},
    {",", "+I [\"\",\"\"]\n"},
    {",\n,\n", "+I [\"\",\"\"]\n+I [\"\",\"\"]\n"},
    {"1,\n", "+I [\"1\",\"\"]\n"},
    {",2\n", "+I [\"\",\"2\"]\n"},
    {"\"\",\"\"\n", "+I [\"\",\"\"]\n"},
    {"\"1\",\"2\"\n", "+I [\"1\",\"2\"]\n"},
    {"\"a,b\",\"c,d\"\n", "+I [\"a,b\",\"c,d\"]\n"},
    {"\"a\nb\",\"c\r\nd\"\n", "+I [\"a\\nb\",\"c\\r\\nd\"]\n"},
    {"\"a\"\"b\",\"\"\"\"\n", "+I [\"a\\\"b\",\"\\\"\"]\n"},
    {"\"\"\"a\"\"\",b\n", "+I [\"\\\"a\\\"\",\"b\"]\n"},
    {"a\"b,c\"d\"\n", "+I [\"a\\\"b\",\"c\\\"d\\\"\"]\n"},
    {"\"a\" ,\"b\"\t\n", "+I [\"a\",\"b\"]\n"},
    {" a , b \n", "+I [\" a \",\" b \"]\n"},
    {"{\"\"x\"\": 1},\"{\"\"x\"\": 1}\"\n", "+I [\"{\\\"\\\"x\\\"\\\": 1}\",\"{\\\"x\\\": 1}\"]\n"},
    {"'a','b'\n", "+I [\"'a'\",\"'b'\"]\n"},
    {"a\\,b\n", "+I [\"a\\\\\",\"b\"]\n"},
    {"\xc3\xa9,\xe6\x97\xa5\n", "+I [\"é\",\"日\"]\n"},
    {"\xef\xbb\xbf"
     "1,2\n",
     "+I [\"1\",\"2\"]\n"},
    {"a,b,\n", "+I [\"a\",\"b\"]\n"},
    {"a;b,c\td\n", "+I [\"a;b\",\"c\\td\"]\n"},
    {"#a,b\n", "+I [\"#a\",\"b\"]\n"},
    {"NULL,null\n", "+I [\"NULL\",\"null\"]\n"},
    {"\"a string of more than twelve bytes\",\"and \"\"another\"\" one, quoted\"\n",
     "+I [\"a string of more than twelve bytes\",\"and \\\"another\\\" one, quoted\"]\n"},
    // What is none.
    {"1\n", "error: line 1, byte 0: 1 fields, 2 expected"},
    {"\n", "error: line 1, byte 0: 1 fields, 2 expected"},
    {"1,2\n\n", "+I [\"1\",\"2\"]\nerror: line 2, byte 4: 1 fields, 2 expected"},
    {"1,2,3\n", "error: line 1, byte 0: 3 fields, 2 expected"},
    {"1,2,,\n", "error: line 1, byte 0: 4 fields, 2 expected"},
    {"1,2\n\"a,b\n",
     "+I [\"1\",\"2\"]\nerror: line 2, byte 4: a quoted field is not closed before "
     "the end of the file"},
    {"\"", "error: line 1, byte 0: a quoted field is not closed before the end of the file"},
    {"\"a\"\"", "error: line 1, byte 0: a quoted field is not closed before the end of the file"},
    {"\"a\"b,c\n", "error: line 1, byte 0: text behind a closing quote: 'b,c'"},
    {"\"a\" b,c\n", "error: line 1, byte 0: text behind a closing quote: 'b,c'"},
    {"1,2\na,\xff\n", "+I [\"1\",\"2\"]\nerror: line 2, byte 4: bytes that are no UTF-8"},
    {"1,2\n\xc0\x80,b\n", "+I [\"1\",\"2\"]\nerror: line 2, byte 4: bytes that are no UTF-8"},
    {"1,2\n\"3\n3\",4\n5\n",
     "+I [\"1\",\"2\"]\n+I [\"3\\n3\",\"4\"]\nerror: line 4, byte 12: 1 "
     "fields, 2 expected"},
};

TEST(CsvInputs, All) {
  for (const Input& input : kInputs) EXPECT_EQ(One(input.csv, kTwo), input.rows) << input.csv;
}

TEST(CsvInputs, EveryRecordIsCounted) {
  Counters counters;
  ConnectorContext context;
  context.counters = &counters;
  context.settings.bad_data = BadData::kSkip;
  std::string text;
  for (int i = 0; i < 5000; ++i) {
    constexpr const char* kLines[] = {"1,a\n", "x,a\n", "1\n", "2,\xff\n", "\"3\",\"b\"\"c\"\n"};
    text += kLines[i % 5];
  }
  const TemporaryFolder folder;
  const TableSpec table =
      CsvTable(folder.Write("t.csv", text), Schema({{"n", Type::Int()}, {"v", Type::String()}}));
  const ReadResult result = ReadAll(table, AllColumns(table), context);
  ASSERT_TRUE(result.status.ok()) << result.status.ToString();
  EXPECT_EQ(result.rows.size(), 2000u);
  EXPECT_EQ(*counters.Find("records_read"), 5000);
  EXPECT_EQ(*counters.Find("rejected"), 3000);
  EXPECT_EQ(*counters.Find("cast"), 1000);
  EXPECT_EQ(*counters.Find("undecodable"), 1000);
  EXPECT_EQ(*counters.Find("invalid_encoding"), 1000);
}

TEST(CsvInputs, Headers) {
  ConnectorContext context;
  context.settings.csv_header = true;
  context.settings.key = "t";
  EXPECT_EQ(One("b,x,A\n1,2,3\n", kTwo, context), "+I [\"3\",\"1\"]\n");
  EXPECT_EQ(One("\"b\", a \n1,\"2,2\"\n", kTwo, context), "+I [\"2,2\",\"1\"]\n");
  EXPECT_EQ(One("a,b\n", kTwo, context), "");
  EXPECT_EQ(One("", kTwo, context), "");
  EXPECT_EQ(One("#x\na,b\n1,2\n", kTwo, context, {{"csv.allow-comments", "true"}}),
            "+I [\"1\",\"2\"]\n");
  EXPECT_EQ(One("a,c\n1,2\n", kTwo, context), "error: line 1: the header has no column 'b'");
  EXPECT_EQ(One("a,b\n1,2,3\n", kTwo, context), "error: line 2, byte 4: 3 fields, 2 expected");
}

TEST(CsvInputs, HeadersAreRestoredAtEveryBatch) {
  ConnectorContext context;
  context.settings.csv_header = true;
  std::string text = "b,a\n";
  for (int i = 0; i < 3000; ++i) text += fmt::format("{},x{}\n", i, i);
  const TemporaryFolder folder;
  const TableSpec table = CsvTable(folder.Write("t.csv", text), kTwo);
  const ReadResult whole = ReadAll(table, AllColumns(table), context);
  ASSERT_EQ(whole.rows.size(), 3000u);
  EXPECT_EQ(whole.rows[2999], "+I [\"x2999\",\"2999\"]");
  std::vector<std::string> rows;
  std::string snapshot;
  for (SourceState state = SourceState::kMore; state == SourceState::kMore;) {
    Result<std::unique_ptr<Source>> source = CreateSource(table, AllColumns(table), context);
    ASSERT_TRUE(source.ok());
    if (!snapshot.empty()) {
      SnapshotReader reader(snapshot);
      ASSERT_TRUE((*source)->Restore(reader).ok());
    }
    RowCollector out((*source)->output_schema());
    Result<SourceState> polled = (*source)->Poll(out);
    ASSERT_TRUE(polled.ok()) << polled.status().ToString();
    rows.insert(rows.end(), out.rows.begin(), out.rows.end());
    SnapshotWriter writer;
    ASSERT_TRUE((*source)->Snapshot(writer).ok());
    snapshot = writer.Take();
    state = *polled;
  }
  EXPECT_EQ(rows, whole.rows);
}

TEST(CsvInputs, APackedSinkIsReadAgain) {
  for (const Compression compression : {Compression::kGzip, Compression::kZstd}) {
    const TemporaryFolder folder;
    TableSpec table = CsvTable(folder.path() + "/out", kTwo);
    table.options["sink.rolling-policy.file-size"] = "1b";
    ConnectorContext context;
    context.settings.compression = compression;
    Result<std::unique_ptr<Sink>> sink = CreateSink(table, context);
    ASSERT_TRUE(sink.ok()) << sink.status().ToString();
    std::string rows;
    for (int i = 0; i < 3; ++i) {
      const std::string text(static_cast<size_t>(i) * 100000, 'x');
      const RowBatch batch =
          BatchOf(kTwo, {{RowKind::kInsert, {Value(std::to_string(i)), Value(text)}}});
      ASSERT_TRUE((*sink)->Write(batch).ok());
      rows += "+I [\"" + std::to_string(i) + "\",\"" + text + "\"]\n";
    }
    ASSERT_TRUE((*sink)->Finish().ok());
    const char* const suffix = compression == Compression::kGzip ? ".gz" : ".zst";
    size_t bytes = 0;
    for (const auto& file : std::filesystem::directory_iterator(folder.path() + "/out")) {
      EXPECT_EQ(file.path().extension(), suffix);
      bytes += file.file_size();
    }
    EXPECT_LT(bytes, 2000u);
    const ReadResult result = ReadAll(table, AllColumns(table));
    EXPECT_TRUE(result.status.ok()) << result.status.ToString();
    std::vector<std::string> got = result.rows;  // part files are read in the order of their names
    std::sort(got.begin(), got.end());
    std::string text;
    for (const std::string& row : got) text += row + "\n";
    EXPECT_EQ(text, rows);
  }
}

}  // namespace
}  // namespace rowtide
