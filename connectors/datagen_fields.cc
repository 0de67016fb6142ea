#include "connectors/datagen_fields.h"

#include <deque>
#include <limits>

#include "engine/value_text.h"

namespace rowtide {
namespace {

constexpr int64_t kDefaultLength = 100;

std::string KeyOf(const Field& field, std::string_view option) {
  return fmt::format("fields.{}.{}", field.name, option);
}

bool IsSequence(const TableSpec& table, const Field& field) {
  return TextOption(table, KeyOf(field, "kind")).value_or("random") == "sequence";
}

bool IsBoundedNumber(const Type& type) { return IsNumber(type); }

// A number in [0, 1), with all 53 bits of a double.
double Fraction(uint64_t random) { return static_cast<double>(random >> 11) * 0x1p-53; }

// Evenly over [low, high].
int128 Between(int128 low, int128 high, uint64_t random) {
  const auto range = static_cast<unsigned __int128>(high - low) + 1;
  const auto bits = static_cast<unsigned __int128>(random) << 64 | MixBits(random);
  return low + static_cast<int128>(bits % range);
}

class RandomBoolean final : public FieldGenerator {
 public:
  Value Generate(int64_t, uint64_t random, int64_t) const override { return (random & 1) != 0; }
};

// Integers and decimals, as unscaled numbers.
class RandomExact final : public FieldGenerator {
 public:
  RandomExact(int128 low, int128 high, bool decimal) : low_(low), high_(high), decimal_(decimal) {}
  Value Generate(int64_t, uint64_t random, int64_t) const override {
    const int128 number = Between(low_, high_, random);
    return decimal_ ? Value(number) : Value(static_cast<int64_t>(number));
  }

 private:
  int128 low_, high_;
  bool decimal_;
};

class RandomApproximate final : public FieldGenerator {
 public:
  RandomApproximate(double low, double high) : low_(low), high_(high) {}
  Value Generate(int64_t, uint64_t random, int64_t) const override {
    const double fraction = Fraction(random);
    return low_ * (1 - fraction) + high_ * fraction;
  }

 private:
  double low_, high_;
};

class RandomText final : public FieldGenerator {
 public:
  RandomText(int64_t length, bool varies, bool digits)
      : length_(length), varies_(varies), digits_(digits) {}
  Value Generate(int64_t, uint64_t random, int64_t) const override {
    int64_t length = length_;
    if (varies_ && length > 0)
      length = 1 + static_cast<int64_t>(random % static_cast<uint64_t>(length));
    std::string text(static_cast<size_t>(length), '\0');
    uint64_t state = random;
    uint64_t bits = state = MixBits(state);
    int left = 64;
    for (char& c : text) {
      if (left == 0) {
        bits = state = MixBits(state);
        left = 64;
      }
      c = digits_ ? "0123456789abcdef"[bits & 15] : static_cast<char>(bits & 255);
      bits >>= digits_ ? 4 : 8;
      left -= digits_ ? 4 : 8;
    }
    return text;
  }

 private:
  int64_t length_;
  bool varies_, digits_;
};

class PastTime final : public FieldGenerator {
 public:
  PastTime(Type type, int64_t max_past_millis) : type_(type), max_past_millis_(max_past_millis) {}
  Value Generate(int64_t, uint64_t random, int64_t now_millis) const override {
    constexpr int64_t kDayMillis = 86400000;
    if (type_.kind == TypeKind::kDate) return now_millis / kDayMillis;
    if (type_.kind == TypeKind::kTime) return now_millis % kDayMillis / 1000 * 1000;
    const auto past = static_cast<int64_t>(Between(0, max_past_millis_, random));
    return FromWideTime({now_millis - past, 0}, type_);
  }

 private:
  Type type_;
  int64_t max_past_millis_;
};

class Sequence final : public FieldGenerator {
 public:
  Sequence(Type type, int64_t start, int64_t end) : type_(type), start_(start), end_(end) {}
  std::optional<int64_t> rows() const override { return end_ - start_ + 1; }
  Value Generate(int64_t row, uint64_t, int64_t) const override {
    const int64_t number = start_ + row;
    if (IsInteger(type_)) return number;
    if (IsApproximate(type_)) return static_cast<double>(number);
    const std::string text = std::to_string(number);
    if (IsCharacter(type_)) return text;
    int128 decimal = 0;
    bool fits = true;
    if (!ParseDecimal(text, type_.precision, type_.scale, &decimal, &fits) || !fits) return {};
    return decimal;
  }

 private:
  Type type_;
  int64_t start_, end_;
};

class SometimesNull final : public FieldGenerator {
 public:
  SometimesNull(std::unique_ptr<FieldGenerator> generator, double rate)
      : generator_(std::move(generator)), rate_(rate) {}
  Value Generate(int64_t row, uint64_t random, int64_t now_millis) const override {
    if (Fraction(MixBits(~random)) < rate_) return {};
    return generator_->Generate(row, random, now_millis);
  }

