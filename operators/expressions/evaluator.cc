#include "operators/expressions/evaluator.h"

#include <cstring>

#include "engine/value_text.h"
#include "operators/expressions/function_table.h"
#include "operators/expressions/node.h"

namespace rowtide {
namespace {

constexpr uint64_t kOnes = 0x0101010101010101;

// Bits, 1 = valid, to bytes, 1 = NULL; eight at a time.
void ExpandNulls(const uint8_t* validity, int rows, uint8_t* nulls) {
  for (int row = 0; row < rows; row += 8) {
    const uint64_t spread = (validity[row >> 3] * kOnes) & 0x8040201008040201;
    const uint64_t valid = ((spread + kOnes * 0x7f) >> 7) & kOnes;
    const uint64_t null_bytes = valid ^ kOnes;
    std::memcpy(nulls + row, &null_bytes, 8);
  }
}

class InputNode final : public Node {
 public:
  InputNode(Type type, int column) : Node(type), column_(static_cast<size_t>(column)) {}

  Status Compute(const Frame& frame, Rows /*rows*/, View* out) override {
    const Column& column = frame.batch->columns[column_];
    out->data = column.data();
    out->nulls = nullptr;
    if (!column.may_have_nulls()) return Status::Ok();
    uint8_t* const nulls = buffer_.Nulls((frame.rows + 7) / 8 * 8);
    ExpandNulls(column.validity(), frame.rows, nulls);
    out->nulls = nulls;
    return Status::Ok();
  }

 private:
  size_t column_;
};

// The same value in every slot, so that functions need no case for constants.
class ConstantNode final : public Node {
 public:
  ConstantNode(Type type, Value value) : Node(type), value_(std::move(value)) {}

  Status Compute(const Frame& frame, Rows /*rows*/, View* out) override {
    const std::string* text = std::get_if<std::string>(&value_);
    // Long text must live as long as the batch that points to it.
    const bool refill = text != nullptr && text->size() > StringView::kInlineBytes;
    if (frame.rows > filled_ || refill) Fill(frame);
    *out = {slots_, IsNull(value_) ? nulls_ : nullptr};
    return Status::Ok();
  }

  std::shared_ptr<Block> TakeSlots() override {
    filled_ = 0;
    return buffer_.Take();
  }

 private:
  template <typename T>
  void FillWith(const T& value, int rows) {
    T* const slots = buffer_.Slots<T>(rows);
    for (int row = 0; row < rows; ++row) slots[row] = value;
    slots_ = reinterpret_cast<const char*>(slots);
  }

  void Fill(const Frame& frame) {
    const int rows = frame.rows;
    filled_ = rows;
    if (IsNull(value_)) {
      uint8_t* const nulls = buffer_.Nulls(rows);
      std::memset(nulls, 1, static_cast<size_t>(rows));
      nulls_ = nulls;
      const size_t bytes =
          static_cast<size_t>(rows) * static_cast<size_t>(WidthOf(LayoutOf(type_)));
      char* const slots = buffer_.Bytes(bytes);
      std::memset(slots, 0, bytes);
      slots_ = slots;
      return;
    }
    switch (LayoutOf(type_)) {
      case Layout::kBool: return FillWith<uint8_t>(std::get<bool>(value_) ? 1 : 0, rows);
      case Layout::kInt8: return FillWith(static_cast<int8_t>(std::get<int64_t>(value_)), rows);
      case Layout::kInt16: return FillWith(static_cast<int16_t>(std::get<int64_t>(value_)), rows);
      case Layout::kInt32: return FillWith(static_cast<int32_t>(std::get<int64_t>(value_)), rows);
      case Layout::kInt64:
        if (type_.kind == TypeKind::kDecimal)
          return FillWith(static_cast<int64_t>(std::get<int128>(value_)), rows);
        return FillWith(std::get<int64_t>(value_), rows);
      case Layout::kFloat: return FillWith(static_cast<float>(std::get<double>(value_)), rows);
      case Layout::kDouble: return FillWith(std::get<double>(value_), rows);
      case Layout::kInt128: return FillWith(std::get<int128>(value_), rows);
      case Layout::kWideTime: return FillWith(std::get<WideTime>(value_), rows);
      case Layout::kBytes:
        return FillWith(frame.strings->Copy(std::get<std::string>(value_)), rows);
    }
  }

