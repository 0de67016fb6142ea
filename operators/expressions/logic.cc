// AND, OR, NOT, IS …, CASE, IF, COALESCE: operands are computed only on the rows that still wait
// for an answer.
#include "operators/expressions/kernels.h"

namespace rowtide {
namespace {

void CopySlots(const View& from, Rows rows, size_t width, char* to) {
  const auto copy = [&](auto fixed) {
    ForEach(rows, [&](int row) {
      const size_t at = static_cast<size_t>(row) * fixed();
      std::memcpy(to + at, from.data + at, fixed());
    });
  };
  switch (width) {
    case 1: return copy([] { return size_t{1}; });
    case 2: return copy([] { return size_t{2}; });
    case 4: return copy([] { return size_t{4}; });
    case 8: return copy([] { return size_t{8}; });
    default: return copy([] { return size_t{16}; });
  }
}

// kStops: the value that settles the answer at once, FALSE for AND, TRUE for OR.
template <bool kStops>
class JunctionNode final : public Node {
 public:
  JunctionNode(Type type, Nodes operands) : Node(type), operands_(std::move(operands)) {}

  Status Compute(const Frame& frame, Rows rows, View* out) override {
    uint8_t* const values = buffer_.Slots<uint8_t>(frame.rows);
    uint8_t* const nulls = buffer_.Nulls(frame.rows);
    ForEach(rows, [&](int row) {
      values[row] = !kStops;
      nulls[row] = 0;
    });
    Rows waiting = rows;
    for (const NodePointer& operand : operands_) {
      View view;
      RT_TRY(operand->Compute(frame, waiting, &view));
      waiting = Settle(view, waiting, values, nulls);
      if (waiting.count == 0) break;
    }
    *out = {reinterpret_cast<const char*>(values), nulls};
    return Status::Ok();
  }

 private:
  // Writes what the operand decides; returns the rows that need the next one.
  Rows Settle(const View& view, Rows rows, uint8_t* values, uint8_t* nulls) {
    // Writing behind the place that is read: one list serves all operands.
    if (waiting_.size() < static_cast<size_t>(rows.count))
      waiting_.resize(static_cast<size_t>(rows.count));
    const uint8_t* const truth = view.slots<uint8_t>();
    int kept = 0;
    int32_t* const keep = waiting_.data();
    for (int i = 0; i < rows.count; ++i) {
      const int32_t row = rows.index != nullptr ? rows.index[i] : i;
      const bool is_null = view.IsNull(row);
      const bool settled = !is_null && (truth[row] != 0) == kStops;
      if (settled) values[row] = kStops;
      nulls[row] = settled ? 0 : (nulls[row] | (is_null ? 1 : 0));
      keep[kept] = row;
      kept += settled ? 0 : 1;
    }
    if (kept == rows.count) return rows;
    return {keep, kept};
  }

  Nodes operands_;
  std::vector<int32_t> waiting_;
};

class CaseNode final : public Node {
 public:
  CaseNode(Type type, Nodes operands) : Node(type), operands_(std::move(operands)) {}

  Status Compute(const Frame& frame, Rows rows, View* out) override {
    const size_t width = static_cast<size_t>(WidthOf(LayoutOf(type_)));
    char* const values = buffer_.Bytes(width * static_cast<size_t>(frame.rows));
    uint8_t* const nulls = buffer_.Nulls(frame.rows);
    Rows waiting = rows;
    for (size_t i = 0; i + 1 < operands_.size() && waiting.count > 0; i += 2) {
      View condition;
      RT_TRY(operands_[i]->Compute(frame, waiting, &condition));
      const Rows matched = Split(condition, &waiting);
      RT_TRY(Take(frame, i + 1, matched, width, values, nulls));
    }
    RT_TRY(Take(frame, operands_.size() - 1, waiting, width, values, nulls));
    *out = {values, nulls};
    return Status::Ok();
  }

 private:
  // The rows on which the condition is TRUE; the others go on waiting.
  Rows Split(const View& condition, Rows* waiting) {
    const size_t count = static_cast<size_t>(waiting->count);
    if (matched_.size() < count) matched_.resize(count);
    if (waiting_.size() < count) waiting_.resize(count);
    const uint8_t* const truth = condition.slots<uint8_t>();
    int matched = 0, others = 0;
    for (int i = 0; i < waiting->count; ++i) {
      const int32_t row = waiting->index != nullptr ? waiting->index[i] : i;
      const bool yes = truth[row] != 0 && !condition.IsNull(row);
      if (yes) {
        matched_[static_cast<size_t>(matched++)] = row;
      } else {
        waiting_[static_cast<size_t>(others++)] = row;
      }
    }
    *waiting = {waiting_.data(), others};
    return {matched_.data(), matched};
  }

  Status Take(const Frame& frame, size_t branch, Rows rows, size_t width, char* values,
              uint8_t* nulls) {
    if (rows.count == 0) return Status::Ok();
    View view;
    RT_TRY(operands_[branch]->Compute(frame, rows, &view));
    CopySlots(view, rows, width, values);
    ForEach(rows, [&](int row) { nulls[row] = view.IsNull(row) ? 1 : 0; });
    return Status::Ok();
  }

  Nodes operands_;
  std::vector<int32_t> matched_;
  std::vector<int32_t> waiting_;
};

class CoalesceNode final : public Node {
 public:
  CoalesceNode(Type type, Nodes operands) : Node(type), operands_(std::move(operands)) {}