 private:
  std::unique_ptr<FieldGenerator> generator_;
  double rate_;
};

// --- options -------------------------------------------------------------------------------------

// A bound of a number as the type's own text, unscaled for decimals.
Result<std::optional<Value>> Bound(const TableSpec& table, const Field& field,
                                   std::string_view option) {
  const std::string key = KeyOf(field, option);
  const auto text = TextOption(table, key);
  if (!text) return std::optional<Value>();
  Result<Value> value = ParseScriptValue(*text, false, field.type);
  if (!value.ok() || IsNull(*value)) {
    return Status::InvalidArgument("option {} of table {} is a {}, not {}", Quote(key), table.name,
                                   ToString(field.type.Nullable()), Quote(*text));
  }
  return std::optional<Value>(std::move(*value));
}

int128 ExactOf(const Value& value) {
  if (const auto* decimal = std::get_if<int128>(&value)) return *decimal;
  return std::get<int64_t>(value);
}

int128 HighestOf(const Type& type) {
  switch (type.kind) {
    case TypeKind::kTinyInt: return std::numeric_limits<int8_t>::max();
    case TypeKind::kSmallInt: return std::numeric_limits<int16_t>::max();
    case TypeKind::kInt: return std::numeric_limits<int32_t>::max();
    case TypeKind::kBigInt: return std::numeric_limits<int64_t>::max();
    default: break;
  }
  int128 power = 1;
  for (int i = 0; i < type.precision; ++i) power *= 10;
  return power - 1;
}

Status WrongOrder(const TableSpec& table, const Field& field, const char* low, const char* high) {
  return Status::InvalidArgument("option {} of table {} is above {}", Quote(KeyOf(field, low)),
                                 table.name, Quote(KeyOf(field, high)));
}

Result<std::unique_ptr<FieldGenerator>> RandomNumber(const TableSpec& table, const Field& field) {
  RT_ASSIGN(const std::optional<Value> min, Bound(table, field, "min"));
  RT_ASSIGN(const std::optional<Value> max, Bound(table, field, "max"));
  std::unique_ptr<FieldGenerator> generator;
  if (IsApproximate(field.type)) {
    const double highest = field.type.kind == TypeKind::kFloat
                               ? double{std::numeric_limits<float>::max()}
                               : std::numeric_limits<double>::max();
    const double low = min ? std::get<double>(*min) : 0;
    const double high = max ? std::get<double>(*max) : highest;
    if (low > high) return WrongOrder(table, field, "min", "max");
    generator = std::make_unique<RandomApproximate>(low, high);
  } else {
    const bool decimal = field.type.kind == TypeKind::kDecimal;
    const int128 highest = HighestOf(field.type);
    const int128 low = min ? ExactOf(*min) : decimal ? 0 : -highest - 1;
    const int128 high = max ? ExactOf(*max) : highest;
    if (low > high) return WrongOrder(table, field, "min", "max");
    generator = std::make_unique<RandomExact>(low, high, decimal);
  }
  return generator;
}

Result<std::unique_ptr<FieldGenerator>> RandomString(const TableSpec& table, const Field& field) {
  const bool varies =
      field.type.kind == TypeKind::kVarChar || field.type.kind == TypeKind::kVarBinary;
  const int64_t longest = field.type.precision;
  int64_t length = longest == kMaxLength ? kDefaultLength : longest;
  const std::string key = KeyOf(field, "length");
  if (const auto text = TextOption(table, key)) {
    if (!ParseInt64(*text, &length) || length < 0 || length > longest || length > (1 << 20)) {
      return Status::InvalidArgument("option {} of table {} is a length between 0 and {}, not {}",
                                     Quote(key), table.name, std::min<int64_t>(longest, 1 << 20),
                                     Quote(*text));
    }
  }
  const bool var_len = varies && BoolOption(table, KeyOf(field, "var-len"), false);
  return std::unique_ptr<FieldGenerator>(
      std::make_unique<RandomText>(length, var_len, IsCharacter(field.type)));
}

Result<std::unique_ptr<FieldGenerator>> RandomField(const TableSpec& table, const Field& field) {
  const Type& type = field.type;
  if (IsNumber(type)) return RandomNumber(table, field);
  if (IsCharacter(type) || IsBinary(type)) return RandomString(table, field);
  std::unique_ptr<FieldGenerator> generator;
  if (type.kind == TypeKind::kBoolean) {
    generator = std::make_unique<RandomBoolean>();
  } else {
    const int64_t past = DurationOption(table, KeyOf(field, "max-past"), 0);
    generator = std::make_unique<PastTime>(type, past);
  }
  return generator;
}

Result<std::unique_ptr<FieldGenerator>> SequenceField(const TableSpec& table, const Field& field) {
  int64_t bounds[2];
  const char* const names[] = {"start", "end"};
  for (int i = 0; i < 2; ++i) {
    const std::string key = KeyOf(field, names[i]);
    const std::string text = TextOption(table, key).value_or("");
    const bool fits = ParseInt64(text, &bounds[i]) &&
                      (!IsInteger(field.type) || (bounds[i] <= HighestOf(field.type) &&
                                                  bounds[i] >= -HighestOf(field.type) - 1));
    if (!fits) {
      return Status::InvalidArgument("option {} of table {} is a whole {}, not {}", Quote(key),
                                     table.name, ToString(field.type.Nullable()), Quote(text));
    }
  }
  if (bounds[0] > bounds[1]) return WrongOrder(table, field, "start", "end");
  return std::unique_ptr<FieldGenerator>(
      std::make_unique<Sequence>(field.type, bounds[0], bounds[1]));
}

// The options that a column of its type and kind has.
std::vector<OptionSpec> SpecsOf(const TableSpec& table, const Field& field) {
  std::vector<OptionSpec> specs = {{"kind", OptionKind::kText, false, "random|sequence"}};
  if (IsSequence(table, field)) {
    specs.push_back({"start", OptionKind::kText, true});
    specs.push_back({"end", OptionKind::kText, true});
    return specs;
  }
  specs.push_back({"null-rate"});
  if (IsBoundedNumber(field.type)) specs.insert(specs.end(), {{"min"}, {"max"}});
  if (field.type.kind == TypeKind::kVarChar || field.type.kind == TypeKind::kVarBinary)
    specs.insert(specs.end(), {{"length"}, {"var-len", OptionKind::kBool}});
  if (IsTimestamp(field.type)) specs.push_back({"max-past", OptionKind::kDuration});
  return specs;
}

}  // namespace

uint64_t MixBits(uint64_t bits) {
  bits += 0x9e3779b97f4a7c15;
  bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ bits >> 27) * 0x94d049bb133111eb;
  return bits ^ bits >> 31;
}

