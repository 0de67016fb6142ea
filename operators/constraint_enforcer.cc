#include "operators/constraint_enforcer.h"

#include <algorithm>
#include <string>

namespace rowtide {
namespace {

bool IsSized(const Type& type) {
  return (IsCharacter(type) || IsBinary(type)) && type.precision != kMaxLength;
}

bool IsPadded(const Type& type) {
  return type.kind == TypeKind::kChar || type.kind == TypeKind::kBinary;
}

bool BeginsCharacter(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; }

int64_t LengthOf(std::string_view value, const Type& type) {
  if (IsBinary(type)) return static_cast<int64_t>(value.size());
  return std::count_if(value.begin(), value.end(), BeginsCharacter);
}

// The first `length` characters or bytes.
std::string_view Cut(std::string_view value, int64_t length, const Type& type) {
  if (IsBinary(type)) return value.substr(0, static_cast<size_t>(length));
  size_t at = 0;
  for (int64_t seen = 0; at < value.size(); ++at) {
    if (BeginsCharacter(value[at]) && seen++ == length) break;
  }
  return value.substr(0, at);
}

bool Fits(int64_t length, const Type& type) {
  return IsPadded(type) ? length == type.precision : length <= type.precision;
}

}  // namespace

bool ConstraintEnforcer::IsNeeded(const ConstraintEnforcerSpec& spec) {
  for (const Field& field : spec.target.fields()) {
    if (!field.type.nullable) return true;
    if (spec.type_length != TypeLengthEnforcer::kIgnore && IsSized(field.type)) return true;
  }
  return false;
}

Result<std::unique_ptr<Operator>> ConstraintEnforcer::Create(ConstraintEnforcerSpec spec,
                                                             const Schema& input,
                                                             const OperatorContext& context) {
  if (spec.target.size() != input.size()) {
    return Status::Internal("{} columns for a sink of {}", input.size(), spec.target.size());
  }
  return std::unique_ptr<Operator>(new ConstraintEnforcer(std::move(spec), input, context));
}

ConstraintEnforcer::ConstraintEnforcer(ConstraintEnforcerSpec spec, const Schema& input,
                                       const OperatorContext& context)
    : spec_(std::move(spec)),
      schema_(input),
      null_keys_(context.counters->Find("null_key")),
      not_nulls_(context.counters->Find("not_null")) {
  for (int column = 0; column < spec_.target.size(); ++column) {
    const Type& type = spec_.target.type(column);
    if (!type.nullable) not_null_columns_.push_back(column);
    if (spec_.type_length != TypeLengthEnforcer::kIgnore && IsSized(type))
      sized_columns_.push_back(column);
  }
}

Status ConstraintEnforcer::Process(int /*input*/, const RowBatch& batch, Collector& out) {
  RT_ASSIGN(const bool all_kept, CheckNotNull(batch));
  if (!all_kept && kept_.empty()) return Status::Ok();
  RowBatch result = all_kept ? batch : Select(batch, kept_);
  StringBlocks strings;
  for (int column : sized_columns_) {
    if (spec_.type_length == TypeLengthEnforcer::kError) {
      RT_TRY(CheckLength(result, column));
    } else {
      RT_ASSIGN(result.columns[static_cast<size_t>(column)], Fitted(result, column, &strings));
    }
  }
  for (BlockPointer& block : strings.Finish()) result.blocks.push_back(std::move(block));
  return out.Emit(std::move(result));
}

Result<bool> ConstraintEnforcer::CheckNotNull(const RowBatch& batch) {
  const bool any = std::any_of(not_null_columns_.begin(), not_null_columns_.end(), [&](int column) {
    return batch.columns[static_cast<size_t>(column)].may_have_nulls();
  });
  if (!any) return true;
  kept_.clear();
  for (int row = 0; row < batch.rows; ++row) {
    const bool key_only = spec_.key_only_deletes && batch.kind(row) == RowKind::kDelete;
    int64_t* reason = nullptr;
    for (int column : not_null_columns_) {
      if (key_only || !batch.columns[static_cast<size_t>(column)].IsNull(row)) continue;
      const bool is_key = std::find(spec_.key.begin(), spec_.key.end(), column) != spec_.key.end();
      if (reason != null_keys_) reason = is_key ? null_keys_ : not_nulls_;
      if (spec_.not_null == NotNullEnforcer::kDrop) continue;
      return Status::DataError("{}column {} is NOT NULL, but a NULL is to be written into it",
                               PlaceText(batch, row), Quote(spec_.target.name(column)))
          .WithErrorCode("RT4005")
          .WithHint("SET 'table.exec.sink.not-null-enforcer' = 'DROP' leaves such rows out");
    }
    if (reason != nullptr) {
      ++*reason;
    } else {
      kept_.push_back(row);
    }
  }
  return kept_.size() == static_cast<size_t>(batch.rows);
}

Status ConstraintEnforcer::CheckLength(const RowBatch& batch, int column) const {
  const Type& type = spec_.target.type(column);
  const Column& values = batch.columns[static_cast<size_t>(column)];
  for (int row = 0; row < batch.rows; ++row) {
    if (values.IsNull(row)) continue;
    const int64_t length = LengthOf(values.values<StringView>()[row].view(), type);
    if (Fits(length, type)) continue;
    return Status::DataError("{}column {} is {}, but a value of length {} is to be written into it",
                             PlaceText(batch, row), Quote(spec_.target.name(column)),
                             ToString(type.Nullable()), length)
        .WithHint(
            "SET 'table.exec.sink.type-length-enforcer' = 'TRIM_PAD' cuts and pads such values");
  }
  return Status::Ok();
}

Result<Column> ConstraintEnforcer::Fitted(const RowBatch& batch, int column,
                                          StringBlocks* strings) const {
  const Type& type = spec_.target.type(column);
  const Column& values = batch.columns[static_cast<size_t>(column)];
  const StringView* views = values.values<StringView>();
  bool all_fit = true;
  for (int row = 0; row < batch.rows && all_fit; ++row) {
    all_fit = values.IsNull(row) || Fits(LengthOf(views[row].view(), type), type);
  }
  if (all_fit) return values;
  ColumnBuilder builder(Layout::kBytes);
  builder.Reserve(batch.rows);
  std::string padded;
  for (int row = 0; row < batch.rows; ++row) {
    if (values.IsNull(row)) {
      builder.AppendNull();
      continue;
    }
    const std::string_view value = views[row].view();
    const int64_t length = LengthOf(value, type);
    if (Fits(length, type)) {
      builder.Append(views[row]);
    } else if (length > type.precision) {
      const std::string_view cut = Cut(value, type.precision, type);
      builder.Append(StringView(cut.data(), static_cast<uint32_t>(cut.size())));
    } else {
      padded.assign(value);
      padded.append(static_cast<size_t>(type.precision - length), IsBinary(type) ? '\0' : ' ');
      builder.Append(strings->Copy(padded));
    }
  }
  return builder.Finish();
}

}  // namespace rowtide
