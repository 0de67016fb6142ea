#include "connectors/kafka/marker_topic.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>

#include "connectors/kafka/admin.h"
#include "engine/schema.h"

namespace rowtide {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using Json = nlohmann::json;

namespace {

constexpr int kAnswerMillis = 15'000;
constexpr milliseconds kPause{5};
constexpr milliseconds kPauseMax{200};

// Small segments, so that reading it from the beginning stays quick: the newest is never compacted.
const KafkaConfig kConfig = {{"cleanup.policy", "compact"},
                             {"segment.bytes", "4194304"},
                             {"min.cleanable.dirty.ratio", "0.1"}};

Result<Decision> DecisionOf(std::string_view bytes, const std::string& topic, int64_t offset) {
  const Json json = Json::parse(bytes, nullptr, false);
  Decision decision;
  const auto text = [&](const char* key) {
    return json.contains(key) && json[key].is_string() ? json[key].get<std::string>() : "";
  };
  if (json.is_object() && json.contains("epoch") && json["epoch"].is_number_integer()) {
    decision.epoch = json["epoch"].get<int64_t>();
    decision.run_id = text("run");
    decision.digest = text("checkpoint");
  }
  if (decision.epoch > 0 && !decision.run_id.empty() && !decision.digest.empty()) return decision;
  return Status::Corruption("topic {}, offset {}: this is no marker of Rowtide's", Quote(topic),
                            offset)
      .WithErrorCode("RT6013")
      .WithHint("nobody else may write to the topic");
}

}  // namespace

KafkaMarkerTopic::KafkaMarkerTopic(KafkaSettings settings, const std::string& pipeline)
    : settings_(std::move(settings)),
      pipeline_(pipeline),
      name_(fmt::format("__rowtide.{}.commits", pipeline)) {
  for (const char* producers : {"transactional.id", "transaction.timeout.ms", "enable.idempotence",
                                "delivery.report.only.error"}) {
    settings_.erase(producers);
  }
  settings_["group.id"] = pipeline;
  settings_["enable.auto.commit"] = "false";
  settings_["enable.partition.eof"] = "true";
  settings_["auto.offset.reset"] = "error";
  settings_["fetch.wait.max.ms"] = "20";
}

std::string KafkaMarkerTopic::MarkerOf(const Decision& decision, const std::string& engine) const {
  return Json{{"epoch", decision.epoch},
              {"run", decision.run_id},
              {"checkpoint", decision.digest},
              {"engine", engine}}
      .dump();
}

Result<int> KafkaMarkerTopic::Open(const KafkaHandle& handle, milliseconds longest) {
  const auto until = steady_clock::now() + longest;
  RT_ASSIGN(int replicas, ReplicasOf(handle, name_, kAnswerMillis));
  if (replicas == 0) RT_TRY(CreateTopic(handle, name_, kConfig, kAnswerMillis));
  // A new topic is not known to every broker at once.
  while (replicas == 0) {
    if (steady_clock::now() > until)
      return Status::External("topic {} was made but does not appear", Quote(name_));
    std::this_thread::sleep_for(kPause);
    RT_ASSIGN(replicas, ReplicasOf(handle, name_, kAnswerMillis));
  }
  RT_ASSIGN(const std::vector<int> partitions, handle.PartitionCounts({name_}, kAnswerMillis));
  RT_ASSIGN(const KafkaConfig config, TopicConfig(handle, name_, kAnswerMillis));
  const auto policy = config.find("cleanup.policy");
  if (partitions[0] != 1 || policy == config.end() || policy->second != "compact") {
    return Status::InvalidArgument(
               "topic {} holds the job's decisions and needs one partition and "
               "'cleanup.policy' = 'compact'; it has {} and {}",
               Quote(name_), partitions[0], Quote(policy == config.end() ? "" : policy->second))
        .WithErrorCode("RT6013");
  }
  return replicas;
}

Result<std::unique_ptr<KafkaHandle>> KafkaMarkerTopic::Reader(bool committed) const {
  KafkaSettings settings = settings_;
  settings["isolation.level"] = committed ? "read_committed" : "read_uncommitted";
  return KafkaHandle::Create(KafkaKind::kConsumer, settings);
}

// The end is asked for without regard to transactions, and the read goes on until it is there: an
// open one could hold back the newest marker.
Result<std::optional<Decision>> KafkaMarkerTopic::ReadNewest(milliseconds longest) {
  RT_ASSIGN(const std::unique_ptr<KafkaHandle> any, Reader(false));
  RT_ASSIGN(const KafkaOffsetRange range, any->QueryOffsets({name_, 0}, kAnswerMillis));
  RT_ASSIGN(committed_, Reader(true));
  end_ = range.end;
  if (range.begin == range.end) return std::optional<Decision>();
  RT_ASSIGN(Found found, Read(*committed_, range, true, longest));
  if (!found.is_at_end) return Hangs(range.end);
  return found.newest;
}

Result<KafkaMarkerTopic::Found> KafkaMarkerTopic::Read(KafkaHandle& reader, KafkaOffsetRange range,
                                                       bool counts, milliseconds longest) const {
  constexpr int kStepMillis = 100;
  const auto until = steady_clock::now() + longest;
  const KafkaPartitionsPointer from = KafkaPartitionList({{name_, 0}}, {range.begin});
  RT_TRY(KafkaStatus(rd_kafka_assign(reader.get(), from.get()), "reading topic " + Quote(name_)));
  Found found;
  while (!found.is_at_end && steady_clock::now() < until) {
    const KafkaMessagePointer message(rd_kafka_consumer_poll(reader.get(), kStepMillis));
    if (message == nullptr) continue;
    if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
      found.is_at_end = message->offset >= range.end;
    } else if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
      if (!KafkaMayPass(message->err))
        return KafkaStatus(message->err, "reading topic " + Quote(name_));
    } else {
      const std::string_view bytes(static_cast<const char*>(message->payload), message->len);
      RT_ASSIGN(Decision decision, DecisionOf(bytes, name_, message->offset));
      if (counts && found.newest && decision.epoch <= found.newest->epoch)
        return Status::Corruption("topic {}, offset {}: epoch {} stands behind epoch {}",
                                  Quote(name_), message->offset, decision.epoch,
                                  found.newest->epoch)
            .WithErrorCode("RT6013")
            .WithHint("nobody else may write to the topic");
      found.newest = std::move(decision);
    }
  }
  rd_kafka_assign(reader.get(), nullptr);
  return found;
}

