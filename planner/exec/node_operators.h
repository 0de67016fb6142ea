// From one node of the execution plan to the operator, source or sink that does its work: specs are
// filled in here.
//
// Pure functions of a node and the session's options; the job builder wires up what they return.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "connectors/registry.h"
#include "engine/operator.h"
#include "operators/conflict_watch.h"
#include "planner/exec/plan.h"
#include "planner/options.h"

namespace rowtide {

// A short name for statistics and snapshots: `Deduplicate`, `TableSourceScan(orders)`.
std::string DisplayName(const ExecNode& node);

// What the options refer to is there (planner/references.h).
Status CheckReferencesOf(const CatalogTable& table,
                         const std::map<std::string, std::string>& hints);
// A table as its connector sees it, references resolved as far as they can be; `hints` are laid
// over its options. For a sink the columns that are written.
TableSpec TableSpecOf(const CatalogTable& table, const std::map<std::string, std::string>& hints);
TableSpec SinkSpecOf(const CatalogTable& table, const std::map<std::string, std::string>& hints);

// `schema`: of the scan's rows.
Result<std::unique_ptr<Source>> CreateScan(const PhysicalScan& scan, const Schema& schema,
                                           const Options& options, ConnectorContext context);
Result<std::unique_ptr<Source>> CreateValues(const PhysicalValues& values, const Schema& schema,
                                             const Options& options);

// What a session's options say to every operator; clock, counters and state size are the caller's.
OperatorContext OperatorContextOf(const Options& options);
// Requires: the node is neither a source, a sink nor an Exchange. `defers_watermarks`: only the
// last one is sent.
Result<std::unique_ptr<Operator>> CreateOperator(const ExecNode& node, const Options& options,
                                                 const OperatorContext& context,
                                                 bool defers_watermarks);

// Requires: the node is a Deduplicate. `log` null: counting only.
Result<std::unique_ptr<Operator>> CreateWatchedDeduplicate(const ExecNode& node,
                                                           const Options& options,
                                                           const OperatorContext& context,
                                                           std::unique_ptr<ConflictLog> log);

// An operator that is made when its context is there.
struct OperatorStage {
  std::string name;
  std::function<Result<std::unique_ptr<Operator>>(const OperatorContext&)> create;
  bool is_keyed = false;  // rows of one key of the sink have to be in one lane
};
// A projection that gives rows of `from` the types of `to`, column by column; none when they have
// them.
std::optional<OperatorStage> ConversionOf(const Schema& from, const Schema& to);

// What stands between a Sink node's input and the sink itself, in order.
std::vector<OperatorStage> SinkStagesOf(const ExecNode& node, const PhysicalSink& sink,
                                        const Options& options);
Result<std::unique_ptr<Sink>> CreateTableSink(const PhysicalSink& sink, const Options& options,
                                              ConnectorContext context);

}  // namespace rowtide
