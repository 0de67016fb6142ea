#include "engine/value_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "engine/batch_builder.h"

namespace rowtide {
namespace {

std::string Script(const Value& value, const Type& type) {
  std::string text;
  AppendScriptText(value, type, &text);
  return text;
}

std::string Cast(const Value& value, const Type& type, std::string_view zone = "UTC") {
  std::string text;
  AppendCastText(value, type, zone, &text);
  return text;
}

// Reads script text and writes it again: `text` as it comes out.
std::string Echo(std::string_view text, const Type& type) {
  Result<Value> value = ParseScriptValue(text, true, type);
  if (!value.ok()) return value.status().message();
  std::string out = Script(*value, type);
  // The same through a column.
  Schema schema({{"c", type}});
  const RowBatch batch = BatchOf(schema, {{RowKind::kInsert, {*value}}});
  std::string row;
  AppendScriptRow(batch, 0, schema, &row);
  EXPECT_EQ("+I [" + out + "]", row);
  return out;
}

TEST(CastText, FloatsAreLikeJava17) {
  const std::pair<double, const char*> doubles[] = {
      {0.1, "0.1"},
      {1e7, "1.0E7"},
      {1e23, "9.999999999999999E22"},
      {8.41e21, "8.409999999999999E21"},
      {5e-324, "4.9E-324"},
      {2.2250738585072014e-308, "2.2250738585072014E-308"},
      {1.7976931348623157e308, "1.7976931348623157E308"},
  };
  for (const auto& [value, text] : doubles) {
    std::string out;
    AppendJavaDouble(value, &out);
    EXPECT_EQ(text, out);
  }
  const std::pair<float, const char*> floats[] = {
      {2147483648.0f, "2.14748365E9"},
      {1e16f, "1.00000003E16"},
      {1e17f, "9.9999998E16"},
      {1.17549435e-38f, "1.17549435E-38"},
      {1e-45f, "1.4E-45"},
      {5.2817653e25f, "5.2817653E25"},
  };
  for (const auto& [value, text] : floats) {
    std::string out;
    AppendJavaFloat(value, &out);
    EXPECT_EQ(text, out);
  }
}

TEST(ScriptText, FloatsAreLikePythonsRepr) {
  const std::pair<double, const char*> cases[] = {
      {1.0, "1.0"},
      {0.1, "0.1"},
      {1e16, "1e+16"},
      {1e15, "1000000000000000.0"},
      {1e-5, "1e-05"},
      {0.0001, "0.0001"},
      {5e-324, "5e-324"},
      {1.7976931348623157e308, "1.7976931348623157e+308"},
      {-0.0, "-0.0"},
      {100, "100.0"},
      {std::nan(""), "\"NaN\""},
      {-HUGE_VAL, "\"-Infinity\""},
      {0.30000000000000004, "0.30000000000000004"}};
  for (const auto& [value, text] : cases) EXPECT_EQ(Script(value, Type::Double()), text);
  EXPECT_EQ(Script(static_cast<double>(3.4028235e38f), Type::Of(TypeKind::kFloat)),
            "3.4028235e+38");
  EXPECT_EQ(Script(static_cast<double>(0.1f), Type::Of(TypeKind::kFloat)), "0.1");
}

TEST(ScriptText, EveryTypeComesBack) {
  EXPECT_EQ(Echo("-9223372036854775808", Type::BigInt()), "-9223372036854775808");
  EXPECT_EQ(Echo("1.5", Type::Decimal(10, 3)), "\"1.500\"");
  EXPECT_EQ(Echo("-0.001", Type::Decimal(10, 3)), "\"-0.001\"");
  EXPECT_EQ(Echo("99999999999999999999999999999999999999", Type::Decimal(38, 0)),
            "\"99999999999999999999999999999999999999\"");
  EXPECT_EQ(Echo("-9999999999999999999999999999.9999999999", Type::Decimal(38, 10)),
            "\"-9999999999999999999999999999.9999999999\"");
  EXPECT_EQ(Echo("x'00ff'", Type::Bytes()), "\"x'00ff'\"");
  EXPECT_EQ(Echo("0001-01-01", Type::Date()), "\"0001-01-01\"");
  EXPECT_EQ(Echo("03:04:05", Type::Of(TypeKind::kTime, 0)), "\"03:04:05\"");
  EXPECT_EQ(Echo("1969-12-31 23:59:59.999", Type::Timestamp(3)), "\"1969-12-31 23:59:59.999\"");
  EXPECT_EQ(Echo("9999-12-31 23:59:59.999999", Type::Timestamp(6)),
            "\"9999-12-31 23:59:59.999999\"");
  EXPECT_EQ(Echo("1970-01-01 00:00:00.000000001", Type::Timestamp(9)),
            "\"1970-01-01 00:00:00.000000001\"");
  EXPECT_EQ(Echo("2026-01-02 03:04:05Z", Type::TimestampLtz(3)), "\"2026-01-02 03:04:05.000Z\"");
  EXPECT_EQ(Echo("300", Type::Of(TypeKind::kTinyInt)), "'300' is no TINYINT");
  EXPECT_EQ(Echo("2026-02-30", Type::Date()), "'2026-02-30' is no DATE");
}

TEST(ScriptText, EscapesOnlyWhatMustBe) {
  EXPECT_EQ(Echo("a\"b\\c\né𝄞", Type::String()), "\"a\\\"b\\\\c\\né𝄞\"");
  EXPECT_EQ(Echo("a long clean text of some length\x01", Type::String()),
            "\"a long clean text of some length\\u0001\"");
}

TEST(CastText, IsFlinks) {
  EXPECT_EQ(Cast(true, Type::Boolean()), "TRUE");
  EXPECT_EQ(Cast(1e20, Type::Double()), "1.0E20");
  EXPECT_EQ(Cast(0.001, Type::Double()), "0.001");
  EXPECT_EQ(Cast(1e-7, Type::Double()), "1.0E-7");
  EXPECT_EQ(Cast(123456789.125, Type::Double()), "1.23456789125E8");
  EXPECT_EQ(Cast(9999999.0, Type::Double()), "9999999.0");
  EXPECT_EQ(Cast(std::string("\n\xff"), Type::Bytes()), "\n\xEF\xBF\xBD");
  EXPECT_EQ(Cast(int64_t{1767225600000}, Type::TimestampLtz(3), "America/New_York"),
            "2025-12-31 19:00:00.000");
}

TEST(Times, ZonesKnowGapsAndOverlaps) {
  int64_t offset;
  ASSERT_TRUE(ZoneOffsetAtInstant("Europe/Berlin", 1783000000000, &offset));
  EXPECT_EQ(offset, 7'200'000);
  ASSERT_TRUE(ZoneOffsetAtInstant("GMT+08:00", 0, &offset));
  EXPECT_EQ(offset, 28'800'000);
  // 2026-03-29 02:30 does not exist in Berlin, 2026-10-25 02:30 exists twice.
  ASSERT_TRUE(ZoneOffsetAtLocal("Europe/Berlin",
                                DaysFromCivil(2026, 3, 29) * 86'400'000 + 9'000'000, &offset));
  EXPECT_EQ(offset, 3'600'000);
  ASSERT_TRUE(ZoneOffsetAtLocal("Europe/Berlin",
                                DaysFromCivil(2026, 10, 25) * 86'400'000 + 9'000'000, &offset));
  EXPECT_EQ(offset, 7'200'000);
  EXPECT_FALSE(ZoneOffsetAtInstant("Nowhere/Land", 0, &offset));
}

TEST(Numbers, DecimalsRoundHalfUp) {
  int128 unscaled;
  bool fits;
  ASSERT_TRUE(ParseDecimal("1.25", 5, 1, &unscaled, &fits));
  EXPECT_EQ(static_cast<int64_t>(unscaled), 13);
  ASSERT_TRUE(ParseDecimal("-1.25", 5, 1, &unscaled, &fits));
  EXPECT_EQ(static_cast<int64_t>(unscaled), -13);
  ASSERT_TRUE(ParseDecimal("1e2", 10, 2, &unscaled, &fits));
  EXPECT_EQ(static_cast<int64_t>(unscaled), 10000);
  ASSERT_TRUE(ParseDecimal("999.95", 4, 1, &unscaled, &fits));
  EXPECT_FALSE(fits);
  EXPECT_FALSE(ParseDecimal("1.2.3", 4, 1, &unscaled, &fits));
  EXPECT_FALSE(ParseDecimal("", 4, 1, &unscaled, &fits));
}

}  // namespace
}  // namespace rowtide