Status CheckDatagenOptions(const TableSpec& table) {
  std::deque<std::string> keys;
  std::vector<OptionSpec> known = {
      {"rows-per-second", OptionKind::kNumber},
      {"number-of-rows", OptionKind::kNumber},
      {"scan.parallelism", OptionKind::kNumber},
      {"scan.watermark.emit.strategy", OptionKind::kText, false, "on-periodic|on-event"},
      {"scan.watermark.idle-timeout", OptionKind::kDuration}};
  for (const Field& field : table.schema.fields()) {
    for (OptionSpec spec : SpecsOf(table, field)) {
      spec.key = keys.emplace_back(KeyOf(field, spec.key));
      known.push_back(spec);
    }
  }
  RT_TRY(CheckOptions(table, known, "", {}));
  if (TextOption(table, "rows-per-second").value_or("1") == "0")
    return Status::InvalidArgument("'rows-per-second' of table {} is 0: no row would come",
                                   table.name);
  for (const Field& field : table.schema.fields())
    RT_TRY(CreateFieldGenerator(table, field).status());
  return Status::Ok();
}

Result<std::unique_ptr<FieldGenerator>> CreateFieldGenerator(const TableSpec& table,
                                                             const Field& field) {
  if (IsInterval(field.type)) {
    return Status::Unsupported("datagen of column {} of type {}", Quote(field.name),
                               ToString(field.type));
  }
  if (IsSequence(table, field)) {
    if (!IsNumber(field.type) && !IsCharacter(field.type)) {
      return Status::InvalidArgument("column {} of type {} cannot be a sequence", Quote(field.name),
                                     ToString(field.type));
    }
    return SequenceField(table, field);
  }
  RT_ASSIGN(std::unique_ptr<FieldGenerator> generator, RandomField(table, field));
  const std::string key = KeyOf(field, "null-rate");
  if (const auto text = TextOption(table, key)) {
    double rate = 0;
    if (!ParseDouble(*text, &rate) || !(rate >= 0 && rate <= 1)) {
      return Status::InvalidArgument("option {} of table {} is between 0 and 1, not {}", Quote(key),
                                     table.name, Quote(*text));
    }
    if (rate > 0 && !field.type.nullable)
      return Status::InvalidArgument("column {} is NOT NULL, so {} can only be 0",
                                     Quote(field.name), Quote(key));
    generator = std::make_unique<SometimesNull>(std::move(generator), rate);
  }
  return generator;
}

}  // namespace rowtide