  Value value_;
  int filled_ = 0;
  const char* slots_ = nullptr;
  const uint8_t* nulls_ = nullptr;
};

// --- the text of an expression, for messages -----------------------------------------------------

bool IsInfix(const std::string& name) {
  static constexpr const char* kInfix[] = {"+",  "-", "*",  "/",   "=",  "<>", "<",
                                           "<=", ">", ">=", "AND", "OR", "||"};
  for (const char* infix : kInfix) {
    if (name == infix) return true;
  }
  return false;
}

void AppendText(const Expression& e, const Schema& input, std::string* out) {
  if (e.is_input()) {
    *out += e.column < input.size() ? input.name(e.column) : "$" + std::to_string(e.column);
    return;
  }
  if (e.is_literal()) {
    AppendScriptText(e.literal, e.type, out);
    return;
  }
  const bool infix = IsInfix(e.function) && e.operands.size() > 1;
  if (!infix) *out += e.function;
  *out += '(';
  for (size_t i = 0; i < e.operands.size(); ++i) {
    if (i > 0) *out += infix ? " " + e.function + " " : ", ";
    AppendText(e.operands[i], input, out);
  }
  if (e.function == "CAST" || e.function == "TRY_CAST")
    *out += " AS " + ToString(e.type.Nullable());
  *out += ')';
}

Result<NodePointer> Compile(const Expression& e, const Schema& input,
                            const EvaluationContext& context) {
  if (e.is_input()) {
    if (e.column < 0 || e.column >= input.size())
      return Status::Internal("no input column {}", e.column);
    return NodePointer(std::make_unique<InputNode>(e.type, e.column));
  }
  if (e.is_literal()) return LiteralNode(e.literal, e.type);
  if (!e.is_call()) return Status::Internal("an expression that is no call cannot be computed");
  const Function* function = FindFunction(e.function);
  if (function == nullptr || function->build == nullptr)
    return Status::Unsupported("function {}", e.function);
  CallSite site{e, {}, context, {}};
  AppendText(e, input, &site.label);
  for (const Expression& operand : e.operands) {
    RT_ASSIGN(NodePointer argument, Compile(operand, input, context));
    site.arguments.push_back(std::move(argument));
  }
  return function->build(site);
}

// --- columns -------------------------------------------------------------------------------------

BlockPointer PackValidity(const uint8_t* nulls, int rows) {
  const void* any = std::memchr(nulls, 1, static_cast<size_t>(rows));
  if (any == nullptr) return nullptr;
  auto validity = std::make_shared<Block>((static_cast<size_t>(rows) + 7) / 8);
  std::memset(validity->data(), 0, validity->size());
  for (int row = 0; row < rows; ++row) {
    if (!nulls[row])
      validity->data()[row >> 3] = static_cast<char>(validity->data()[row >> 3] | (1 << (row & 7)));
  }
  return validity;
}

void ZeroNulls(char* slots, size_t width, const uint8_t* nulls, int rows) {
  for (int row = 0; row < rows; ++row) {
    if (nulls[row]) std::memset(slots + static_cast<size_t>(row) * width, 0, width);
  }
}

}  // namespace

NodePointer LiteralNode(Value value, const Type& type) {
  return std::make_unique<ConstantNode>(type, std::move(value));
}

Evaluator::Evaluator(std::unique_ptr<Node> root, Type type, int input_column,
                     const EvaluationContext& context)
    : root_(std::move(root)), type_(type), input_column_(input_column), clock_(context.clock) {}
Evaluator::Evaluator(Evaluator&&) noexcept = default;
Evaluator& Evaluator::operator=(Evaluator&&) noexcept = default;
Evaluator::~Evaluator() = default;

Result<Evaluator> Evaluator::Create(const Expression& expression, const Schema& input,
                                    const EvaluationContext& context) {
  RT_ASSIGN(NodePointer root, Compile(expression, input, context));
  return Evaluator(std::move(root), expression.type, expression.is_input() ? expression.column : -1,
                   context);
}

int64_t Evaluator::NowMillis() const {
  return clock_ ? clock_->NowMillis() : SystemClock().NowMillis();
}

Result<Column> Evaluator::Evaluate(const RowBatch& batch, StringBlocks* strings) {
  if (input_column_ >= 0) return batch.columns[static_cast<size_t>(input_column_)];
  const Frame frame{&batch, batch.rows, strings, NowMillis()};
  View view;
  RT_TRY(root_->Compute(frame, {nullptr, batch.rows}, &view));
  const Layout layout = LayoutOf(type_);
  const size_t width = static_cast<size_t>(WidthOf(layout));
  const BlockPointer validity = view.nulls ? PackValidity(view.nulls, batch.rows) : nullptr;
  std::shared_ptr<Block> values;
  if (root_->buffer().Owns(view.data)) {
    values = root_->TakeSlots();
  } else {
    values = std::make_shared<Block>(width * static_cast<size_t>(batch.rows));
    if (batch.rows > 0)
      std::memcpy(values->data(), view.data, width * static_cast<size_t>(batch.rows));
  }
  if (validity) ZeroNulls(values->data(), width, view.nulls, batch.rows);
  return Column(layout, std::move(values), validity);
}

Status Evaluator::SelectTrue(const RowBatch& batch, std::vector<int32_t>* rows) {
  StringBlocks strings;
  const Frame frame{&batch, batch.rows, &strings, NowMillis()};
  View view;
  RT_TRY(root_->Compute(frame, {nullptr, batch.rows}, &view));
  rows->resize(static_cast<size_t>(batch.rows));
  const uint8_t* const truth = view.slots<uint8_t>();
  size_t count = 0;
  for (int row = 0; row < batch.rows; ++row) {
    (*rows)[count] = row;
    count += truth[row] != 0 && !view.IsNull(row) ? 1 : 0;
  }
  rows->resize(count);
  return Status::Ok();
}

Result<Value> EvaluateConstant(const Expression& expression, const EvaluationContext& context) {
  RT_ASSIGN(NodePointer root, Compile(expression, Schema(), context));
  RowBatch batch;
  batch.rows = 1;
  StringBlocks strings;
  const int64_t now = context.clock ? context.clock->NowMillis() : SystemClock().NowMillis();
  const Frame frame{&batch, 1, &strings, now};
  View view;
  RT_TRY(root->Compute(frame, {nullptr, 1}, &view));
  return SlotValue(view, 0, expression.type);
}

}  // namespace rowtide
