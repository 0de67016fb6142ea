#include "cli/monitor/counts.h"

#include "connectors/kafka/source.h"
#include "connectors/rejects.h"

namespace rowtide {

bool IsRemark(const std::string& counter) {
  return counter.starts_with(kOddBooleans) || counter == kHeaderAsRow ||
         counter.starts_with(kOtherCase);
}

bool IsRejectReason(const std::string& counter) {
  for (size_t reason = 0; reason < kRejectReasons; ++reason) {
    if (counter == NameOfReason(static_cast<RejectReason>(reason))) return true;
  }
  return false;
}

ShownCounts CountsOf(const NodeStats& node, bool is_source) {
  ShownCounts counts;
  counts.records = node.total_out();
  for (const auto& [name, count] : node.counters) {
    if (name == "records_read") {
      counts.records = count;
    } else if (name == "rejected" || IsRemark(name)) {
      continue;  // the sum of the reasons; a remark
    } else if (name == kKafkaOffsetsSkipped) {
      counts.offsets_skipped = count;
    } else if (is_source && IsRejectReason(name)) {
      counts.rejected.emplace_back(name, count);
    } else {
      counts.others.emplace_back(name, count);
    }
  }
  return counts;
}

}  // namespace rowtide
