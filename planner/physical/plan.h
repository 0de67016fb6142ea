// The physical plan: what will run, in Flink's nodes and with Flink's names, before and after
// changelog inference.
//
//   Rank(strategy=[UndefinedStrategy], …)            after to_physical
//   Rank(strategy=[UpdateFastStrategy[0,1]], …)      after inference, with `trait` settled
//
// Nodes are immutable and shared, like logical ones; a pass makes a new tree. The execution plan
// (planner/exec/plan.h) is a pure function of the inferred tree.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/changelog_mode.h"
#include "planner/logical/plan.h"

namespace rowtide {

// What inference settles about the stream a node puts out.
enum class UpdateKind : uint8_t { kNone, kOnlyUpdateAfter, kBeforeAndAfter };
enum class DeleteKind : uint8_t { kNone, kByKey, kFull };
struct ModifyKinds {
  bool insert = false;
  bool update = false;
  bool deletes = false;
  bool empty() const { return !insert && !update && !deletes; }
  bool insert_only() const { return insert && !update && !deletes; }
  bool Contains(const ModifyKinds& other) const {
    return (insert || !other.insert) && (update || !other.update) && (deletes || !other.deletes);
  }
  friend bool operator==(const ModifyKinds&, const ModifyKinds&) = default;
};
struct ChangelogTrait {
  ModifyKinds kinds;
  UpdateKind update = UpdateKind::kNone;
  DeleteKind deletes = DeleteKind::kNone;
  ChangelogMode mode() const;
};

struct PhysicalScan {
  TablePointer table;
  std::map<std::string, std::string> hint_options;
  std::vector<int> columns;  // positions in table->columns, in output order
  bool projected = false;    // the connector was asked for fewer columns: print project=[…]
  bool whole = false;        // a window takes all columns: the connector is not asked for fewer
  // Told to the connector; empty and `filter_tried`: print filter=[].
  std::vector<Expression> filters;
  bool filter_tried = false;
  std::optional<int64_t> limit;
  // Made by the source itself; `column` is an output column here.
  std::optional<TableWatermark> watermark;
};

struct PhysicalValues {
  std::vector<std::vector<Expression>> rows;
};

struct PhysicalCalc {
  std::vector<Expression> projections;
  std::optional<Expression> condition;
};

struct PhysicalExchange {
  std::vector<int> keys;  // empty = single
};

struct PhysicalWatermarkAssigner {
  int rowtime = 0;
  Expression watermark;
};

struct PhysicalMiniBatchAssigner {
  int64_t interval_millis = 0;
  bool rowtime = false;
};

struct RankRange {
  int64_t start = 1;
  int64_t end = 0;
  int variable_end = -1;  // a column of the input; then `end` is unused
  bool is_variable() const { return variable_end >= 0; }
  friend bool operator==(const RankRange&, const RankRange&) = default;
};

enum class RankType : uint8_t { kRowNumber, kRank, kDenseRank };
struct RankStrategy {
  enum class Kind : uint8_t { kUndefined, kAppendFast, kUpdateFast, kRetract };
  Kind kind = Kind::kUndefined;
  std::vector<int> keys;  // kUpdateFast: columns of the input
  friend bool operator==(const RankStrategy&, const RankStrategy&) = default;
};

struct PhysicalRank {
  RankType type = RankType::kRowNumber;
  RankRange range;
  std::vector<int> partition;
  std::vector<SortKey> order;
  bool outputs_number = false;  // then the last output column is the number
  RankStrategy strategy;
};

struct PhysicalSortLimit {
  std::vector<SortKey> order;
  int64_t offset = 0;
  int64_t fetch = 0;
  RankStrategy strategy;
};

struct PhysicalLimit {
  int64_t offset = 0;
  std::optional<int64_t> fetch;  // none = unlimited
};

enum class AggregatePhase : uint8_t { kSingle, kLocal, kGlobal };
struct PhysicalGroupAggregate {
  AggregatePhase phase = AggregatePhase::kSingle;
  std::vector<int> group;            // columns of this node's input
  std::vector<AggregateCall> calls;  // arguments: columns of the input of the single or local phase
  std::vector<bool> retracts;  // per call: it must be able to take values back (prints _RETRACT)
  bool counts_rows = false;    // the input can retract: a row count decides when a group is gone
  int count_star = -1;  // index of a COUNT(*) among `calls` that serves as the row count, or -1
  Schema raw_input;     // kGlobal: the input of the local phase
  std::vector<std::pair<std::string, std::string>> ttl_hints;
};

struct PhysicalChangelogNormalize {
  std::vector<int> keys;
  std::optional<Expression> condition;
};

struct PhysicalDropUpdateBefore {};

// What the changelog comes to at its end, as inserts: batch mode.
struct PhysicalFinalRows {
  std::vector<SortKey> order;  // empty = by arrival
};

struct PhysicalUnion {};

struct PhysicalJoin {
  JoinType type = JoinType::kInner;
  Expression condition;
  std::vector<int> left_keys;
  std::vector<int> right_keys;
};

struct PhysicalOverAggregate {  // planned, so that EXPLAIN and refusals can name it; not built yet
  std::vector<Expression> calls;  // kOver
};

struct PhysicalSink {
  TablePointer table;
  std::vector<int> target_columns;
  std::map<std::string, std::string> hint_options;
  bool upsert_materialize = false;
  bool overwrite = false;  // INSERT OVERWRITE
  ConflictStrategy conflict = ConflictStrategy::kUnsaid;
  // Of the materializer: the smallest upsert key of the input, empty = none.
  std::vector<int> input_upsert_key;
};

struct PhysicalNode;
using PhysicalPointer = std::shared_ptr<const PhysicalNode>;

struct PhysicalNode {
  std::variant<PhysicalScan, PhysicalValues, PhysicalCalc, PhysicalExchange,
               PhysicalWatermarkAssigner, PhysicalMiniBatchAssigner, PhysicalRank,
               PhysicalSortLimit, PhysicalLimit, PhysicalGroupAggregate, PhysicalChangelogNormalize,
               PhysicalDropUpdateBefore, PhysicalFinalRows, PhysicalUnion, PhysicalJoin,
               PhysicalOverAggregate, PhysicalSink>
      op;
  std::vector<PhysicalPointer> inputs;
  Schema schema;
  ChangelogTrait trait;

  const PhysicalNode& input(size_t i = 0) const { return *inputs[i]; }
  template <typename T>
  const T* as() const {
    return std::get_if<T>(&op);
  }
};

template <typename Op>
PhysicalPointer MakePhysical(Op op, std::vector<PhysicalPointer> inputs, Schema schema,
                             ChangelogTrait trait = {}) {
  auto node = std::make_shared<PhysicalNode>();
  node->op = std::move(op);
  node->inputs = std::move(inputs);
  node->schema = std::move(schema);
  node->trait = trait;
  return node;
}

}  // namespace rowtide
