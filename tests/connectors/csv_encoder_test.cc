// The csv encoder, which works on many rows at once, against one that takes value by value.
#include "connectors/formats/csv_encoder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <codecvt>
#include <limits>
#include <locale>
#include <random>

#include "connectors/java_text.h"
#include "engine/base64.h"
#include "engine/batch_builder.h"
#include "engine/value_text.h"

namespace rowtide {
namespace {

using Rows = std::vector<std::pair<RowKind, std::vector<Value>>>;

std::u16string Utf16(const std::string& text) {
  return std::wstring_convert<std::codecvt_utf8_utf16<char16_t>, char16_t>().from_bytes(text);
}

// As Jackson decides it, without a thought of speed.
std::string TextOf(const std::string& text, const CsvOptions& options) {
  if (options.quote == '\0') return text;
  std::u16string units = Utf16(text);
  const auto last =
      std::max<uint32_t>(Utf16(options.delimiter)[0], static_cast<unsigned char>(options.quote));
  bool needs = false;
  for (const char16_t c : units)
    needs |= c <= last || c == '\\' ||
             (options.escape != '\0' && c == static_cast<unsigned char>(options.escape));
  if (!needs && units.size() <= 24) return text;
  std::string quoted(1, options.quote);
  for (const char c : text) {
    if (c == options.quote || (options.escape != '\0' && c == options.escape)) quoted += c;
    quoted += c;
  }
  return quoted + options.quote;
}

// Digit by digit.
std::string DecimalOf(int128 unscaled, int scale) {
  if (unscaled == 0) return "0";
  std::string digits;
  for (int128 rest = unscaled < 0 ? -unscaled : unscaled; rest != 0; rest /= 10)
    digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(rest % 10)));
  for (; digits.back() == '0'; --scale) digits.pop_back();
  const int exponent = static_cast<int>(digits.size()) - 1 - scale;
  const std::string sign = unscaled < 0 ? "-" : "";
  if (scale < 0 || exponent < -6) {
    const std::string rest = digits.size() > 1 ? "." + digits.substr(1) : "";
    return sign + digits[0] + rest + "E" + (exponent > 0 ? "+" : "") + std::to_string(exponent);
  }
  const auto behind = static_cast<size_t>(scale);
  if (digits.size() <= behind) digits.insert(0, behind + 1 - digits.size(), '0');
  if (scale > 0) digits.insert(digits.size() - behind, ".");
  return sign + digits;
}

std::string ValueOf(const Value& value, const Type& type, const CsvOptions& options) {
  if (IsNull(value)) return options.null_literal.value_or("");
  std::string text;
  switch (type.kind) {
    case TypeKind::kBoolean: return std::get<bool>(value) ? "true" : "false";
    case TypeKind::kTinyInt:
    case TypeKind::kSmallInt:
    case TypeKind::kInt:
    case TypeKind::kBigInt: return std::to_string(std::get<int64_t>(value));
    case TypeKind::kFloat:
      AppendJavaFloat(static_cast<float>(std::get<double>(value)), &text);
      return text;
    case TypeKind::kDouble: AppendJavaDouble(std::get<double>(value), &text); return text;
    case TypeKind::kDecimal: return DecimalOf(std::get<int128>(value), type.scale);
    case TypeKind::kVarBinary: AppendBase64(std::get<std::string>(value), &text); break;
    case TypeKind::kVarChar: text = std::get<std::string>(value); break;
    default: AppendStrippedTime(value, type, ' ', &text); break;
  }
  return TextOf(text, options);
}

std::string Expected(const Schema& schema, const Rows& rows, const CsvOptions& options) {
  std::string text;
  for (const auto& [kind, values] : rows) {
    for (size_t i = 0; i < values.size(); ++i) {
      if (i > 0) text += options.delimiter;
      text += ValueOf(values[i], schema.type(static_cast<int>(i)), options);
    }
    text += '\n';
  }
  return text;
}

void ExpectSame(const Schema& schema, const Rows& rows, const CsvOptions& options) {
  const std::string expected = Expected(schema, rows, options);
  for (const bool wide : {true, false}) {
    const auto encoder = CsvEncoder::Create(schema, options);
    ASSERT_TRUE(encoder.ok());
    if (!wide) (*encoder)->AvoidWideInstructions();
    for (const char* before : {"", "before"}) {  // twice: what is remembered must not matter
      std::string out = before;
      ASSERT_TRUE((*encoder)->Encode(BatchOf(schema, rows), &out).ok());
      ASSERT_EQ(out, before + expected);
    }
  }
}

