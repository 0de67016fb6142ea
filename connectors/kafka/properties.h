// `properties.*` of a table, in Java's names or librdkafka's, as librdkafka's settings.
//
//   'properties.sasl.mechanism'='PLAIN'          sasl.mechanisms=PLAIN
//   'properties.sasl.jaas.config'='…Plain… '     sasl.username, sasl.password
//   'properties.max.poll.records'='500'          a warning: Java's client alone has it
//   'properties.enable.auto.commit'='true'       refused: it would break what the source promises
//   'properties.linger.millis'='5'               refused; the nearest name is linger.ms
//
// Under them lie the settings that the source or the sink needs (spec: no topic is made by a typo,
// offsets are ours, keys are hashed as Java does). No message shows the value of a secret.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "connectors/kafka/handle.h"
#include "connectors/registry.h"

namespace rowtide {

enum class KafkaRole : uint8_t { kSource, kSink };

struct KafkaProperties {
  KafkaSettings settings;
  std::vector<std::string> warnings;  // what is ignored or risky, a sentence each

  // Read by us, never handed on:
  std::string bootstrap;                         // as the user wrote it
  std::optional<std::string> group;              // 'properties.group.id'
  std::optional<std::string> auto_offset_reset;  // earliest, latest or none
  bool commits_offsets = true;                   // 'properties.commit.offsets.on.checkpoint'
};

// Whether two values of 'bootstrap.servers' name the same brokers, in any order.
bool AreSameBrokers(const std::string& a, const std::string& b);

// Requires nothing of the other options.
Result<KafkaProperties> TranslateKafkaProperties(const TableSpec& table, KafkaRole role);

}  // namespace rowtide
