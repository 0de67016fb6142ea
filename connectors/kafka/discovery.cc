#include "connectors/kafka/discovery.h"

#include <re2/re2.h>

#include <algorithm>

#include "connectors/kafka/positions.h"

namespace rowtide {
namespace {

using Partitions = std::vector<KafkaTopicPartition>;

Status NoTopic(const KafkaHandle& handle, const KafkaSourceSpec& spec, const std::string& name,
               int millis) {
  Status status(StatusCode::kInvalidArgument, ErrorKind::kRun,
                fmt::format("there is no topic {} at {}", Quote(name), spec.properties.bootstrap));
  const Result<std::vector<std::string>> names = handle.TopicNames(millis);
  const std::string nearest = names.ok() ? Nearest(name, *names) : "";
  return std::move(status).WithHint(nearest.empty()
                                        ? "create it, or change 'topic'"
                                        : fmt::format("did you mean {}?", Quote(nearest)));
}

Result<std::vector<std::string>> TopicNamesOf(const KafkaHandle& handle,
                                              const KafkaSourceSpec& spec, int millis) {
  if (!spec.topics.pattern) return spec.topics.names;
  RT_ASSIGN(const std::vector<std::string> all, handle.TopicNames(millis));
  const RE2 pattern(*spec.topics.pattern, RE2::Quiet);
  if (!pattern.ok()) {
    return Status::InvalidArgument("'topic-pattern' {}: {}", Quote(*spec.topics.pattern),
                                   pattern.error())
        .WithErrorCode("RT2025");
  }
  std::vector<std::string> names;
  for (const std::string& name : all) {
    if (RE2::FullMatch(name, pattern)) names.push_back(name);
  }
  return names;
}

// The group's offset of each partition; where it has none, by what 'auto.offset.reset' says.
Result<std::vector<int64_t>> GroupOffsets(const KafkaHandle& handle, const KafkaSourceSpec& spec,
                                          const Partitions& partitions,
                                          const std::optional<std::string>& reset, int millis) {
  RT_ASSIGN(std::vector<int64_t> offsets, handle.CommittedOffsets(partitions, millis));
  for (size_t i = 0; i < partitions.size(); ++i) {
    if (offsets[i] >= 0) continue;
    if (reset != "earliest" && reset != "latest") {
      return Status(StatusCode::kInvalidArgument, ErrorKind::kRun,
                    fmt::format("group {} has no offset for {}", Quote(spec.group),
                                KafkaPartitionText(partitions[i])))
          .WithHint(
              "'properties.auto.offset.reset' = 'earliest' or 'latest' says where to begin then; "
              "'scan.startup.mode' = 'earliest-offset' asks no group");
    }
    RT_ASSIGN(const KafkaOffsetRange range, handle.QueryOffsets(partitions[i], millis));
    offsets[i] = reset == "earliest" ? range.begin : range.end;
  }
  return offsets;
}

// The newest offset of each, or that of a time.
Result<std::vector<int64_t>> LatestOffsets(const KafkaHandle& handle, const Partitions& partitions,
                                           std::optional<int64_t> timestamp, int millis) {
  std::vector<int64_t> offsets;
  for (const KafkaTopicPartition& at : partitions) {
    if (timestamp) {
      RT_ASSIGN(const int64_t offset, handle.OffsetForTime(at, *timestamp, millis));
      offsets.push_back(offset);
    } else {
      RT_ASSIGN(const KafkaOffsetRange range, handle.QueryOffsets(at, millis));
      offsets.push_back(range.end);
    }
  }
  return offsets;
}

}  // namespace

Result<Partitions> FindKafkaPartitions(const KafkaHandle& handle, const KafkaSourceSpec& spec,
                                       int millis) {
  RT_ASSIGN(const std::vector<std::string> names, TopicNamesOf(handle, spec, millis));
  RT_ASSIGN(const std::vector<int> counts, handle.PartitionCounts(names, millis));
  Partitions partitions;
  for (size_t i = 0; i < names.size(); ++i) {
    if (counts[i] == 0) return NoTopic(handle, spec, names[i], millis);
    for (int32_t partition = 0; partition < counts[i]; ++partition)
      partitions.push_back({names[i], partition});
  }
  std::sort(partitions.begin(), partitions.end());
  partitions.erase(std::unique(partitions.begin(), partitions.end()), partitions.end());
  return partitions;
}

int LaneOfKafkaPartition(const KafkaSourceSpec& spec, const KafkaTopicPartition& at, int lanes) {
  uint32_t topic = 0;
  if (spec.topics.pattern) {
    for (const char c : at.topic) topic = topic * 31 + static_cast<unsigned char>(c);
  } else {
    std::vector<std::string> names = spec.topics.names;
    std::sort(names.begin(), names.end());
    topic = static_cast<uint32_t>(std::find(names.begin(), names.end(), at.topic) - names.begin());
  }
  return static_cast<int>((topic + static_cast<uint32_t>(at.partition)) %
                          static_cast<uint32_t>(lanes));
}

Result<std::vector<int64_t>> KafkaStartOffsets(const KafkaHandle& handle,
                                               const KafkaSourceSpec& spec,
                                               const Partitions& partitions, int millis) {
  switch (spec.start.mode) {
    case KafkaStart::Mode::kEarliest: return KafkaOldestOffsets(handle, partitions, millis);
    case KafkaStart::Mode::kLatest: return LatestOffsets(handle, partitions, std::nullopt, millis);
    case KafkaStart::Mode::kTimestamp:
      return LatestOffsets(handle, partitions, spec.start.timestamp_millis, millis);
    case KafkaStart::Mode::kGroup:
      return GroupOffsets(handle, spec, partitions, spec.properties.auto_offset_reset, millis);
    case KafkaStart::Mode::kOffsets: break;
  }
  std::vector<int64_t> offsets(partitions.size());
  Partitions others;
  for (size_t i = 0; i < partitions.size(); ++i) {
    const auto given = spec.start.offsets.find(partitions[i].partition);
    offsets[i] = given == spec.start.offsets.end() ? -1 : given->second;
    if (offsets[i] < 0) others.push_back(partitions[i]);
  }
  if (others.empty()) return offsets;
  // Flink's rule for those that are not listed: what the group has, else the oldest.
  RT_ASSIGN(const std::vector<int64_t> of_others,
            GroupOffsets(handle, spec, others, "earliest", millis));
  for (size_t i = 0, other = 0; i < partitions.size(); ++i) {
    if (offsets[i] < 0) offsets[i] = of_others[other++];
  }
  return offsets;
}

Result<std::vector<int64_t>> KafkaEndOffsets(const KafkaHandle& handle, const KafkaSourceSpec& spec,
                                             const Partitions& partitions, int millis) {
  std::vector<int64_t> offsets(partitions.size(), kNoEnd);
  switch (spec.stop.mode) {
    case KafkaStop::Mode::kNever: return offsets;
    case KafkaStop::Mode::kLatest: return LatestOffsets(handle, partitions, std::nullopt, millis);
    case KafkaStop::Mode::kTimestamp:
      return LatestOffsets(handle, partitions, spec.stop.timestamp_millis, millis);
    case KafkaStop::Mode::kGroup:
      return GroupOffsets(handle, spec, partitions, std::nullopt, millis);
    case KafkaStop::Mode::kOffsets: break;
  }
  for (size_t i = 0; i < partitions.size(); ++i) {
    const auto given = spec.stop.offsets.find(partitions[i].partition);
    offsets[i] = given == spec.stop.offsets.end() ? 0 : given->second;
  }
  return offsets;
}

Result<std::vector<int64_t>> KafkaOldestOffsets(const KafkaHandle& handle,
                                                const Partitions& partitions, int millis) {
  std::vector<int64_t> offsets;
  for (const KafkaTopicPartition& at : partitions) {
    RT_ASSIGN(const KafkaOffsetRange range, handle.QueryOffsets(at, millis));
    offsets.push_back(range.begin);
  }
  return offsets;
}

}  // namespace rowtide
