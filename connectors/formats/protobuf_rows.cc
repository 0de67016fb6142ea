#include "connectors/formats/protobuf_rows.h"

#include <simdjson.h>

#include <cstring>
#include <limits>

#include "connectors/formats/protobuf_wire.h"

namespace rowtide {
namespace {

constexpr uint32_t kLowNumbers = 512;
constexpr int kDepthMax = 100;  // of groups, as in Java

}  // namespace

ProtoRows::ProtoRows(ProtoRowsSpec spec) : spec_(std::move(spec)) {
  by_number_.assign(kLowNumbers, -1);
  last_.resize(static_cast<size_t>(spec_.message.groups));
  for (const Field& column : spec_.columns) slots_.emplace_back(column.type);
  for (const ProtoField& field : spec_.message.fields) {
    Step step{.field = &field, .wire = WireOf(field.kind)};
    for (size_t i = 0; i < spec_.columns.size(); ++i) {
      if (spec_.columns[i].name == field.name) step.wanted = static_cast<int>(i);
    }
    if (step.wanted < 0 && field.group < 0 && !field.is_required) continue;
    if (field.number < kLowNumbers) by_number_[field.number] = static_cast<int16_t>(steps_.size());
    steps_.push_back(step);
  }
}

void ProtoRows::Begin() {
  for (ColumnSlots& slots : slots_) slots.Begin();
}

std::vector<Column> ProtoRows::FinishColumns() {
  std::vector<Column> columns;
  for (ColumnSlots& slots : slots_) columns.push_back(slots.Finish());
  return columns;
}

ProtoRows::Step* ProtoRows::StepOf(uint32_t number) {
  if (number < kLowNumbers) [[likely]]
    return by_number_[number] < 0 ? nullptr : &steps_[static_cast<size_t>(by_number_[number])];
  for (Step& step : steps_) {
    if (step.field->number == number) return &step;
  }
  return nullptr;
}

bool ProtoRows::Take(std::string_view bytes, int row) {
  ++record_;
  is_refused_ = false;
  std::fill(last_.begin(), last_.end(), nullptr);
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  while (at != nullptr && at < end) {
    uint64_t tag = 0;
    at = ReadVarint(at, &tag);
    tag &= kTagBits;
    if (at == nullptr || at > end || tag >> 3 == 0) {
      at = nullptr;
      break;
    }
    Step* const step = StepOf(static_cast<uint32_t>(tag >> 3));
    const bool is_other = step != nullptr && step->field->kind == ProtoKind::kOther;
    if (step == nullptr || (!is_other && (tag & 7) != step->wire)) {
      at = SkipProtoField(tag, at, end, kDepthMax);
      continue;
    }
    counts_ = true;
    at = is_other ? SkipProtoField(tag, at, end, kDepthMax) : TakeField(step, at, end, row);
    if (!counts_) continue;
    step->seen_in = record_;
    if (step->field->group >= 0) last_[static_cast<size_t>(step->field->group)] = step;
  }
  if (at != end) {
    trouble_ = {RejectReason::kUndecodable, "", "bytes that are no message " + spec_.message.name};
    return false;
  }
  return FinishRow(row) && !is_refused_;
}

const char* ProtoRows::TakeField(Step* step, const char* at, const char* end, int row) {
  uint64_t bits = 0;
  switch (step->wire) {
    case kWireVarint:
      if (at >= end || (at = ReadVarint(at, &bits)) == nullptr) return nullptr;
      // Other numbers than its own make a closed enum an unknown field.
      counts_ = !step->field->is_closed || step->field->NameOf(static_cast<int32_t>(bits));
      if (step->wanted >= 0 && counts_) TakeNumber(step, bits, row);
      return at;
    case kWireFixed32: {
      if (end - at < 4) return nullptr;
      uint32_t word;
      std::memcpy(&word, at, 4);
      if (step->wanted < 0) return at + 4;
      if (step->field->kind == ProtoKind::kFloat) {
        float number;
        std::memcpy(&number, at, 4);
        slots_[static_cast<size_t>(step->wanted)].Set(row, number);
      } else {
        slots_[static_cast<size_t>(step->wanted)].Set(row, static_cast<int32_t>(word));
      }
      return at + 4;
    }
    case kWireFixed64: {
      if (end - at < 8) return nullptr;
      if (step->wanted >= 0)
        std::memcpy(slots_[static_cast<size_t>(step->wanted)].Slot<int64_t>(row), at, 8);
      return at + 8;
    }
    default: break;
  }
  if (at >= end || (at = ReadVarint(at, &bits)) == nullptr || at > end ||
      bits > static_cast<uint64_t>(end - at))
    return nullptr;
  const std::string_view text(at, bits);
  if (step->wanted >= 0) TakeText(step, text, row);
  return at + bits;
}

void ProtoRows::TakeNumber(Step* step, uint64_t bits, int row) {
  ColumnSlots& slots = slots_[static_cast<size_t>(step->wanted)];
  switch (step->field->kind) {
    case ProtoKind::kInt32:
    case ProtoKind::kUInt32: slots.Set(row, static_cast<int32_t>(bits)); return;
    case ProtoKind::kSInt32:
      slots.Set(row, static_cast<int32_t>(Unzigzag(static_cast<uint32_t>(bits))));
      return;
    case ProtoKind::kInt64:
    case ProtoKind::kUInt64: slots.Set(row, static_cast<int64_t>(bits)); return;
    case ProtoKind::kSInt64: slots.Set(row, Unzigzag(bits)); return;
    case ProtoKind::kBool: slots.Set(row, static_cast<char>(bits != 0)); return;
    case ProtoKind::kEnum: return TakeEnum(step, static_cast<int32_t>(bits), row);
    default: return;
  }
}

void ProtoRows::TakeEnum(Step* step, int32_t number, int row) {
  const Type& type = spec_.columns[static_cast<size_t>(step->wanted)].type;
  const std::string* const name = step->field->NameOf(number);
  if (IsCharacter(type)) {
    // As Java names what it does not know.
    slots_[static_cast<size_t>(step->wanted)].Set(
        row, name != nullptr ? strings_.Copy(*name) : StringView(std::string_view("UNRECOGNIZED")));
    return;
  }
  if (name == nullptr)
    return Refuse(*step, RejectReason::kCast, fmt::format("{} is no number of the enum", number));
  StoreInteger(step->wanted, number, row);
  return;
}

void ProtoRows::TakeText(Step* step, std::string_view text, int row) {
  if (step->field->kind == ProtoKind::kString && !simdjson::validate_utf8(text.data(), text.size()))
    return Refuse(*step, RejectReason::kInvalidEncoding, "a text that is not UTF-8");
  slots_[static_cast<size_t>(step->wanted)].Set(
      row, StringView::WithSlack(text.data(), static_cast<uint32_t>(text.size())));
  return;
}

void ProtoRows::StoreInteger(int wanted, int64_t value, int row) {
  ColumnSlots& slots = slots_[static_cast<size_t>(wanted)];
  switch (slots.layout()) {
    case Layout::kInt8: return slots.Set(row, static_cast<int8_t>(value));
    case Layout::kInt16: return slots.Set(row, static_cast<int16_t>(value));
    case Layout::kInt32: return slots.Set(row, static_cast<int32_t>(value));
    default: return slots.Set(row, value);
  }
}

bool ProtoRows::FinishRow(int row) {
  for (const Step& step : steps_) {
    const int group = step.field->group;
    const bool is_there =
        step.seen_in == record_ && (group < 0 || last_[static_cast<size_t>(group)] == &step);
    if (is_there) continue;
    if (step.field->is_required) {
      trouble_ = {RejectReason::kMissingField, step.field->name,
                  fmt::format("the message lacks the required field {}", Quote(step.field->name))};
      return false;
    }
    if (step.wanted >= 0 && !FillAbsent(step, row)) return false;
  }
  return true;
}

bool ProtoRows::FillAbsent(const Step& step, int row) {
  ColumnSlots& slots = slots_[static_cast<size_t>(step.wanted)];
  const Field& column = spec_.columns[static_cast<size_t>(step.wanted)];
  if (step.field->has_presence && !spec_.reads_defaults) {
    slots.SetNull(row);
    if (column.type.nullable || spec_.trusts_not_null) return true;
    trouble_ = {RejectReason::kNotNull, column.name,
                "the message does not have it, and it is NOT NULL"};
    return false;
  }
  const Value& value = step.field->fallback;
  switch (step.field->kind) {
    case ProtoKind::kFloat: slots.Set(row, static_cast<float>(std::get<double>(value))); break;
    case ProtoKind::kDouble: slots.Set(row, std::get<double>(value)); break;
    case ProtoKind::kBool: slots.Set(row, static_cast<char>(std::get<bool>(value))); break;
    case ProtoKind::kString:
    case ProtoKind::kBytes: slots.Set(row, strings_.Copy(std::get<std::string>(value))); break;
    case ProtoKind::kEnum:
      if (IsCharacter(column.type)) {
        const std::string* name =
            step.field->NameOf(static_cast<int32_t>(std::get<int64_t>(value)));
        slots.Set(row, strings_.Copy(name == nullptr ? std::string_view() : *name));
        break;
      }
      [[fallthrough]];
    default: StoreInteger(step.wanted, std::get<int64_t>(value), row);
  }
  return true;
}

void ProtoRows::Refuse(const Step& step, RejectReason reason, std::string message) {
  if (!is_refused_) {
    is_refused_ = true;
    trouble_ = {reason, step.field->name, std::move(message)};
  }
}

}  // namespace rowtide
