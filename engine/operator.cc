#include "engine/operator.h"

#include "engine/source.h"

namespace rowtide {

Status Operator::Advance(int /*input*/, Time time, Collector& out) { return out.Advance(time); }
Status Operator::Snapshot(SnapshotWriter& /*writer*/) const { return Status::Ok(); }
Status Operator::Restore(SnapshotReader& /*reader*/) { return Status::Ok(); }
Status Operator::Merge(SnapshotReader& /*reader*/) { return Status::Ok(); }

int64_t* Counters::Find(const std::string& name) {
  for (Named& named : all_) {
    if (named.name == name) return named.value.get();
  }
  all_.push_back({name, std::make_unique<int64_t>(0)});
  return all_.back().value.get();
}

Status Source::Merge(SnapshotReader& /*reader*/) {
  return Status::Internal("a source that is read in one piece has positions of several lanes");
}

}  // namespace rowtide
