// What KeyedOperator writes into a snapshot and reads back: each state, timer queue or bundle of an
// operator is a part.
//
// Snapshot bytes are canonical: they depend on the content only, not on how it came about, so equal
// states have equal bytes. Restore replaces everything, Merge adds the part of another lane; both
// pass over keys that belong to none of the lane's key groups. Requires: the part was made with the
// same options.
#pragma once

#include "engine/snapshot.h"
#include "engine/status.h"

namespace rowtide {

class StatePart {
 public:
  virtual ~StatePart() = default;
  virtual void Snapshot(SnapshotWriter& writer) const = 0;
  virtual Status Restore(SnapshotReader& reader) = 0;
  virtual Status Merge(SnapshotReader& reader) = 0;
};

}  // namespace rowtide