  Status Compute(const Frame& frame, Rows rows, View* out) override {
    const size_t width = static_cast<size_t>(WidthOf(LayoutOf(type_)));
    char* const values = buffer_.Bytes(width * static_cast<size_t>(frame.rows));
    uint8_t* const nulls = buffer_.Nulls(frame.rows);
    Rows waiting = rows;
    for (const NodePointer& operand : operands_) {
      View view;
      RT_TRY(operand->Compute(frame, waiting, &view));
      CopySlots(view, waiting, width, values);
      waiting = StillNull(view, waiting, nulls);
      if (waiting.count == 0) break;
    }
    *out = {values, nulls};
    return Status::Ok();
  }

 private:
  Rows StillNull(const View& view, Rows rows, uint8_t* nulls) {
    if (waiting_.size() < static_cast<size_t>(rows.count))
      waiting_.resize(static_cast<size_t>(rows.count));
    int kept = 0;
    for (int i = 0; i < rows.count; ++i) {
      const int32_t row = rows.index != nullptr ? rows.index[i] : i;
      nulls[row] = view.IsNull(row) ? 1 : 0;
      waiting_[static_cast<size_t>(kept)] = row;
      kept += nulls[row];
    }
    return {waiting_.data(), kept};
  }

  Nodes operands_;
  std::vector<int32_t> waiting_;
};

// IS TRUE and its kin: a table of what TRUE, FALSE and NULL give.
class TruthNode final : public Node {
 public:
  TruthNode(Type type, NodePointer operand, bool looks_at_value, std::array<uint8_t, 3> answers)
      : Node(type),
        operand_(std::move(operand)),
        looks_at_value_(looks_at_value),
        answers_(answers) {}

  Status Compute(const Frame& frame, Rows rows, View* out) override {
    View view;
    RT_TRY(operand_->Compute(frame, rows, &view));
    uint8_t* const values = buffer_.Slots<uint8_t>(frame.rows);
    const uint8_t* const truth = view.slots<uint8_t>();
    if (looks_at_value_) {
      ForEach(rows, [&](int row) {
        values[row] = answers_[view.IsNull(row) ? 2 : truth[row] != 0 ? 0 : 1];
      });
    } else {
      ForEach(rows, [&](int row) { values[row] = answers_[view.IsNull(row) ? 2 : 0]; });
    }
    *out = {reinterpret_cast<const char*>(values), nullptr};
    return Status::Ok();
  }

 private:
  NodePointer operand_;
  bool looks_at_value_;
  std::array<uint8_t, 3> answers_;  // of TRUE, FALSE, NULL
};

Status CastBranches(CallSite* site, size_t first, size_t step) {
  const size_t count = site->size();
  for (size_t i = first; i < count; i += step) RT_TRY(CastArgument(site, i, site->type()));
  return Status::Ok();
}

}  // namespace

Result<NodePointer> BuildAnd(CallSite& site) {
  return NodePointer(std::make_unique<JunctionNode<false>>(site.type(), std::move(site.arguments)));
}

Result<NodePointer> BuildOr(CallSite& site) {
  return NodePointer(std::make_unique<JunctionNode<true>>(site.type(), std::move(site.arguments)));
}

Result<NodePointer> BuildNot(CallSite& site) {
  return Pure<uint8_t, uint8_t>(site.type(), std::move(site.arguments),
                                [](uint8_t value) { return static_cast<uint8_t>(value == 0); });
}

Result<NodePointer> BuildTruth(CallSite& site) {
  struct Row {
    const char* name;
    bool looks_at_value;
    std::array<uint8_t, 3> answers;
  };
  static constexpr Row kTable[] = {
      {"IS NULL", false, {0, 0, 1}},    {"IS NOT NULL", false, {1, 1, 0}},
      {"IS UNKNOWN", false, {0, 0, 1}}, {"IS NOT UNKNOWN", false, {1, 1, 0}},
      {"IS TRUE", true, {1, 0, 0}},     {"IS NOT TRUE", true, {0, 1, 1}},
      {"IS FALSE", true, {0, 1, 0}},    {"IS NOT FALSE", true, {1, 0, 1}},
  };
  for (const Row& row : kTable) {
    if (site.call.function != row.name) continue;
    return NodePointer(std::make_unique<TruthNode>(site.type(), std::move(site.arguments[0]),
                                                   row.looks_at_value, row.answers));
  }
  return Status::Internal("no truth table for {}", site.call.function);
}

Result<NodePointer> BuildCase(CallSite& site) {
  if (site.size() % 2 == 0) return Status::Internal("CASE with {} operands", site.size());
  RT_TRY(CastBranches(&site, 1, 2));
  RT_TRY(CastArgument(&site, site.size() - 1, site.type()));
  return NodePointer(std::make_unique<CaseNode>(site.type(), std::move(site.arguments)));
}

Result<NodePointer> BuildIf(CallSite& site) {
  RT_TRY(CastBranches(&site, 1, 1));
  return NodePointer(std::make_unique<CaseNode>(site.type(), std::move(site.arguments)));
}

Result<NodePointer> BuildCoalesce(CallSite& site) {
  RT_TRY(CastBranches(&site, 0, 1));
  return NodePointer(std::make_unique<CoalesceNode>(site.type(), std::move(site.arguments)));
}

}  // namespace rowtide
