// Compiled expressions: a tree of nodes, each computing one column of slots for the rows it is
// asked for.
//
//   View   data: | slot of row 0 | row 1 | … |   nulls: one byte a row, 1 = NULL; absent: none
//   Rows   which rows: all of 0..count-1, or the listed ones; other slots are left alone
//
// A node writes into its own buffer, which lives until its next Compute, so parents read without
// copying. The slot of a NULL row holds anything: nobody may look at it unless any bits will do
// (integers, floats).
#pragma once

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/batch_builder.h"
#include "engine/status.h"
#include "operators/expressions/evaluator.h"

namespace rowtide {

struct Rows {
  const int32_t* index = nullptr;  // null: 0, 1, …, count - 1
  int count = 0;
};

template <typename F>
inline void ForEach(Rows rows, const F& f) {
  if (rows.index == nullptr) {
    for (int row = 0; row < rows.count; ++row) f(row);
  } else {
    for (int i = 0; i < rows.count; ++i) f(rows.index[i]);
  }
}

struct View {
  const char* data = nullptr;
  const uint8_t* nulls = nullptr;

  template <typename T>
  const T* slots() const {
    return reinterpret_cast<const T*>(data);
  }
  bool IsNull(int row) const { return nulls != nullptr && nulls[row] != 0; }
};

// What all nodes see while one batch is computed.
struct Frame {
  const RowBatch* batch = nullptr;
  int rows = 0;  // slots that every buffer must have
  StringBlocks* strings = nullptr;
  int64_t now_millis = 0;
};

class Buffer {
 public:
  template <typename T>
  T* Slots(int rows) {
    return reinterpret_cast<T*>(Bytes(static_cast<size_t>(rows) * sizeof(T)));
  }
  char* Bytes(size_t bytes);
  uint8_t* Nulls(int rows);  // contents undefined
  bool Owns(const char* data) const { return values_ != nullptr && values_->data() == data; }
  std::shared_ptr<Block> Take() { return std::move(values_); }

 private:
  std::shared_ptr<Block> values_;
  std::vector<uint8_t> nulls_;
};

class Node {
 public:
  explicit Node(Type type) : type_(type) {}
  virtual ~Node() = default;
  virtual Status Compute(const Frame& frame, Rows rows, View* out) = 0;
  const Type& type() const { return type_; }
  const Buffer& buffer() const { return buffer_; }
  // Gives the computed slots away; the next Compute makes new ones.
  virtual std::shared_ptr<Block> TakeSlots() { return buffer_.Take(); }

 protected:
  Type type_;
  Buffer buffer_;
};
using NodePointer = std::unique_ptr<Node>;
using Nodes = std::vector<NodePointer>;

// A call that is being compiled: the builder of its function takes the nodes of the arguments out
// of it.
struct CallSite {
  const Expression& call;
  Nodes arguments;
  const EvaluationContext& context;
  std::string label;  // the call as text, for messages

  const Type& type() const { return call.type; }
  const Type& argument_type(size_t i) const { return call.operands[i].type; }
  size_t size() const { return arguments.size(); }
  // The text of a literal argument, if it is one and not NULL.
  const std::string* LiteralText(size_t i) const;
  const int64_t* LiteralInteger(size_t i) const;
};

Value SlotValue(const View& view, int row, const Type& type);
// ORs the nulls of all views for the rows; null when no view has any. Reuses a view's own bytes
// when it is the only one.
const uint8_t* MergedNulls(std::span<const View> views, Rows rows, int slots, Buffer* buffer);
// `label: reason`, with the values of the arguments.
Status RowFailure(const std::string& label, const std::string& reason, const Nodes& arguments,
                  std::span<const View> views, int row);

// --- strict functions ----------------------------------------------------------------------------

// out = f(a…) on every row, NULL ones too: for arithmetic that cannot fail, over fixed-width slots.
template <typename R, typename F, typename... A>
class PureNode final : public Node {
 public:
  PureNode(Type type, Nodes arguments, F f)
      : Node(type), arguments_(std::move(arguments)), f_(std::move(f)) {}

  Status Compute(const Frame& frame, Rows rows, View* out) override {
    std::array<View, sizeof...(A)> views;
    for (size_t i = 0; i < views.size(); ++i)
      RT_TRY(arguments_[i]->Compute(frame, rows, &views[i]));
    R* const values = buffer_.Slots<R>(frame.rows);
    Run(views, rows, values, std::index_sequence_for<A...>());
    *out = {reinterpret_cast<const char*>(values), MergedNulls(views, rows, frame.rows, &buffer_)};
    return Status::Ok();
  }

 private:
  template <size_t... I>
  void Run(const std::array<View, sizeof...(A)>& views, Rows rows, R* values,
           std::index_sequence<I...>) {
    const std::tuple<const A*...> in(views[I].template slots<A>()...);
    ForEach(rows, [&](int row) { values[row] = f_(std::get<I>(in)[row]...); });
  }