std::vector<CsvOptions> AllOptions() {
  std::vector<CsvOptions> list;
  const auto add = [&list](const char* delimiter, char quote, char escape, const char* null) {
    CsvOptions options;
    options.delimiter = delimiter;
    options.quote = quote;
    options.escape = escape;
    if (null != nullptr) options.null_literal = null;
    list.push_back(options);
  };
  add(",", '"', '\0', nullptr);
  add(",", '"', '\\', "NULL");
  add(";", '\'', '\0', "a text for NULL that is longer than any piece may be");
  add("\t", '"', '"', "\"");
  add(",", '\0', '\0', "nil");
  add("\t", '\x01', '\0', nullptr);  // a blank needs no quotes
  add("|", '-', '\0', nullptr);      // doubled in times
  add("|", '"', ':', nullptr);
  add("a", '~', '\x7f', "");
  add("\xc2\xa7", '"', '\0', "-");
  add("\xef\xbc\x8c", '\'', '\\', nullptr);
  add(".", '0', '\0', "0");
  return list;
}

TEST(CsvEncoder, TextsOfAllLengthsWithEverythingEverywhere) {
  const Schema schema({{"a", Type::Int()}, {"s", Type::String()}, {"t", Type::String()}});
  const std::string_view specials[] = {
      "\"", ",",  " ", "\\",       "\n",           "\x7f",
      "'",  "\t", ";", "\xc3\xbc", "\xe2\x82\xac", "\xf0\x9f\x8c\x8a"};
  for (const CsvOptions& options : AllOptions()) {
    for (size_t length = 0; length <= 110; length += length < 80 ? 1 : 7) {
      Rows rows;
      for (const std::string_view special : specials) {
        for (size_t at = 0; at <= length; ++at) {
          std::string text(length, 'x');
          text.insert(at, special);
          rows.push_back({RowKind::kInsert, {int64_t{-1}, text, std::string(length, 'z')}});
          if (at % 7 == 3) rows.back().second[at % 3] = {};
        }
      }
      for (size_t first = 0; first < rows.size(); first += 1000) {
        const Rows some(rows.begin() + static_cast<ptrdiff_t>(first),
                        rows.begin() + static_cast<ptrdiff_t>(std::min(first + 1000, rows.size())));
        ExpectSame(schema, some, options);
        if (HasFatalFailure()) FAIL() << "length " << length << " quote " << options.quote;
      }
    }
  }
}

// Numbers of any length, not only long ones.
int128 AnyNumber(std::mt19937_64& random, int digits_max) {
  int128 number = 0;
  for (auto digits = random() % static_cast<uint64_t>(digits_max + 1); digits > 0; --digits)
    number = number * 10 + static_cast<int>(random() % 4 == 0 ? 0 : random() % 10);
  return random() % 3 == 0 ? -number : number;
}

Value AnyValue(const Type& type, std::mt19937_64& random) {
  const auto integer = [&random](int bits) {
    const auto number = static_cast<int64_t>(random());
    if (random() % 4 != 0)
      return number >> (64 - bits + static_cast<int>(random() % static_cast<uint64_t>(bits)));
    const int64_t most = std::numeric_limits<int64_t>::max() >> (64 - bits);
    return random() % 2 ? most : -most - 1;
  };
  switch (type.kind) {
    case TypeKind::kBoolean: return random() % 2 == 0;
    case TypeKind::kTinyInt: return integer(8);
    case TypeKind::kSmallInt: return integer(16);
    case TypeKind::kInt: return integer(32);
    case TypeKind::kBigInt: return integer(64);
    case TypeKind::kFloat: return static_cast<double>(static_cast<float>(integer(24)) / 8);
    case TypeKind::kDouble: return static_cast<double>(integer(50)) / 64;
    case TypeKind::kDecimal: return AnyNumber(random, type.precision);
    case TypeKind::kVarChar:
    case TypeKind::kVarBinary: {
      std::string text;
      const std::string_view pieces[] = {"a",  "b", "Z", "~",  "channel",
                                         "\"", " ", ",", "\\", "\xc3\xbc"};
      const auto kinds = random() % 3 == 0 ? std::size(pieces) : 5;
      for (auto count = random() % (random() % 50 == 0 ? 3000 : 40); count > 0; --count)
        text += pieces[random() % kinds];
      return text;
    }
    case TypeKind::kDate: return static_cast<int64_t>(random() % 40000) - 10000;
    case TypeKind::kTime:
      return static_cast<int64_t>(random() % 86400000) / (random() % 2 ? 1000 : 1) * 1;
    default: {
      int64_t millis = 1767225600000 + static_cast<int64_t>(random() % 4000);
      if (random() % 20 == 0)
        millis = static_cast<int64_t>(random() % 400000000000000) - 100000000000000;
      if (random() % 4 == 0) millis -= millis % 1000;
      const auto nanos = static_cast<int32_t>(random() % 3 == 0 ? 0 : random() % 1000000);
      return FromWideTime({millis, nanos}, type);
    }
  }
}

