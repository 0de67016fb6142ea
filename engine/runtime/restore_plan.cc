#include "engine/runtime/restore_plan.h"

#include <algorithm>

namespace rowtide {
namespace {

// A table's name stands in the kind: `TableSourceScan(orders)`, `Sink(orders_once)`.
bool IsTable(const NodeIdentity& node) {
  return node.kind.starts_with("TableSourceScan(") || node.kind.starts_with("Sink(");
}

bool MayStartAnew(const NodeIdentity& node) {
  return node.kind == "WatermarkAssigner" || node.kind == "MiniBatchAssigner";
}

bool IsSame(const NodeIdentity& a, const NodeIdentity& b) {
  return IsTable(a) ? a.kind == b.kind : a == b;
}

// `column price was BIGINT and is DECIMAL(10, 2)`; "" when the columns are not what differs.
std::string ColumnChange(const NodeIdentity& was, const NodeIdentity& is) {
  for (size_t i = 0; i < std::min(was.columns.size(), is.columns.size()); ++i) {
    if (was.columns[i] == is.columns[i]) continue;
    return fmt::format("a column was `{}` and is `{}`", was.columns[i], is.columns[i]);
  }
  if (was.columns.size() == is.columns.size()) return "";
  const auto& more = was.columns.size() > is.columns.size() ? was.columns : is.columns;
  return fmt::format("the column `{}` is {}", more[std::min(was.columns.size(), is.columns.size())],
                     was.columns.size() > is.columns.size() ? "gone" : "new");
}

std::string TextOf(const NodeIdentity& node) {
  return node.description.empty() ? node.kind : node.description;
}

class Matching {
 public:
  Matching(const std::vector<NodeIdentity>& job, const std::vector<NodeState>& kept)
      : job_(job), kept_(kept), is_taken_(kept.size()) {
    plan_.from.assign(job.size(), RestorePlan::kStartsEmpty);
  }

  void TakeEqualOnes() {
    for (size_t i = 0; i < job_.size(); ++i) {
      for (size_t k = 0; k < kept_.size(); ++k) {
        if (is_taken_[k] || !IsSame(job_[i], kept_[k].node)) continue;
        is_taken_[k] = true;
        plan_.from[i] = static_cast<int>(k);
        break;
      }
    }
  }

  // The node of the job that most likely is what has become of it; -1: none.
  int Successor(const NodeIdentity& was) const {
    for (size_t i = 0; i < job_.size(); ++i) {
      if (plan_.from[i] == RestorePlan::kStartsEmpty && job_[i].kind == was.kind)
        return static_cast<int>(i);
    }
    return -1;
  }

  Status LookAtTheRest(bool allows_lost) {
    std::vector<std::string> faults;
    for (size_t k = 0; k < kept_.size(); ++k) {
      const NodeIdentity& was = kept_[k].node;
      if (is_taken_[k] || kept_[k].bytes.empty() || MayStartAnew(was)) continue;
      const int successor = Successor(was);
      const std::string what = successor < 0 ? "the query no longer has " + TextOf(was)
                                             : Change(was, job_[static_cast<size_t>(successor)]);
      if (allows_lost) {
        plan_.notes.push_back("state is dropped: " + what);
      } else {
        faults.push_back(what);
      }
    }
    if (!faults.empty()) return Refusal(faults);
    return Status::Ok();
  }

  void NoteNewOnes() {
    for (size_t i = 0; i < job_.size(); ++i) {
      if (plan_.from[i] == RestorePlan::kStartsEmpty && !MayStartAnew(job_[i]))
        plan_.notes.push_back("starts without state: " + TextOf(job_[i]));
    }
  }

  RestorePlan Take() { return std::move(plan_); }

 private:
  static std::string Change(const NodeIdentity& was, const NodeIdentity& is) {
    if (was.description == is.description)
      return fmt::format("{}: {}", TextOf(was), ColumnChange(was, is));
    return fmt::format("{} was\n    {}\n  and is\n    {}", was.kind, TextOf(was), TextOf(is));
  }

  static Status Refusal(const std::vector<std::string>& faults) {
    std::string text = "the query does not fit the state that is to be restored:";
    for (const std::string& fault : faults) text += "\n  " + fault;
    return Status::InvalidArgument("{}", text)
        .WithErrorCode("RT6004")
        .WithHint(
            "run the query as it was; or --allow-non-restored-state to go on without that state; "
            "or --fresh to begin from the first record");
  }

  const std::vector<NodeIdentity>& job_;
  const std::vector<NodeState>& kept_;
  std::vector<bool> is_taken_;
  RestorePlan plan_;
};

}  // namespace

Result<RestorePlan> PlanRestore(const std::vector<NodeIdentity>& job, const Checkpoint& checkpoint,
                                bool allows_lost) {
  RT_CHECK(!checkpoint.lanes.empty());
  Matching matching(job, checkpoint.lanes[0].nodes);
  matching.TakeEqualOnes();
  RT_TRY(matching.LookAtTheRest(allows_lost));
  matching.NoteNewOnes();
  return matching.Take();
}

}  // namespace rowtide
