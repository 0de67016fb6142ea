#include "planner/binder/bind_literal.h"

#include <algorithm>
#include <cstdlib>

#include "engine/value_text.h"
#include "operators/expressions/registry.h"

namespace rowtide {
namespace {

constexpr int64_t kSecond = 1000;
constexpr int64_t kMinute = 60 * kSecond;
constexpr int64_t kHour = 60 * kMinute;
constexpr int64_t kDay = 24 * kHour;

Result<Expression> ExactNumber(const std::string& text, bool negative, SourcePosition position) {
  const size_t point = text.find('.');
  std::string digits = text;
  int scale = 0;
  if (point != std::string::npos) {
    digits.erase(point, 1);
    scale = static_cast<int>(text.size() - point - 1);
  }
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size() - 1));
  const std::string shown = (negative ? "-" : "") + text;
  int64_t whole = 0;
  if (scale == 0) {
    if (!ParseInt64((negative ? "-" : "") + digits, &whole)) {
      return Status::Validate(position, "the number {} is larger than a BIGINT", shown)
          .WithErrorCode("RT2026");
    }
    const bool small = whole >= INT32_MIN && whole <= INT32_MAX;
    return Expression::Literal(whole, (small ? Type::Int() : Type::BigInt()).NotNull());
  }
  // All digits as written count: 0.5 is DECIMAL(2, 1), .5 is DECIMAL(1, 1).
  // A zero before the point does not count in the last place there is.
  const int written = static_cast<int>(text.size()) - 1;
  const int precision = written == kMaxDecimalPrecision + 1 && text[0] == '0' && text[1] == '.'
                            ? kMaxDecimalPrecision
                            : written;
  if (precision > kMaxDecimalPrecision) {
    return Status::Validate(position, "the number {} has more than {} digits", shown,
                            kMaxDecimalPrecision)
        .WithErrorCode("RT2026");
  }
  int64_t small = 0;  // Flink's bound: the digits make a BIGINT
  if (!ParseInt64((negative ? "-" : "") + digits, &small)) {
    return Status::Validate(position, "the number {} has too many digits", shown)
        .WithErrorCode("RT2026");
  }
  const int128 unscaled = small;
  Expression made = Expression::Literal(unscaled, Type::Decimal(precision, scale).NotNull());
  std::string spelled = text;
  spelled.erase(0, std::min(spelled.find_first_not_of('0'), spelled.find('.')));
  if (spelled.front() == '.') spelled = "0" + spelled;
  made.literal_text = (negative ? "-" : "") + spelled;
  return made;
}

// The digits as written, one before the point: 1.0E0, 2E-1 for 0.2E0.
std::string ScientificText(const std::string& text) {
  const size_t e = text.find_first_of("eE");
  std::string digits = text.substr(0, e);
  int64_t exponent = std::strtol(text.c_str() + e + 1, nullptr, 10);
  if (const size_t point = digits.find('.'); point != std::string::npos) {
    exponent -= static_cast<int64_t>(digits.size() - point - 1);
    digits.erase(point, 1);
  }
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size() - 1));
  exponent += static_cast<int64_t>(digits.size()) - 1;
  if (digits.size() > 1) digits.insert(1, ".");
  return digits + "E" + std::to_string(exponent);
}

Result<Expression> ApproximateNumber(const std::string& text, bool negative,
                                     SourcePosition position) {
  const double value = std::strtod(text.c_str(), nullptr);
  if (!(value <= 1.7976931348623157e308)) {
    return Status::Validate(position, "the number {} is larger than a DOUBLE", text)
        .WithErrorCode("RT2026");
  }
  Expression made =
      Expression::Literal(negative ? 0 - value : value, Type::Double().NotNull());  // no -0.0
  made.literal_text = (negative ? "-" : "") + ScientificText(text);
  return made;
}

int TextLength(std::string_view text) {
  int units = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xC0) != 0x80) units += byte >= 0xF0 ? 2 : 1;
  }
  return units;
}

Result<Expression> BinaryLiteral(const std::string& hex, SourcePosition position) {
  if (hex.size() % 2 != 0)
    return Status::Validate(position, "a binary literal needs an even number of digits")
        .WithErrorCode("RT2026");
  std::string bytes;
  for (size_t i = 0; i < hex.size(); i += 2) {
    int value = 0;
    for (size_t j = i; j < i + 2; ++j) {
      const char c = hex[j];
      const int digit = c >= '0' && c <= '9'   ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
      if (digit < 0)
        return Status::Validate(position, "{} is no hexadecimal digit", c).WithErrorCode("RT2026");
      value = value * 16 + digit;
    }
    bytes += static_cast<char>(value);
  }
  const int length = static_cast<int>(bytes.size());
  return Expression::Literal(std::move(bytes), Type::Of(TypeKind::kBinary, length).NotNull());
}