Status KafkaMarkerTopic::Hangs(int64_t end) {
  std::string known;
  if (const std::optional<Decision> newest = PeekNewest()) {
    known = fmt::format("; the newest marker there is of epoch {}, run {}", newest->epoch,
                        newest->run_id);
  }
  if (const auto offsets = committed_->CommittedOffsets({{name_, 0}}, kAnswerMillis);
      offsets.ok() && offsets->front() >= 0) {
    known += fmt::format("; group {} has epoch {} as decided", Quote(pipeline_), offsets->front());
  }
  return Status::Corruption("a transaction hangs in topic {} below offset {}{}", Quote(name_), end,
                            known)
      .WithErrorCode("RT6014")
      .WithHint(
          "it was left by a broker, and whether its rows count cannot be told from here: an "
          "administrator can end it with kafka-transactions.sh");
}

std::optional<Decision> KafkaMarkerTopic::PeekNewest() {
  constexpr milliseconds kLongest{3000};
  const auto reader = Reader(false);
  if (!reader.ok()) return std::nullopt;
  const auto range = (*reader)->QueryOffsets({name_, 0}, static_cast<int>(kLongest.count()));
  if (!range.ok() || range->begin == range->end) return std::nullopt;
  const auto found = Read(**reader, *range, false, kLongest);
  return found.ok() ? found->newest : std::nullopt;
}

// While the transaction is open or unmarked, the end that can be read stays where it began.
Status KafkaMarkerTopic::AwaitNext(milliseconds longest) {
  const auto until = steady_clock::now() + longest;
  milliseconds pause = kPause;
  while (true) {
    const auto range = committed_->QueryOffsets({name_, 0}, kAnswerMillis);
    if (range.ok() && range->end > end_) {
      end_ = range->end;
      return Status::Ok();
    }
    if (!range.ok() && range.status().code() != StatusCode::kExternal) return range.status();
    if (steady_clock::now() > until)
      return Status::External("topic {}: the marker that was committed cannot be read",
                              Quote(name_));
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, kPauseMax);
  }
}

}  // namespace rowtide