TEST(CsvEncoder, AnyValuesOfAllTypes) {
  std::vector<Field> fields = {{"b", Type::Boolean()},
                               {"i1", Type::Of(TypeKind::kTinyInt)},
                               {"i2", Type::Of(TypeKind::kSmallInt)},
                               {"i4", Type::Int()},
                               {"i8", Type::BigInt()},
                               {"f", Type::Of(TypeKind::kFloat)},
                               {"d", Type::Double()},
                               {"s", Type::String()},
                               {"x", Type::Bytes()},
                               {"day", Type::Date()},
                               {"time", Type::Of(TypeKind::kTime, 3)}};
  for (const int precision : {0, 1, 3, 4, 6, 7, 9}) {
    fields.push_back({"t" + std::to_string(precision), Type::Timestamp(precision)});
    fields.push_back({"z" + std::to_string(precision), Type::TimestampLtz(precision)});
  }
  for (const auto& [precision, scale] :
       {std::pair{5, 0}, {10, 2}, {18, 18}, {18, 7}, {19, 0}, {23, 3}, {38, 0}, {38, 10}, {38, 38}})
    fields.push_back({"n" + std::to_string(precision) + "_" + std::to_string(scale),
                      Type::Decimal(precision, scale)});
  std::mt19937_64 random(7);
  for (int round = 0; round < 150; ++round) {
    std::vector<Field> some;
    for (auto count = 1 + random() % 8; count > 0; --count) {
      some.push_back(fields[random() % fields.size()]);
      some.back().name += std::to_string(count);
    }
    const Schema schema(some);
    const auto null_each = round % 3 == 0 ? 0 : 1 + random() % 40;
    for (const CsvOptions& options : AllOptions()) {
      Rows rows;
      for (auto count = 1 + random() % 100; count > 0; --count) {
        rows.push_back({RowKind::kInsert, {}});
        for (const Field& field : some) {
          const bool is_null = null_each > 0 && random() % null_each == 0;
          rows.back().second.push_back(is_null ? Value() : AnyValue(field.type, random));
        }
      }
      ExpectSame(schema, rows, options);
      if (HasFatalFailure()) FAIL() << "round " << round << " quote " << options.quote;
    }
  }
}

// A row that is much longer than those before it.
TEST(CsvEncoder, RowsOfAnyLength) {
  const Schema schema({{"s", Type::String()}, {"a", Type::BigInt()}, {"t", Type::String()}});
  Rows rows;
  for (const size_t bytes : {1, 100, 5000, 10, 100000, 70, 400000}) {
    rows.push_back(
        {RowKind::kInsert, {std::string(bytes, 'x'), int64_t{1}, std::string(bytes, '"')}});
  }
  for (const CsvOptions& options : AllOptions()) ExpectSame(schema, rows, options);
}

TEST(JavaDecimal, OfEveryShape) {
  for (int scale = 0; scale <= 38; ++scale) {
    for (int64_t number = 1;; number *= 10) {
      for (const int64_t value : {number, -number, number * 7 / 5, number - 1,
                                  std::numeric_limits<int64_t>::max() - number,
                                  std::numeric_limits<int64_t>::min() + number - 1}) {
        std::string text;
        AppendJavaDecimalStripped(value, scale, &text);
        ASSERT_EQ(text, DecimalOf(value, scale)) << value << " " << scale;
      }
      if (number > std::numeric_limits<int64_t>::max() / 10) break;
    }
  }
}

}  // namespace
}  // namespace rowtide
