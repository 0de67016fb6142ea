#include "connectors/formats/avro_rows.h"

#include <simdjson.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "connectors/formats/avro_bytes.h"
#include "engine/value_text.h"

namespace rowtide {

// What is read, and where it goes.
enum class AvroRows::How : uint8_t {
  kPass,         // any value: nowhere
  kPassBytes,    // bytes, a text
  kPassLong,     // an int, a long
  kNull,         // no bytes: NULL
  kBoolean,      // one byte
  kLong,         // an int or a long: to an integer of its own width
  kInteger,      // the same: to a narrower one
  kLongScaled,   // a time in another unit
  kLongFloat,    // an int or a long: FLOAT
  kLongDouble,   // … DOUBLE
  kTimeOfDay,    // … TIME
  kFloat,        // a float
  kFloatDouble,  // a float: DOUBLE
  kDouble,       // a double
  kText,         // bytes or a text
  kBytes,        // bytes or a text
  kDecimal,      // bytes
  kFixedBytes,   // a fixed
  kFixedDecimal,
  kSymbol,  // an enum: its name
  kChoice,  // a union: what its branch says
  kRefuse   // any value: the column cannot take it
};

struct AvroRows::Step {
  How how = How::kPass;
  // Of a union of null and a type: the byte before a value, and the one that stands for NULL.
  bool is_optional = false;
  char present = 0;
  char absent = 0;
  bool takes_null = true;
  int wanted = -1;
  int scale = 0;         // of a decimal: digits to add behind the point
  int64_t multiply = 1;  // of a scaled time
  int64_t divide = 1;
  size_t choice = 0;  // in Program::choices
  const AvroType* type = nullptr;
};

namespace {

constexpr int64_t kDayMillis = 86400000;

int128 PowerOfTen(int digits) {
  int128 power = 1;
  for (int i = 0; i < digits; ++i) power *= 10;
  return power;
}

int64_t FloorDivide(int64_t value, int64_t divisor) {
  const int64_t quotient = value / divisor;
  return quotient - (value % divisor < 0);
}

// How many of the unit a second has; 0: it is no timestamp.
int64_t UnitsOf(AvroLogical logical) {
  switch (logical) {
    case AvroLogical::kMillis: return 1000;
    case AvroLogical::kMicros: return 1000000;
    case AvroLogical::kNanos: return 1000000000;
    default: return 0;
  }
}

int64_t UnitsOf(const Type& type) {
  return type.precision <= 3 ? 1000 : type.precision <= 6 ? 1000000 : 1000000000;
}

// Requires: 8 readable bytes behind the text.
bool IsAscii(const char* text, int64_t bytes) {
  uint64_t all = 0, word;
  int64_t i = 0;
  for (; i + 8 <= bytes; i += 8) {
    std::memcpy(&word, text + i, 8);
    all |= word;
  }
  std::memcpy(&word, text + i, 8);
  all |= word & ((uint64_t{1} << (8 * (bytes - i))) - 1);
  return (all & 0x8080808080808080) == 0;
}

// Big-endian two's complement; false: it has more than 128 bits. Requires: not empty.
bool ReadUnscaled(std::string_view bytes, int128* value) {
  const char sign = bytes.front() < 0 ? '\xff' : '\0';
  while (bytes.size() > 16 && bytes.front() == sign) bytes.remove_prefix(1);
  if (bytes.size() > 16 || (bytes.front() < 0) != (sign != 0)) return false;
  auto bits = static_cast<unsigned __int128>(static_cast<int128>(sign));
  for (const char byte : bytes) bits = bits << 8 | static_cast<uint8_t>(byte);
  *value = static_cast<int128>(bits);
  return true;
}

// The value with so many digits more behind the point, or rounded half up to so many fewer.
bool Rescale(int digits, int128* value) {
  if (digits >= 0) {
    return digits <= 38 && !__builtin_mul_overflow(*value, PowerOfTen(digits), value);
  }
  if (digits < -38) {
    *value = 0;
    return true;
  }
  const int128 power = PowerOfTen(-digits), rest = *value % power;
  *value /= power;
  if (rest >= power - rest) ++*value;
  if (-rest >= power + rest) --*value;
  return true;
}

bool IsFieldOf(const AvroColumn& column, const AvroField& field) {
  return field.name == column.field.name || std::find(column.aliases.begin(), column.aliases.end(),
                                                      field.name) != column.aliases.end();
}

}  // namespace

AvroRows::AvroRows(AvroRowsSpec spec, Rejects* rejects)
    : spec_(std::move(spec)), rejects_(rejects) {
  for (const AvroColumn& column : spec_.columns) slots_.emplace_back(column.field.type);
}
AvroRows::~AvroRows() = default;

void AvroRows::Begin() {
  for (ColumnSlots& slots : slots_) slots.Begin();
}

std::vector<Column> AvroRows::FinishColumns() {
  std::vector<Column> columns;
  for (ColumnSlots& slots : slots_) columns.push_back(slots.Finish());
  return columns;
}

// --- from a schema to steps ---

void AvroRows::Bind(int64_t number, AvroSchema schema) {
  auto& program = programs_[number];
  program = std::make_unique<Program>();
  program_ = program.get();
  program_->writer = std::move(schema);
  const AvroType& root = program_->writer.root();
  const bool is_union = root.kind == AvroKind::kUnion;
  for (const AvroType* type : is_union ? root.branches : std::vector<const AvroType*>{&root}) {
    if (type->kind != AvroKind::kRecord) {
      if (!is_union)
        program_->fit = Status::DataError("its records are {}; rows are read from records",
                                          AvroTypeText(*type));
      program_->walks.push_back({type, {}, {}, {}});
      continue;
    }
    Result<Walk> walk = WalkOf(*type);
    if (!walk.ok()) {
      program_->fit = walk.status();
      return;
    }
    program_->walks.push_back(std::move(*walk));
  }
}

bool AvroRows::Use(int64_t number) {
  const auto found = programs_.find(number);
  if (found == programs_.end()) return false;
  program_ = found->second.get();
  return true;
}

Result<AvroRows::Walk> AvroRows::WalkOf(const AvroType& record) {
  Walk walk{&record, {}, {}, {}};
  std::vector<bool> is_found(spec_.columns.size());
  for (const AvroField& field : record.fields) {
    Step step{.how = How::kPass, .type = field.type};
    for (size_t i = 0; i < spec_.columns.size(); ++i) {
      if (is_found[i] || !IsFieldOf(spec_.columns[i], field)) continue;
      is_found[i] = true;
      RT_ASSIGN(step, StepOf(*field.type, static_cast<int>(i)));
      break;
    }
    if (step.wanted < 0) {
      const AvroKind kind = field.type->kind;
      if (kind == AvroKind::kBytes || kind == AvroKind::kString) step.how = How::kPassBytes;
      if (kind == AvroKind::kInt || kind == AvroKind::kLong) step.how = How::kPassLong;
    }
    walk.steps.push_back(step);
  }
  for (size_t i = 0; i < spec_.columns.size(); ++i) {
    if (!is_found[i]) RT_TRY(AddFallback(i, record, &walk));
  }
  return walk;
}

Status AvroRows::AddFallback(size_t wanted, const AvroType& record, Walk* walk) {
  const AvroColumn& column = spec_.columns[wanted];
  const Type& type = column.field.type;
  const auto number = static_cast<int>(wanted);
  if (column.fallback && *column.fallback != "null") {
    const nlohmann::json json = nlohmann::json::parse(*column.fallback, nullptr, false);
    Value value;
    if (json.is_boolean() && type.kind == TypeKind::kBoolean) value = json.get<bool>();
    if (json.is_number_integer() && (IsInteger(type) || IsTemporal(type)))
      value = json.get<int64_t>();
    if (json.is_number() && IsApproximate(type)) value = json.get<double>();
    if (json.is_string() && (IsCharacter(type) || IsBinary(type))) value = json.get<std::string>();
    if (IsNull(value))
      return Status::InvalidArgument("the schema's default {} of {} is no {}", *column.fallback,
                                     Quote(column.field.name), ToString(type));
    walk->fallbacks.emplace_back(number, std::move(value));
    return Status::Ok();
  }
  if (!type.nullable && !(column.fallback && *column.fallback == "null")) {
    std::vector<std::string> names;
    for (const AvroField& field : record.fields) names.push_back(field.name);
    const std::string nearest = Nearest(column.field.name, names);
    return Status::DataError("{} has no field {}, and the column is NOT NULL", AvroTypeText(record),
                             Quote(column.field.name))
        .WithHint(nearest.empty() ? fmt::format("it has {}", fmt::join(names, ", "))
                                  : fmt::format("is {} meant?", Quote(nearest)));
  }
  LookForOtherCase(column, record);
  walk->absent.push_back(number);
  return Status::Ok();
}

// Names are what they are: `ID` is not `id`, which is then NULL in every row.
void AvroRows::LookForOtherCase(const AvroColumn& column, const AvroType& record) {
  const std::string& name = column.field.name;
  for (const AvroField& field : record.fields) {
    const bool is_same = std::equal(
        name.begin(), name.end(), field.name.begin(), field.name.end(),
        [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); });
    if (is_same) ++*rejects_->Oddity(kOtherCase + name + "." + field.name);
  }
}

