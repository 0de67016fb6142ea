#include "planner/rules/over.h"

#include <algorithm>
#include <set>

#include "planner/rules/simplify.h"

namespace rowtide {
namespace {

// Gathers the columns that the window and everything above it need.
class Splitter {
 public:
  explicit Splitter(const Schema& input) : input_(input) {}

  // Notes what `e` needs from below: plain columns, and the largest parts without OVER calls.
  void Gather(const Expression& e) {
    if (e.is_input()) {
      plain_.insert(e.column);
    } else if (e.kind == Expression::Kind::kOver) {
      for (const Expression& operand : e.operands) Gather(operand);
      for (const OverWindow::Order& order : e.over->order) Gather(order.key);
      for (const Expression& part : e.over->partition) Gather(part);
      if (over_index_.emplace(Digest(e), static_cast<int>(calls_.size())).second)
        calls_.push_back(e);
    } else if (HasOver(e)) {
      for (const Expression& operand : e.operands) Gather(operand);
    } else if (!e.is_literal()) {
      if (computed_index_.emplace(Digest(e), static_cast<int>(computed_.size())).second)
        computed_.push_back(e);
    }
  }

  bool computes() const { return !computed_.empty(); }

  // The plain columns, then those that the computed parts read.
  std::vector<int> Read() const {
    std::vector<int> columns(plain_.begin(), plain_.end());
    for (const Expression& e : computed_) {
      for (int column : InputsOf(e)) {
        if (std::find(columns.begin(), columns.end(), column) == columns.end())
          columns.push_back(column);
      }
    }
    return columns;
  }

  void KeepAll() {
    for (int i = 0; i < input_.size(); ++i) plain_.insert(i);
  }

  CalcParts Below() {
    CalcParts spec;
    for (int column : plain_) {
      plain_index_[column] = static_cast<int>(spec.projections.size());
      spec.projections.push_back(Expression::Input(column, input_.type(column)));
      spec.names.push_back(input_.name(column));
    }
    for (const Expression& e : computed_) {
      spec.names.push_back("$" + std::to_string(spec.projections.size()));
      spec.projections.push_back(e);
    }
    return spec;
  }

  // `e` over the output of Below and, after that, the results of the calls.
  Expression Above(const Expression& e) const {
    if (e.is_input()) return Expression::Input(plain_index_.at(e.column), e.type);
    if (e.kind == Expression::Kind::kOver) {
      const int index = over_index_.at(Digest(e));
      return Expression::Input(below_size() + index, e.type);
    }
    const auto found = computed_index_.find(Digest(e));
    if (found != computed_index_.end()) {
      return Expression::Input(static_cast<int>(plain_.size()) + found->second, e.type);
    }
    Expression copy = e;
    for (Expression& operand : copy.operands) operand = Above(operand);
    return copy;
  }

  // The calls over the output of Below.
  std::vector<Expression> Calls() const {
    std::vector<Expression> calls;
    for (const Expression& call : calls_) {
      Expression copy = call;
      for (Expression& operand : copy.operands) operand = Above(operand);
      OverWindow over = *call.over;
      std::erase_if(over.partition, [](const Expression& part) { return part.is_literal(); });
      for (Expression& part : over.partition) part = Above(part);
      for (OverWindow::Order& order : over.order) order.key = Above(order.key);
      Settle(&over);
      copy.over = std::make_shared<const OverWindow>(std::move(over));
      calls.push_back(std::move(copy));
    }
    return calls;
  }

 private:
  // Partition columns ascending and once; of a column that sorts twice the first counts.
  static void Settle(OverWindow* over) {
    std::sort(over->partition.begin(), over->partition.end(),
              [](const Expression& a, const Expression& b) { return a.column < b.column; });
    over->partition.erase(std::unique(over->partition.begin(), over->partition.end()),
                          over->partition.end());
    std::vector<OverWindow::Order> order;
    for (OverWindow::Order& key : over->order) {
      const bool known = std::any_of(order.begin(), order.end(),
                                     [&](const OverWindow::Order& o) { return o.key == key.key; });
      if (!known) order.push_back(std::move(key));
    }
    over->order = std::move(order);
  }

  int below_size() const { return static_cast<int>(plain_.size() + computed_.size()); }

