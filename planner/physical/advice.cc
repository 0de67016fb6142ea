#include "planner/physical/advice.h"

#include <algorithm>
#include <optional>

#include "planner/physical/keys.h"
#include "planner/physical/modify_kinds.h"
#include "planner/physical/monotonicity.h"

namespace rowtide {
namespace {

std::string NamesOf(const std::vector<int>& columns, const Schema& schema) {
  std::string names;
  for (const int column : columns) names += (names.empty() ? "" : ", ") + schema.name(column);
  return names;
}

std::string OrderText(const SortKey& key, const Schema& schema) {
  return schema.name(key.column) + (key.descending ? " DESC" : " ASC");
}

std::string OrderText(const std::vector<SortKey>& order, const Schema& schema) {
  std::string text;
  for (const SortKey& key : order) text += (text.empty() ? "" : ", ") + OrderText(key, schema);
  return text;
}

// Where a column comes from: a column of a scanned table, or an expression on the way.
struct Origin {
  const PhysicalScan* scan = nullptr;
  int table_column = -1;
  bool computed_of_time = false;  // an expression over a time attribute
};

Origin OriginOf(const PhysicalNode& node, int column) {
  if (const auto* scan = node.as<PhysicalScan>()) {
    if (column >= static_cast<int>(scan->columns.size())) return {};
    return {scan, scan->columns[static_cast<size_t>(column)], false};
  }
  if (const auto* calc = node.as<PhysicalCalc>()) {
    const Expression& e = calc->projections[static_cast<size_t>(column)];
    if (e.is_input()) return OriginOf(node.input(), e.column);
    Origin origin;
    for (const int input : InputsOf(e)) {
      origin.computed_of_time |= node.input().schema.type(input).is_time_attribute();
    }
    return origin;
  }
  const bool passes = node.as<PhysicalExchange>() || node.as<PhysicalWatermarkAssigner>() ||
                      node.as<PhysicalMiniBatchAssigner>() || node.as<PhysicalRank>() ||
                      node.as<PhysicalDropUpdateBefore>() || node.as<PhysicalChangelogNormalize>();
  if (!passes || column >= node.input().schema.size()) return {};
  return OriginOf(node.input(), column);
}

// A time attribute of the tables below, or "".
std::string TimeAttributeBelow(const PhysicalNode& node) {
  if (const auto* scan = node.as<PhysicalScan>()) {
    const Schema schema = scan->table->QuerySchema();
    for (const Field& field : schema.fields()) {
      if (field.type.is_time_attribute()) return field.name;
    }
    return "";
  }
  if (node.as<PhysicalGroupAggregate>()) return "";  // it would not come through
  for (const PhysicalPointer& input : node.inputs) {
    const std::string name = TimeAttributeBelow(*input);
    if (!name.empty()) return name;
  }
  return "";
}

bool CanBeRowtime(const Type& type) { return IsTimestamp(type) && type.precision <= 3; }

bool IsRanking(const std::string& function) {
  return function == "ROW_NUMBER" || function == "RANK" || function == "DENSE_RANK";
}

class Adviser {
 public:
  void Visit(const PhysicalNode& node, const PhysicalNode* parent) {
    if (const auto* rank = node.as<PhysicalRank>()) OnRank(node, *rank);
    if (const auto* sort = node.as<PhysicalSortLimit>()) {
      if (sort->strategy.kind == RankStrategy::Kind::kRetract) {
        OnRetract("ORDER BY … LIMIT", {}, sort->order, node.input());
      }
    }
    if (const auto* over = node.as<PhysicalOverAggregate>()) OnOver(*over, parent);
    if (const auto* aggregate = node.as<PhysicalGroupAggregate>()) OnAggregate(node, *aggregate);
    if (const auto* normalize = node.as<PhysicalChangelogNormalize>())
      OnNormalize(node, *normalize);
    if (const auto* sink = node.as<PhysicalSink>()) OnSink(node, *sink);
    for (const PhysicalPointer& input : node.inputs) Visit(*input, &node);
  }

  std::vector<std::string> Take() { return std::move(lines_); }

 private:
  void NearMiss(const std::string& text) { Add("near miss: " + text); }
  void Cost(const std::string& text) { Add("cost: " + text); }
  void Risk(const std::string& text) { Add("risk: " + text); }
  void Add(std::string line) {
    if (std::find(lines_.begin(), lines_.end(), line) == lines_.end())
      lines_.push_back(std::move(line));
  }