Result<AvroRows::Step> AvroRows::StepOf(const AvroType& writer, int wanted) {
  Step step{.takes_null = type_of(wanted).nullable, .wanted = wanted, .type = &writer};
  if (writer.kind == AvroKind::kNull) {
    step.how = How::kNull;
    return step;
  }
  if (writer.kind != AvroKind::kUnion) {
    if (ScalarStep(writer, &step)) return step;
    return Status::DataError("{}", MismatchText(writer, wanted))
        .WithHint("declare the column with a type that holds it");
  }
  const std::vector<const AvroType*>& branches = writer.branches;
  const auto branch_step = [&](const AvroType& branch) {
    Result<Step> inner = StepOf(branch, wanted);
    return inner.ok() ? *inner : RefusalOf(branch, wanted);
  };
  const bool first = branches[0]->kind == AvroKind::kNull;
  if (branches.size() == 2 && first != (branches[1]->kind == AvroKind::kNull)) {
    step = branch_step(*branches[first ? 1 : 0]);
    step.is_optional = true;
    step.present = first ? 2 : 0;
    step.absent = first ? 0 : 2;
    return step;
  }
  step.how = How::kChoice;
  std::vector<Step> inner;
  for (const AvroType* branch : branches) inner.push_back(branch_step(*branch));
  step.choice = program_->choices.size();
  program_->choices.push_back(std::move(inner));
  return step;
}

