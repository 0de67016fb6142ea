#include "operators/expressions/node.h"

#include "engine/value_text.h"

namespace rowtide {

char* Buffer::Bytes(size_t bytes) {
  if (values_ == nullptr || values_->size() < bytes) values_ = std::make_shared<Block>(bytes);
  return values_->data();
}

uint8_t* Buffer::Nulls(int rows) {
  if (nulls_.size() < static_cast<size_t>(rows)) nulls_.resize(static_cast<size_t>(rows));
  return nulls_.data();
}

const std::string* CallSite::LiteralText(size_t i) const {
  return call.operands[i].is_literal() ? std::get_if<std::string>(&call.operands[i].literal)
                                       : nullptr;
}

const int64_t* CallSite::LiteralInteger(size_t i) const {
  return call.operands[i].is_literal() ? std::get_if<int64_t>(&call.operands[i].literal) : nullptr;
}

Value SlotValue(const View& view, int row, const Type& type) {
  if (view.IsNull(row)) return {};
  switch (LayoutOf(type)) {
    case Layout::kBool:
      return type.kind == TypeKind::kNull ? Value{} : Value(view.slots<uint8_t>()[row] != 0);
    case Layout::kInt8: return int64_t{view.slots<int8_t>()[row]};
    case Layout::kInt16: return int64_t{view.slots<int16_t>()[row]};
    case Layout::kInt32: return int64_t{view.slots<int32_t>()[row]};
    case Layout::kInt64:
      if (type.kind == TypeKind::kDecimal) return int128{view.slots<int64_t>()[row]};
      return view.slots<int64_t>()[row];
    case Layout::kFloat: return static_cast<double>(view.slots<float>()[row]);
    case Layout::kDouble: return view.slots<double>()[row];
    case Layout::kInt128: return view.slots<int128>()[row];
    case Layout::kWideTime: return view.slots<WideTime>()[row];
    case Layout::kBytes: return std::string(view.slots<StringView>()[row].view());
  }
  RT_CHECK(false);
}

const uint8_t* MergedNulls(std::span<const View> views, Rows rows, int slots, Buffer* buffer) {
  const View* only = nullptr;
  bool several = false;
  for (const View& view : views) {
    if (view.nulls == nullptr) continue;
    several |= only != nullptr;
    only = &view;
  }
  if (!several) return only ? only->nulls : nullptr;
  uint8_t* const merged = buffer->Nulls(slots);
  bool first = true;
  for (const View& view : views) {
    const uint8_t* const nulls = view.nulls;
    if (nulls == nullptr) continue;
    if (first) {
      ForEach(rows, [&](int row) { merged[row] = nulls[row]; });
    } else {
      ForEach(rows, [&](int row) { merged[row] |= nulls[row]; });
    }
    first = false;
  }
  return merged;
}

std::string TooLongText(size_t bytes_max) {
  return fmt::format("the text would be longer than {} bytes", bytes_max);
}

Status RowFailure(const std::string& label, const std::string& reason, const Nodes& arguments,
                  std::span<const View> views, int row) {
  std::string values;
  for (size_t i = 0; i < views.size(); ++i) {
    if (i > 0) values += ", ";
    std::string value;
    AppendScriptText(SlotValue(views[i], row, arguments[i]->type()), arguments[i]->type(), &value);
    values += Shortened(value);
  }
  return Status::DataError("{} in {}, computed of {}", reason, label, values)
      .WithErrorCode("RT4002");
}

Status CastArgument(CallSite* site, size_t i, const Type& to) {
  NodePointer& argument = site->arguments[i];
  const Type type = to.WithNullable(argument->type().nullable);  // before it is moved from
  RT_ASSIGN(argument, CastNode(std::move(argument), type, false, site->context, site->label));
  return Status::Ok();
}

}  // namespace rowtide