  void OnRank(const PhysicalNode& node, const PhysicalRank& rank) {
    const Schema& input = node.input().schema;
    if (RunsAsDeduplicate(node)) {
      std::string column = input.name(rank.order[0].column);
      if (column.starts_with('$')) column = "PROCTIME()";  // of an expression, not of a column
      if (rank.order[0].descending) {
        NearMiss("ORDER BY " + column +
                 " DESC keeps the last row of each key, and each newer one corrects it; ASC would "
                 "keep the first, which is another answer, but insert-only");
      } else if (!node.input().schema.type(rank.order[0].column).is_proctime()) {
        OnWaiting(column, node);
      }
      return;
    }
    if (IsDeduplication(rank)) OnTopOne(node, rank);
    const std::string n = rank.range.is_variable() ? "as many rows as are kept"
                                                   : std::to_string(rank.range.end) + " rows";
    if (rank.outputs_number) {
      Cost("the rank number is in the output: one row that moves up resends up to " + n +
           "; without the number a change gives two rows at most");
    }
    if (!rank.range.is_variable() && rank.range.start > 1) {
      Cost(
          fmt::format("ranks {} to {} are asked for, but all rows from rank 1 on are kept to know "
                      "them",
                      rank.range.start, rank.range.end));
    }
    if (rank.strategy.kind == RankStrategy::Kind::kRetract) {
      OnRetract("the ranking", rank.partition, rank.order, node.input());
    }
  }

  // A first row waits for the watermark; of what comes while it is written that moves by counts of
  // rows too, however long they take.
  void OnWaiting(const std::string& column, const PhysicalNode& node) {
    const PhysicalNode* below = &node;
    while (!below->as<PhysicalScan>() && !below->inputs.empty()) below = below->inputs[0].get();
    const auto* scan = below->as<PhysicalScan>();
    if (scan == nullptr) return;
    const auto option = [&](const char* key) {
      const auto hint = scan->hint_options.find(key);
      if (hint != scan->hint_options.end()) return hint->second;
      const auto given = scan->table->options.find(key);
      return given == scan->table->options.end() ? std::string() : given->second;
    };
    const bool is_live = option("path") == "-" || !option("source.monitor-interval").empty();
    if (!is_live || option("scan.watermark.emit.strategy") == "on-event") return;
    Cost(fmt::format(
        "ORDER BY {} ASC lets a first row out when the watermark has passed it, and that of {} "
        "moves after every 1,024 rows; 'scan.watermark.emit.strategy' = 'on-event' moves it with "
        "each row",
        column, scan->table->path.name));
  }

  // A ranking of one row that could have been a Deduplicate.
  void OnTopOne(const PhysicalNode& node, const PhysicalRank& rank) {
    const PhysicalNode& input = node.input();
    const std::string order = "ORDER BY " + OrderText(rank.order, input.schema);
    const std::string instead = "this is a Top-1 (Rank) and not a Deduplicate";
    if (!input.trait.kinds.insert_only()) {
      NearMiss("the rows that are ranked can be updated or deleted, so " + instead +
               "; a Deduplicate takes inserts only");
      return;
    }
    const auto is_time = [&](const SortKey& key) {
      return input.schema.type(key.column).is_time_attribute();
    };
    if (const auto time = std::find_if(rank.order.begin(), rank.order.end(), is_time);
        time != rank.order.end()) {
      NearMiss(order + " names more than a time attribute, so " + instead + "; ORDER BY " +
               OrderText(*time, input.schema) + " alone makes one");
      return;
    }
    if (rank.order.size() == 1) OnTopOneByValue(input, rank.order[0], instead);
  }

  // Where the two differ in what they answer.
  static std::string TiesOf(const SortKey& key) {
    if (!key.descending) return "";
    return " (of rows with the same time a Top-1 keeps the first to come, a Deduplicate the last)";
  }

  void OnTopOneByValue(const PhysicalNode& input, const SortKey& key, const std::string& instead) {
    const std::string column = input.schema.name(key.column);
    const Origin origin = OriginOf(input, key.column);
    const std::string time = TimeAttributeBelow(input);
    if (origin.computed_of_time) {
      NearMiss("ORDER BY is by an expression over a time attribute, which is none itself, so " +
               instead + "; ORDER BY the attribute makes one");
    } else if (const std::string missing = MissingWatermark(input, key.column); !missing.empty()) {
      NearMiss(fmt::format("{} has no WATERMARK, so it is no time attribute and {}; {}{}", column,
                           instead, missing, TiesOf(key)));
    } else {
      const std::string direction = key.descending ? " DESC" : " ASC";
      const std::string by = time.empty() ? "a time attribute" : time;
      NearMiss("ORDER BY " + column + " is no time attribute, so " + instead + "; ORDER BY " + by +
               direction + " keeps the " + (key.descending ? "last" : "first") +
               " row of each key and needs less state" + (time.empty() ? "" : TiesOf(key)));
    }
  }