AvroRows::Step AvroRows::RefusalOf(const AvroType& writer, int wanted) const {
  return {.how = How::kRefuse,
          .takes_null = type_of(wanted).nullable,
          .wanted = wanted,
          .type = &writer};
}

std::string AvroRows::MismatchText(const AvroType& writer, int wanted) const {
  const Field& field = spec_.columns[static_cast<size_t>(wanted)].field;
  return fmt::format("column {} is {}, and the field is {}", Quote(field.name),
                     ToString(field.type), AvroTypeText(writer));
}

// Which step makes the column's value of the writer's; false: none does.
bool AvroRows::ScalarStep(const AvroType& writer, Step* step) const {
  const Type& type = type_of(step->wanted);
  const auto take = [step](How how) {
    step->how = how;
    return true;
  };
  switch (writer.kind) {
    case AvroKind::kBoolean: return type.kind == TypeKind::kBoolean && take(How::kBoolean);
    case AvroKind::kInt:
    case AvroKind::kLong: return LongStep(writer, step);
    case AvroKind::kFloat:
      if (type.kind == TypeKind::kFloat) return take(How::kFloat);
      return type.kind == TypeKind::kDouble && take(How::kFloatDouble);
    case AvroKind::kDouble: return type.kind == TypeKind::kDouble && take(How::kDouble);
    case AvroKind::kEnum: return IsCharacter(type) && take(How::kSymbol);
    case AvroKind::kBytes:
    case AvroKind::kString:
    case AvroKind::kFixed: break;
    default: return false;
  }
  const bool is_fixed = writer.kind == AvroKind::kFixed;
  if (IsCharacter(type)) return !is_fixed && take(How::kText);
  if (IsBinary(type)) return take(is_fixed ? How::kFixedBytes : How::kBytes);
  if (type.kind != TypeKind::kDecimal || writer.kind == AvroKind::kString) return false;
  if (writer.logical == AvroLogical::kDecimal && !spec_.flink_compat)
    step->scale = type.scale - writer.scale;
  return take(is_fixed ? How::kFixedDecimal : How::kDecimal);
}