Result<Expression> TimeLiteral(const ast::Literal& literal, SourcePosition position) {
  const auto wrong = [&](const char* kind) {
    return Status::Parse(position, "{} is no {}", "'" + literal.text + "'", kind);
  };
  const size_t point = literal.text.find('.');
  const int fraction =
      point == std::string::npos ? 0 : static_cast<int>(literal.text.size() - point - 1);
  if (literal.kind == ast::Literal::Kind::kDate) {
    int64_t days = 0;
    if (!ParseDate(literal.text, &days)) return wrong("DATE: write it as '2026-01-31'");
    return Expression::Literal(days, Type::Date().NotNull());
  }
  if (literal.kind == ast::Literal::Kind::kTime) {
    int64_t millis = 0;
    const bool has_seconds = std::count(literal.text.begin(), literal.text.end(), ':') == 2;
    if (!has_seconds || !ParseTime(literal.text, &millis))
      return wrong("TIME: write it as '12:30:00'");
    return Expression::Literal(millis, Type::Of(TypeKind::kTime, std::min(fraction, 9)).NotNull());
  }
  WideTime time{};
  const bool date_only = literal.text.find(':') == std::string::npos;
  const bool has_letter = literal.text.find('T') != std::string::npos;
  if (has_letter || !ParseTimestamp(date_only ? literal.text + " 00:00:00" : literal.text, &time)) {
    return wrong("TIMESTAMP: write it as '2026-01-31 12:30:00'");
  }
  const Type type = Type::Timestamp(std::min(fraction, 9)).NotNull();
  return Expression::Literal(FromWideTime(time, type), type);
}

// --- intervals -------------------------------------------------------------------------------

struct Unit {
  const char* name;
  int64_t amount;  // months or milliseconds
  bool months;
  IntervalUnit unit;
};

constexpr Unit kUnits[] = {
    {"YEAR", 12, true, IntervalUnit::kYear},
    {"QUARTER", 3, true, IntervalUnit::kMonth},
    {"MONTH", 1, true, IntervalUnit::kMonth},
    {"WEEK", 7 * kDay, false, IntervalUnit::kDay},
    {"DAY", kDay, false, IntervalUnit::kDay},
    {"HOUR", kHour, false, IntervalUnit::kHour},
    {"MINUTE", kMinute, false, IntervalUnit::kMinute},
    {"SECOND", kSecond, false, IntervalUnit::kSecond},
};

const Unit* FindUnit(const std::string& name) {
  for (const Unit& unit : kUnits) {
    if (name == unit.name) return &unit;
  }
  return nullptr;
}

// The most a field may hold behind the first one.
int64_t HighestInside(const Unit& unit) {
  if (unit.months) return 11;
  return unit.unit == IntervalUnit::kHour ? 23 : 59;
}

Status CheckFirstField(int64_t value, int precision, const Unit& unit, SourcePosition position) {
  int64_t bound = 1;
  for (int i = 0; i < precision; ++i) bound *= 10;
  if (value < bound) return Status::Ok();
  const std::string digits = std::to_string(std::to_string(value).size());
  return Status::Validate(position, "the interval of {} {} has more than {} digits", value,
                          unit.name, precision)
      .WithErrorCode("RT2026")
      .WithHint(fmt::format("Say how many: INTERVAL '{}' {}({}).", value, unit.name, digits));
}

// `1 02:03:04.5` as DAY TO SECOND: the fields between the units, each with its unit.
Result<int64_t> IntervalAmount(std::string text, int precision, const Unit& first, const Unit& last,
                               SourcePosition position) {
  const Status wrong =
      Status::Validate(position, "'{}' is no interval of {}{}{}", text, first.name,
                       &first == &last ? "" : " TO ", &first == &last ? "" : last.name)
          .WithErrorCode("RT2026");
  bool negative = false;
  while (!text.empty() && text.front() == ' ') text.erase(0, 1);
  while (!text.empty() && text.back() == ' ') text.pop_back();
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) {
    negative = text.front() == '-';
    text.erase(0, 1);
  }
  int64_t total = 0;
  size_t at = 0;
  const auto number = [&](int64_t* value) {
    const size_t begin = at;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
    return at > begin && at - begin <= 10 && ParseInt64(text.substr(begin, at - begin), value);
  };
  for (const Unit* unit = &first;; ++unit) {
    if (unit->unit == IntervalUnit::kMonth && unit->amount == 3 && unit != &first)
      continue;  // no QUARTER inside YEAR TO MONTH
    int64_t value = 0;
    if (!number(&value)) return wrong;
    if (unit == &first) {
      RT_TRY(CheckFirstField(value, precision, first, position));
    } else if (value > HighestInside(*unit)) {
      return wrong;
    }
    total += value * unit->amount;
    if (unit == &last) break;
    const char separator = unit->months ? '-' : unit->unit == IntervalUnit::kDay ? ' ' : ':';
    if (at >= text.size() || text[at] != separator) return wrong;
    ++at;
  }
  if (at < text.size() && text[at] == '.' && last.unit == IntervalUnit::kSecond) {
    ++at;
    int64_t scale = 100;
    int digits = 0;
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at, scale /= 10, ++digits)
      total += (text[at] - '0') * scale;
    if (digits == 0 || digits > 6) return wrong;
  }
  if (at != text.size()) return wrong;
  return negative ? -total : total;
}