  // Why rows that are not shown have to be kept.
  void OnRetract(const std::string& what, const std::vector<int>& partition,
                 const std::vector<SortKey>& order, const PhysicalNode& input) {
    Cost(what + " keeps every row of its input, not only the first ones (Retract), since a row " +
         "that is shown may be taken back or fall behind");
    if (input.trait.kinds.deletes) return;
    const PhysicalNode& below = input.as<PhysicalExchange>() ? input.input() : input;
    const std::vector<ColumnSet> keys = UpsertKeys(below);
    const ColumnSet needed(partition.begin(), partition.end());
    const bool has_key = std::any_of(keys.begin(), keys.end(), [&](const ColumnSet& key) {
      return std::includes(key.begin(), key.end(), needed.begin(), needed.end());
    });
    if (!has_key) {
      NearMiss("the rows that are ranked have no key that contains " +
               NamesOf(partition, input.schema) + ", without which updates cannot be followed");
      return;
    }
    const auto directions = MonotonicityOf(input);
    if (!directions) return;
    for (const SortKey& key : order)
      OnDirection(key, (*directions)[static_cast<size_t>(key.column)], input);
  }

  void OnDirection(const SortKey& key, Monotonicity direction, const PhysicalNode& input) {
    const std::string column = input.schema.name(key.column);
    const bool grows = direction == Monotonicity::kIncreasing;
    const bool falls = direction == Monotonicity::kDecreasing;
    if ((grows && !key.descending) || (falls && key.descending)) {
      NearMiss(
          fmt::format("{0} only {1}, so with ORDER BY {0} {2} rows could not fall behind and "
                      "only the first ones would be kept (UpdateFast)",
                      column, grows ? "grows" : "falls", grows ? "DESC" : "ASC"));
    } else if (direction == Monotonicity::kNone) {
      NearMiss(column +
               " may grow and fall; of a value that only grows, such as COUNT, MAX, or SUM "
               "of what WHERE says is not negative, ORDER BY … DESC keeps the first rows "
               "only (UpdateFast)");
    }
  }

  void OnOver(const PhysicalOverAggregate& over, const PhysicalNode* parent) {
    if (over.calls.size() != 1 || !IsRanking(over.calls[0].function)) return;
    const auto* calc = parent == nullptr ? nullptr : parent->as<PhysicalCalc>();
    const int number = parent == nullptr ? -1 : parent->input().schema.size() - 1;
    const bool filtered = calc && calc->condition && [&] {
      const std::vector<int> read = InputsOf(*calc->condition);
      return std::binary_search(read.begin(), read.end(), number);
    }();
    NearMiss(over.calls[0].function + "() " +
             (filtered ? "is not compared with a number in a way that bounds it"
                       : "is not bounded by a WHERE right above it") +
             ", so every row is numbered and none is dropped; WHERE rn <= N makes it a Top-N, "
             "WHERE rn = 1 a deduplication");
  }

  void OnAggregate(const PhysicalNode& node, const PhysicalGroupAggregate& aggregate) {
    const bool is_global = aggregate.phase == AggregatePhase::kGlobal;
    const Schema& schema = is_global ? aggregate.raw_input : node.input().schema;
    for (size_t i = 0; i < aggregate.calls.size(); ++i) {
      const AggregateCall& call = aggregate.calls[i];
      const bool retracts = i < aggregate.retracts.size() && aggregate.retracts[i];
      const std::string name = call.function + "(" + (call.distinct ? "DISTINCT " : "") +
                               NamesOf(call.arguments, schema) + ")";
      if (call.distinct && call.function != "MIN" && call.function != "MAX") {
        Cost(name + " keeps every value of each group");
      } else if (retracts && (call.function == "MIN" || call.function == "MAX")) {
        Cost(name + " keeps every value of each group, since its input can take rows back");
      }
    }
  }

  void OnNormalize(const PhysicalNode& node, const PhysicalChangelogNormalize& normalize) {
    Cost(
        "the source gives updates without what was before them, so ChangelogNormalize keeps the "
        "last row of every " +
        NamesOf(normalize.keys, node.input().schema));
  }

  void OnSink(const PhysicalNode& node, const PhysicalSink& sink) {
    if (sink.table->connector() == "upsert-kafka") {
      Risk("a partition that is added to the topic of " + sink.table->path.name +
           " moves keys: what was written of a key before stays in the old one, and readers see no "
           "order between both");
    }
    if (!sink.upsert_materialize) return;
    const std::string own = sink.input_upsert_key.empty()
                                ? "no key"
                                : "the key " + NamesOf(sink.input_upsert_key, node.input().schema);
    Cost("the query has " + own + ", the sink " + sink.table->path.name +
         " another one, so the sink keeps all rows that meet under each of its keys "
         "(upsertMaterialize)");
  }

  std::vector<std::string> lines_;
};

}  // namespace

std::string MissingWatermark(const PhysicalNode& node, int column) {
  const Origin origin = OriginOf(node, column);
  if (origin.scan == nullptr || !CanBeRowtime(node.schema.type(column)) ||
      origin.scan->table->watermark)
    return "";
  return fmt::format("in {0}: WATERMARK FOR {1} AS {1} - INTERVAL '5' SECOND",
                     origin.scan->table->path.name, node.schema.name(column));
}

std::vector<std::string> Advise(const std::vector<PhysicalPointer>& roots) {
  Adviser adviser;
  for (const PhysicalPointer& root : roots) adviser.Visit(*root, nullptr);
  return adviser.Take();
}

}  // namespace rowtide