bool AvroRows::LongStep(const AvroType& writer, Step* step) const {
  const Type& type = type_of(step->wanted);
  const bool is_int = writer.kind == AvroKind::kInt;
  const auto take = [step](How how) {
    step->how = how;
    return true;
  };
  switch (type.kind) {
    case TypeKind::kBigInt: return take(How::kLong);
    case TypeKind::kTinyInt:
    case TypeKind::kSmallInt:
    case TypeKind::kInt:
    case TypeKind::kDate: return is_int && take(How::kInteger);
    case TypeKind::kFloat: return take(How::kLongFloat);
    case TypeKind::kDouble: return take(How::kLongDouble);
    case TypeKind::kTime:
      if (writer.logical == AvroLogical::kTimeMicros) step->divide = 1000;
      return (is_int || writer.logical == AvroLogical::kTimeMicros) && take(How::kTimeOfDay);
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz: break;
    default: return false;
  }
  const int64_t to = UnitsOf(type);
  const int64_t from =
      spec_.flink_compat || UnitsOf(writer.logical) == 0 ? to : UnitsOf(writer.logical);
  const bool is_plain = from == to && LayoutOf(type) == Layout::kInt64;
  step->multiply = from < to ? to / from : 1;
  step->divide = from > to ? from / to : 1;
  return take(is_plain ? How::kLong : How::kLongScaled);
}

// --- a record ---

AvroRows::Outcome AvroRows::Take(const char** at, const char* end, int row) {
  is_refused_ = false;
  const char* next = *at;
  const std::vector<Walk>& walks = program_->walks;
  const Walk* walk = walks.data();
  if (program_->writer.root().kind == AvroKind::kUnion) {
    int64_t branch = -1;
    if (next < end) next = ReadAvroLong(next, &branch);
    if (next == nullptr || branch < 0 || branch >= static_cast<int64_t>(walks.size())) {
      trouble_ = {RejectReason::kUndecodable, "", "no branch of the record's union"};
      return Outcome::kBroken;
    }
    walk += branch;
  }
  next = TakeWalk(*walk, next, end, row);
  if (next == nullptr || next > end) {
    trouble_ = {RejectReason::kUndecodable, "", "bytes that are no record"};
    return Outcome::kBroken;
  }
  *at = next;
  return is_refused_ ? Outcome::kRejected : Outcome::kRow;
}

__attribute__((always_inline)) inline const char* AvroRows::TakeStep(const Step& step,
                                                                     const char* at,
                                                                     const char* end, int row) {
  if (step.how == How::kPass) return SkipAvroValue(*step.type, at, end, spec_.depth_max);
  if (step.how == How::kNull) {
    StoreNull(step, row);
    return at;
  }
  const int64_t fixed = step.type->bytes;
  if (at >= end && (step.how < How::kFixedBytes || step.how > How::kFixedDecimal)) return nullptr;
  switch (step.how) {
    case How::kPass:
    case How::kNull: return at;
    case How::kPassLong: {
      int64_t number = 0;
      return ReadAvroLong(at, &number);
    }
    case How::kBoolean:
      if (static_cast<uint8_t>(*at) > 1) return nullptr;
      slots_[static_cast<size_t>(step.wanted)].Set(row, *at);
      return at + 1;
    case How::kLong: {
      int64_t number = 0;
      at = ReadAvroLong(at, &number);
      slots_[static_cast<size_t>(step.wanted)].Set(row, number);
      return at;
    }
    case How::kInteger:
    case How::kLongScaled:
    case How::kLongFloat:
    case How::kLongDouble:
    case How::kTimeOfDay: return TakeLong(step, at, row);
    case How::kFloat:
    case How::kFloatDouble: {
      float number;
      if (end - at < 4) return nullptr;
      std::memcpy(&number, at, 4);
      if (step.how == How::kFloat) {
        slots_[static_cast<size_t>(step.wanted)].Set(row, number);
      } else {
        slots_[static_cast<size_t>(step.wanted)].Set(row, static_cast<double>(number));
      }
      return at + 4;
    }
    case How::kDouble: {
      double number;
      if (end - at < 8) return nullptr;
      std::memcpy(&number, at, 8);
      slots_[static_cast<size_t>(step.wanted)].Set(row, number);
      return at + 8;
    }
    case How::kPassBytes:
    case How::kText:
    case How::kBytes:
    case How::kDecimal: {
      int64_t bytes = 0;
      at = ReadAvroLong(at, &bytes);
      if (at == nullptr || bytes < 0 || bytes > end - at) return nullptr;
      if (step.how == How::kText) StoreText(step, at, bytes, row);
      if (step.how == How::kBytes)
        slots_[static_cast<size_t>(step.wanted)].Set(
            row, StringView::WithSlack(at, static_cast<uint32_t>(bytes)));
      if (step.how == How::kDecimal) StoreDecimal(step, {at, static_cast<size_t>(bytes)}, row);
      return at + bytes;
    }
    case How::kFixedBytes:
    case How::kFixedDecimal:
      if (end - at < fixed) return nullptr;
      if (step.how == How::kFixedBytes) {
        slots_[static_cast<size_t>(step.wanted)].Set(
            row, StringView::WithSlack(at, static_cast<uint32_t>(fixed)));
      } else {
        StoreDecimal(step, {at, static_cast<size_t>(fixed)}, row);
      }
      return at + fixed;
    case How::kSymbol: {
      int64_t number = 0;
      at = ReadAvroLong(at, &number);
      const std::vector<std::string>& symbols = step.type->symbols;
      if (at == nullptr || number < 0 || number >= static_cast<int64_t>(symbols.size()))
        return nullptr;
      slots_[static_cast<size_t>(step.wanted)].Set(
          row, strings_.Copy(symbols[static_cast<size_t>(number)]));
      return at;
    }
    case How::kChoice: return TakeBranch(step, at, end, row);
    case How::kRefuse:
      Refuse(step.wanted, RejectReason::kCast,
             AvroTypeText(*step.type) + " is no " + ToString(type_of(step.wanted)));
      return SkipAvroValue(*step.type, at, end, spec_.depth_max);
  }
  return nullptr;
}

