#include "operators/values.h"

#include <algorithm>

#include "engine/batch_builder.h"
#include "engine/snapshot.h"

namespace rowtide {

Result<std::unique_ptr<Source>> ValuesSource::Create(ValuesSpec spec, const Schema& schema) {
  for (const std::vector<Value>& row : spec.rows) {
    if (static_cast<int>(row.size()) != schema.size()) {
      return Status::InvalidArgument("a row of {} values for {} columns", row.size(),
                                     schema.size());
    }
  }
  return std::unique_ptr<Source>(new ValuesSource(std::move(spec), schema));
}

Result<SourceState> ValuesSource::Poll(Collector& out) {
  if (next_ >= spec_.rows.size()) return SourceState::kEnd;
  const size_t end = std::min(spec_.rows.size(), next_ + static_cast<size_t>(kBatchRows));
  BatchBuilder builder(schema_, static_cast<int>(end - next_));
  const int64_t first_record = static_cast<int64_t>(next_);
  for (; next_ < end; ++next_) {
    builder.AppendKind(RowKind::kInsert);
    for (int i = 0; i < schema_.size(); ++i) {
      builder.AppendValue(i, schema_.type(i), spec_.rows[next_][static_cast<size_t>(i)]);
    }
  }
  RowBatch batch = builder.Finish();
  batch.first_record = first_record;
  RT_TRY(out.Emit(std::move(batch)));
  return next_ < spec_.rows.size() ? SourceState::kMore : SourceState::kEnd;
}

Status ValuesSource::Snapshot(SnapshotWriter& writer) const {
  writer.PutU64(next_);
  return Status::Ok();
}

Status ValuesSource::Restore(SnapshotReader& reader) {
  RT_ASSIGN(const uint64_t next, reader.U64("values position"));
  if (next > spec_.rows.size()) {
    return Status::Corruption("position {} behind the {} rows of VALUES", next, spec_.rows.size());
  }
  next_ = static_cast<size_t>(next);
  return Status::Ok();
}

}  // namespace rowtide
