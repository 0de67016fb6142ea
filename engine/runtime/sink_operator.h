// A Sink at the end of the row's way, seen as an operator: rows are written, time is a chance to
// flush.
//
// Emits nothing. The sink is borrowed from the job's node, which also finishes or abandons it.
#pragma once

#include "engine/operator.h"
#include "engine/sink.h"

namespace rowtide {

class SinkOperator final : public Operator {
 public:
  explicit SinkOperator(Sink* sink) : sink_(sink) {}

  const Schema& output_schema() const override { return no_columns_; }
  Status Process(int /*input*/, const RowBatch& batch, Collector& /*out*/) override {
    return sink_->Write(batch);
  }
  Status Advance(int /*input*/, Time /*time*/, Collector& /*out*/) override {
    return sink_->Flush();
  }

 private:
  Sink* sink_;
  Schema no_columns_;
};

}  // namespace rowtide