  const Schema& input_;
  std::set<int> plain_;
  std::map<int, int> plain_index_;
  std::vector<Expression> computed_;
  std::map<std::string, int> computed_index_;
  std::vector<Expression> calls_;
  std::map<std::string, int> over_index_;
};

std::string FreeName(const std::string& wanted, const Schema& schema) {
  std::string name = wanted;
  for (int n = 0; schema.Find(name) >= 0; ++n) name = wanted + "_" + std::to_string(n);
  return name;
}

bool SameWindow(const OverWindow& a, const OverWindow& b) {
  if (a.partition.size() != b.partition.size() || a.order.size() != b.order.size()) return false;
  for (size_t i = 0; i < a.partition.size(); ++i) {
    if (!(a.partition[i] == b.partition[i])) return false;
  }
  for (size_t i = 0; i < a.order.size(); ++i) {
    if (!(a.order[i].key == b.order[i].key) || a.order[i].descending != b.order[i].descending)
      return false;
  }
  return true;
}

Status CheckCalls(const std::vector<Expression>& calls) {
  for (const Expression& call : calls) {
    if (!SameWindow(*call.over, *calls[0].over)) {
      return Status::Plan("all OVER calls of one SELECT must use the same window")
          .WithHint("put each window into a sub-query of its own");
    }
    const bool ranks =
        call.function == "ROW_NUMBER" || call.function == "RANK" || call.function == "DENSE_RANK";
    if (ranks && (call.over->order.empty() ||
                  std::all_of(call.over->order.begin(), call.over->order.end(),
                              [](const OverWindow::Order& o) { return !o.key.is_input(); }))) {
      return Status::Validate(call.position, "{} needs ORDER BY with a column that is not constant",
                              call.function)
          .WithErrorCode("RT2027");
    }
  }
  return Status::Ok();
}

}  // namespace

std::optional<std::vector<int>> ColumnsBelowWindow(const std::vector<Expression>& projections) {
  const Schema none;
  Splitter splitter(none);
  for (const Expression& e : projections) splitter.Gather(e);
  if (!splitter.computes()) return std::nullopt;
  return splitter.Read();
}

Result<PhysicalPointer> MakeOver(PhysicalPointer input, CalcParts spec, bool keeps_all,
                                 PlannerContext& context) {
  for (Expression& e : spec.projections) {
    RT_ASSIGN(e, SimplifyValue(e, context.evaluation));
  }
  RT_CHECK(!spec.condition);
  PhysicalPointer base = input;
  if (const auto* below = input->as<PhysicalCalc>();
      below && !below->condition && !input->input().as<PhysicalGroupAggregate>() &&
      IsMergeable(below->projections, spec.projections, std::nullopt)) {
    for (Expression& e : spec.projections)
      e = Substitute(e, below->projections);  // one program with the one below
    base = input->inputs[0];
  }
  // What a filter has settled takes the place of its column; the columns beside it stay what they
  // are.
  const std::map<int, Expression> constants = ConstantsOf(*base);
  if (!constants.empty()) {
    for (Expression& e : spec.projections) e = WithConstants(e, constants);
  }
  Splitter splitter(base->schema);
  for (const Expression& e : spec.projections) splitter.Gather(e);
  if (keeps_all && !splitter.computes()) splitter.KeepAll();
  CalcParts below = splitter.Below();
  const std::vector<Expression> calls = splitter.Calls();
  RT_TRY(CheckCalls(calls));
  const Schema below_schema = SchemaOf(below.projections, below.names);
  RT_ASSIGN(PhysicalPointer prepared, MakeCalc(base, std::move(below), context));
  if (IsEmptyValues(*prepared)) return EmptyValues(SchemaOf(spec.projections, spec.names));
  // A merged Calc may have kept other names (an identity keeps those of its input).
  Schema over_schema = prepared->schema;
  RT_CHECK(over_schema.size() == below_schema.size());
  for (size_t i = 0; i < calls.size(); ++i) {
    over_schema.Add({FreeName("w0$o" + std::to_string(i), over_schema), calls[i].type});
  }
  PhysicalPointer over =
      MakePhysical(PhysicalOverAggregate{calls}, {std::move(prepared)}, over_schema);
  // Aliases do not survive the split: plain columns keep their names, others are named for their
  // place.
  CalcParts above;
  for (size_t i = 0; i < spec.projections.size(); ++i) {
    const Expression& e = spec.projections[i];
    above.names.push_back(e.is_input() ? base->schema.name(e.column) : "$" + std::to_string(i));
    above.projections.push_back(splitter.Above(e));
  }
  return MakeCalc(std::move(over), std::move(above), context);
}

}  // namespace rowtide
