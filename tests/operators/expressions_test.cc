// Tables of calls and what they give, one theme a test. Values are Flink's.
#include "operators/expressions/evaluator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "engine/value_text.h"
#include "operators/expressions/decimals.h"
#include "operators/expressions/registry.h"
#include "operators/expressions/type_rules.h"

namespace rowtide {
namespace {

Expression Text(std::string text) {
  const int length = static_cast<int>(text.size());
  return Expression::Literal(std::move(text), Type::Char(length).NotNull());
}
Expression Int(int64_t value) { return Expression::Literal(value, Type::Int().NotNull()); }
Expression Long(int64_t value) { return Expression::Literal(value, Type::BigInt().NotNull()); }
Expression Float(double value) { return Expression::Literal(value, Type::Double().NotNull()); }
Expression Bool(bool value) { return Expression::Bool(value); }
Expression Null(const Type& type) { return Expression::Null(type); }
// A DECIMAL literal: as many digits as are written.
Expression Dec(const std::string& text) {
  const size_t point = text.find('.');
  const int scale = point == std::string::npos ? 0 : static_cast<int>(text.size() - point - 1);
  const int precision =
      static_cast<int>(text.size()) - (scale > 0 ? 1 : 0) - (text[0] == '-' ? 1 : 0);
  int128 unscaled;
  bool fits;
  EXPECT_TRUE(ParseDecimal(text, 38, scale, &unscaled, &fits));
  return Expression::Literal(unscaled, Type::Decimal(precision, scale).NotNull());
}
Expression Parsed(const std::string& text, const Type& type) {
  Result<Value> value = ParseScriptValue(text, true, type);
  EXPECT_TRUE(value.ok()) << text;
  return Expression::Literal(*value, type.NotNull());
}
Expression Ts(const std::string& text, int precision = 0) {
  return Parsed(text, Type::Timestamp(precision));
}
Expression Date(const std::string& text) { return Parsed(text, Type::Date()); }
Expression Call(const char* name, std::vector<Expression> arguments) {
  Result<Expression> call = MakeCall(name, std::move(arguments));
  EXPECT_TRUE(call.ok()) << name << ": " << call.status().message();
  return call.ok() ? *call : Null(Type::Int());
}
Expression Cast(Expression e, const Type& type, bool is_try = false) {
  Result<Expression> cast = MakeCast(std::move(e), type, is_try);
  EXPECT_TRUE(cast.ok()) << cast.status().message();
  return *cast;
}
Expression TryCast(Expression e, const Type& type) { return Cast(std::move(e), type, true); }

// The value as script text, or `error: …`.
std::string Eval(const Expression& e, const std::string& zone = "UTC") {
  EvaluationContext context;
  context.local_time_zone = zone;
  Result<Value> value = EvaluateConstant(e, context);
  if (!value.ok()) return "error: " + value.status().message();
  std::string text;
  AppendScriptText(*value, e.type, &text);
  return text;
}

struct Row {
  Expression expression;
  const char* text;
};
void Check(const std::vector<Row>& rows) {
  for (const Row& row : rows) EXPECT_EQ(Eval(row.expression), row.text) << Digest(row.expression);
}

TEST(Expressions, IntegersWrapAndDivide) {
  Check({{Call("/", {Int(7), Int(2)}), "3"},
         {Call("/", {Int(-7), Int(2)}), "-3"},
         {Call("MOD", {Int(7), Int(-3)}), "1"},
         {Call("MOD", {Int(-7), Int(3)}), "-1"},
         {Call("+", {Int(2147483647), Int(1)}), "-2147483648"},
         {Call("+", {Long(2147483647), Int(1)}), "2147483648"},
         {Call("-", {Call("-", {Int(5)})}), "5"},
         {Call("/", {Int(1), Int(0)}), "error: division by zero in (1 / 0), computed of 1, 0"},
         {Call("*", {Null(Type::Int()), Int(1)}), "null"}});
}

TEST(Expressions, DecimalsAreExact) {
  Check({{Call("/", {Dec("1.0"), Int(3)}), "\"0.333333333333\""},
         {Call("*", {Dec("7.5"), Dec("2.25")}), "\"16.875\""},
         {Call("+", {Dec("0.1"), Dec("0.2")}), "\"0.3\""},
         {Call("/", {Int(5), Dec("2.0")}), "\"2.500000\""},
         {Call("+", {Parsed("9999999999999999999999999999.9999999999", Type::Decimal(38, 10)),
                     Parsed("9999999999999999999999999999.9999999999", Type::Decimal(38, 10))}),
          "\"20000000000000000000000000000.000000000\""},
         {Call("*", {Parsed("9999999999999999999999999999.9999999999", Type::Decimal(38, 10)),
                     Parsed("999.99", Type::Decimal(5, 2))}),
          "\"9999900000000000000000000000000.000000\""},
         {Call("/", {Parsed("9999999999999999999999999999.9999999999", Type::Decimal(38, 10)),
                     Parsed("999.99", Type::Decimal(5, 2))}),
          "\"10000100001000010000100001.00001000\""},
         {Call("*", {Parsed("99999999.99", Type::Decimal(10, 2)),
                     Parsed("99999999.99", Type::Decimal(10, 2))}),
          "\"9999999998000000.0001\""},
         {Cast(Parsed("999.99", Type::Decimal(5, 2)), Type::Decimal(3, 1)), "null"},
         {Cast(Parsed("0.05", Type::Decimal(5, 2)), Type::Decimal(3, 1)), "\"0.1\""},
         {Call("/", {Parsed("9999.99", Type::Decimal(6, 2)), Int(-1)}), "\"-9999.9900000000000\""},
         {Call("MOD", {Parsed("-7.50", Type::Decimal(10, 2)), Int(2)}), "\"-1.50\""},
         {Call("/", {Int(1), Parsed("0.00", Type::Decimal(5, 2))}),
          "error: division by zero in (1 / \"0.00\"), computed of \"1\", \"0.00\""}});
}

// What is computed in 64 bits, or not at all, is what 128 and 256 bits give.
TEST(Expressions, DecimalsOfAllSizes) {
  std::mt19937_64 random(1);
  const auto any = [&random](int precision) {
    int128 number = 0;
    for (auto digits = random() % static_cast<uint64_t>(precision + 1); digits > 0; --digits)
      number = number * 10 + static_cast<int>(random() % 8 == 0 ? 9 : random() % 10);
    return random() % 2 ? number : -number;
  };
  const auto text = [](std::optional<int128> unscaled, const Type& type) {
    std::string text;
    AppendScriptText(unscaled ? Value(*unscaled) : Value(), type, &text);
    return text;
  };
  for (int round = 0; round < 20000; ++round) {
    const int precision = 1 + static_cast<int>(random() % 38),
              other_precision = 1 + static_cast<int>(random() % 38);
    const int scale = static_cast<int>(random() % static_cast<uint64_t>(precision + 1)),
              other_scale = static_cast<int>(random() % static_cast<uint64_t>(other_precision + 1));
    const int128 a = any(precision), b = any(other_precision);
    const Expression left = Expression::Literal(a, Type::Decimal(precision, scale).NotNull());
    const Expression right =
        Expression::Literal(b, Type::Decimal(other_precision, other_scale).NotNull());
    const Expression product = Call("*", {left, right});
    ASSERT_EQ(Eval(product),
              text(DecimalMultiply({a, scale}, {b, other_scale}, product.type), product.type))
        << Digest(product);
    const Type to = Type::Decimal(other_precision, std::min(scale, other_precision));
    ASSERT_EQ(Eval(Cast(left, to)), text(Rescaled(a, scale, to.precision, to.scale), to));
    const auto integer = static_cast<int64_t>(random()) >> (random() % 64);
    const Type whole = Type::Decimal(other_precision, 0);
    ASSERT_EQ(Eval(Cast(Long(integer), whole)),
              text(Rescaled(integer, 0, other_precision, 0), whole));
  }
}

TEST(Expressions, MathFunctions) {
  Check({{Call("ABS", {Int(-5)}), "5"},
         {Call("ROUND", {Dec("2.345"), Int(2)}), "\"2.35\""},
         {Call("ROUND", {Dec("-2.5")}), "\"-3\""},
         {Call("FLOOR", {Dec("-1.5")}), "\"-2\""},
         {Call("CEIL", {Dec("1.2")}), "\"2\""},
         {Call("POWER", {Int(2), Int(10)}), "1024.0"},
         {Call("SQRT", {Int(2)}), "1.4142135623730951"},
         {Call("SIGN", {Dec("-3.2")}), "\"-1.0\""},
         {Call("TRUNCATE", {Dec("42.345"), Int(2)}), "\"42.34\""},
         {Call("LN", {Call("EXP", {Int(1)})}), "1.0"},
         {Call("GREATEST", {Int(1), Int(5), Int(3)}), "5"},
         {Call("LEAST", {Int(2), Int(1)}), "1"},
         {Call("GREATEST", {Int(1), Null(Type::Int())}), "null"}});
}

TEST(Expressions, CastsOfNumbersAndStrings) {
  Check({{Cast(Text("12"), Type::Int()), "12"},
         {Cast(Text(" 12 "), Type::Int()), "12"},
         {Cast(Dec("-12.99"), Type::Int()), "-12"},
         {Cast(Int(300), Type::Of(TypeKind::kTinyInt)), "44"},
         {Cast(Text("1.25"), Type::Decimal(5, 1)), "\"1.3\""},
         {Cast(Text("1e3"), Type::Double()), "1000.0"},
         {Cast(Float(1e20), Type::Int()), "2147483647"},
         {Cast(Float(9123.87), Type::Of(TypeKind::kTinyInt)), "-93"},
         {Cast(Bool(true), Type::Int()), "1"},
         {Cast(Int(5), Type::Boolean()), "true"},
         {Cast(Dec("1.50"), Type::String()), "\"1.50\""},
         {Cast(Bool(true), Type::String()), "\"TRUE\""},
         {Cast(Float(1e20), Type::String()), "\"1.0E20\""},
         {Cast(Text("abcdef"), Type::VarChar(3)), "\"abc\""},
         {Cast(Text("ab"), Type::Char(4)), "\"ab  \""},
         {Cast(Parsed("x'0aff'", Type::Bytes()), Type::String()), "\"\\n\xEF\xBF\xBD\""},
         {Cast(Text("F"), Type::Boolean()), "false"},
         {TryCast(Text("maybe"), Type::Boolean()), "null"},
         {TryCast(Text("12.5"), Type::Int()), "12"},
         {TryCast(Text("1e2"), Type::Int()), "null"},
         {TryCast(Text("1e2"), Type::Decimal(10, 2)), "\"100.00\""},
         {TryCast(Text("99999999999"), Type::Int()), "null"},
         {TryCast(Text("2026-13-01"), Type::Date()), "null"},
         {Cast(Text("x"), Type::Int()),
          "error: 'x' is no INT in CAST(\"x\" AS INT), computed of \"x\""}});
  EXPECT_FALSE(MakeCast(Int(1), Type::Timestamp(3)).ok());
  EXPECT_TRUE(IsInjectiveCast(Type::Int(), Type::VarChar(11)));
  EXPECT_FALSE(IsInjectiveCast(Type::Int(), Type::VarChar(10)));
  EXPECT_FALSE(IsInjectiveCast(Type::Double(), Type::String()));
}

TEST(Expressions, Comparisons) {
  Check({{Call("=", {Int(1), Dec("1.0")}), "true"},
         {Call("<", {Text("a"), Text("B")}), "false"},
         {Call("=", {Text("a"), Text("a ")}), "false"},
         {Call("=", {Cast(Text("a"), Type::Char(3)), Text("a")}), "false"},
         {Call("<", {Int(1), Text("2")}), "true"},
         {Call("=", {Date("2026-01-01"), Text("2026-01-01")}), "true"},
         {Call("<", {Parsed("x'01'", Type::Bytes()), Parsed("x'02'", Type::Bytes())}), "true"},
         {Call("IS DISTINCT FROM", {Int(1), Null(Type::Int())}), "true"},
         {Call("IS NOT DISTINCT FROM", {Null(Type::Int()), Null(Type::Int())}), "true"}});
  EXPECT_FALSE(MakeCall("=", {Date("2026-01-01"), Ts("2026-01-01 00:00:00")}).ok());
  EXPECT_FALSE(MakeCall("=", {Text("1"), Int(1)}).ok());
}

TEST(Expressions, Logic) {
  const Expression unknown = Null(Type::Boolean());
  const Expression fails = Call("=", {Call("/", {Int(1), Int(0)}), Int(1)});
  Check({{Call("AND", {Bool(true), unknown}), "null"},
         {Call("AND", {Bool(false), unknown}), "false"},
         {Call("AND", {unknown, Bool(false)}), "false"},
         {Call("OR", {unknown, Bool(true)}), "true"},
         {Call("NOT", {unknown}), "null"},
         {Call("IS NOT TRUE", {unknown}), "true"},
         {Call("IS UNKNOWN", {unknown}), "true"},
         {Call("AND", {Bool(false), fails}), "false"},
         {Call("OR", {Bool(true), fails}), "true"},
         {Call("CASE", {Bool(false), Call("/", {Int(1), Int(0)}), Int(7)}), "7"},
         {Call("COALESCE", {Int(1), Call("/", {Int(1), Int(0)})}), "1"},
         {Call("IF", {Bool(true), Text("y"), Text("no")}), "\"y\""},
         {Call("NULLIF", {Int(2), Int(2)}), "null"},
         {Call("COALESCE", {Null(Type::String()), Text("z")}), "\"z\""}});
}

TEST(Expressions, Strings) {
  Check({{Call("UPPER", {Text("aé")}), "\"AÉ\""},
         {Call("LOWER", {Text("ÀB")}), "\"àb\""},
         {Call("CHAR_LENGTH", {Text("aé𝄞")}), "3"},
         {Call("INITCAP", {Text("hello wORLD")}), "\"Hello World\""},
         {Call("REVERSE", {Text("abc")}), "\"cba\""},
         {Call("REPEAT", {Text("ab"), Int(3)}), "\"ababab\""},
         {Call("ASCII", {Text("A")}), "65"},
         {Call("CHR", {Int(97)}), "\"a\""},
         {Call("SUBSTRING", {Text("abcdef"), Int(2), Int(3)}), "\"bcd\""},
         {Call("SUBSTRING", {Text("abcdef"), Int(-2)}), "\"ef\""},
         {Call("SUBSTRING", {Text("abcdef"), Int(0)}), "\"abcdef\""},
         {Call("SUBSTRING", {Text("abcdef"), Int(4), Int(10)}), "\"def\""},
         {Call("LEFT", {Text("abc"), Int(2)}), "\"ab\""},
         {Call("RIGHT", {Text("abc"), Int(2)}), "\"bc\""},
         {Call("TRIM", {Symbol("BOTH"), Text(" "), Text("  x ")}), "\"x\""},
         {Call("TRIM", {Symbol("LEADING"), Text("x"), Text("xxa")}), "\"a\""},
         {Call("RTRIM", {Text("x  ")}), "\"x\""},
         {Call("BTRIM", {Text(" x ")}), "\"x\""},
         {Call("||", {Text("a"), Text("b")}), "\"ab\""},
         {Call("CONCAT", {Text("a"), Null(Type::String()), Text("b")}), "null"},
         {Call("CONCAT_WS", {Text("-"), Text("a"), Null(Type::String()), Text("b")}), "\"a-b\""},
         {Call("LPAD", {Text("7"), Int(3), Text("0")}), "\"007\""},
         {Call("RPAD", {Text("abc"), Int(2), Text("x")}), "\"ab\""},
         {Call("OVERLAY", {Text("abcdef"), Text("XX"), Int(2), Int(3)}), "\"aXXef\""},
         {Call("REPLACE", {Text("banana"), Text("an"), Text("x")}), "\"bxxa\""},
         {Call("TRANSLATE", {Text("abc"), Text("ab"), Text("x")}), "\"xc\""}});
}

TEST(Expressions, FindingInStrings) {
  Check({{Call("POSITION", {Text("c"), Text("abcabc")}), "3"},
         {Call("LOCATE", {Text("c"), Text("abcabc"), Int(4)}), "6"},
         {Call("INSTR", {Text("abc"), Text("z")}), "0"},
         {Call("SPLIT_INDEX", {Text("a,b,,d"), Text(","), Int(2)}), "\"\""},
         {Call("SPLIT_INDEX", {Text("a,b"), Text(","), Int(5)}), "null"},
         {Call("LIKE", {Text("abc"), Text("a_c")}), "true"},
         {Call("LIKE", {Text("a%c"), Text("a\\%c"), Text("\\")}), "true"},
         {Call("LIKE", {Text("banana"), Text("%an_b%a")}), "false"},
         {Call("LIKE", {Text("banana"), Text("%a%_na")}), "true"},
         {Call("LIKE", {Text("é"), Text("_")}), "true"},
         {Call("SIMILAR TO", {Text("abc"), Text("(a|b)+c")}), "true"},
         {Call("STARTSWITH", {Text("abc"), Text("ab")}), "true"},
         {Call("REGEXP", {Text("abc123"), Text("[0-9]+")}), "true"},
         {Call("REGEXP_EXTRACT", {Text("x=12;y=3"), Text("y=([0-9]+)"), Int(1)}), "\"3\""},
         {Call("REGEXP_EXTRACT", {Text("abc"), Text("[0-9]")}), "null"},
         {Call("REGEXP_REPLACE", {Text("a1b22"), Text("[0-9]+"), Text("#")}), "\"a#b#\""},
         {Call("REGEXP_REPLACE", {Text("ab"), Text("(a)(b)"), Text("$2$1")}), "\"$2$1\""},
         {Call("REGEXP_COUNT", {Text("a1b22"), Text("[0-9]")}), "3"},
         {Call("REGEXP_INSTR", {Text("ab1"), Text("[0-9]")}), "3"},
         {Call("REGEXP_SUBSTR", {Text("ab12"), Text("[0-9]+")}), "\"12\""}});
}

TEST(Expressions, Encodings) {
  Check({{Call("MD5", {Text("a")}), "\"0cc175b9c0f1b6a831c399e269772661\""},
         {Call("SHA1", {Text("a")}), "\"86f7e437faa5a7fce15d1ddcb9eaeaea377667b8\""},
         {Call("SHA256", {Text("a")}),
          "\"ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb\""},
         {Call("SHA224", {Text("a")}),
          "\"abd37534c7d9a2efb9465de931cd7055ffdb8879563ae98078d6d6d5\""},
         {Call("SHA512", {Text("a")}),
          "\"1f40fc92da241694750979ee6cf582f2d5d7d28e18335de05abc54d0560e0f5302860c652bf08d560252aa"
          "5e74210546f369fbbbce8c12cfc7957b2652fe9a75\""},
         {Call("TO_BASE64", {Text("abc")}), "\"YWJj\""},
         {Call("FROM_BASE64", {Text("YWJj")}), "\"abc\""},
         {Call("ENCODE", {Text("é"), Text("UTF-8")}), "\"x'c3a9'\""},
         {Call("DECODE", {Parsed("x'c3a9'", Type::Bytes()), Text("UTF-8")}), "\"é\""},
         {Call("HEX", {Text("abc")}), "\"616263\""},
         {Call("UNHEX", {Text("616263")}), "\"x'616263'\""}});
}

TEST(Expressions, JsonFunctions) {
  const Expression j =
      Text(R"({"a": 1, "b": [1, 2], "c": {"d": "x"}, "e": null, "f": 1.50, "g": true})");
  Check({{Call("JSON_VALUE", {j, Text("$.a")}), "\"1\""},
         {Call("JSON_VALUE", {j, Text("$.c.d")}), "\"x\""},
         {Call("JSON_VALUE", {j, Text("$.b")}), "null"},
         {Call("JSON_VALUE", {j, Text("$.f")}), "\"1.50\""},
         {Call("JSON_VALUE", {j, Text("$.b[1]")}), "\"2\""},
         {Call("JSON_VALUE",
               {j, Text("lax $.zz"), Symbol("DEFAULT"), Text("none"), Symbol("ON EMPTY")}),
          "\"none\""},
         {Call("JSON_VALUE", {Text("x"), Text("strict $.zz"), Symbol("DEFAULT"), Text("bad"),
                              Symbol("ON ERROR")}),
          "\"bad\""},
         {Call("JSON_QUERY", {j, Text("$.b")}), "\"[1,2]\""},
         {Call("JSON_QUERY", {j, Text("$.c")}), "\"{\\\"d\\\":\\\"x\\\"}\""},
         {Call("JSON_QUERY", {j, Text("$.a")}), "null"},
         {Call("JSON_QUERY", {j, Text("$.a"), Symbol("WITH_UNCONDITIONAL_ARRAY")}), "\"[1]\""},
         {Call("JSON_EXISTS", {j, Text("$.e")}), "false"},
         {Call("IS JSON OBJECT", {j}), "true"},
         {Call("IS JSON VALUE", {Text("nonsense")}), "false"},
         {Call("JSON_OBJECT",
               {Symbol("NULL_ON_NULL"), Text("k"), Int(1), Text("n"), Null(Type::Int())}),
          "\"{\\\"k\\\":1,\\\"n\\\":null}\""},
         {Call("JSON_OBJECT",
               {Symbol("ABSENT_ON_NULL"), Text("k"), Int(1), Text("n"), Null(Type::Int())}),
          "\"{\\\"k\\\":1}\""},
         {Call("JSON_ARRAY", {Symbol("ABSENT_ON_NULL"), Int(1), Text("x"), Bool(true)}),
          "\"[1,\\\"x\\\",true]\""},
         {Call("JSON_STRING", {Text("a\"b")}), "\"\\\"a\\\\\\\"b\\\"\""}});
}

Expression Interval(IntervalUnit unit, int64_t value) {
  return Expression::Literal(value, Type::Interval(unit, unit).NotNull());
}

TEST(Expressions, PartsOfTimes) {
  const Expression ts = Ts("2026-05-17 13:45:59.123", 3);
  Check({{Call("YEAR", {ts}), "2026"},
         {Call("QUARTER", {Date("2026-05-01")}), "2"},
         {Call("WEEK", {Date("2026-01-01")}), "1"},
         {Call("DAYOFYEAR", {Date("2026-03-01")}), "60"},
         {Call("DAYOFWEEK", {Date("2026-01-01")}), "5"},
         {Call("SECOND", {ts}), "59"},
         {Call("EXTRACT", {Symbol("MILLISECOND"), ts}), "123"},
         {Call("EXTRACT", {Symbol("EPOCH"), ts}), "1779025559"},
         {Call("EXTRACT", {Symbol("CENTURY"), ts}), "21"},
         {Call("FLOOR", {ts, Symbol("HOUR")}), "\"2026-05-17 13:00:00.000\""},
         {Call("CEIL", {ts, Symbol("QUARTER")}), "\"2026-07-01 00:00:00.000\""},
         {Call("FLOOR", {Date("2026-05-17"), Symbol("MONTH")}), "\"2026-05-01\""},
         {Call("FLOOR", {Ts("1969-12-31 23:59:59.999", 3), Symbol("WEEK")}),
          "\"1969-12-28 00:00:00.000\""}});
}

TEST(Expressions, TimeArithmetic) {
  Check(
      {{Call("TIMESTAMPDIFF",
             {Symbol("DAY"), Ts("2026-01-01 12:00:00"), Ts("2026-01-03 11:00:00")}),
        "1"},
       {Call("TIMESTAMPDIFF", {Symbol("MONTH"), Date("2026-01-31"), Date("2026-02-28")}), "1"},
       {Call("TIMESTAMPADD", {Symbol("MONTH"), Int(1), Date("2026-01-31")}), "\"2026-02-28\""},
       {Call("+", {Ts("2026-01-31 00:00:00"), Interval(IntervalUnit::kMonth, 1)}),
        "\"2026-02-28 00:00:00\""},
       {Call("-", {Date("2026-03-01"), Interval(IntervalUnit::kDay, 86400000)}), "\"2026-02-28\""},
       {Call("+", {Ts("2026-01-01 00:00:00"), Interval(IntervalUnit::kDay, 93784500)}),
        "\"2026-01-02 02:03:04\""},
       {Call("+", {Parsed("13:45:59", Type::Of(TypeKind::kTime)),
                   Interval(IntervalUnit::kHour, 43200000)}),
        "\"01:45:59\""},
       {Call("*", {Interval(IntervalUnit::kDay, 86400000), Int(2)}), "172800000"}});
}

TEST(Expressions, TimesAsText) {
  const Expression ts = Ts("2026-05-07 03:04:05.678", 3);
  Check(
      {{Call("DATE_FORMAT", {ts, Text("yyyy-MM-dd HH:mm:ss.SSS")}), "\"2026-05-07 03:04:05.678\""},
       {Call("DATE_FORMAT", {ts, Text("E EEEE MMM MMMM h a D 'T'")}),
        "\"Thu Thursday May May 3 AM 127 T\""},
       {Call("DATE_FORMAT", {Text("2026-05-07 03:04:05"), Text("yyyyMMdd")}), "\"20260507\""},
       {Call("TO_TIMESTAMP", {Text("2026-05-07 03:04:05")}), "\"2026-05-07 03:04:05.000\""},
       {Call("TO_TIMESTAMP", {Text("2026-02-30 00:00:00")}), "\"2026-02-28 00:00:00.000\""},
       {Call("TO_TIMESTAMP", {Text("2026-05-07T03:04:05")}), "null"},
       {Call("TO_TIMESTAMP", {Text("07/05/2026"), Text("dd/MM/yyyy")}),
        "\"2026-05-07 00:00:00.000\""},
       {Call("TO_TIMESTAMP", {Text("2026-05-07 03:04:05 PM"), Text("yyyy-MM-dd hh:mm:ss a")}),
        "\"2026-05-07 15:04:05.000\""},
       {Call("TO_TIMESTAMP", {Text("20260507"), Text("yyyyMMdd")}), "\"2026-05-07 00:00:00.000\""},
       {Call("TO_TIMESTAMP", {Text("nonsense")}), "null"},
       {Call("TO_DATE", {Text("7.5.2026"), Text("d.M.yyyy")}), "\"2026-05-07\""},
       {Call("TO_TIMESTAMP_LTZ", {Long(1767225600), Int(0)}), "\"2026-01-01 00:00:00.000Z\""},
       {Call("TO_TIMESTAMP_LTZ", {Long(1767225600123), Int(3)}), "\"2026-01-01 00:00:00.123Z\""},
       {Call("FROM_UNIXTIME", {Long(1767225600)}), "\"2026-01-01 00:00:00\""},
       {Call("UNIX_TIMESTAMP", {Text("2026-01-01 00:00:00")}), "1767225600"},
       {Call("UNIX_TIMESTAMP", {Text("x")}), "-9223372036854775808"},
       {Cast(Text("2026-01-02 03:04:05.6"), Type::Timestamp(3)), "\"2026-01-02 03:04:05.600\""},
       {Cast(Text("2026-01-02"), Type::Timestamp(0)), "\"2026-01-02 00:00:00\""},
       {Cast(ts, Type::Date()), "\"2026-05-07\""},
       {Cast(Text("03:04"), Type::Of(TypeKind::kTime)), "\"03:04:00\""}});
  EXPECT_EQ(Eval(Call("FROM_UNIXTIME", {Long(1767225600)}), "America/New_York"),
            "\"2025-12-31 19:00:00\"");
  EXPECT_EQ(Eval(Call("UNIX_TIMESTAMP", {Text("2026-01-01 00:00:00")}), "America/New_York"),
            "1767243600");
  EXPECT_EQ(Eval(Cast(Ts("2026-01-02 03:04:05"), Type::TimestampLtz(3)), "America/New_York"),
            "\"2026-01-02 08:04:05.000Z\"");
}

TEST(Expressions, TypesAreFlinks) {
  const auto type = [](const Expression& e) { return ToString(e.type); };
  const Type d102 = Type::Decimal(10, 2), d53 = Type::Decimal(5, 3), d3810 = Type::Decimal(38, 10);
  EXPECT_EQ(type(Call("*", {Null(Type::Int()), Null(d102)})), "DECIMAL(21, 2)");
  EXPECT_EQ(type(Call("+", {Null(d102), Null(d53)})), "DECIMAL(12, 3)");
  EXPECT_EQ(type(Call("/", {Null(d102), Null(d53)})), "DECIMAL(19, 8)");
  EXPECT_EQ(type(Call("MOD", {Null(d102), Null(d53)})), "DECIMAL(5, 3)");
  EXPECT_EQ(type(Call("+", {Null(d3810), Null(d3810)})), "DECIMAL(38, 9)");
  EXPECT_EQ(type(Call("/", {Null(d3810), Null(d102)})), "DECIMAL(38, 8)");
  EXPECT_EQ(type(Call("ROUND", {Null(d102), Int(1)})), "DECIMAL(10, 1)");
  EXPECT_EQ(type(Call("COALESCE", {Null(Type::Int()), Int(1)})), "INT NOT NULL");
  EXPECT_EQ(type(Call("CASE", {Null(Type::Boolean()), Text("a"), Text("bcd")})),
            "VARCHAR(3) NOT NULL");
  EXPECT_EQ(type(Call("SUBSTRING", {Text("abcdef"), Int(1)})), "VARCHAR(6)");
  EXPECT_EQ(type(Call("||", {Text("a"), Text("b")})), "CHAR(2) NOT NULL");
  EXPECT_EQ(type(Call("MD5", {Text("a")})), "CHAR(32) NOT NULL");
  EXPECT_EQ(type(Call("TIMESTAMPADD", {Symbol("HOUR"), Int(1), Null(Type::Date())})),
            "TIMESTAMP(6)");
}

TEST(Evaluator, ComputesColumnsWithNullsAndLongStrings) {
  const Schema schema({{"s", Type::String()}, {"n", Type::Int()}});
  const std::string longer = "a text of more than twelve bytes";
  const RowBatch batch = BatchOf(schema, {{RowKind::kInsert, {Value(longer), Value(int64_t{2})}},
                                          {RowKind::kInsert, {Value(), Value(int64_t{0})}},
                                          {RowKind::kInsert, {Value(std::string("b")), Value()}}});
  const Expression s = Expression::Input(0, Type::String());
  const Expression n = Expression::Input(1, Type::Int());
  const Expression guarded =
      Call("CASE", {Call("<>", {n, Int(0)}), Call("/", {Int(10), n}), Int(-1)});
  const auto column = [&](const Expression& e) {
    Result<Evaluator> evaluator = Evaluator::Create(e, schema, {});
    EXPECT_TRUE(evaluator.ok());
    StringBlocks strings;
    Result<Column> result = evaluator->Evaluate(batch, &strings);
    if (!result.ok()) return result.status().message();
    std::string text;
    for (int row = 0; row < batch.rows; ++row) {
      AppendScriptText(*result, row, e.type, &text);
      text += ' ';
    }
    return text;
  };
  EXPECT_EQ(column(Call("UPPER", {s})), "\"A TEXT OF MORE THAN TWELVE BYTES\" null \"B\" ");
  EXPECT_EQ(column(Call("||", {s, s})), "\"" + longer + longer + "\" null \"bb\" ");
  EXPECT_EQ(column(guarded), "5 -1 -1 ");
  EXPECT_EQ(column(Call("COALESCE", {s, Text("another text of many bytes")})),
            "\"" + longer + "\" \"another text of many bytes\" \"b\" ");
  EXPECT_EQ(column(Call("/", {Int(10), n})), "division by zero in (10 / n), computed of 10, 0");
  Result<Evaluator> predicate =
      Evaluator::Create(Call("OR", {Call("IS NULL", {s}), Call(">", {n, Int(1)})}), schema, {});
  std::vector<int32_t> rows;
  ASSERT_TRUE(predicate->SelectTrue(batch, &rows).ok());
  EXPECT_EQ(rows, (std::vector<int32_t>{0, 1}));
}

TEST(Evaluator, SearchKnowsRangesAndNulls) {
  const auto search = [](Expression operand, std::vector<Sarg::Range> ranges, Sarg::NullAs null_as,
                         const Type& points) {
    Expression e = Expression::Call("SEARCH", {std::move(operand)}, Type::Boolean());
    Sarg sarg{std::move(ranges), null_as, points};
    e.sarg = std::make_shared<const Sarg>(std::move(sarg));
    return Eval(e);
  };
  const auto point = [](Value v) { return Sarg::Range{v, v, true, true}; };
  const Sarg::Range below_zero{std::nullopt, Value(int64_t{0}), true, false};
  EXPECT_EQ(search(Int(3), {below_zero, point(int64_t{1}), point(int64_t{3})},
                   Sarg::NullAs::kUnknown, Type::Int()),
            "true");
  EXPECT_EQ(search(Long(0), {below_zero, point(int64_t{1})}, Sarg::NullAs::kUnknown, Type::Int()),
            "false");
  EXPECT_EQ(search(Long(-5), {below_zero, point(int64_t{1})}, Sarg::NullAs::kUnknown, Type::Int()),
            "true");
  EXPECT_EQ(search(Null(Type::Int()), {point(int64_t{1})}, Sarg::NullAs::kTrue, Type::Int()),
            "true");
  EXPECT_EQ(search(Null(Type::Int()), {point(int64_t{1})}, Sarg::NullAs::kUnknown, Type::Int()),
            "null");
  EXPECT_EQ(search(Text("b"), {point(std::string("a")), point(std::string("b"))},
                   Sarg::NullAs::kUnknown, Type::Char(1)),
            "true");
  EXPECT_EQ(search(Dec("2.50"), {point(int128{1}), point(int128{25})}, Sarg::NullAs::kUnknown,
                   Type::Decimal(2, 1)),
            "true");
}

}  // namespace
}  // namespace rowtide
