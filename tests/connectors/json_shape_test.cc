// Records walked by the shape of earlier ones against the parser alone: same rows, same NULLs, same
// places, same rejects, whatever stands in them and wherever blocks are cut.
#include "connectors/formats/json_shape.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>

#include "connectors/formats/json.h"
#include "tests/connectors/table_reader.h"
#include "tests/fuzz/decode.h"

namespace rowtide {
namespace {

const Schema kSchema({{"s", Type::String()},
                      {"l", Type::BigInt()},
                      {"i", Type::Int()},
                      {"k", Type::Of(TypeKind::kSmallInt)},
                      {"t", Type::Timestamp(3)},
                      {"z", Type::TimestampLtz(3)},
                      {"u", Type::Timestamp(6)},
                      {"e", Type::Decimal(5, 2)},
                      {"d", Type::Double()},
                      {"b", Type::Boolean()},
                      {"y", Type::Date()},
                      {"n", Type::BigInt().NotNull()}});

// Values as they stand in a record, usual ones first.
const std::vector<std::string> kValues = {
    "1",
    "1009",
    "12345678",
    "123456789",
    "1234567890123456",
    "\"\"",
    "\"abc\"",
    "\"exactly 12 b\"",
    "\"more than twelve bytes of text\"",
    "\"a text that is longer than the sixty-four bytes that are looked at in one step, much "
    "longer\"",
    "\"2026-01-01 00:00:00.123\"",
    "\"2026-02-28 23:59:59\"",
    "\"2026-01-01 00:00:00.123Z\"",
    "\"2026-01-01T00:00:00.123\"",
    "\"2026-01-01T00:00:00Z\"",
    "true",
    "false",
    "null",
    "0",
    "-1",
    "-0",
    "00",
    "007",
    "0.5",
    "1.9",
    "1.",
    ".5",
    "1e3",
    "1E+2",
    "1e",
    "+1",
    "1-2",
    "12345678901234567",
    "9223372036854775807",
    "9223372036854775808",
    "2147483647",
    "2147483648",
    "32768",
    "123.456",
    "99999.99",
    "truex",
    "tru",
    "nul",
    "NULL",
    "NaN",
    "1 ",
    " 1",
    "1\t",
    "\"12\"",
    "\" 12 \"",
    "\"007\"",
    "\"1.5\"",
    "\"true\"",
    "\"null\"",
    "\"2026-02-30 00:00:00.000\"",
    "\"2026-02-30T00:00:00.000\"",
    "\"2026-13-01 00:00:00.000\"",
    "\"2026-01-01 24:00:00.000\"",
    "\"2026-01-01 23:60:00.000\"",
    "\"2026-01-01 00:00:00.12\"",
    "\"2026-01-01 00:00:00.123456\"",
    "\"2026-01-01t00:00:00.123\"",
    "\"2026-01-01\"",
    "\"quote \\\" and backslash \\\\\"",
    "\"\\\\\"",
    "\"\\u0041\\u00e9\\ud83d\\ude00\"",
    "\"\\u0031\"",
    "\"\\u12\"",
    "\"\\x\"",
    "\"http:\\/\\/x\\/\"",
    "\"é日😀\"",
    "\"\x7f\"",
    "\"tab\tinside\"",
    std::string("\"zero\0inside\"", 13),
    "\"\xff\"",
    "\"\xc3\"",
    "\"\xed\xa0\x80\"",
    "\"open",
    "\"a\"b\"",
    "[]",
    "[1,\"a\"]",
    "{}",
    "{\"s\":\"inner\",\"l\":7}",
    "",
};

std::string Value(std::mt19937& random) {
  // Mostly a usual one, so that records are walked and not given up at once.
  const size_t usual = 18;
  return kValues[random() % (random() % 4 != 0 ? usual : kValues.size())];
}

// What fits each column, so that most rows are rows.
std::string Fitting(const std::string& name, bool iso, std::mt19937& random) {
  if (name == "s" || name == "x" || name == "Größe") return kValues[5 + random() % 5];
  if (name == "t" || name == "u") return kValues[iso ? 13 : 10 + random() % 2];
  if (name == "z") return kValues[iso ? 14 : 12];
  if (name == "b") return kValues[15 + random() % 2];
  if (name == "y") return "\"2026-01-01\"";
  return std::to_string(random() % 900);
}

struct Style {
  std::vector<std::string> names;
  std::string colon, comma, begin, end;
};

Style RandomStyle(std::mt19937& random) {
  static const std::vector<std::string> kNames = {"s", "l", "i", "k", "t", "z", "u", "e",    "d",
                                                  "b", "y", "n", "x", "S", "L", "",  "Größe"};
  Style style;
  for (const std::string& name : kNames) {
    if (name == "n" || random() % 3 != 0) style.names.push_back(name);
  }
  std::shuffle(style.names.begin(), style.names.end(), random);
  if (random() % 8 == 0) style.names.push_back(style.names[random() % style.names.size()]);
  if (random() % 8 == 0) style.names.push_back("a\\u0062");
  if (random() % 8 == 0) style.names.push_back(std::string(40 + random() % 40, 'w'));
  const char* const blanks[] = {"", "", "", " ", "  ", "\t"};
  const auto blank = [&] { return blanks[random() % std::size(blanks)]; };
  style.colon = std::string(blank()) + ":" + blank();
  style.comma = std::string(blank()) + "," + blank();
  style.begin = std::string(blank()) + "{" + blank();
  style.end = std::string(blank()) + "}" + blank();
  if (random() % 4 == 0) style.end += "\r";
  if (random() % 30 == 0) style.end += "x";
  return style;
}

std::string RandomText(bool iso, std::mt19937& random) {
  std::vector<Style> styles(1 + random() % 3);
  for (Style& style : styles) style = RandomStyle(random);
  std::string text;
  for (size_t records = random() % 60; records > 0; --records) {
    const Style& style = styles[random() % 4 != 0 ? 0 : random() % styles.size()];
    const bool is_nasty = random() % 3 == 0;
    std::string record = style.begin;
    for (const std::string& name : style.names) {
      if (&name != &style.names.front()) record += style.comma;
      record += "\"" + name + "\"" + style.colon;
      record += is_nasty && random() % 3 == 0 ? Value(random) : Fitting(name, iso, random);
    }
    record += style.end;
    if (random() % 40 == 0 && !record.empty())
      record[random() % record.size()] = static_cast<char>(random());
    if (random() % 40 == 0) record.resize(random() % record.size());
    if (random() % 40 == 0) record = "[" + record + "," + record + "]";
    if (random() % 40 == 0) record.clear();
    text += record;
    text += '\n';
  }
  if (!text.empty() && random() % 2 == 0) text.pop_back();
  return text;
}

struct Outcome {
  std::string text;
  int64_t rows;
};

Outcome Read(JsonDecoderSpec spec, bool guesses, const ConnectorContext& settings,
             std::string_view text, size_t cut) {
  std::optional<TemporaryFolder> folder;
  ConnectorContext context = settings;
  Counters counters;
  context.counters = &counters;
  if (context.settings.bad_data == BadData::kDeadLetter)
    context.settings.dead_letter = folder.emplace().path() + "/letters";
  Schema read;
  for (const int column : spec.columns) read.Add(spec.schema.field(column));
  spec.guesses = guesses;
  const fuzz::MakeDecoder make = [&](const ConnectorContext&, Rejects* rejects) {
    return CreateJsonDecoder(spec, rejects);
  };
  const fuzz::Decoded decoded =
      fuzz::Decode(make, read, context, text, [&] { return cut == 0 ? text.size() + 1 : cut; });
  std::string all = decoded.rows + decoded.error + "\n" + fuzz::TextOf(counters);
  if (!context.settings.dead_letter.empty()) all += ReadText(context.settings.dead_letter);
  return {std::move(all), decoded.emitted};
}

JsonDecoderSpec AllColumnsOf(const Schema& schema) {
  JsonDecoderSpec spec;
  spec.schema = schema;
  for (int i = 0; i < schema.size(); ++i) spec.columns.push_back(i);
  return spec;
}

TEST(JsonShape, ReadsWhatTheParserReads) {
  int64_t rows = 0;
  for (uint32_t seed = 1; seed <= 1500; ++seed) {
    std::mt19937 random(seed);
    JsonDecoderSpec spec = AllColumnsOf(kSchema);
    if (random() % 3 == 0) {
      std::shuffle(spec.columns.begin(), spec.columns.end(), random);
      spec.columns.resize(random() % spec.columns.size());
    }
    spec.options.ignore_parse_errors = random() % 3 == 0;
    spec.options.fail_on_missing_field = !spec.options.ignore_parse_errors && random() % 4 == 0;
    spec.options.iso_timestamps = random() % 3 == 0;
    spec.options.keeps_numbers = random() % 4 != 0;
    spec.trusts_not_null = random() % 4 == 0;
    spec.stops_early = random() % 4 == 0;
    if (random() % 8 == 0) spec.limits.record_bytes = 150;
    ConnectorContext context;
    context.limits = spec.limits;
    context.settings.bad_data = static_cast<BadData>(random() % 3);
    const std::string text = RandomText(spec.options.iso_timestamps, random);
    const size_t cut = random() % 2 == 0 ? 0 : 1 + random() % 300;
    const Outcome parsed = Read(spec, false, context, text, cut);
    const Outcome guessed = Read(spec, true, context, text, cut);
    ASSERT_EQ(guessed.text, parsed.text) << "seed " << seed << "\n" << text;
    rows += parsed.rows;
  }
  EXPECT_GT(rows, 10000);
}

// The records of a shape, each nasty value in each of its places.
TEST(JsonShape, EveryValueInEveryColumn) {
  ConnectorContext context;
  context.settings.bad_data = BadData::kDeadLetter;
  for (const bool iso : {false, true}) {
    for (const bool ignores : {false, true}) {
      JsonDecoderSpec spec = AllColumnsOf(kSchema);
      spec.options.iso_timestamps = iso;
      spec.options.ignore_parse_errors = ignores;
      std::mt19937 random(7);
      std::string text;
      const std::vector<std::string> names = {"s", "l", "x", "i", "k", "t", "z",
                                              "u", "e", "d", "b", "y", "n"};
      for (const std::string& nasty : kValues) {
        for (const std::string& at : names) {
          for (const bool is_nasty : {false, true}) {
            for (const std::string& name : names) {
              text += (&name == &names.front() ? "{\"" : ",\"") + name + "\":";
              text += is_nasty && name == at ? nasty : Fitting(name, iso, random);
            }
            text += "}\n";
          }
        }
      }
      const Outcome parsed = Read(spec, false, context, text, 0);
      EXPECT_GT(parsed.rows, 500);
      EXPECT_EQ(Read(spec, true, context, text, 0).text, parsed.text) << iso << ignores;
    }
  }
}

TEST(JsonShape, CutsAtEveryByte) {
  JsonDecoderSpec spec = AllColumnsOf(kSchema);
  ConnectorContext context;
  context.settings.bad_data = BadData::kSkip;
  std::string text;
  std::mt19937 random(3);
  while (text.size() < 1500) {
    text += "{\"l\":" + std::to_string(random() % 100000) + ", \"s\":\"text\\n" +
            std::string(random() % 80, 'x') + "\",\"n\":1,\"t\":" + Value(random) + "}\r\n";
  }
  const Outcome parsed = Read(spec, false, context, text, 0);
  for (size_t cut = 1; cut < text.size(); ++cut)
    ASSERT_EQ(Read(spec, true, context, text, cut).text, parsed.text) << cut;
}

// --- the walk itself -----------------------------------------------------------------------------

const JsonNames kNames = {{"id", 0}, {"name", 1}};

std::shared_ptr<Block> BlockOf(std::string_view text) {
  auto block = std::make_shared<Block>(text.size());
  std::memcpy(block->data(), text.data(), text.size());
  return block;
}

// The values of the wanted columns, and the unknown ones as `-`; "no" where the shape is another.
std::string Walked(std::string_view learned, std::string_view record) {
  const auto first = BlockOf(std::string(learned) + "\n");
  const auto second = BlockOf(std::string(record) + "\n");
  JsonScan scan;
  JsonShape shape;
  scan.Look(first->data(), first->data() + first->size());
  if (!shape.Learn(first->data(), scan, kNames)) return "not learned";
  scan.Look(second->data(), second->data() + second->size());
  std::string values;
  const char* const end =
      shape.Walk(second->data(), scan, [&](int wanted, const JsonScalar& scalar) {
        values += wanted < 0 ? "-" : std::to_string(wanted) + "=" + std::string(scalar.text);
        values += ' ';
        return true;
      });
  if (end == nullptr) return "no";
  EXPECT_EQ(end, second->data() + record.size()) << record;
  for (const int column : shape.missing()) values += "no " + std::to_string(column) + " ";
  return values;
}

TEST(JsonShape, WalksOtherOrdersNamesAndBlanks) {
  EXPECT_EQ(Walked(R"({"id":1,"name":"a"})", R"({"id":22,"name":"bc"})"), "0=22 1=bc ");
  EXPECT_EQ(Walked(R"({"name":"a","id":1})", R"({"name":"bc","id":22})"), "1=bc 0=22 ");
  EXPECT_EQ(Walked(R"({"x":1,"name":"a","y":"z","id":1,"z":null})",
                   R"({"x":true,"name":null,"y":-1.5e3,"id":"2","z":""})"),
            "- 1=null - 0=2 - ");
  EXPECT_EQ(Walked(R"( { "id" : 1 , "x" : "a" } )", R"( { "id" : 2 , "x" : 3 } )"), "0=2 - no 1 ");
  const std::string lines = Walked("{\"id\":1}\r", "{\"id\":2}");
  EXPECT_EQ(lines, "0=2 no 1 ");
}

TEST(JsonShape, LearnsNothingButFlatRecords) {
  for (const char* record :
       {"", "{}", "[]", "1", "{\"id\":1", "{\"id\":1,}", "{\"id\":[]}", "{\"id\":{}}",
        "{\"id\":1,\"id\":2}", "{\"i\\u0064\":1}", "{\"id\":1}x", "{\"id\":01}", "{\"id\" 1}",
        "{id:1}", "{\"id\":\"a\tb\"}", "{\"id\":tru}", "{\t\"id\":1}"}) {
    EXPECT_EQ(Walked(record, record), "not learned") << record;
  }
}

TEST(JsonShape, WalksNoOtherShape) {
  for (const char* record :
       {R"({"name":"a","id":1})", R"({"id":1})", R"({"id":1,"name":"a","x":1})",
        R"({"ID":1,"name":"a"})", R"({"id":1, "name":"a"})", R"({"id":1,"name":"a"}x)",
        R"({"id":1,"name":"a"}})", R"({"id":1,"name":"a")", R"({"id":01,"name":"a"})",
        R"({"id":1 ,"name":"a"})", R"({"id":[1],"name":"a"})", R"({"id":1,"name":{}})",
        R"({"id":1,"name":"a)", R"({"id":1,"name":"a\)", R"({"id":,"name":"a"})",
        R"({"id":1,"name":"a"b"})"}) {
    EXPECT_EQ(Walked(R"({"id":1,"name":"a"})", record), "no") << record;
  }
}

TEST(JsonShape, KindsOfRecordsInTurn) {
  std::string text;
  for (int i = 0; i < 50; ++i) {
    text += "{\"id\":1}\n{\"name\":\"a\",\"id\":2}\n{\"name\":\"b\"}\n";
  }
  const auto block = BlockOf(text);
  JsonScan scan;
  scan.Look(block->data(), block->data() + text.size());
  JsonShapes shapes;
  int missed = 0;
  const char* const text_end = block->data() + text.size();
  for (const char* at = block->data(); at < text_end;) {
    const char* end = shapes.Walk(at, scan, [](int, const JsonScalar&) { return true; });
    if (end == nullptr) {
      ++missed;
      shapes.Missed(at, scan, kNames);
      end = std::find(at, text_end, '\n');
    }
    at = end + 1;
  }
  EXPECT_LT(missed, 15);
}

TEST(JsonScan, WideAndNarrowFindTheSame) {
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    std::string text;
    for (size_t bytes = random() % 400; bytes > 0; --bytes)
      text += random() % 5 == 0 ? static_cast<char>(random()) : "abc\"\\\t !"[random() % 8];
    text += '\n';
    const auto block = BlockOf(text);
    JsonScan wide, narrow(false);
    wide.Look(block->data(), block->data() + text.size());
    narrow.Look(block->data(), block->data() + text.size());
    const char* next = block->data() + text.size() - 1;
    for (size_t i = text.size(); i-- > 0;) {
      const char c = text[i];
      if (c == '"' || c == '\\' || static_cast<unsigned char>(c) < ' ') next = block->data() + i;
      ASSERT_EQ(wide.Next(block->data() + i), next);
      ASSERT_EQ(narrow.Next(block->data() + i), next);
    }
    if (wide.is_ascii()) {
      for (const char c : text) ASSERT_GE(c, 0);
    }
  }
}

}  // namespace
}  // namespace rowtide
