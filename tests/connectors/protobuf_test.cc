// protobuf messages as rows and back, compared with what the library says of the same bytes.
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/text_format.h>

#include <random>

#include "connectors/formats/protobuf_schema.h"
#include "engine/batch_builder.h"
#include "tests/connectors/record_reader.h"
#include "tests/connectors/table_reader.h"

namespace rowtide {
namespace {

namespace pb = google::protobuf;

constexpr const char* kFiles = R"(
file {
  name: "shop/kind.proto" package: "shop" syntax: "proto3"
  enum_type { name: "Kind" value { name: "NONE" number: 0 } value { name: "BOOK" number: 3 } }
}
file {
  name: "shop/order_item.proto" package: "shop" syntax: "proto3" dependency: "shop/kind.proto"
  options { java_package: "com.shop" }
  message_type {
    name: "Order"
    field { name: "i32" number: 1 type: TYPE_INT32 label: LABEL_OPTIONAL }
    field { name: "i64" number: 2 type: TYPE_INT64 label: LABEL_OPTIONAL }
    field { name: "u32" number: 3 type: TYPE_UINT32 label: LABEL_OPTIONAL }
    field { name: "u64" number: 4 type: TYPE_UINT64 label: LABEL_OPTIONAL }
    field { name: "s32" number: 5 type: TYPE_SINT32 label: LABEL_OPTIONAL }
    field { name: "s64" number: 6 type: TYPE_SINT64 label: LABEL_OPTIONAL }
    field { name: "f32" number: 7 type: TYPE_FIXED32 label: LABEL_OPTIONAL }
    field { name: "f64" number: 8 type: TYPE_SFIXED64 label: LABEL_OPTIONAL }
    field { name: "f" number: 9 type: TYPE_FLOAT label: LABEL_OPTIONAL }
    field { name: "d" number: 10 type: TYPE_DOUBLE label: LABEL_OPTIONAL }
    field { name: "b" number: 11 type: TYPE_BOOL label: LABEL_OPTIONAL }
    field { name: "s" number: 12 type: TYPE_STRING label: LABEL_OPTIONAL }
    field { name: "x" number: 13 type: TYPE_BYTES label: LABEL_OPTIONAL }
    field { name: "kind" number: 14 type: TYPE_ENUM type_name: ".shop.Kind" label: LABEL_OPTIONAL }
    field { name: "one" number: 15 type: TYPE_STRING oneof_index: 0 label: LABEL_OPTIONAL }
    field { name: "other" number: 16 type: TYPE_INT64 oneof_index: 0 label: LABEL_OPTIONAL }
    field { name: "opt" number: 2000 type: TYPE_INT32 oneof_index: 1 proto3_optional: true
            label: LABEL_OPTIONAL }
    field { name: "list" number: 17 type: TYPE_INT32 label: LABEL_REPEATED }
    field { name: "inner" number: 18 type: TYPE_MESSAGE type_name: ".shop.Order"
            label: LABEL_OPTIONAL }
    oneof_decl { name: "who" }
    oneof_decl { name: "_opt" }
  }
}
file {
  name: "old.proto" package: "old"
  message_type {
    name: "Old"
    field { name: "must" number: 1 type: TYPE_INT32 label: LABEL_REQUIRED }
    field { name: "n" number: 2 type: TYPE_INT32 label: LABEL_OPTIONAL default_value: "42" }
    field { name: "t" number: 3 type: TYPE_STRING label: LABEL_OPTIONAL default_value: "none" }
    field { name: "k" number: 4 type: TYPE_ENUM type_name: ".old.Old.K" label: LABEL_OPTIONAL }
    field { name: "g" number: 5 type: TYPE_GROUP type_name: ".old.Old.G" label: LABEL_OPTIONAL }
    nested_type { name: "G" field { name: "v" number: 1 type: TYPE_INT32 label: LABEL_OPTIONAL } }
    enum_type { name: "K" value { name: "A" number: 1 } value { name: "B" number: 2 } }
  }
}
)";

class Proto : public ::testing::Test {
 protected:
  Proto() {
    EXPECT_TRUE(pb::TextFormat::ParseFromString(kFiles, &set_));
    path_ = folder_.Write("set.desc", set_.SerializeAsString());
    for (const pb::FileDescriptorProto& file : set_.file())
      EXPECT_NE(pool_.BuildFile(file), nullptr);
  }

