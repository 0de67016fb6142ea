#include "planner/physical/plan.h"

namespace rowtide {

ChangelogMode ChangelogTrait::mode() const {
  ChangelogMode mode;
  mode.insert = kinds.insert;
  mode.update_after = kinds.update;
  mode.update_before = kinds.update && update == UpdateKind::kBeforeAndAfter;
  mode.deletes = kinds.deletes;
  mode.key_only_deletes = kinds.deletes && deletes == DeleteKind::kByKey;
  return mode;
}

}  // namespace rowtide
