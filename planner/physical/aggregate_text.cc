#include "planner/physical/aggregate_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

namespace rowtide {
namespace {

// The fields of the accumulator of Flink's function.
std::vector<std::string> AccumulatorFields(const AggregateCall& call, bool retracts) {
  if (call.function == "COUNT") return {call.arguments.empty() ? "count1" : "count"};
  if (call.function == "SUM")
    return retracts ? std::vector<std::string>{"sum", "count"} : std::vector<std::string>{"sum"};
  if (call.function == "$SUM0") return {"sum"};
  if (call.function == "AVG") return {"sum", "count"};
  std::string name;
  for (const char c : call.function)
    name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return {name};
}

class Texts {
 public:
  Texts(const PhysicalGroupAggregate& node, const Schema& input, const Schema& output)
      : node_(node),
        output_(output),
        raw_(node.phase == AggregatePhase::kGlobal ? node.raw_input : input) {}

  std::vector<std::string> Make() {
    for (size_t i = 0; i < node_.calls.size(); ++i) AddCall(node_.calls[i], Retracts(i), i);
    if (node_.phase == AggregatePhase::kLocal) AddLocalEnd();
    return std::move(texts_);
  }

 private:
  // Nothing is settled yet in a plan before changelog inference, which messages describe.
  bool Retracts(size_t call) const { return call < node_.retracts.size() && node_.retracts[call]; }

  std::string Arguments(const std::vector<int>& columns) const {
    std::vector<std::string> names;
    for (const int column : columns) names.push_back(raw_.name(column));
    return names.empty() ? "*" : fmt::format("{}", fmt::join(names, ", "));
  }

  // `distinct$0` for calls over the same columns.
  std::string DistinctName(const std::vector<int>& arguments) {
    const auto found = std::find(distincts_.begin(), distincts_.end(), arguments);
    const auto index = found - distincts_.begin();
    if (found == distincts_.end()) distincts_.push_back(arguments);
    return fmt::format("distinct${}", index);
  }

  std::string Accumulator(const AggregateCall& call, bool retracts) {
    std::vector<std::string> fields = AccumulatorFields(call, retracts);
    for (std::string& field : fields) field += fmt::format("${}", next_field_++);
    return fields.size() == 1 ? fields[0] : fmt::format("({})", fmt::join(fields, ", "));
  }

  void AddCall(const AggregateCall& call, bool retracts, size_t index) {
    const std::string name = call.function + (retracts ? "_RETRACT" : "");
    std::string filter;
    if (call.filter >= 0 && node_.phase != AggregatePhase::kGlobal)
      filter = " FILTER " + raw_.name(call.filter);
    if (node_.phase == AggregatePhase::kSingle) {
      texts_.push_back(fmt::format("{}({}{}){} AS {}", name, call.distinct ? "DISTINCT " : "",
                                   Arguments(call.arguments), filter, OutputName(index)));
      return;
    }
    const std::string distinct = call.distinct ? DistinctName(call.arguments) + " " : "";
    const std::string accumulator = Accumulator(call, retracts);
    if (node_.phase == AggregatePhase::kLocal) {
      texts_.push_back(fmt::format("{}({}{}){} AS {}", name, distinct, Arguments(call.arguments),
                                   filter, accumulator));
    } else {
      texts_.push_back(
          fmt::format("{}({}{}) AS {}", name, distinct, accumulator, OutputName(index)));
    }
  }

  const std::string& OutputName(size_t call) const {
    return output_.name(static_cast<int>(node_.group.size() + call));
  }

  void AddLocalEnd() {
    if (node_.counts_rows && node_.count_star < 0) {
      texts_.push_back(fmt::format("COUNT_RETRACT(*) AS count1${}", next_field_));
    }
    for (size_t i = 0; i < distincts_.size(); ++i) {
      texts_.push_back(fmt::format("DISTINCT({}) AS distinct${}", Arguments(distincts_[i]), i));
    }
  }

  const PhysicalGroupAggregate& node_;
  const Schema& output_;
  const Schema& raw_;
  std::vector<std::vector<int>> distincts_;
  std::vector<std::string> texts_;
  int next_field_ = 0;
};

}  // namespace

std::vector<std::string> AggregateCallTexts(const PhysicalGroupAggregate& node, const Schema& input,
                                            const Schema& output) {
  return Texts(node, input, output).Make();
}

}  // namespace rowtide