  TableSpec Table(const std::string& message, Schema schema, TableOptions options = {}) {
    options["format"] = "protobuf";
    options["protobuf.descriptor-file"] = path_;
    options["protobuf.message-class-name"] = message;
    return {"t", std::move(options), std::move(schema)};
  }
  std::unique_ptr<pb::Message> New(const std::string& message) {
    return std::unique_ptr<pb::Message>(
        factory_.GetPrototype(pool_.FindMessageTypeByName(message))->New());
  }
  std::string Bytes(const std::string& message, const std::string& text) {
    const auto made = New(message);
    pb::TextFormat::Parser parser;
    parser.AllowPartialMessage(true);
    EXPECT_TRUE(parser.ParseFromString(text, made.get())) << text;
    return made->SerializePartialAsString();
  }
  std::string Rows(const TableSpec& table, const std::vector<std::string>& messages,
                   const ConnectorContext& context = {}) {
    const ReadMessages read = ReadRecords(table, context, MessageBlock(messages).records());
    return read.status.ok() ? read.rows : read.rows + read.status.ToString();
  }

  TemporaryFolder folder_;
  pb::FileDescriptorSet set_;
  std::string path_;
  pb::DescriptorPool pool_;
  pb::DynamicMessageFactory factory_;
};

const Schema kOrder({{"i32", Type::Int()},
                     {"i64", Type::BigInt()},
                     {"u32", Type::Int()},
                     {"u64", Type::BigInt()},
                     {"s32", Type::Int()},
                     {"s64", Type::BigInt()},
                     {"f32", Type::Int()},
                     {"f64", Type::BigInt()},
                     {"f", Type::Of(TypeKind::kFloat)},
                     {"d", Type::Double()},
                     {"b", Type::Boolean()},
                     {"s", Type::String()},
                     {"x", Type::Bytes()},
                     {"kind", Type::String()},
                     {"one", Type::String()},
                     {"other", Type::BigInt()},
                     {"opt", Type::Int()}});

TEST_F(Proto, AllTypesAreRead) {
  const TableSpec table = Table("shop.Order", kOrder);
  ASSERT_TRUE(CheckFormat(table).ok()) << CheckFormat(table).ToString();
  EXPECT_EQ(Rows(table, {Bytes("shop.Order",
                               R"(i32: -1 i64: -2 u32: 4294967295 u64: 18446744073709551615 s32: -3
                                  s64: -4 f32: 5 f64: -6 f: 1.5 d: -0.1 b: true s: "é" x: "\000\377"
                                  kind: BOOK one: "o" opt: 0 list: [1, 2] inner { i32: 1 })"),
                         ""}),
            "+I [-1,-2,-1,-1,-3,-4,5,-6,1.5,-0.1,true,\"é\",\"x'00ff'\",\"BOOK\",\"o\",null,0]\n"
            "+I [0,0,0,0,0,0,0,0,0.0,0.0,false,\"\",\"x''\",\"NONE\",null,null,null]\n");
}

TEST_F(Proto, OfEqualFieldsTheLastCounts) {
  const Schema columns({{"one", Type::String()}, {"other", Type::BigInt()}, {"i32", Type::Int()}});
  const TableSpec table = Table("com.shop.OrderItem$Order", columns);
  const std::string one = Bytes("shop.Order", R"(one: "a" i32: 1)");
  const std::string other = Bytes("shop.Order", "other: 5 i32: 2");
  // i32 as bytes: another wire type than its own.
  EXPECT_EQ(Rows(table, {one + other, other + one, one + "\x0a\x01z"}),
            "+I [null,5,2]\n+I [\"a\",null,1]\n+I [\"a\",null,1]\n");
  // The oneof's other field is no column here.
  EXPECT_EQ(Rows(Table("shop.Order", Schema({{"one", Type::String()}})), {one + other}),
            "+I [null]\n");
}

TEST_F(Proto, WhatIsAbsent) {
  const Schema columns(
      {{"must", Type::Int()}, {"n", Type::Int()}, {"t", Type::String()}, {"k", Type::BigInt()}});
  const std::string full = Bytes("old.Old", "must: 1 k: B G { v: 7 }");
  TableSpec table = Table("old.Old", columns);
  EXPECT_EQ(Rows(table, {full}), "+I [1,null,null,2]\n");
  // 9 is none of the closed enum's numbers.
  EXPECT_EQ(Rows(table, {full + "\x20\x09", Bytes("old.Old", "must: 3") + "\x20\x09"}),
            "+I [1,null,null,2]\n+I [3,null,null,null]\n");
  EXPECT_NE(Rows(table, {Bytes("old.Old", "n: 1")}).find("lacks the required field 'must'"),
            std::string::npos);
  table.options["protobuf.read-default-values"] = "true";
  EXPECT_EQ(Rows(table, {full}), "+I [1,42,\"none\",2]\n");
  // Of proto3 an unknown number has Java's name for it, and is none where a number is wanted.
  EXPECT_EQ(Rows(Table("shop.Order", Schema({{"kind", Type::String()}})), {"\x70\x09"}),
            "+I [\"UNRECOGNIZED\"]\n");
  EXPECT_NE(Rows(Table("shop.Order", Schema({{"kind", Type::Int()}})), {"\x70\x09"})
                .find("9 is no number of the enum"),
            std::string::npos);
  EXPECT_NE(Rows(Table("shop.Order", Schema({{"opt", Type::Int().NotNull()}})), {""})
                .find("it is NOT NULL"),
            std::string::npos);
}

TEST_F(Proto, WhatIsNoMessageIsRejected) {
  Counters counters;
  ConnectorContext context;
  context.counters = &counters;
  TableSpec table = Table("shop.Order", Schema({{"i32", Type::Int()}, {"s", Type::String()}}));
  const std::vector<std::string> messages = {
      "\x08\x01",
      "\x08",
      std::string(1, '\0'),
      "\x62\x05x",
      "\x62\x01\xff",
      "\x9b\x01\x08\x01",
      "\x9c\x01",
      std::string("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
      "\x08\x02"};
  EXPECT_NE(Rows(table, messages, context).find("message 1: bytes that are no message shop.Order"),
            std::string::npos);
  table.options["protobuf.ignore-parse-errors"] = "true";
  *counters.Find("records_read") = 0;
  EXPECT_EQ(Rows(table, messages, context), "+I [1,\"\"]\n+I [2,\"\"]\n");
  EXPECT_EQ(*counters.Find("records_read"), 9);
  EXPECT_EQ(*counters.Find("rejected"), 7);
}

TEST_F(Proto, IsReadAsTheLibraryReadsIt) {
  const pb::LogSilencer quiet;  // it writes what it does not like
  const TableSpec table = Table("shop.Order", kOrder);
  std::mt19937_64 random(3);
  std::vector<std::string> messages;
  std::vector<std::string> wanted;
  for (int i = 0; i < 3000; ++i) {
    std::string bytes = Bytes(
        "shop.Order", fmt::format(R"(i32: {} s: "{}" u64: {} d: {} opt: {})",
                                  static_cast<int32_t>(random()), std::string(random() % 20, 'x'),
                                  random(), static_cast<double>(random()) / 7, i % 9));
    for (int flips = static_cast<int>(random() % 3); flips > 0 && !bytes.empty(); --flips)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    const auto message = New("shop.Order");
    const bool is_message = message->ParseFromString(bytes);
    if (!is_message) continue;
    const pb::Reflection& seen = *message->GetReflection();
    const auto field = [&](const char* name) {
      return message->GetDescriptor()->FindFieldByName(name);
    };
    messages.push_back(bytes);
    wanted.push_back(fmt::format("+I [{},{},{}]\n", seen.GetInt32(*message, field("i32")),
                                 static_cast<int64_t>(seen.GetUInt64(*message, field("u64"))),
                                 seen.HasField(*message, field("opt"))
                                     ? std::to_string(seen.GetInt32(*message, field("opt")))
                                     : "null"));
  }
  const Schema columns({{"i32", Type::Int()}, {"u64", Type::BigInt()}, {"opt", Type::Int()}});
  EXPECT_GT(messages.size(), 1000u);
  const TableSpec some = Table("shop.Order", columns);
  std::string all;
  for (size_t i = 0; i < messages.size(); ++i) {
    all += wanted[i];
    if (i % 4 != 0) continue;
    std::string hex;
    for (const char byte : messages[i]) hex += fmt::format("{:02x}", static_cast<uint8_t>(byte));
    ASSERT_EQ(Rows(some, {messages[i]}), wanted[i]) << hex;
  }
  EXPECT_TRUE(Rows(some, messages) == all);
}

TEST_F(Proto, WhatIsWrittenTheLibraryReads) {
  const TableSpec table = Table("shop.Order", kOrder);
  const RowBatch batch = BatchOf(kOrder, {{RowKind::kInsert,
                                           {int64_t{-1},
                                            int64_t{-2},
                                            int64_t{-1},
                                            int64_t{-1},
                                            int64_t{-3},
                                            int64_t{-4},
                                            int64_t{5},
                                            int64_t{-6},
                                            1.5,
                                            -0.1,
                                            true,
                                            std::string("é"),
                                            std::string("\x00\xff", 2),
                                            std::string("BOOK"),
                                            std::string("o"),
                                            {},
                                            int64_t{0}}},
                                          {RowKind::kInsert,
                                           {int64_t{0},
                                            {},
                                            {},
                                            {},
                                            {},
                                            {},
                                            {},
                                            {},
                                            -0.0,
                                            0.0,
                                            false,
                                            std::string(),
                                            {},
                                            std::string("NONE"),
                                            std::string("gone"),
                                            int64_t{0},
                                            {}}}});
  Result<std::unique_ptr<RecordEncoder>> encoder = CreateRecordEncoder(table);
  ASSERT_TRUE(encoder.ok()) << encoder.status().ToString();
  const std::vector<std::string> messages = WriteRecords(**encoder, batch);
  EXPECT_EQ(messages[0],
            Bytes("shop.Order",
                  R"(i32: -1 i64: -2 u32: 4294967295 u64: 18446744073709551615 s32: -3 s64: -4
                     f32: 5 f64: -6 f: 1.5 d: -0.1 b: true s: "é" x: "\000\377" kind: BOOK one: "o"
                     opt: 0)"));
  const auto second = New("shop.Order");
  ASSERT_TRUE(second->ParseFromString(messages[1]));
  EXPECT_EQ(second->ShortDebugString(), "f: -0 other: 0");

  const Schema named({{"kind", Type::String()}});
  encoder = CreateRecordEncoder(Table("shop.Order", named));
  EncodedRecords out;
  const Status status =
      (*encoder)->Encode(BatchOf(named, {{RowKind::kInsert, {std::string("BOOKS")}}}), &out);
  EXPECT_NE(status.ToString().find("'BOOKS' is no name of the enum"), std::string::npos);
  const Schema must({{"n", Type::Int()}});
  encoder = CreateRecordEncoder(Table("old.Old", must));
  EXPECT_FALSE((*encoder)->Encode(BatchOf(must, {{RowKind::kInsert, {Value()}}}), &out).ok());
}

TEST_F(Proto, TheSetAndTheColumnsAreChecked) {
  const Schema columns({{"i32", Type::Int()}});
  const auto error = [&](const TableSpec& table) { return CheckFormat(table).ToString(); };
  EXPECT_NE(error(Table("shop.Ordr", columns)).find("no message 'shop.Ordr' in it"),
            std::string::npos);
  EXPECT_NE(error(Table("shop.Order", Schema({{"i33", Type::Int()}})))
                .find("message shop.Order has no field 'i33'"),
            std::string::npos);
  EXPECT_NE(error(Table("shop.Order", Schema({{"i32", Type::BigInt()}})))
                .find("column 'i32' is BIGINT, and the field of message shop.Order is int32"),
            std::string::npos);
  EXPECT_NE(error(Table("shop.Order", Schema({{"list", Type::Int()}}))).find("repeated int32"),
            std::string::npos);
  TableSpec table = Table("shop.Order", columns);
  table.options["protobuf.descriptor-file"] = folder_.Write("bad.desc", "no set");
  EXPECT_NE(error(table).find("is no descriptor set"), std::string::npos);
  table.options.erase("protobuf.descriptor-file");
  EXPECT_NE(error(table).find("lacks the option 'protobuf.descriptor-file'"), std::string::npos);
  set_.mutable_file()->DeleteSubrange(0, 1);
  table.options["protobuf.descriptor-file"] = folder_.Write("part.desc", set_.SerializeAsString());
  EXPECT_NE(error(table).find("imports shop/kind.proto, which is not in the set"),
            std::string::npos)
      << error(table);
}

}  // namespace
}  // namespace rowtide
