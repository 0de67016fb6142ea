// The names of the options of `kafka` and `upsert-kafka`, all but `properties.*` and those of
// formats; what they mean is in connectors/kafka/options.h.
#pragma once

#include "connectors/options.h"

namespace rowtide {

inline constexpr std::string_view kKafkaStartModes =
    "earliest-offset|latest-offset|group-offsets|timestamp|specific-offsets";
inline constexpr std::string_view kKafkaStopModes =
    "unbounded|latest-offset|group-offsets|timestamp|specific-offsets";

// What both connectors have.
#define RT_KAFKA_SHARED_OPTIONS                                                                   \
  {"topic"}, {"topic-pattern"}, {"value.format"}, {"key.format"}, {"key.fields-prefix"},          \
      {"value.fields-include", OptionKind::kText, false, "ALL|EXCEPT_KEY"},                       \
      {"scan.bounded.mode", OptionKind::kText, false, kKafkaStopModes},                           \
      {"scan.bounded.timestamp-millis", OptionKind::kNumber}, {"scan.bounded.specific-offsets"},  \
      {"scan.topic-partition-discovery.interval", OptionKind::kDuration},                         \
      {"scan.parallelism", OptionKind::kNumber},                                                  \
      {"scan.watermark.emit.strategy", OptionKind::kText, false, "on-periodic|on-event"},         \
      {"scan.watermark.idle-timeout", OptionKind::kDuration}, {"scan.watermark.alignment.group"}, \
      {"scan.watermark.alignment.max-drift", OptionKind::kDuration},                              \
      {"scan.watermark.alignment.update-interval", OptionKind::kDuration},                        \
      {"sink.parallelism", OptionKind::kNumber},                                                  \
      {"sink.delivery-guarantee", OptionKind::kText, false, "none|at-least-once|exactly-once"},   \
      {"sink.transactional-id-prefix"},                                                           \
      {"sink.transaction-naming-strategy", OptionKind::kText, false,                              \
       "DEFAULT|INCREMENTING|POOLING"}

inline constexpr OptionSpec kKafkaOptions[] = {
    RT_KAFKA_SHARED_OPTIONS,
    {"format"},
    {"key.fields"},
    {"scan.startup.mode", OptionKind::kText, false, kKafkaStartModes},
    {"scan.startup.timestamp-millis", OptionKind::kNumber},
    {"scan.startup.specific-offsets"},
    {"sink.partitioner"},
    {"sink.semantic", OptionKind::kText, false, "none|at-least-once|exactly-once"},
};
inline constexpr OptionSpec kUpsertKafkaOptions[] = {
    RT_KAFKA_SHARED_OPTIONS,
    {"sink.buffer-flush.max-rows", OptionKind::kNumber},
    {"sink.buffer-flush.interval", OptionKind::kDuration},
};
#undef RT_KAFKA_SHARED_OPTIONS

}  // namespace rowtide