const char* AvroRows::TakeWalk(const Walk& walk, const char* at, const char* end, int row) {
  if (walk.type->kind != AvroKind::kRecord) {
    Refuse(-1, RejectReason::kUndecodable, AvroTypeText(*walk.type) + " instead of a record");
    return SkipAvroValue(*walk.type, at, end, spec_.depth_max);
  }
  for (const Step& step : walk.steps) {
    if (step.is_optional) {
      if (at >= end) return nullptr;
      const char branch = *at++;
      if (branch == step.absent) {
        StoreNull(step, row);
        continue;
      }
      if (branch != step.present) return nullptr;
    }
    at = TakeStep(step, at, end, row);
    if (at == nullptr) return nullptr;
  }
  for (const int column : walk.absent) slots_[static_cast<size_t>(column)].SetNull(row);
  for (const auto& [column, value] : walk.fallbacks) StoreValue(column, value, row);
  return at;
}

const char* AvroRows::TakeBranch(const Step& step, const char* at, const char* end, int row) {
  const std::vector<Step>& branches = program_->choices[step.choice];
  int64_t number = 0;
  at = ReadAvroLong(at, &number);
  if (at == nullptr || number < 0 || number >= static_cast<int64_t>(branches.size()))
    return nullptr;
  return TakeStep(branches[static_cast<size_t>(number)], at, end, row);
}

const char* AvroRows::TakeLong(const Step& step, const char* at, int row) {
  int64_t number = 0;
  at = ReadAvroLong(at, &number);
  if (at == nullptr) return nullptr;
  ColumnSlots& slots = slots_[static_cast<size_t>(step.wanted)];
  switch (step.how) {
    case How::kLongFloat: slots.Set(row, static_cast<float>(number)); break;
    case How::kLongDouble: slots.Set(row, static_cast<double>(number)); break;
    case How::kTimeOfDay: {
      const int64_t millis = FloorDivide(number, step.divide);
      if (millis < 0 || millis >= kDayMillis)
        Refuse(step.wanted, RejectReason::kCast, fmt::format("{} is no time of day", number));
      slots.Set(row, static_cast<int32_t>(millis));
      break;
    }
    default: StoreLong(step, number, row);
  }
  return at;
}

