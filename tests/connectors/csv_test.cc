// The csv format against what Flink 2.3 does with the same bytes, row by row.
#include <gtest/gtest.h>

#include <random>

#include "connectors/formats/csv.h"
#include "tests/connectors/table_reader.h"

namespace rowtide {
namespace {

const Schema kStrings({{"id", Type::String()}, {"v", Type::String()}});
const Schema kIntString({{"id", Type::Int()}, {"v", Type::String()}});
const Schema kThree({{"id", Type::Int()}, {"v", Type::String()}, {"w", Type::String()}});

ReadResult Read(std::string_view text, const Schema& schema, TableOptions options = {},
                ConnectorContext context = {}) {
  const TemporaryFolder folder;
  const TableSpec table = CsvTable(folder.Write("t.csv", text), schema, std::move(options));
  ReadResult result = ReadAll(table, AllColumns(table), context);
  if (!result.status.ok()) {
    EXPECT_EQ(result.status.code(), StatusCode::kDataError) << result.status.ToString();
    EXPECT_NE(result.status.message().find(folder.path() + "/t.csv: line "), std::string::npos)
        << result.status.message();
  }
  return result;
}

// Without the table, the file and the record.
std::string PlaceAndReason(const Status& status) {
  const std::string& text = status.message();
  const size_t begin = text.find(": line ") + 2;
  return text.substr(begin, text.find("\nthe record: ") - begin);
}

std::string Rows(std::string_view text, const Schema& schema, TableOptions options = {}) {
  const ReadResult result = Read(text, schema, std::move(options));
  return result.text() + (result.status.ok() ? "" : "error: " + PlaceAndReason(result.status));
}

TEST(Csv, ColumnsByPosition) {
  const Schema schema({{"id", Type::Int()},
                       {"name", Type::String()},
                       {"amount", Type::Decimal(10, 2)},
                       {"ts", Type::Timestamp(3)}});
  EXPECT_EQ(Rows("1,Ann,1.50,2026-01-01 00:00:01\n2,Bob,2.255,2026-01-01 00:00:02.5\n3,\"Cy, "
                 "Jr.\",,2026-01-01 00:00:03\n",
                 schema, {{"csv.null-literal", ""}}),
            "+I [1,\"Ann\",\"1.50\",\"2026-01-01 00:00:01.000\"]\n"
            "+I [2,\"Bob\",\"2.26\",\"2026-01-01 00:00:02.500\"]\n"
            "+I [3,\"Cy, Jr.\",null,\"2026-01-01 00:00:03.000\"]\n");
}

TEST(Csv, Quotes) {
  EXPECT_EQ(Rows("1,\"a,b\"\n2,\"say \"\"hi\"\"\"\n3,\"two\nlines\"\n4,in\"side\n5,\"\"\n6, "
                 "\"after a blank\"\n"
                 "7,\"before a blank\" \n8,'x'\n",
                 kIntString),
            "+I [1,\"a,b\"]\n+I [2,\"say \\\"hi\\\"\"]\n+I [3,\"two\\nlines\"]\n+I "
            "[4,\"in\\\"side\"]\n+I [5,\"\"]\n"
            "+I [6,\" \\\"after a blank\\\"\"]\n+I [7,\"before a blank\"]\n+I [8,\"'x'\"]\n");
  EXPECT_EQ(Rows("1,'a,b'\n2,'it''s'\n3,\"c\"\n", kIntString, {{"csv.quote-character", "'"}}),
            "+I [1,\"a,b\"]\n+I [2,\"it's\"]\n+I [3,\"\\\"c\\\"\"]\n");
  EXPECT_EQ(Rows("1,\"a\"\n2,b\"\n3,\"\"\n", kIntString, {{"csv.disable-quote-character", "true"}}),
            "+I [1,\"\\\"a\\\"\"]\n+I [2,\"b\\\"\"]\n+I [3,\"\\\"\\\"\"]\n");
}

TEST(Csv, BadQuotes) {
  EXPECT_EQ(Rows("1,a\n2,\"b\n3,c\n", kIntString),
            "+I [1,\"a\"]\nerror: line 2, byte 4: a quoted field is not closed before the end of "
            "the file");
  EXPECT_EQ(Rows("1,a\n2,\"b\n3,c\n", kIntString, {{"csv.ignore-parse-errors", "true"}}),
            "+I [1,\"a\"]\n");
  EXPECT_EQ(Rows("1,a\n2,\"b\"c\n3,d\n", kIntString),
            "+I [1,\"a\"]\nerror: line 2, byte 4: text behind a closing quote: 'c'");
  EXPECT_EQ(Rows("1,a\n2,\"b\"c\n3,d\n", kIntString, {{"csv.ignore-parse-errors", "true"}}),
            "+I [1,\"a\"]\n+I [3,\"d\"]\n");
}

TEST(Csv, Escapes) {
  EXPECT_EQ(Rows("1,a\\,b\n2,c\\\"d\n3,\"e\\\"f\"\n4,g\\nh\n5,i\\\\j\n6,\\N\n7,k\\\nl\n",
                 kIntString, {{"csv.escape-character", "\\"}}),
            "+I [1,\"a,b\"]\n+I [2,\"c\\\"d\"]\n+I [3,\"e\\\"f\"]\n+I [4,\"g\\nh\"]\n+I "
            "[5,\"i\\\\j\"]\n+I [6,\"N\"]\n+I [7,\"k\\nl\"]\n");
  EXPECT_EQ(Rows("1,\"a\\,b\"\n2,c\\d\n3,\\N\n", kIntString),
            "+I [1,\"a\\\\,b\"]\n+I [2,\"c\\\\d\"]\n+I [3,\"\\\\N\"]\n");
}

TEST(Csv, LineEnds) {
  EXPECT_EQ(Rows("1,a\r\n2,b\r\n3,\"c\r\nd\"\r\n", kStrings),
            "+I [\"1\",\"a\"]\n+I [\"2\",\"b\"]\n+I [\"3\",\"c\\r\\nd\"]\n");
  EXPECT_EQ(Rows("1,a\r2,b\r", kStrings), "+I [\"1\",\"a\"]\n+I [\"2\",\"b\"]\n");
  EXPECT_EQ(Rows("1,a\n2,b", kStrings), "+I [\"1\",\"a\"]\n+I [\"2\",\"b\"]\n");
  EXPECT_EQ(Rows("", kStrings), "");
  EXPECT_EQ(Rows("a\n\n\nb\n\"\"\n", Schema({{"v", Type::String()}})),
            "+I [\"a\"]\n+I [\"\"]\n+I [\"\"]\n+I [\"b\"]\n+I [\"\"]\n");
  EXPECT_EQ(Rows("1,a\n2,b\n\n", kStrings),
            "+I [\"1\",\"a\"]\n+I [\"2\",\"b\"]\nerror: line 3, byte 8: 1 fields, 2 expected");
  EXPECT_EQ(Rows("1,a\n\n2,b\n", kStrings, {{"csv.ignore-parse-errors", "true"}}),
            "+I [\"1\",\"a\"]\n+I [\"\",null]\n+I [\"2\",\"b\"]\n");
  EXPECT_EQ(Rows("1,a\n   \n2,b\n", kIntString, {{"csv.ignore-parse-errors", "true"}}),
            "+I [1,\"a\"]\n+I [null,null]\n+I [2,\"b\"]\n");
  EXPECT_EQ(Rows("1,a\n\n2,b\n", kStrings,
                 {{"csv.ignore-parse-errors", "true"}, {"csv.fail-on-missing-columns", "true"}}),
            "+I [\"1\",\"a\"]\n+I [\"2\",\"b\"]\n");
}

TEST(Csv, FewerAndMoreColumns) {
  const std::string fewer = "1,a,x\n2,b\n3\n", more = "1,a,x\n2,b,y,z\n",
                    comma = "1,a,x,\n2,b,y,\n";
  EXPECT_EQ(Rows(fewer, kThree), "+I [1,\"a\",\"x\"]\nerror: line 2, byte 6: 2 fields, 3 expected");
  EXPECT_EQ(Rows(fewer, kThree,
                 {{"csv.fail-on-missing-columns", "true"}, {"csv.ignore-parse-errors", "true"}}),
            "+I [1,\"a\",\"x\"]\n");
  EXPECT_EQ(Rows(more, kThree), "+I [1,\"a\",\"x\"]\nerror: line 2, byte 6: 4 fields, 3 expected");
  EXPECT_EQ(Rows(more, kThree, {{"csv.ignore-parse-errors", "true"}}), "+I [1,\"a\",\"x\"]\n");
  EXPECT_EQ(Rows(more, kThree, {{"csv.ignore-trailing-unmappable", "true"}}),
            "+I [1,\"a\",\"x\"]\n+I [2,\"b\",\"y\"]\n");
  EXPECT_EQ(Rows(comma, kThree), "+I [1,\"a\",\"x\"]\n+I [2,\"b\",\"y\"]\n");
  EXPECT_EQ(Rows(comma, kThree, {{"csv.allow-trailing-comma", "false"}}),
            "error: line 1, byte 0: 4 fields, 3 expected");
}

TEST(Csv, IgnoreParseErrors) {
  const Schema schema({{"id", Type::Int()}, {"n", Type::Int()}, {"v", Type::String()}});
  const std::string text = "1,10,a\nx,20,b\n3,y,c\n4,40,d,extra\n5\n6,60,\"open\n7,70,g\n";
  EXPECT_EQ(Rows(text, schema, {{"csv.ignore-parse-errors", "true"}}),
            "+I [1,10,\"a\"]\n+I [null,20,\"b\"]\n+I [3,null,\"c\"]\n+I [5,null,null]\n");
  EXPECT_EQ(Rows(text, schema), "+I [1,10,\"a\"]\nerror: line 2, byte 7, column 'id': no INT: 'x'");
}

TEST(Csv, TheFirstBadRowIsTheOneReported) {
  const Schema schema({{"a", Type::Int()}, {"b", Type::Int()}});
  EXPECT_EQ(Rows("1,1\n2,x\ny,2\n", schema),
            "+I [1,1]\nerror: line 2, byte 4, column 'b': no INT: 'x'");
  EXPECT_EQ(Rows("1,1\n2,2\n\"3\n3\",2\n", schema),
            "+I [1,1]\n+I [2,2]\nerror: line 3, byte 8, column 'a': no INT: '3\\x0a3'");
}

TEST(Csv, SkippedRowsAreCounted) {
  Counters counters;
  ConnectorContext context;
  context.counters = &counters;
  context.settings.bad_data = BadData::kSkip;
  const ReadResult result =
      Read("1,a\nx,b\n2,c,d\n\"3\"z,e\n4,\xff\n5,f\n", kIntString, {}, context);
  EXPECT_EQ(result.text(), "+I [1,\"a\"]\n+I [5,\"f\"]\n");
  EXPECT_EQ(*counters.Find("undecodable"), 2);
  EXPECT_EQ(*counters.Find("invalid_encoding"), 1);
  EXPECT_EQ(*counters.Find("cast"), 1);
  EXPECT_EQ(*counters.Find("rejected"), 4);
  EXPECT_EQ(*counters.Find("records_read"), 6);
}

TEST(Csv, EmptyFieldsAndNull) {
  const std::string text = "1,,\n2,\"\",\"\"\n3,NULL,7\n4,\"NULL\",8\n";
  EXPECT_EQ(Rows(text, kThree),
            "+I [1,\"\",\"\"]\n+I [2,\"\",\"\"]\n+I [3,\"NULL\",\"7\"]\n+I [4,\"NULL\",\"8\"]\n");
  EXPECT_EQ(Rows(text, kThree, {{"csv.null-literal", "NULL"}}),
            "+I [1,\"\",\"\"]\n+I [2,\"\",\"\"]\n+I [3,null,\"7\"]\n+I [4,null,\"8\"]\n");
  EXPECT_EQ(Rows(text, kThree, {{"csv.empty-string-as-null", "true"}}),
            "+I [1,null,null]\n+I [2,null,null]\n+I [3,\"NULL\",\"7\"]\n+I [4,\"NULL\",\"8\"]\n");
  const Schema number({{"id", Type::Int()}, {"v", Type::String()}, {"n", Type::Int()}});
  EXPECT_EQ(Rows(text, number), "error: line 1, byte 0, column 'n': no INT: ''");
  EXPECT_EQ(Rows(text, number, {{"csv.null-literal", ""}}),
            "+I [1,null,null]\n+I [2,null,null]\n+I [3,\"NULL\",7]\n+I [4,\"NULL\",8]\n");
}

TEST(Csv, NullInANotNullColumnIsBadData) {
  const Schema schema({{"id", Type::Int().NotNull()}, {"v", Type::String().NotNull()}});
  EXPECT_EQ(Rows("1,a\n2,\n", schema, {{"csv.null-literal", ""}}),
            "+I [1,\"a\"]\nerror: line 2, byte 4, column 'v': NULL in a NOT NULL column");
}

TEST(Csv, Comments) {
  EXPECT_EQ(Rows("#1,first\n2,b\n # 3,blank before\n4,c#d\n5,#e\n#\n\"#6\",q\n", kStrings,
                 {{"csv.allow-comments", "true"}}),
            "+I [\"2\",\"b\"]\n+I [\"4\",\"c#d\"]\n+I [\"5\",\"#e\"]\n+I [\"#6\",\"q\"]\n");
  EXPECT_EQ(Rows("#1,first\n2,b\n", kStrings), "+I [\"#1\",\"first\"]\n+I [\"2\",\"b\"]\n");
}

TEST(Csv, Delimiters) {
  for (const auto& [option, byte] : std::map<std::string, std::string>{{";", ";"},
                                                                       {"\\t", "\t"},
                                                                       {"|", "|"},
                                                                       {"\\u0001", "\x01"},
                                                                       {"\\001", "\x01"},
                                                                       {"\xc2\xa7", "\xc2\xa7"},
                                                                       {"\\", "\\"}}) {
    EXPECT_EQ(Rows("1" + byte + "a" + byte + "\"b" + byte + "c\"\n", kThree,
                   {{"csv.field-delimiter", option}}),
              "+I [1,\"a\",\"b" +
                  (byte == "\t"     ? "\\t"
                   : byte == "\x01" ? "\\u0001"
                   : byte == "\\"   ? "\\\\"
                                    : byte) +
                  "c\"]\n");
  }
}

TEST(Csv, Blanks) {
  const Schema schema({{"a", Type::String()}, {"b", Type::String()}, {"c", Type::String()}});
  const std::string text = " 1 , a , b \n2,\"  c  \",\n  ,\t,d\n";
  EXPECT_EQ(Rows(text, schema),
            "+I [\" 1 \",\" a \",\" b \"]\n+I [\"2\",\"  c  \",\"\"]\n+I [\"  \",\"\\t\",\"d\"]\n");
  EXPECT_EQ(Rows(text, schema, {{"csv.trim-spaces", "true"}}),
            "+I [\"1\",\"a\",\"b\"]\n+I [\"2\",\"  c  \",\"\"]\n+I [\"\",\"\",\"d\"]\n");
  EXPECT_EQ(Rows("1 ,2\n 3, 4 \n", Schema({{"a", Type::Int()}, {"b", Type::Double()}})),
            "+I [1,2.0]\n+I [3,4.0]\n");
}

TEST(Csv, Encodings) {
  EXPECT_EQ(Rows("1,caf\xc3\xa9\n2,\xf0\x9f\x98\x80\n", kIntString),
            "+I [1,\"caf\xc3\xa9\"]\n+I [2,\"\xf0\x9f\x98\x80\"]\n");
  EXPECT_EQ(Rows("\xef\xbb\xbf"
                 "1,a\n2,b\n",
                 kIntString),
            "+I [1,\"a\"]\n+I [2,\"b\"]\n");
  EXPECT_EQ(Rows("1,a\n2,caf\xe9\n", kIntString, {{"csv.ignore-parse-errors", "true"}}),
            "+I [1,\"a\"]\nerror: line 2, byte 4: bytes that are no UTF-8");
  EXPECT_EQ(Rows(std::string_view("\xff\xfe"
                                  "1\0,\0a\0\n\0",
                                  10),
                 kIntString),
            "+I [1,\"a\"]\n");
  EXPECT_EQ(Rows(std::string_view("\xfe\xff\0"
                                  "1\0,\xd8\x3d\xde\x00\0\n",
                                  12),
                 kIntString),
            "+I [1,\"\xf0\x9f\x98\x80\"]\n");
  EXPECT_EQ(Rows(std::string_view("1,a\0b\n", 6), kIntString), "+I [1,\"a\\u0000b\"]\n");
}

std::string One(std::string_view text, const Type& type) {
  return Rows("\"" + std::string(text) + "\"\n", Schema({{"v", type}}),
              {{"csv.ignore-parse-errors", "true"}});
}

TEST(Csv, Booleans) {
  for (const char* text : {"true", "TRUE", "True", " true"})
    EXPECT_EQ(One(text, Type::Boolean()), "+I [true]\n") << text;
  for (const char* text : {"false", "1", "t", "yes", ""})
    EXPECT_EQ(One(text, Type::Boolean()), "+I [false]\n") << text;
}

TEST(Csv, Integers) {
  for (const char* text : {"1.0", "1e3", "0x10", "1_000", "9223372036854775808", "NaN", "", "+-1",
                           "--1", "abc", "1f", "99999999999999999999"}) {
    EXPECT_EQ(One(text, Type::BigInt()), "+I [null]\n") << text;
  }
  const std::map<std::string, std::string> good = {
      {"1", "1"},
      {"+1", "1"},
      {"-1", "-1"},
      {"007", "7"},
      {"-0", "0"},
      {" 5 ", "5"},
      {"12345678", "12345678"},
      {"123456789", "123456789"},
      {"1234567890123456", "1234567890123456"},
      {"12345678901234567", "12345678901234567"},
      {"9223372036854775807", "9223372036854775807"},
      {"-9223372036854775808", "-9223372036854775808"}};
  for (const auto& [text, value] : good)
    EXPECT_EQ(One(text, Type::BigInt()), "+I [" + value + "]\n") << text;
  EXPECT_EQ(One("2147483647", Type::Int()), "+I [2147483647]\n");
  EXPECT_EQ(One("2147483648", Type::Int()), "+I [null]\n");
  EXPECT_EQ(One("-128", Type::Of(TypeKind::kTinyInt)), "+I [-128]\n");
  EXPECT_EQ(One("128", Type::Of(TypeKind::kTinyInt)), "+I [null]\n");
}

TEST(Csv, FloatingPoint) {
  const std::map<std::string, std::string> values = {{"1", "1.0"},
                                                     {"+1", "1.0"},
                                                     {"1e3", "1000.0"},
                                                     {"NaN", "\"NaN\""},
                                                     {"-Infinity", "\"-Infinity\""},
                                                     {"-0", "-0.0"},
                                                     {"1f", "1.0"},
                                                     {"1d", "1.0"},
                                                     {".5", "0.5"},
                                                     {"5.", "5.0"},
                                                     {"1E400", "\"Infinity\""},
                                                     {"1e-400", "0.0"},
                                                     {"0x10", "null"},
                                                     {"1_000", "null"},
                                                     {"abc", "null"},
                                                     {"", "null"},
                                                     {"inf", "null"},
                                                     {"-", "null"},
                                                     {".", "null"}};
  for (const auto& [text, value] : values)
    EXPECT_EQ(One(text, Type::Double()), "+I [" + value + "]\n") << text;
  EXPECT_EQ(One("2147483647", Type::Of(TypeKind::kFloat)), "+I [2147483600.0]\n");
}

TEST(Csv, Decimals) {
  const std::map<std::string, std::string> values = {{"1", "\"1.00\""},
                                                     {"+1", "\"1.00\""},
                                                     {"1e3", "\"1000.00\""},
                                                     {"12345.675", "\"12345.68\""},
                                                     {".5", "\"0.50\""},
                                                     {"5.", "\"5.00\""},
                                                     {"1e-400", "\"0.00\""},
                                                     {"100000.5", "null"},
                                                     {"NaN", "null"},
                                                     {"1f", "null"},
                                                     {"", "null"}};
  for (const auto& [text, value] : values)
    EXPECT_EQ(One(text, Type::Decimal(7, 2)), "+I [" + value + "]\n") << text;
  EXPECT_EQ(One("99999999999999999999.999", Type::Decimal(38, 18)),
            "+I [\"99999999999999999999.999000000000000000\"]\n");
  // Too many digits are NULL, not an error.
  EXPECT_EQ(Rows("100000.5\n", Schema({{"v", Type::Decimal(7, 2)}})), "+I [null]\n");
}

TEST(Csv, Times) {
  const std::map<std::string, std::string> dates = {{"2026-01-02", "\"2026-01-02\""},
                                                    {"2026-1-2", "\"2026-01-02\""},
                                                    {"2026-02-30", "\"2026-03-02\""},
                                                    {"20260102", "null"},
                                                    {"10000-01-01", "null"},
                                                    {"2026-13-01", "null"},
                                                    {"", "null"}};
  for (const auto& [text, value] : dates)
    EXPECT_EQ(One(text, Type::Date()), "+I [" + value + "]\n") << text;
  const std::map<std::string, std::string> times = {{"03:04:05", "\"03:04:05.000\""},
                                                    {"03:04", "\"03:04:00.000\""},
                                                    {"03:04:05.1239", "\"03:04:05.123\""},
                                                    {"3:4:5", "null"},
                                                    {"24:00:00", "null"},
                                                    {"03:04:05Z", "null"}};
  for (const auto& [text, value] : times)
    EXPECT_EQ(One(text, Type::Of(TypeKind::kTime, 3)), "+I [" + value + "]\n") << text;
  const std::map<std::string, std::string> stamps = {
      {"2026-01-02 03:04:05", "\"2026-01-02 03:04:05.000\""},
      {"2026-01-02 03:04:05.1", "\"2026-01-02 03:04:05.100\""},
      {"2026-01-02 03:04:05.987654321", "\"2026-01-02 03:04:05.987\""},
      {"2026-01-02 03:04:05.123", "\"2026-01-02 03:04:05.123\""},
      {"1969-12-31 23:59:59.999", "\"1969-12-31 23:59:59.999\""},
      {"0001-01-01 00:00:00", "\"0001-01-01 00:00:00.000\""},
      {"9999-12-31 23:59:59", "\"9999-12-31 23:59:59.000\""},
      {"2026-01-02 24:00:00", "\"2026-01-03 00:00:00.000\""},
      {"2026-01-02 24:00:00.001", "null"},
      {"2026-01-02T03:04:05", "null"},
      {"2026-01-02 03:04", "null"},
      {"2026-01-02 03:04:05.1234567891", "null"},
      {"2026-01-02 03:04:05Z", "null"},
      {"2026-01-02", "null"},
      {"2026-01-02 03:04:60", "null"},
      {"2026-01-02 03:04:0a.123", "null"},
      {"2026-01-02 0304:05:123", "null"}};
  for (const auto& [text, value] : stamps)
    EXPECT_EQ(One(text, Type::Timestamp(3)), "+I [" + value + "]\n") << text;
  EXPECT_EQ(One("2026-01-02 03:04:05.123456789", Type::Timestamp(6)),
            "+I [\"2026-01-02 03:04:05.123456\"]\n");
  EXPECT_EQ(One("2026-01-02 03:04:05.123456789", Type::Timestamp(9)),
            "+I [\"2026-01-02 03:04:05.123456789\"]\n");
  EXPECT_EQ(One("2026-01-02 03:04:05Z", Type::TimestampLtz(3)),
            "+I [\"2026-01-02 03:04:05.000Z\"]\n");
  EXPECT_EQ(One("2026-01-02 03:04:05.120Z", Type::TimestampLtz(3)),
            "+I [\"2026-01-02 03:04:05.120Z\"]\n");
  EXPECT_EQ(One("2026-01-02 03:04:05", Type::TimestampLtz(3)), "+I [null]\n");
}

TEST(Csv, Bytes) {
  EXPECT_EQ(One("AQID", Type::Bytes()), "+I [\"x'010203'\"]\n");
  EXPECT_EQ(One("Zm9v", Type::Bytes()), "+I [\"x'666f6f'\"]\n");
  EXPECT_EQ(One("/w==", Type::Bytes()), "+I [\"x'ff'\"]\n");
  EXPECT_EQ(One("", Type::Bytes()), "+I [\"x''\"]\n");
  EXPECT_EQ(One("!x==", Type::Bytes()), "+I [null]\n");
  EXPECT_EQ(One("AQI", Type::Bytes()), "+I [null]\n");
}

// Records of every length around the ends of blocks, plain and quoted: what comes out does not
// depend on the cuts.
TEST(Csv, RecordsAcrossBlocks) {
  std::string text, expected;
  for (int i = 0; i < 9000; ++i) {
    const std::string value(static_cast<size_t>(i % 200), static_cast<char>('a' + i % 26));
    text += std::to_string(i) + (i % 7 == 3 ? ",\"" + value + "\n\"\"\"" : "," + value) +
            (i % 5 == 0 ? "\r\n" : "\n");
    expected +=
        "+I [" + std::to_string(i) + ",\"" + value + (i % 7 == 3 ? "\\n\\\"" : "") + "\"]\n";
  }
  EXPECT_EQ(Rows(text, kIntString), expected);
}

// Runs of plain records are taken at once, others one by one; where comments are allowed, all are.
TEST(Csv, RunsOfPlainRecords) {
  std::mt19937 random(3);
  for (int round = 0; round < 150; ++round) {
    std::string text;
    for (auto rows = 1 + random() % 700; rows > 0; --rows) {
      const std::string number = std::to_string(random() % 1000);
      const std::string value(random() % 20, 'v');
      const bool is_rare = random() % (round % 3 == 0 ? 5 : 60) == 0;
      switch (is_rare ? random() % 8 : 0) {
        case 1: text += number + ",\"" + value + "\"\"\n,\",w\n"; break;
        case 2: text += number + "," + value + ",w\r\n"; break;
        case 3: text += number + "," + value + "\xc3\xbc,\n"; break;
        case 4: text += number + ",,\n"; break;
        case 5: text += round % 4 == 0 ? number + "," + value + "\n" : ""; break;
        case 6: text += round % 4 == 1 ? number + "x,v,w\n" : ""; break;
        case 7: text += round % 4 == 2 ? number + ",\xc3,w\n" : ""; break;
        default: text += number + "," + value + "," + number + "\n"; break;
      }
    }
    if (round % 2) text.pop_back();
    for (const char* ignores : {"false", "true"}) {
      const TableOptions options = {{"csv.ignore-parse-errors", ignores}};
      TableOptions one_by_one = options;
      one_by_one["csv.allow-comments"] = "true";
      ASSERT_EQ(Rows(text, kThree, options), Rows(text, kThree, one_by_one)) << round;
    }
  }
}

TEST(Csv, LongRecords) {
  const std::string value(3 << 20, 'x');
  EXPECT_EQ(Rows("1," + value + "\n2,\"" + value + "\"\n", kIntString),
            "+I [1,\"" + value + "\"]\n+I [2,\"" + value + "\"]\n");
  const ReadResult result = Read("1,\"" + std::string(40 << 20, '\n'), kIntString);
  EXPECT_NE(result.status.message().find("a record of more than 16777216 bytes"), std::string::npos)
      << result.status.message();
}

TEST(Csv, OnlyWantedColumnsAreLookedAt) {
  const TemporaryFolder folder;
  const TableSpec table =
      CsvTable(folder.Write("t.csv", "1,x,a\n2,y,b\n"),
               Schema({{"id", Type::Int()}, {"n", Type::Int()}, {"v", Type::String()}}));
  EXPECT_EQ(ReadAll(table, {{2, 0}, {}, {}}).text(), "+I [\"a\",1]\n+I [\"b\",2]\n");
  EXPECT_EQ(ReadAll(table, {{}, {}, {}}).text(), "+I []\n+I []\n");
}

// Any bytes give rows or an error, never a crash; with ignore-parse-errors only bad UTF-8 ends the
// job.
TEST(Csv, AnyBytes) {
  uint64_t random = 1;
  for (int round = 0; round < 300; ++round) {
    std::string text;
    for (int i = 0; i < 400; ++i) {
      random = random * 6364136223846793005 + 1442695040888963407;
      constexpr std::string_view kAlphabet = "0123,,,\"\"\\\n\r -:.#ax\xc3\xa9";
      text += kAlphabet[(random >> 33) % kAlphabet.size()];
    }
    const Schema schema({{"a", Type::Int()},
                         {"b", Type::String()},
                         {"c", Type::Timestamp(3)},
                         {"d", Type::Decimal(20, 3)}});
    for (const bool ignore : {false, true}) {
      TableOptions options = {{"csv.escape-character", "\\"},
                              {"csv.allow-comments", round % 2 ? "true" : "false"},
                              {"csv.trim-spaces", round % 3 ? "true" : "false"},
                              {"csv.ignore-parse-errors", ignore ? "true" : "false"}};
      (void)Read(text, schema, options);
    }
  }
}

// Thousands of rows, most of them plain and so decoded many at a time, against the way of single
// records that comments ask for: the same rows, places, rejects and error.
TEST(Csv, PlainRowsManyAtATime) {
  std::mt19937 random(11);
  const Schema schema({{"i", Type::Int()},
                       {"v", Type::String()},
                       {"b", Type::BigInt()},
                       {"d", Type::Decimal(6, 2)},
                       {"t", Type::Timestamp(3)},
                       {"w", Type::String()}});
  const auto any = [&random](std::initializer_list<const char*> of) {
    return std::string(of.begin()[random() % of.size()]);
  };
  const auto number = [&random] { return std::to_string(random() >> (random() % 32)); };
  for (int round = 0; round < 60; ++round) {
    const unsigned odd = round % 3 == 0 ? 0 : 1 + random() % 300;  // one record in so many
    const bool has_bad_ones = round % 2 == 0;
    std::string text;
    for (int row = 0; row < 3000; ++row) {
      const bool is_odd = odd != 0 && random() % odd == 0;
      std::string cells[6] = {number(), any({"", "a", "twelve bytes", "more than twelve bytes"}),
                              number() + number(), number().substr(0, 4),
                              "2026-01-02 03:04:0" + std::to_string(random() % 3) + ".12" +
                                  std::to_string(random() % 10),
                              std::string(random() % 50, 'x')};
      if (is_odd && has_bad_ones) {
        std::string& cell = cells[random() % 6];
        cell = any({"-1", "+2", "007", " 3 ", "2147483647", "2147483648", "-9223372036854775808",
                    "9223372036854775808", "12345678901234567", "1234567890123456", "x", "1x", "",
                    "-", "99999.99", "\xff", "2026-01-02 03:04:05", "2026-01-02 24:00:00.000",
                    "2026-02-31 03:04:05.1", "more,cells", "\"", "a\"b"});
      } else if (is_odd) {
        cells[1] = any({"\"quoted\"", "\"a,b\"", "\"two\nlines\"", "\xc3\xa9", "'", " a"});
      }
      for (int i = 0; i < 6; ++i) text += cells[i] + (i < 5 ? "," : "");
      text += is_odd ? any({"\n", "\r\n", "\r"}) : "\n";
    }
    if (round % 5 == 0) text.pop_back();
    const TemporaryFolder folder;
    const std::string path = folder.Write("t.csv", text);
    for (const int mode : {0, 1, 2}) {
      TableOptions options;
      if (mode == 2) options["csv.ignore-parse-errors"] = "true";
      std::string seen[2];
      for (const int way : {0, 1}) {
        Counters counters;
        ConnectorContext context;
        context.counters = &counters;
        if (mode == 1) context.settings.bad_data = BadData::kSkip;
        if (way == 1) options["csv.allow-comments"] = "true";
        const TableSpec table = CsvTable(path, schema, options);
        Result<std::unique_ptr<Source>> source = CreateSource(table, AllColumns(table), context);
        ASSERT_TRUE(source.ok());
        RowCollector out((*source)->output_schema());
        Result<SourceState> state = SourceState::kMore;
        while (state.ok() && *state != SourceState::kEnd) state = (*source)->Poll(out);
        size_t number = 0;
        for (const RowBatch& batch : out.batches) {
          for (int row = 0; row < batch.rows; ++row)
            seen[way] += out.rows[number++] + " at " + PlaceText(batch, row) + "\n";
        }
        if (!state.ok()) seen[way] += state.status().ToString();
        for (const char* counter : {"rejected", "cast", "undecodable", "records_read", "nulled"})
          seen[way] += fmt::format("\n{} {}", counter, *counters.Find(counter));
      }
      ASSERT_EQ(seen[0], seen[1]) << "round " << round << ", mode " << mode;
    }
  }
}

}  // namespace
}  // namespace rowtide
