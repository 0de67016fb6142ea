#include "connectors/kafka/lag.h"

#include <algorithm>

#include "engine/gauges.h"

namespace rowtide {
namespace {

constexpr GaugeName kLag = {"consumer_lag_records",
                            "Records of a partition that a source has not read yet"};
constexpr int64_t kLagMillis = 500;

}  // namespace

void KafkaLag::Show(const std::vector<KafkaReadPartition>& partitions, int64_t now_millis) {
  if (gauges_ == nullptr || now_millis < next_millis_) return;
  next_millis_ = now_millis + kLagMillis;
  is_some_ = false;
  for (const KafkaReadPartition& partition : partitions) {
    int64_t begin = 0, end = -1;
    if (partition.consumer == nullptr) continue;
    const rd_kafka_resp_err_t code = rd_kafka_get_watermark_offsets(
        partition.consumer->handle().get(), partition.at.topic.c_str(), partition.at.partition,
        &begin, &end);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR || end < 0) continue;
    const GaugeLabels labels = {{"table", table_},
                                {"topic", partition.at.topic},
                                {"partition", std::to_string(partition.at.partition)}};
    const int64_t lag = std::max<int64_t>(end - partition.position.next, 0);
    is_some_ |= lag > 0;
    gauges_->Find(kLag, labels)->Set(static_cast<double>(lag));
  }
}

}  // namespace rowtide