void AvroRows::StoreLong(const Step& step, int64_t value, int row) {
  ColumnSlots& slots = slots_[static_cast<size_t>(step.wanted)];
  const auto narrow = [&]<typename T>(T number) {
    // Flink lets TINYINT and SMALLINT wrap around.
    if (number != value && (!spec_.flink_compat || sizeof(T) == 4))
      Refuse(step.wanted, RejectReason::kCast,
             fmt::format("{} is beyond {}", value, ToString(type_of(step.wanted).Nullable())));
    slots.Set(row, number);
  };
  switch (slots.layout()) {
    case Layout::kInt8: return narrow(static_cast<int8_t>(value));
    case Layout::kInt16: return narrow(static_cast<int16_t>(value));
    case Layout::kInt32: return narrow(static_cast<int32_t>(value));
    default: break;
  }
  int64_t scaled = FloorDivide(value, step.divide);
  const bool is_wide = slots.layout() == Layout::kWideTime;
  if (is_wide) {
    // In nanoseconds unless the writer's unit is another one; milliseconds and a rest are stored.
    const int64_t units = 1000000 / step.multiply;  // of the writer's, in a millisecond
    const int64_t millis = FloorDivide(value, units);
    return slots.Set(
        row, WideTime{millis, static_cast<int32_t>((value - millis * units) * step.multiply)});
  }
  if (__builtin_mul_overflow(scaled, step.multiply, &scaled))
    Refuse(step.wanted, RejectReason::kCast,
           fmt::format("{} is beyond {}", value, ToString(type_of(step.wanted).Nullable())));
  slots.Set(row, scaled);
}

void AvroRows::StoreDecimal(const Step& step, std::string_view bytes, int row) {
  ColumnSlots& slots = slots_[static_cast<size_t>(step.wanted)];
  const Type& type = type_of(step.wanted);
  if (bytes.empty()) {
    Refuse(step.wanted, RejectReason::kCast, "a decimal of no bytes");
    return slots.SetNull(row);
  }
  int128 value = 0;
  const int128 limit = PowerOfTen(type.precision);
  if (!ReadUnscaled(bytes, &value) || !Rescale(step.scale, &value) || value >= limit ||
      value <= -limit) {
    // NULL, as Flink has it.
    rejects_->CountNulled();
    return StoreNull(step, row);
  }
  if (slots.layout() == Layout::kInt64) return slots.Set(row, static_cast<int64_t>(value));
  slots.Set(row, value);
}

void AvroRows::StoreText(const Step& step, const char* text, int64_t bytes, int row) {
  if (!IsAscii(text, bytes) && !simdjson::validate_utf8(text, static_cast<size_t>(bytes)))
    Refuse(step.wanted, RejectReason::kInvalidEncoding, "a text that is not UTF-8");
  slots_[static_cast<size_t>(step.wanted)].Set(
      row, StringView::WithSlack(text, static_cast<uint32_t>(bytes)));
}

void AvroRows::StoreNull(const Step& step, int row) {
  if (step.wanted < 0) return;
  if (!step.takes_null) Refuse(step.wanted, RejectReason::kNotNull, "null in a NOT NULL column");
  slots_[static_cast<size_t>(step.wanted)].SetNull(row);
}

void AvroRows::StoreValue(int wanted, const Value& value, int row) {
  ColumnSlots& slots = slots_[static_cast<size_t>(wanted)];
  switch (slots.layout()) {
    case Layout::kBool: return slots.Set(row, std::get<bool>(value));
    case Layout::kInt8: return slots.Set(row, static_cast<int8_t>(std::get<int64_t>(value)));
    case Layout::kInt16: return slots.Set(row, static_cast<int16_t>(std::get<int64_t>(value)));
    case Layout::kInt32: return slots.Set(row, static_cast<int32_t>(std::get<int64_t>(value)));
    case Layout::kInt64: return slots.Set(row, std::get<int64_t>(value));
    case Layout::kFloat: return slots.Set(row, static_cast<float>(std::get<double>(value)));
    case Layout::kDouble: return slots.Set(row, std::get<double>(value));
    case Layout::kWideTime: {
      const int64_t nanos = std::get<int64_t>(value), millis = FloorDivide(nanos, 1000000);
      return slots.Set(row, WideTime{millis, static_cast<int32_t>(nanos - millis * 1000000)});
    }
    case Layout::kBytes: return slots.Set(row, strings_.Copy(std::get<std::string>(value)));
    case Layout::kInt128: return;
  }
}

void AvroRows::Refuse(int wanted, RejectReason reason, std::string message) {
  if (is_refused_) return;
  is_refused_ = true;
  trouble_ = {reason,
              wanted < 0 ? std::string() : spec_.columns[static_cast<size_t>(wanted)].field.name,
              std::move(message)};
}

}  // namespace rowtide
