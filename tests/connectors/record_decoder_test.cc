// Messages through each format: the same rows as from a file, whatever they hold and wherever a
// batch ends, and from the middle of a message on.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "connectors/formats/formats.h"
#include "tests/connectors/table_reader.h"

namespace rowtide {
namespace {

const Schema kIntString({{"id", Type::Int()}, {"v", Type::String()}});

using Message = std::optional<std::string>;

// Texts one behind the other, as a transport lays them out.
struct Laid {
  explicit Laid(const std::vector<Message>& messages) {
    std::string text;
    for (const Message& message : messages) {
      bytes.push_back({static_cast<uint32_t>(text.size()),
                       static_cast<uint32_t>(message.value_or("").size()),
                       100 + static_cast<int64_t>(bytes.size()),
                       message ? RecordBytes::Kind::kBytes : RecordBytes::Kind::kNull});
      text += message.value_or("") + "\n";
    }
    auto filled = std::make_shared<Block>(text.size() + kRecordPadding);
    std::memcpy(filled->data(), text.data(), text.size());
    std::memset(filled->data() + text.size(), '"', kRecordPadding);
    block = filled;
  }
  Records records() const { return {block, bytes}; }

  BlockPointer block;
  std::vector<RecordBytes> bytes;
};

class Places final : public MessagePlaces {
 public:
  std::string Text(int32_t record) const override { return "message " + std::to_string(record); }
  void AppendFields(int32_t record, std::string* letter) const override {
    *letter += fmt::format("\"topic\":\"t\",\"partition\":0,\"offset\":{},", 100 + record);
  }
  std::optional<std::string_view> Value(int32_t /*record*/) const override { return "value"; }
};

class Reader {
 public:
  Reader(TableOptions options, Schema schema, ConnectorContext context = {})
      : table_{"t", std::move(options), std::move(schema)}, context_(std::move(context)) {
    context_.counters = &counters;
    context_.settings.key = "t";
    rejects_ = std::move(*Rejects::Create("t", context_));
    rejects_->ReadsFrom(&places_);
    std::vector<int> columns;
    for (int i = 0; i < table_.schema.size(); ++i) columns.push_back(i);
    Result<std::unique_ptr<RecordDecoder>> made =
        CreateRecordDecoder(table_, columns, context_, rejects_.get());
    decoder_ = std::move(*made);
  }

  // "record: row" of every row; an error is the last.
  std::vector<std::string> Read(const std::vector<Message>& messages, RecordCursor at = {}) {
    const Laid laid(messages);
    std::vector<std::string> rows;
    while (at.record < static_cast<int32_t>(messages.size())) {
      const Status status = decoder_->Decode(laid.records(), &at);
      const RowBatch batch = decoder_->Finish();
      for (int row = 0; row < batch.rows; ++row) {
        std::string text = fmt::format("{}: ", RecordOfPlace(batch.place_of(row)->line));
        EXPECT_EQ(batch.place_of(row)->byte, 100 + RecordOfPlace(batch.place_of(row)->line));
        AppendScriptRow(batch, row, table_.schema, &text);
        rows.push_back(std::move(text));
      }
      if (!status.ok()) {
        rows.push_back("error: " + status.message());
        break;
      }
    }
    return rows;
  }

  Counters counters;

