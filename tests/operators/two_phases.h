// A local and a global group aggregate, one behind the other, made from the spec of the single one.
//
//   rows -> LocalGroupAggregate -> partial results -> GroupAggregate -> changelog
#pragma once

#include <memory>
#include <utility>

#include "operators/group_aggregate.h"
#include "operators/local_group_aggregate.h"

namespace rowtide {

class TwoPhases final : public Operator {
 public:
  TwoPhases(std::unique_ptr<Operator> local, std::unique_ptr<Operator> global)
      : local_(std::move(local)), global_(std::move(global)) {}
  const Schema& output_schema() const override { return global_->output_schema(); }
  Status Process(int, const RowBatch& batch, Collector& out) override {
    Link link(*global_, out);
    return local_->Process(0, batch, link);
  }
  Status Advance(int, Time time, Collector& out) override {
    Link link(*global_, out);
    return local_->Advance(0, time, link);
  }
  Status Snapshot(SnapshotWriter& writer) const override {
    RT_TRY(local_->Snapshot(writer));
    return global_->Snapshot(writer);
  }
  Status Restore(SnapshotReader& reader) override {
    RT_TRY(local_->Restore(reader));
    return global_->Restore(reader);
  }
  Status Merge(SnapshotReader& reader) override {
    RT_TRY(local_->Merge(reader));
    return global_->Merge(reader);
  }

 private:
  class Link final : public Collector {
   public:
    Link(Operator& op, Collector& out) : op_(op), out_(out) {}
    Status Emit(RowBatch batch) override { return op_.Process(0, batch, out_); }
    Status Advance(Time time) override { return op_.Advance(0, time, out_); }

   private:
    Operator& op_;
    Collector& out_;
  };
  std::unique_ptr<Operator> local_;
  std::unique_ptr<Operator> global_;
};

inline Result<std::unique_ptr<Operator>> CreateTwoPhases(const Schema& input,
                                                         const GroupAggregateSpec& single,
                                                         int64_t size,
                                                         const OperatorContext& context) {
  LocalGroupAggregateSpec local;
  local.group = single.group;
  local.calls = single.calls;
  local.counts_rows = single.counts_rows;
  local.count_star = single.count_star;
  local.mini_batch.size = size;
  const Schema partials = LocalGroupAggregate::OutputSchema(local, input);
  GroupAggregateSpec global = single;
  for (size_t i = 0; i < global.group.size(); ++i) global.group[i] = static_cast<int>(i);
  global.mini_batch.size = size;
  global.merges_partials = true;
  global.raw_input = input;
  RT_ASSIGN(auto first, LocalGroupAggregate::Create(local, input, context));
  RT_ASSIGN(auto second, GroupAggregate::Create(global, partials, context));
  return std::unique_ptr<Operator>(new TwoPhases(std::move(first), std::move(second)));
}

}  // namespace rowtide
