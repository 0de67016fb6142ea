// How many messages of each partition a source has not read yet, shown twice a second as far as
// librdkafka has heard of the ends of partitions, which asks nobody. One thread.
#pragma once

#include <string>
#include <vector>

#include "connectors/kafka/partitions.h"

namespace rowtide {

class Gauges;

class KafkaLag {
 public:
  // `gauges`: null: nobody looks.
  KafkaLag(std::string table, Gauges* gauges) : table_(std::move(table)), gauges_(gauges) {}

  void Show(const std::vector<KafkaReadPartition>& partitions, int64_t now_millis);
  // When it changes though nothing comes; none: there is none.
  std::optional<int64_t> next_millis() const {
    return is_some_ ? std::optional<int64_t>(next_millis_) : std::nullopt;
  }

 private:
  const std::string table_;
  Gauges* const gauges_;
  int64_t next_millis_ = 0;
  bool is_some_ = false;  // above 0, of some partition
};

}  // namespace rowtide