 private:
  TableSpec table_;
  ConnectorContext context_;
  Places places_;
  std::unique_ptr<Rejects> rejects_;
  std::unique_ptr<RecordDecoder> decoder_;
};

using Rows = std::vector<std::string>;

ConnectorContext Skipping() {
  ConnectorContext context;
  context.settings.bad_data = BadData::kSkip;
  return context;
}

TEST(RecordDecoder, Json) {
  Reader reader({{"format", "json"}}, kIntString);
  EXPECT_EQ(
      reader.Read({R"({"id":1,"v":"a"})", R"({"id":2,"v":"b"})", R"({"id":3,"v":"c"})",
                   std::nullopt, "{\n \"id\": 4,\n \"v\": \"d\"\n}\n", R"({"id":5,"v":"e"})",
                   R"([{"id":6},{"id":7}])", "{\"id\":8,\"v\":\"f\"}\n"}),
      (Rows{R"(0: +I [1,"a"])", R"(1: +I [2,"b"])", R"(2: +I [3,"c"])", R"(4: +I [4,"d"])",
            R"(5: +I [5,"e"])", R"(6: +I [6,null])", R"(6: +I [7,null])", R"(7: +I [8,"f"])"}));
  EXPECT_EQ(*reader.counters.Find("records_read"), 8);
  EXPECT_EQ(*reader.counters.Find("empty_message"), 1);
  EXPECT_EQ(reader.Read({R"([{"id":6},{"id":7}])", R"({"id":8})"}, {0, 1}),
            (Rows{"0: +I [7,null]", "1: +I [8,null]"}));
  EXPECT_EQ(reader.Read({R"({"id":1})", R"({"id":1}})"}),
            (Rows{"0: +I [1,null]",
                  "error: table t, message 1: no JSON: text behind the value at byte 8, not "
                  "'}'\nthe record: {\"id\":1}}"}));
}

TEST(RecordDecoder, BadRecordsAreCounted) {
  Reader reader({{"format", "json"}}, kIntString, Skipping());
  EXPECT_EQ(reader.Read({R"({"id":1,"v":"a"})", R"({"id":"x","v":"b"})", R"({"id":2,"v":"q)",
                         "\xff\xfe", R"({"id":3,"v":"c"})"}),
            (Rows{R"(0: +I [1,"a"])", R"(4: +I [3,"c"])"}));
  EXPECT_EQ(*reader.counters.Find("records_read"), 5);
  EXPECT_EQ(*reader.counters.Find("rejected"), 3);
}

// What stands behind the first record of a message is nobody's, be that one good or bad; and what
// stands before it does not make it another message's.
TEST(RecordDecoder, ACsvMessageIsOneRecord) {
  Reader reader({{"format", "csv"}, {"csv.allow-comments", "true"}}, kIntString, Skipping());
  EXPECT_EQ(reader.Read({"x,a\n1,b", "2,a\n3,b\n", "\"4\",c,d\n5,e", "#\n#\n6,f", "7,g"}),
            (Rows{R"(1: +I [2,"a"])", R"(3: +I [6,"f"])", R"(4: +I [7,"g"])"}));
  EXPECT_EQ(*reader.counters.Find("records_read"), 5);
  EXPECT_EQ(*reader.counters.Find("rejected"), 2);
}

TEST(RecordDecoder, MessagesOfNoElementsAreEmpty) {
  Reader rows({{"format", "json"}}, kIntString);
  EXPECT_EQ(rows.Read({"[]", R"([{"id":1}])"}), (Rows{"1: +I [1,null]"}));
  EXPECT_EQ(*rows.counters.Find("empty_message"), 1);
  Reader changes({{"format", "canal-json"}}, kIntString);
  EXPECT_EQ(changes.Read({R"({"data":[],"type":"INSERT"})"}), Rows{});
  EXPECT_EQ(*changes.counters.Find("empty_message"), 1);
}

TEST(RecordDecoder, Changes) {
  Reader reader({{"format", "debezium-json"}}, kIntString);
  const std::string update = R"({"before":{"id":1,"v":"a"},"after":{"id":1,"v":"b"},"op":"u"})";
  EXPECT_EQ(reader.Read(
                {R"({"before":null,"after":{"id":1,"v":"a"},"op":"c"})", update, "", std::nullopt}),
            (Rows{R"(0: +I [1,"a"])", R"(1: -U [1,"a"])", R"(1: +U [1,"b"])"}));
  EXPECT_EQ(reader.Read({update, update}, {0, 1}),
            (Rows{R"(0: +U [1,"b"])", R"(1: -U [1,"a"])", R"(1: +U [1,"b"])"}));
  EXPECT_EQ(*reader.counters.Find("empty_message"), 2);
}

TEST(RecordDecoder, Csv) {
  Reader reader({{"format", "csv"}}, kIntString);
  EXPECT_EQ(reader.Read({"1,a", "2,b\n", "3,\"c\nd\"", std::nullopt, "4,e", "5,\"f\"\"\""}),
            (Rows{R"(0: +I [1,"a"])", R"(1: +I [2,"b"])", R"(2: +I [3,"c\nd"])", R"(4: +I [4,"e"])",
                  R"(5: +I [5,"f\""])"}));
  EXPECT_EQ(
      reader.Read({"1,a", "2"}),
      (Rows{R"(0: +I [1,"a"])", "error: table t, message 1: 1 fields, 2 expected\nthe record: 2"}));
  Reader skips({{"format", "csv"}}, kIntString, Skipping());
  EXPECT_EQ(skips.Read({"1,\"a", "2,b", "x,c", "3,d"}),
            (Rows{R"(1: +I [2,"b"])", R"(3: +I [3,"d"])"}));
  EXPECT_EQ(*skips.counters.Find("rejected"), 2);
}

TEST(RecordDecoder, Raw) {
  Reader reader({{"format", "raw"}}, Schema({{"v", Type::String()}}));
  EXPECT_EQ(reader.Read({"a", "b\nc\r", "", std::nullopt}),
            (Rows{R"(0: +I ["a"])", R"(1: +I ["b\nc\r"])", R"(2: +I [""])", "3: +I [null]"}));
}

// More rows than a batch holds, arrays across its end, and bad ones between.
TEST(RecordDecoder, ManyMessages) {
  std::mt19937 random(7);
  std::vector<Message> messages;
  Rows expected;
  int id = 0;
  for (int i = 0; i < 1024; ++i) {
    const int rows = static_cast<int>(random() % 4);
    std::string text = rows == 1 ? "" : "[";
    for (int row = 0; row < rows; ++row) {
      const std::string v(random() % 40, static_cast<char>('a' + random() % 26));
      text += fmt::format(R"({}{{"id":{},"v":"{}"}})", row > 0 ? "," : "", id, v);
      expected.push_back(fmt::format(R"({}: +I [{},"{}"])", i, id++, v));
    }
    messages.push_back(text + (rows == 1 ? "" : "]"));
  }
  Reader reader({{"format", "json"}}, kIntString);
  EXPECT_EQ(reader.Read(messages), expected);
}

}  // namespace
}  // namespace rowtide
