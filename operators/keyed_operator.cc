#include "operators/keyed_operator.h"

namespace rowtide {

Status KeyedOperator::Snapshot(SnapshotWriter& writer) const {
  writer.PutBytes(name_);
  writer.PutU32(static_cast<uint32_t>(parts_.size()));
  for (const StatePart* part : parts_) part->Snapshot(writer);
  return Status::Ok();
}

Status KeyedOperator::Restore(SnapshotReader& reader) {
  RT_TRY(ReadHead(reader));
  for (StatePart* part : parts_) RT_TRY(part->Restore(reader));
  return Status::Ok();
}

Status KeyedOperator::Merge(SnapshotReader& reader) {
  RT_TRY(ReadHead(reader));
  for (StatePart* part : parts_) RT_TRY(part->Merge(reader));
  return Status::Ok();
}

ShownStates KeyedOperator::Shown() { return {}; }

Status KeyedOperator::ReadHead(SnapshotReader& reader) const {
  RT_ASSIGN(const std::string_view name, reader.Bytes("operator name"));
  if (name != name_)
    return Status::Corruption("the snapshot is of operator {}, not of {}", name, name_);
  RT_ASSIGN(const uint32_t parts, reader.U32("parts"));
  if (parts != parts_.size())
    return Status::Corruption("{} has {} parts of state, {} in the snapshot", name_, parts_.size(),
                              parts);
  return Status::Ok();
}

}  // namespace rowtide
