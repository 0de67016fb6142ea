// Avro records as messages: alone, as JSON, and with the number of a schema.
#include "connectors/formats/avro_records.h"

#include <httplib.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "connectors/formats/avro_schema.h"
#include "engine/batch_builder.h"
#include "tests/connectors/avro_bytes.h"
#include "tests/connectors/record_reader.h"

namespace rowtide {
namespace {

const Schema kColumns({{"id", Type::BigInt().NotNull()},
                       {"name", Type::String()},
                       {"e", Type::Decimal(9, 2)},
                       {"ts", Type::Timestamp(3)},
                       {"d", Type::Double()},
                       {"x", Type::Bytes()}});

TableSpec AvroMessages(TableOptions options = {}, Schema schema = kColumns) {
  if (!options.contains("format")) options["format"] = "avro";
  return {"t", std::move(options), std::move(schema)};
}

std::string Unhex(std::string_view hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes.push_back(static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  return bytes;
}

// What Flink 2.3 made of a row: both encodings.
constexpr const char* kFlinkHex =
    "0e021e416e6e2022c3a922202f2001e280a80204fb2e02b817029a9999999999b93f020400ff0295bfd633";
constexpr const char* kFlinkJson =
    "{\"id\":7,\"name\":{\"string\":\"Ann \\\"é\\\" / \\u0001\u2028\"},\"e\":{\"bytes\":\"û.\"},"
    "\"ts\":{\"long\":1500},\"d\":{\"double\":0.1},\"x\":{\"bytes\":\"\\u0000ÿ\"},"
    "\"f\":{\"float\":1.0E-7}}";

TEST(AvroRecords, AreReadAsFlinkWritesThem) {
  Schema columns = kColumns;
  columns.Add({"f", Type::Of(TypeKind::kFloat)});
  const std::string wanted =
      "+I [7,\"Ann \\\"é\\\" / \\u0001\u2028\",\"-12.34\",\"1970-01-01 "
      "00:00:01.500\",0.1,\"x'00ff'\","
      "1e-07]\n";
  const ReadMessages binary =
      ReadRecords(AvroMessages({}, columns), {}, MessageBlock({Unhex(kFlinkHex)}).records());
  EXPECT_EQ(binary.rows, wanted) << binary.status.ToString();
  const ReadMessages json = ReadRecords(AvroMessages({{"avro.encoding", "json"}}, columns), {},
                                        MessageBlock({kFlinkJson}).records());
  EXPECT_EQ(json.rows, wanted) << json.status.ToString();
  const std::string nulls = R"({"more":3,"name":null,"id":1,"e":null,"ts":null,"d":null,"x":null,)"
                            R"("f":{"float":"-Infinity"}})";
  EXPECT_EQ(ReadRecords(AvroMessages({{"avro.encoding", "json"}}, columns), {},
                        MessageBlock({nulls}).records())
                .rows,
            "+I [1,null,null,null,null,null,\"-Infinity\"]\n");
}

RowBatch SomeRows() {
  return BatchOf(kColumns, {{RowKind::kInsert,
                             {int64_t{7}, std::string("Ann \"é\""), int128{-1234}, int64_t{1500},
                              0.1, std::string("\x00\xff", 2)}},
                            {RowKind::kInsert, {int64_t{-1}, {}, {}, {}, {}, {}}}});
}

std::string RowTexts() {
  const RowBatch batch = SomeRows();
  std::string text;
  for (int row = 0; row < batch.rows; ++row) {
    AppendScriptRow(batch, row, kColumns, &text);
    text += "\n";
  }
  return text;
}

std::vector<std::string> Write(const TableSpec& table) {
  Result<std::unique_ptr<RecordEncoder>> encoder = CreateRecordEncoder(table);
  EXPECT_TRUE(encoder.ok()) << encoder.status().ToString();
  return WriteRecords(**encoder, SomeRows());
}

TEST(AvroRecords, AreReadAsTheyAreWritten) {
  const TableSpec table = AvroMessages();
  const std::vector<std::string> messages = Write(table);
  EXPECT_EQ(messages[1], std::string("\x01\x00\x00\x00\x00\x00", 6));
  const ReadMessages read = ReadRecords(table, {}, MessageBlock(messages).records());
  EXPECT_TRUE(read.status.ok()) << read.status.ToString();
  EXPECT_EQ(read.rows, RowTexts());
}

TEST(AvroRecords, AreFlinksBytes) {
  Schema columns = kColumns;
  columns.Add({"f", Type::Of(TypeKind::kFloat)});
  const RowBatch batch = BatchOf(
      columns, {{RowKind::kInsert,
                 {int64_t{7}, std::string("Ann \"é\" / \x01\u2028"), int128{-1234}, int64_t{1500},
                  0.1, std::string("\x00\xff", 2), static_cast<double>(1e-7f)}}});
  const auto write = [&](TableOptions options) {
    Result<std::unique_ptr<RecordEncoder>> encoder =
        CreateRecordEncoder(AvroMessages(std::move(options), columns));
    return WriteRecords(**encoder, batch).front();
  };
  std::string hex;
  for (const char byte : write({})) hex += fmt::format("{:02x}", static_cast<uint8_t>(byte));
  EXPECT_EQ(hex, kFlinkHex);
  EXPECT_EQ(write({{"avro.encoding", "json"}}), kFlinkJson);
}

TEST(AvroRecords, InTheJsonEncoding) {
  const TableSpec table = AvroMessages({{"avro.encoding", "json"}});
  const std::vector<std::string> messages = Write(table);
  EXPECT_EQ(messages[0],
            R"({"id":7,"name":{"string":"Ann \"é\""},"e":{"bytes":"û.)"
            "\"},\"ts\":{\"long\":1500},\"d\":{\"double\":0.1},\"x\":{\"bytes\":\"\\u0000ÿ\"}}");
  EXPECT_EQ(messages[1], R"({"id":-1,"name":null,"e":null,"ts":null,"d":null,"x":null})");
  const ReadMessages read = ReadRecords(table, {}, MessageBlock(messages).records());
  EXPECT_TRUE(read.status.ok()) << read.status.ToString();
  EXPECT_EQ(read.rows, RowTexts());
}

TEST(AvroRecords, WhatIsNoneIsRejected) {
  Counters counters;
  ConnectorContext context;
  context.counters = &counters;
  context.settings.bad_data = BadData::kSkip;
  MessageBlock block({AvroLong(1) + std::string(5, '\0'), "", "\x02", "gone",
                      AvroLong(2) + std::string("\x02\x02\xff\0\0\0\0", 7),
                      AvroLong(3) + std::string(9, '\0')});
  block.MakeNull(3);
  const ReadMessages read = ReadRecords(AvroMessages(), context, block.records());
  EXPECT_TRUE(read.status.ok());
  EXPECT_EQ(read.rows, "+I [1,null,null,null,null,null]\n+I [3,null,null,null,null,null]\n");
  EXPECT_EQ(*counters.Find("records_read"), 5);
  EXPECT_EQ(*counters.Find("rejected"), 3);
  EXPECT_EQ(*counters.Find("invalid_encoding"), 1);
  context.settings.bad_data = BadData::kFail;
  const ReadMessages failed = ReadRecords(AvroMessages(), context, block.records());
  EXPECT_NE(failed.status.ToString().find("message 1: bytes that are no record"), std::string::npos)
      << failed.status.ToString();
}

TEST(AvroRecords, JsonThatIsNoneIsRejected) {
  const auto error = [](const std::string& json) {
    const TableSpec table = AvroMessages({{"avro.encoding", "json"}},
                                         Schema({{"a", Type::Int()}, {"b", Type::String()}}));
    return ReadRecords(table, {}, MessageBlock({json}).records()).status.ToString();
  };
  EXPECT_NE(error("{").find("it is no JSON"), std::string::npos);
  EXPECT_NE(error(R"({"a":null})").find("lacks the field 'b'"), std::string::npos);
  EXPECT_NE(error(R"({"a":1,"b":null})").find("1 where union of null and int is wanted"),
            std::string::npos)
      << error(R"({"a":1,"b":null})");
  EXPECT_NE(error(R"({"a":{"int":"x"},"b":null})").find("\"x\" where int is wanted"),
            std::string::npos);
  EXPECT_NE(error(std::string(100000, '[')).find("it is no JSON"), std::string::npos);
}

// A schema registry in this process.
class Registry {
 public:
  Registry() {
    server_.Get(R"(/api/schemas/ids/(\d+))",
                [this](const httplib::Request& request, httplib::Response& response) {
                  ++asked;
                  authorization = request.get_header_value("Authorization");
                  const size_t number = std::stoul(request.matches[1].str());
                  if (is_down) {
                    response.status = 503;
                  } else if (number > schemas.size()) {
                    response.status = 404;
                    response.set_content(R"({"error_code":40403,"message":"Schema not found"})",
                                         "application/json");
                  } else {
                    response.set_content(nlohmann::json{{"schema", schemas[number - 1]}}.dump(),
                                         "application/json");
                  }
                });
    server_.Post(R"(/api/subjects/([^/]+)/versions)", [this](const httplib::Request& request,
                                                             httplib::Response& response) {
      subject = request.matches[1].str();
      const auto schema = nlohmann::json::parse(request.body)["schema"].get<std::string>();
      if (schema == refused) {
        response.status = 409;
        response.set_content(R"({"message":"it is incompatible"})", "text/plain");
        return;
      }
      schemas.push_back(schema);
      response.set_content(fmt::format(R"({{"id":{}}})", schemas.size()), "text/plain");
    });
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::yield();
  }
  ~Registry() {
    server_.stop();
    thread_.join();
  }
  std::string url() const { return fmt::format("http://127.0.0.1:{}/api", port_); }

  std::vector<std::string> schemas;  // number 1 first
  std::string refused = "none";
  std::string subject;
  std::string authorization;
  int asked = 0;
  bool is_down = false;

 private:
  httplib::Server server_;
  int port_ = 0;
  std::thread thread_;
};

TableSpec ConfluentTable(const std::string& url, Schema schema, TableOptions options = {}) {
  options["format"] = "avro-confluent";
  options["avro-confluent.url"] = url;
  return {"t", std::move(options), std::move(schema)};
}

std::string Numbered(uint32_t number, const std::string& record) {
  return AvroRaw(uint8_t{0}) + AvroRaw(__builtin_bswap32(number)) + record;
}

TEST(Confluent, SchemasAreFetchedOnce) {
  Registry registry;
  registry.schemas = {
      AvroRecord({{"id", R"("int")"}}),
      AvroRecord({{"more", R"("string")"}, {"id", R"("long")"}, {"name", R"(["null","string"])"}}),
      AvroRecord({{"id", R"("string")"}})};
  std::vector<std::string> messages;
  std::string wanted;
  for (int i = 0; i < 1500; ++i) {
    messages.push_back(
        i % 2 == 0 ? Numbered(1, AvroLong(i))
                   : Numbered(2, AvroText("x") + AvroLong(i) + AvroLong(1) + AvroText("n")));
    wanted += fmt::format("+I [{},{}]\n", i, i % 2 == 0 ? "null" : "\"n\"");
  }
  const Schema columns({{"id", Type::BigInt()}, {"name", Type::String()}});
  const TableSpec table = ConfluentTable(registry.url(), columns,
                                         {{"avro-confluent.basic-auth.user-info", "me:secret"}});
  const ReadMessages read = ReadRecords(table, {}, MessageBlock(messages).records());
  EXPECT_TRUE(read.status.ok()) << read.status.ToString();
  EXPECT_TRUE(read.rows == wanted);
  EXPECT_EQ(registry.asked, 2);
  EXPECT_EQ(registry.authorization, "Basic bWU6c2VjcmV0");

  Counters counters;
  ConnectorContext context;
  context.counters = &counters;
  context.settings.bad_data = BadData::kSkip;
  const MessageBlock bad({"", "\x01____", Numbered(3, AvroText("x")), Numbered(9, ""),
                          Numbered(1, AvroLong(5)), Numbered(9, "")});
  EXPECT_EQ(ReadRecords(table, context, bad.records()).rows, "+I [5,null]\n");
  EXPECT_EQ(*counters.Find("rejected"), 5);
  EXPECT_EQ(*counters.Find("records_read"), 6);
  const ReadMessages failed = ReadRecords(table, {}, MessageBlock({Numbered(9, "")}).records());
  EXPECT_NE(failed.status.ToString().find("schema 9: the registry has no such schema"),
            std::string::npos)
      << failed.status.ToString();
}

TEST(Confluent, ARegistryThatDoesNotAnswerMayLater) {
  Registry registry;
  registry.schemas = {AvroRecord({{"id", R"("int")"}})};
  registry.is_down = true;
  const Schema columns({{"id", Type::Int()}});
  const MessageBlock block({Numbered(1, AvroLong(5))});
  const ReadMessages down =
      ReadRecords(ConfluentTable(registry.url(), columns), {}, block.records());
  EXPECT_EQ(down.status.code(), StatusCode::kExternal) << down.status.ToString();
  registry.is_down = false;
  // The second address is asked where the first one is nobody's.
  const ReadMessages up = ReadRecords(
      ConfluentTable("http://127.0.0.1:1," + registry.url(), columns), {}, block.records());
  EXPECT_EQ(up.rows, "+I [5]\n") << up.status.ToString();
  const ReadMessages nobody =
      ReadRecords(ConfluentTable("http://127.0.0.1:1", columns), {}, block.records());
  EXPECT_EQ(nobody.status.code(), StatusCode::kExternal);
}

TEST(Confluent, WhatIsWrittenIsRegistered) {
  Registry registry;
  registry.schemas = {"other"};
  const TableSpec table =
      ConfluentTable(registry.url(), kColumns, {{"avro-confluent.subject", "a b-value"}});
  const std::vector<std::string> messages = Write(table);
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_EQ(messages[1], Numbered(2, std::string("\x01\x00\x00\x00\x00\x00", 6)));
  EXPECT_EQ(registry.subject, "a b-value");
  EXPECT_EQ(registry.schemas.at(1), AvroSchemaText(kColumns, true));
  EXPECT_EQ(ReadRecords(table, {}, MessageBlock(messages).records()).rows, RowTexts());

  registry.refused = AvroSchemaText(kColumns, true);
  Result<std::unique_ptr<RecordEncoder>> encoder = CreateRecordEncoder(table);
  EncodedRecords out;
  const Status refused = (*encoder)->Encode(SomeRows(), &out);
  EXPECT_NE(refused.ToString().find("status 409: it is incompatible"), std::string::npos)
      << refused.ToString();
}

TEST(Confluent, AGivenSchemaHasDefaultsAndAliases) {
  Registry registry;
  registry.schemas = {AvroRecord({{"number", R"("long")"}})};
  const std::string given =
      R"({"type":"record","name":"r","fields":[{"name":"id","type":"long","aliases":["number"]},)"
      R"({"name":"kind","type":"string","default":"plain"},)"
      R"({"name":"n","type":"int","default":3}]})";
  const Schema columns({{"id", Type::BigInt().NotNull()},
                        {"kind", Type::String().NotNull()},
                        {"n", Type::Int().NotNull()}});
  TableSpec table = ConfluentTable(registry.url(), columns, {{"avro-confluent.schema", given}});
  EXPECT_TRUE(CheckFormat(table).ok()) << CheckFormat(table).ToString();
  const ReadMessages read =
      ReadRecords(table, {}, MessageBlock({Numbered(1, AvroLong(9))}).records());
  EXPECT_EQ(read.rows, "+I [9,\"plain\",3]\n") << read.status.ToString();
  table.options["avro-confluent.schema"] = AvroRecord({{"id", R"("long")"}});
  EXPECT_NE(CheckFormat(table).ToString().find("has nothing where the columns have 'kind' string"),
            std::string::npos)
      << CheckFormat(table).ToString();
}

}  // namespace
}  // namespace rowtide
