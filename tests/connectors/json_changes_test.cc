// Messages of change data capture: more rows than a batch holds, cuts at every byte, and an update
// of which one half is no row.
#include "connectors/formats/json_changes.h"

#include <gtest/gtest.h>

#include "connectors/formats/json.h"
#include "tests/fuzz/decode.h"

namespace rowtide {
namespace {

const Schema kSchema({{"id", Type::Int()}, {"name", Type::String()}});

struct Outcome {
  std::string rows;
  std::string error;
  int64_t emitted = 0, read = 0, rejected = 0;
};

Outcome Read(JsonEnvelope envelope, std::string_view text, size_t cut = 0,
             BadData policy = BadData::kFail) {
  ConnectorContext context;
  Counters counters;
  context.counters = &counters;
  context.settings.bad_data = policy;
  const fuzz::MakeDecoder make = [&](const ConnectorContext&, Rejects* rejects) {
    return CreateJsonDecoder({.schema = kSchema, .columns = {0, 1}, .envelope = envelope}, rejects);
  };
  const fuzz::Decoded decoded =
      fuzz::Decode(make, kSchema, context, text, [&] { return cut == 0 ? text.size() + 1 : cut; });
  return {decoded.rows, decoded.error, decoded.emitted, *counters.Find("records_read"),
          *counters.Find("rejected")};
}

// Batches end within the message, and between the two rows of an update.
TEST(JsonChanges, OneMessageOfManyRows) {
  std::string rows, old;
  for (int i = 0; i < 1500; ++i) {
    rows += fmt::format("{}{{\"id\":{},\"name\":\"new\"}}", i == 0 ? "" : ",", i);
    old += fmt::format("{}{{\"name\":\"old {}\"}}", i == 0 ? "" : ",", i);
  }
  const std::string one = "{\"data\":[{\"id\":-1}],\"type\":\"INSERT\"}\n";
  const Outcome outcome = Read(JsonEnvelope::kCanal, one + "{\"data\":[" + rows + "],\"old\":[" +
                                                         old + "],\"type\":\"UPDATE\"}\n" + one);
  EXPECT_EQ(outcome.error, "");
  std::string expected = "+I [-1,null] line 1, byte 0\n";
  for (int i = 0; i < 1500; ++i) {
    expected += fmt::format("-U [{0},\"old {0}\"] line 2, byte 37\n", i);
    expected += fmt::format("+U [{},\"new\"] line 2, byte 37\n", i);
  }
  EXPECT_TRUE(outcome.rows.starts_with(expected));
  EXPECT_EQ(outcome.emitted, 3002);
  EXPECT_EQ(outcome.read, 3002);
}

TEST(JsonChanges, CutsAtEveryByte) {
  const std::string text =
      "{\"before\":null,\"after\":{\"id\":1,\"name\":\"A\\u0042\"},\"op\":\"c\"}\r\n"
      "[{\"before\":{\"id\":1},\"after\":{\"name\":\"tab\tinside\"},\"op\":\"u\"},"
      "{\"op\":\"d\",\"before\":{\"id\":2}}]\n\n"
      "{\"op\":\"q\"}\n{\"op\":\"r\",\"after\":{\"id\":\"x\"}}\n{\"op\":\"r\",\"after\":{\"id\":3}"
      "}";
  const Outcome whole = Read(JsonEnvelope::kDebezium, text, 0, BadData::kSkip);
  EXPECT_EQ(whole.rows,
            "+I [1,\"AB\"] line 1, byte 0\n"
            "-U [1,null] line 2, byte 60\n"
            "+U [null,\"tab\\tinside\"] line 2, byte 60\n"
            "-D [2,null] line 2, byte 60\n"
            "+I [3,null] line 6, byte 192\n");
  EXPECT_EQ(whole.rejected, 2);
  EXPECT_EQ(whole.read, whole.emitted + whole.rejected);
  for (size_t cut = 1; cut < text.size(); ++cut)
    ASSERT_EQ(Read(JsonEnvelope::kDebezium, text, cut, BadData::kSkip).rows, whole.rows) << cut;
}

TEST(JsonChanges, BothRowsOfAnUpdateOrNone) {
  for (const char* text : {"{\"op\":\"u\",\"before\":{\"id\":1},\"after\":{\"id\":\"x\"}}",
                           "{\"op\":\"u\",\"before\":{\"id\":\"x\"},\"after\":{\"id\":1}}",
                           "{\"op\":\"u\",\"before\":{\"id\":1},\"after\":[1]}",
                           "{\"op\":\"u\",\"before\":{\"id\":1}}"}) {
    const Outcome outcome = Read(JsonEnvelope::kDebezium, text, 0, BadData::kSkip);
    EXPECT_EQ(outcome.rows, "") << text;
    EXPECT_EQ(outcome.rejected, 1) << text;
  }
}

TEST(JsonChanges, ErrorsNameTheByteOfTheFile) {
  const Outcome outcome =
      Read(JsonEnvelope::kDebezium,
           "{\"op\":\"c\",\"after\":{\"id\":1}}\n{\"op\":\"c\",\"after\":{\"id\" 1}}");
  EXPECT_EQ(outcome.emitted, 1);
  EXPECT_NE(outcome.error.find("at byte 52"), std::string::npos) << outcome.error;
}

}  // namespace
}  // namespace rowtide