struct UnitRange {
  const Unit* first;
  const Unit* last;
};

// `DAY`, `DAY TO SECOND`
Result<UnitRange> FindUnits(const std::string& text, SourcePosition position) {
  const size_t to = text.find(" TO ");
  const std::string first_name = text.substr(0, to);
  const std::string last_name = to == std::string::npos ? first_name : text.substr(to + 4);
  const UnitRange range{FindUnit(first_name), FindUnit(last_name)};
  if (!range.first || !range.last || range.first->months != range.last->months ||
      range.first > range.last) {
    return Status::Parse(position, "there is no INTERVAL of {}", text);
  }
  return range;
}

Result<Expression> IntervalLiteral(const ast::Literal& literal, SourcePosition position) {
  RT_ASSIGN(const UnitRange range, FindUnits(literal.unit, position));
  const Unit* first = range.first;
  const Unit* last = range.last;
  if (literal.precision < 1 || literal.precision > (first->months ? 4 : 3)) {
    return Status::Plan("an INTERVAL of {}({}) is not supported", first->name, literal.precision)
        .At(position)
        .WithHint(first->months ? "One to four digits are." : "One to three digits are.");
  }
  RT_ASSIGN(int64_t amount,
            IntervalAmount(literal.text, literal.precision, *first, *last, position));
  if (literal.negative) amount = -amount;
  Expression made = Expression::Literal(amount, Type::Interval(first->unit, last->unit).NotNull());
  made.literal_text = std::to_string(amount) + ":INTERVAL " + literal.unit;
  return made;
}

Result<Expression> Made(const ast::Literal& literal, SourcePosition position) {
  using K = ast::Literal::Kind;
  switch (literal.kind) {
    case K::kNull: return Expression::Null(Type::Of(TypeKind::kNull));
    case K::kUnknown: return Expression::Null(Type::Boolean());
    case K::kTrue: return Expression::Bool(true);
    case K::kFalse: return Expression::Bool(false);
    case K::kExact: return ExactNumber(literal.text, false, position);
    case K::kApproximate: return ApproximateNumber(literal.text, false, position);
    case K::kString:
      return Expression::Literal(literal.text, Type::Char(TextLength(literal.text)).NotNull());
    case K::kBinary: return BinaryLiteral(literal.text, position);
    case K::kDate:
    case K::kTime:
    case K::kTimestamp: return TimeLiteral(literal, position);
    case K::kInterval: return IntervalLiteral(literal, position);
    case K::kSymbol: return Symbol(literal.text);
  }
  RT_CHECK(false);
}

}  // namespace

Result<Expression> BindLiteral(const ast::Literal& literal, SourcePosition position) {
  RT_ASSIGN(Expression made, Made(literal, position));
  made.position = position;
  return made;
}

Result<Expression> OneOf(const std::string& unit, SourcePosition position) {
  RT_ASSIGN(const UnitRange range, FindUnits(unit, position));
  if (range.first != range.last) return Status::Parse(position, "INTERVAL takes one unit here");
  Expression made = Expression::Literal(
      range.first->amount, Type::Interval(range.first->unit, range.last->unit).NotNull());
  made.literal_text = std::to_string(range.first->amount) + ":INTERVAL " + unit;
  return made;
}

Result<Type> IntervalTypeOf(const std::string& units, SourcePosition position) {
  RT_ASSIGN(const UnitRange range, FindUnits(units, position));
  return Type::Interval(range.first->unit, range.last->unit);
}

Result<Expression> BindNegativeNumber(const ast::Literal& literal, SourcePosition position) {
  const bool exact = literal.kind == ast::Literal::Kind::kExact;
  RT_ASSIGN(Expression made, exact ? ExactNumber(literal.text, true, position)
                                   : ApproximateNumber(literal.text, true, position));
  made.position = position;
  return made;
}

}  // namespace rowtide