  Nodes arguments_;
  F f_;
};

template <typename R, typename... A, typename F>
NodePointer Pure(const Type& type, Nodes arguments, F f) {
  return std::make_unique<PureNode<R, F, A...>>(type, std::move(arguments), std::move(f));
}

// A few words of SQL can ask for more text than the machine has memory.
inline constexpr size_t kTextBytesMax = size_t{64} << 20;      // of one value
inline constexpr size_t kBatchTextBytesMax = size_t{1} << 30;  // that the rows of a batch make
std::string TooLongText(size_t bytes_max);
// "" unless a text of that size is too long, or the batch has too many of them.
inline std::string TextFault(size_t bytes, const StringBlocks& made) {
  if (bytes <= (size_t{1} << 16)) [[likely]]
    return {};
  if (bytes > kTextBytesMax) return TooLongText(kTextBytesMax);
  return made.bytes() > kBatchTextBytesMax ? TooLongText(kBatchTextBytesMax) : std::string();
}

enum class Outcome : uint8_t { kValue, kNull, kError };

// What a function of one row may use.
struct RowCall {
  const Frame* frame;
  std::string text;   // scratch
  std::string error;  // why, after kError

  // A string result that is new text, and one that is part of an argument (no copy).
  StringView Keep(std::string_view made) const { return frame->strings->Copy(made); }
  static StringView Part(std::string_view part) {
    return part.empty() ? StringView() : StringView(part);
  }
  // For loops that make much of little; the result itself is looked at by RowNode.
  bool is_text_too_long() const { return text.size() > kTextBytesMax; }
  Outcome FailTooLong() { return Fail(TooLongText(kTextBytesMax)); }
  Outcome Fail(std::string reason) {
    error = std::move(reason);
    return Outcome::kError;
  }
};

// f(call, a…, &out) on the rows where no argument is NULL.
template <typename R, typename F, typename... A>
class RowNode final : public Node {
 public:
  RowNode(Type type, std::string label, Nodes arguments, F f)
      : Node(type), label_(std::move(label)), arguments_(std::move(arguments)), f_(std::move(f)) {}

  Status Compute(const Frame& frame, Rows rows, View* out) override {
    std::array<View, sizeof...(A)> views;
    for (size_t i = 0; i < views.size(); ++i)
      RT_TRY(arguments_[i]->Compute(frame, rows, &views[i]));
    const uint8_t* const merged = MergedNulls(views, rows, frame.rows, &buffer_);
    uint8_t* const nulls = buffer_.Nulls(frame.rows);
    if (merged == nullptr) {
      ForEach(rows, [&](int row) { nulls[row] = 0; });
    } else if (merged != nulls) {
      ForEach(rows, [&](int row) { nulls[row] = merged[row]; });
    }
    R* const values = buffer_.Slots<R>(frame.rows);
    const int failed = Run(frame, views, rows, values, nulls, std::index_sequence_for<A...>());
    if (failed >= 0) return RowFailure(label_, call_.error, arguments_, views, failed);
    *out = {reinterpret_cast<const char*>(values), nulls};
    return Status::Ok();
  }

 private:
  // The first row that fails, or -1.
  template <size_t... I>
  int Run(const Frame& frame, const std::array<View, sizeof...(A)>& views, Rows rows, R* values,
          uint8_t* nulls, std::index_sequence<I...>) {
    const std::tuple<const A*...> in(views[I].template slots<A>()...);
    call_.frame = &frame;
    for (int i = 0; i < rows.count; ++i) {
      const int row = rows.index != nullptr ? rows.index[i] : i;
      if (nulls[row]) continue;
      const Outcome outcome = f_(call_, std::get<I>(in)[row]..., &values[row]);
      if (__builtin_expect(outcome == Outcome::kError, 0)) return row;
      if constexpr (std::is_same_v<R, StringView>) {
        if (outcome == Outcome::kValue && values[row].size() > (1u << 16)) [[unlikely]] {
          call_.error = TextFault(values[row].size(), *frame.strings);
          if (!call_.error.empty()) return row;
        }
      }
      nulls[row] = outcome == Outcome::kNull;
    }
    return -1;
  }

  std::string label_;
  Nodes arguments_;
  RowCall call_{};
  F f_;
};

template <typename R, typename... A, typename F>
NodePointer PerRow(const Type& type, std::string label, Nodes arguments, F f) {
  return std::make_unique<RowNode<R, F, A...>>(type, std::move(label), std::move(arguments),
                                               std::move(f));
}
// The same with the type and the arguments of a call.
template <typename R, typename... A, typename F>
NodePointer PerRow(CallSite& site, F f) {
  return PerRow<R, A...>(site.type(), site.label, std::move(site.arguments), std::move(f));
}

// --- what builders share -------------------------------------------------------------------------

// The node's value as another type, as CAST does it; the node itself when the types agree.
Result<NodePointer> CastNode(NodePointer operand, const Type& to, bool is_try,
                             const EvaluationContext& context, const std::string& label);
NodePointer LiteralNode(Value value, const Type& type);
// Arguments cast to INT, BIGINT, DOUBLE …, where a function computes in one type only.
Status CastArgument(CallSite* site, size_t i, const Type& to);

}  // namespace rowtide
