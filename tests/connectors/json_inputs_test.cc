// JSON texts, good and bad, in the manner of JSONTestSuite: what is JSON is read exactly, what is
// not is refused with its place.
#include <gtest/gtest.h>

#include "tests/connectors/table_reader.h"

namespace rowtide {
namespace {

const Schema kText({{"v", Type::String()}});

TableSpec JsonTable(const std::string& path, Schema schema, TableOptions options = {}) {
  options["connector"] = "filesystem";
  options["format"] = "json";
  options["path"] = path;
  return {"t", std::move(options), std::move(schema)};
}

ReadResult Read(std::string_view text, const Schema& schema, TableOptions options = {},
                const ConnectorContext& context = {}) {
  const TemporaryFolder folder;
  const TableSpec table = JsonTable(folder.Write("t.json", text), schema, std::move(options));
  return ReadAll(table, AllColumns(table), context);
}

std::string One(std::string_view text, const Schema& schema) {
  const ReadResult result = Read(text, schema);
  return result.status.ok() ? result.text() : result.status.message();
}

struct Good {
  const char* json;  // the value of v
  const char* text;  // of the STRING column
};

// Any value in a STRING column: a string without its quotes, a number as it stands, nested ones as
// Jackson writes them.
const Good kGood[] = {
    {R"("")", R"("")"},
    {R"("a")", R"("a")"},
    {R"(" a ")", R"(" a ")"},
    {R"("\"\\\/\b\f\n\r\t")", R"("\"\\/\u0008\u000c\n\r\t")"},
    {R"("\u0041\u00e9\u65e5")", R"("Aé日")"},
    {R"("\u0000")", R"("\u0000")"},
    {R"("\uD83D\uDE00")", R"("😀")"},
    {R"("\ud83d")", R"("?")"},
    {R"("\ude00")", R"("?")"},
    {R"("\ud83d\ud83d\ude00")", R"("?😀")"},
    {R"("\ud83dx")", R"("?x")"},
    {R"("\ud83d\u0041")", R"("?A")"},
    {R"("é日😀")", R"("é日😀")"},
    {"\"a\tb\"", R"("a\tb")"},
    {"\"a\x01\x62\"", R"("a\u0001b")"},
    {"\"\x7f\"", "\"\x7f\""},
    {R"("a string of more than twelve bytes")", R"("a string of more than twelve bytes")"},
    {R"("an escape\nin more than twelve bytes")", R"("an escape\nin more than twelve bytes")"},
    {R"("{\"a\":1}")", R"("{\"a\":1}")"},
    {R"("//")", R"("//")"},
    {R"("null")", R"("null")"},
    {"0", R"("0")"},
    {"-0", R"("-0")"},
    {"7", R"("7")"},
    {"-7", R"("-7")"},
    {"1.50", R"("1.50")"},
    {"0.1", R"("0.1")"},
    {"-0.0", R"("-0.0")"},
    {"1e3", R"("1e3")"},
    {"1E+3", R"("1E+3")"},
    {"1e-3", R"("1e-3")"},
    {"0e0", R"("0e0")"},
    {"123456789012345678901234567890", R"("123456789012345678901234567890")"},
    {"0.1000000000000000055511151231257827", R"("0.1000000000000000055511151231257827")"},
    {"1e400", R"("1e400")"},
    {"true", R"("true")"},
    {"false", R"("false")"},
    {"null", "null"},
    {"[]", R"("[]")"},
    {"{}", R"("{}")"},
    {"[ ]", R"("[]")"},
    {"{ }", R"("{}")"},
    {"[1 , 2]", R"("[1,2]")"},
    {"[[[]]]", R"("[[[]]]")"},
    {"[1,\"a\",null,true,false,{}]", R"("[1,\"a\",null,true,false,{}]")"},
    {"[2.50,1e3,-0]", R"("[2.5,1000.0,0]")"},
    {R"({"a":1,"b":2,"a":3})", R"("{\"a\":3,\"b\":2}")"},
    {R"({"":1})", R"("{\"\":1}")"},
    {R"({"a b":{"c":[{"d":null}]}})", R"("{\"a b\":{\"c\":[{\"d\":null}]}}")"},
    {R"({"\u0061":1})", R"("{\"a\":1}")"},
    {R"(["\ud83d\ude00","\n"])", R"("[\"😀\",\"\\n\"]")"},
};

TEST(JsonInputs, Good) {
  for (const Good& good : kGood) {
    EXPECT_EQ(One(std::string("{\"v\":") + good.json + "}\n", kText),
              std::string("+I [") + good.text + "]\n")
        << good.json;
    // The same in a field that nobody reads, and with blanks wherever they may stand.
    EXPECT_EQ(One(std::string("{\"x\":") + good.json + ",\"v\":\"z\"}", kText), "+I [\"z\"]\n")
        << good.json;
    EXPECT_EQ(One(std::string(" { \"v\" : ") + good.json + " \t} \r\n", kText),
              std::string("+I [") + good.text + "]\n")
        << good.json;
  }
}

struct Bad {
  std::string json;  // the whole record
  int byte;          // where the message says that it goes wrong; -1: it says nothing of the kind
};

const Bad kBad[] = {
    {"x", 0},
    {"{", 1},
    {"}", 0},
    {"{}}", 2},
    {"{]", 1},
    {"{\"v\"", 4},
    {"{\"v\":", 5},
    {"{\"v\":}", 5},
    {"{\"v\":1", 6},
    {"{\"v\":1,", 7},
    {"{\"v\":1,}", 7},
    {"{,\"v\":1}", 1},
    {"{\"v\":1,,\"w\":2}", 7},
    {"{\"v\" 1}", 5},
    {"{\"v\"::1}", 5},
    {"{\"v\":1:2}", 6},
    {"{\"v\":1 2}", 7},
    {"{v:1}", 1},
    {"{'v':1}", 1},
    {"{1:1}", 1},
    {"{null:1}", 1},
    {"{\"v\":'a'}", 5},
    {"{\"v\":a}", 5},
    {"{\"v\":tru}", 5},
    {"{\"v\":True}", 5},
    {"{\"v\":truex}", 9},
    {"{\"v\":nul}", 5},
    {"{\"v\":nullx}", 9},
    {"{\"v\":NaN}", 5},
    {"{\"v\":Infinity}", 5},
    {"{\"v\":-Infinity}", 5},
    {"{\"v\":+1}", 5},
    {"{\"v\":01}", 5},
    {"{\"v\":-01}", 5},
    {"{\"v\":-}", 5},
    {"{\"v\":.5}", 5},
    {"{\"v\":5.}", 5},
    {"{\"v\":1.e3}", 5},
    {"{\"v\":1e}", 5},
    {"{\"v\":1e+}", 5},
    {"{\"v\":1e1.5}", 5},
    {"{\"v\":1.2.3}", 5},
    {"{\"v\":0x10}", 6},
    {"{\"v\":1_000}", 6},
    {"{\"v\":1-2}", 5},
    {"{\"v\":\"a}", 5},
    {"{\"v\":\"a\\\"}", 5},
    {"{\"v\":\"\\x\"}", 6},
    {"{\"v\":\"\\u12\"}", 6},
    {"{\"v\":\"\\u12g4\"}", 6},
    {"{\"v\":\"\\'\"}", 6},
    {"{\"v\":\"a\"b}", 8},
    {"{\"v\":\"a\"\"b\"}", 8},
    {"{\"v\":[1,2}", 9},
    {"{\"v\":[1,]}", 8},
    {"{\"v\":[,1]}", 6},
    {"{\"v\":[1 2]}", 8},
    {"{\"v\":[1", 7},
    {"{\"v\":[}", 6},
    {"{\"v\":{]}", 6},
    {"{\"v\":{\"a\"}}", 9},
    {"{\"v\":1} // note", 8},
    {"{\"v\":1} /* note */", 8},
    {"{\"v\":/* note */1}", 5},
    {"# note", 0},
    {"{\"v\":1}{\"v\":2}", 7},
    {"{\"v\":1},", 7},
    {"{\"v\":1} x", 8},
    {"   ", 3},
    {"[", 1},
    {"[{\"v\":1}", 8},
    {"[{\"v\":1},]", 9},
    {"[{\"v\":1} {\"v\":2}]", 9},
    {"[{\"v\":1}]]", 9},
    {"{\"v\":\"\xff\"}", 6},
    {"{\"v\":\"\xc3\"}", 6},
    {"{\"v\":\"\xc0\x80\"}", 6},
    {"{\"v\":\"\xed\xa0\x80\"}", 6},
    {"{\"v\":\"\xf4\x90\x80\x80\"}", 6},
    {"{\"v\":\"ab\xe6\x97\"}", 8},
    {"\xff", 0},
    {"null", -1},
    {"true", -1},
    {"1", -1},
    {"\"text\"", -1},
    {"[1]", -1},
    {"[null]", -1},
    {"[[{\"v\":1}]]", -1},
};

TEST(JsonInputs, Bad) {
  for (const Bad& bad : kBad) {
    // Behind a good record, so that places are of the file and not of the record.
    const ReadResult result = Read("{\"v\":\"ok\"}\n" + bad.json + "\n", kText);
    EXPECT_EQ(result.text(), "+I [\"ok\"]\n") << bad.json;
    EXPECT_EQ(result.status.code(), StatusCode::kDataError) << bad.json;
    const std::string& message = result.status.message();
    EXPECT_NE(message.find("t.json: line 2, byte 11: no "), std::string::npos) << message;
    const std::string place = "at byte " + std::to_string(11 + bad.byte) + ", ";
    EXPECT_EQ(bad.byte >= 0, message.find(place) != std::string::npos) << bad.json << message;

    // Left out, it stops nobody behind it.
    Counters counters;
    ConnectorContext context;
    context.counters = &counters;
    context.settings.bad_data = BadData::kSkip;
    const ReadResult skipped =
        Read("{\"v\":\"a\"}\n" + bad.json + "\n{\"v\":\"b\"}", kText, {}, context);
    EXPECT_EQ(skipped.text(), "+I [\"a\"]\n+I [\"b\"]\n") << bad.json;
    EXPECT_EQ(*counters.Find("rejected"), 1) << bad.json;
    EXPECT_EQ(*counters.Find("records_read"), 3) << bad.json;
  }
}

TEST(JsonInputs, NumbersLoseNothing) {
  const Schema longs({{"v", Type::BigInt()}});
  EXPECT_EQ(One("{\"v\":9007199254740993}", longs), "+I [9007199254740993]\n");
  EXPECT_EQ(One("{\"v\":9007199254740993.0}", longs), "+I [9007199254740993]\n");
  EXPECT_EQ(One("{\"v\":900719925474099.3e1}", longs), "+I [9007199254740993]\n");
  EXPECT_EQ(One("{\"v\":-9223372036854775808}", longs), "+I [-9223372036854775808]\n");
  EXPECT_EQ(One("{\"v\":9223372036854775807.9}", longs), "+I [9223372036854775807]\n");
  EXPECT_NE(One("{\"v\":9223372036854775808.0}", longs).find("no BIGINT"), std::string::npos);
  EXPECT_NE(One("{\"v\":1e999999999999}", longs).find("no BIGINT"), std::string::npos);
  EXPECT_EQ(One("{\"v\":0e999999999999}", longs), "+I [0]\n");
  const Schema decimals({{"v", Type::Decimal(38, 9)}});
  EXPECT_EQ(One("{\"v\":12345678901234567890123456789.123456789}", decimals),
            "+I [\"12345678901234567890123456789.123456789\"]\n");
  EXPECT_EQ(One("{\"v\":0.0000000005}", decimals), "+I [\"0.000000001\"]\n");
  const Schema floats({{"v", Type::Of(TypeKind::kFloat)}});
  // Through a double it would be 1.0000001 rounded twice.
  EXPECT_EQ(One("{\"v\":1.00000017881393432617187499}", floats), "+I [1.0000001]\n");
}

TEST(JsonInputs, EveryRecordIsCounted) {
  Counters counters;
  ConnectorContext context;
  context.counters = &counters;
  context.settings.bad_data = BadData::kSkip;
  std::string text;
  for (int i = 0; i < 5000; ++i) {
    switch (i % 5) {
      case 0: text += fmt::format("{{\"n\":{}}}\n", i); break;
      case 1: text += fmt::format("{{\"n\":\"x{}\"}}\n", i); break;
      case 2: text += "{\"n\":\n"; break;
      case 3: text += fmt::format("[{{\"n\":{}}},{{\"n\":null}},5]\n", i); break;
      case 4: text += "\n"; break;  // no record
    }
  }
  const ReadResult result = Read(text, Schema({{"n", Type::Int().NotNull()}}), {}, context);
  ASSERT_TRUE(result.status.ok()) << result.status.ToString();
  EXPECT_EQ(result.rows.size(), 2000u);
  EXPECT_EQ(*counters.Find("records_read"), 6000);
  EXPECT_EQ(*counters.Find("rejected"), 4000);
  EXPECT_EQ(*counters.Find("cast"), 1000);
  EXPECT_EQ(*counters.Find("not_null"), 1000);
  EXPECT_EQ(*counters.Find("undecodable"), 2000);
}

TEST(JsonInputs, Limits) {
  ConnectorContext context;
  context.limits.record_bytes = 100;
  context.limits.json_depth = 4;
  const auto first = [&](std::string_view text) {
    const ReadResult result = Read(text, kText, {}, context);
    return result.status.ok() ? result.text() : result.status.error_code();
  };
  EXPECT_EQ(first("{\"v\":[[[1]]]}"), "+I [\"[[[1]]]\"]\n");
  EXPECT_EQ(first("{\"v\":[[[[1]]]]}"), "RT4004");
  EXPECT_EQ(first("{\"x\":[[[[1]]]],\"v\":\"a\"}"), "RT4004");
  EXPECT_EQ(first("{\"v\":\"" + std::string(100, 'x') + "\"}"), "RT4004");
  context.settings.bad_data = BadData::kSkip;
  EXPECT_EQ(first("{\"v\":\"" + std::string(1 << 20, 'x') + "\"}\n{\"v\":\"a\"}"), "+I [\"a\"]\n");
}

// An array of more rows than a batch: a restore begins in the middle of it.
TEST(JsonInputs, ArraysAreRestoredAtEveryBatch) {
  std::string text = "{\"v\":\"first\"}\n[";
  for (int i = 0; i < 3000; ++i) text += fmt::format("{}{{\"v\":{}}}", i == 0 ? "" : ",", i);
  text += "]\n{\"v\":\"last\"}\n";
  const TemporaryFolder folder;
  const TableSpec table = JsonTable(folder.Write("t.json", text), kText);
  const ReadResult whole = ReadAll(table, AllColumns(table));
  ASSERT_EQ(whole.rows.size(), 3002u);
  std::vector<std::string> rows;
  std::string snapshot;
  for (SourceState state = SourceState::kMore; state == SourceState::kMore;) {
    Result<std::unique_ptr<Source>> source = CreateSource(table, AllColumns(table), {});
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

}  // namespace
}  // namespace rowtide
