// VALUES: a source of rows that stand in the plan, then the end. All +I, in the order given.
//
// Its position is the number of rows handed out. Used by the job builder and by tests.
#pragma once

#include <memory>
#include <vector>

#include "engine/source.h"
#include "engine/value.h"

namespace rowtide {

struct ValuesSpec {
  std::vector<std::vector<Value>> rows;
};

class ValuesSource final : public Source {
 public:
  // Fails when a row has not as many values as the schema has columns.
  static Result<std::unique_ptr<Source>> Create(ValuesSpec spec, const Schema& schema);

  const Schema& output_schema() const override { return schema_; }
  Result<SourceState> Poll(Collector& out) override;
  Status Snapshot(SnapshotWriter& writer) const override;
  Status Restore(SnapshotReader& reader) override;

 private:
  ValuesSource(ValuesSpec spec, const Schema& schema) : spec_(std::move(spec)), schema_(schema) {}

  ValuesSpec spec_;
  Schema schema_;
  size_t next_ = 0;
};

}  // namespace rowtide
