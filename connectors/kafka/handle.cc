#include "connectors/kafka/handle.h"

#include <syslog.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "engine/schema.h"
#include "engine/thread_start.h"

namespace rowtide {
namespace {

// librdkafka's own words for it are a code's name.
constexpr size_t kReasonBytes = 512;
constexpr std::chrono::seconds kLongestEnd{3};

StatusCode CodeOf(rd_kafka_resp_err_t code) {
  switch (code) {
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
    case RD_KAFKA_RESP_ERR__UNKNOWN_GROUP:
    case RD_KAFKA_RESP_ERR__AUTHENTICATION:
    case RD_KAFKA_RESP_ERR__SSL:
    case RD_KAFKA_RESP_ERR__RESOLVE:
    case RD_KAFKA_RESP_ERR__INVALID_ARG:
    case RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE:
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
    case RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION:
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED:
    case RD_KAFKA_RESP_ERR_UNSUPPORTED_SASL_MECHANISM:
    case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
    case RD_KAFKA_RESP_ERR_INVALID_CONFIG:
    case RD_KAFKA_RESP_ERR_POLICY_VIOLATION:
    case RD_KAFKA_RESP_ERR_INVALID_TRANSACTION_TIMEOUT: return StatusCode::kInvalidArgument;
    default: return StatusCode::kExternal;
  }
}

// Not the network's fault: one side does not believe what the other one shows. An alert is how a
// broker says so of this side's certificate.
bool IsRefusal(rd_kafka_resp_err_t code, std::string_view reason) {
  return code == RD_KAFKA_RESP_ERR__AUTHENTICATION || code == RD_KAFKA_RESP_ERR__SSL ||
         reason.find("SSL alert number") != std::string_view::npos;
}

// Up to 2.6.0 librdkafka repeats its nonce in the last message of SCRAM, and Kafka 4 looks closely.
constexpr int kScramVersion = 0x02060100;

std::string HintOfRefusal(bool is_about_certificates, std::string_view reason) {
  if (is_about_certificates) {
    return "'properties.ssl.truststore.location' names who may have signed the broker's "
           "certificate, 'properties.ssl.keystore.location' this client's own one";
  }
  std::string hint =
      "'properties.sasl.jaas.config' has name and password, 'properties.sasl.mechanism' says how "
      "they are shown";
  if (reason.find("SCRAM") != std::string_view::npos && rd_kafka_version() < kScramVersion) {
    hint += fmt::format(
        "; librdkafka {} cannot do SCRAM with brokers of Kafka 4, whatever the password: 2.6.1 "
        "can, or use PLAIN over SASL_SSL",
        rd_kafka_version_str());
  }
  return hint;
}

Status Failed(StatusCode code, std::string message) {
  return Status(code, ErrorKind::kRun, std::move(message));
}

}  // namespace

// What librdkafka's threads write into; it lives as long as they do.
struct KafkaHandle::Said {
  void Note(std::string line) {
    // "[thrd:127.0.0.1:9092/bootstrap]: 127.0.0.1:9092/bootstrap: Connect to …"
    const size_t thread = line.starts_with("[thrd:") ? line.find("]: ") : std::string::npos;
    if (thread != std::string::npos) line.erase(0, thread + 3);
    std::replace(line.begin(), line.end(), '\n', ' ');
    const std::lock_guard lock(mutex);
    newest = line;
    trouble = std::move(line);
  }
  // Why stands before that none is left, in what is newest.
  void NoteThatNoneIsLeft() {
    const std::lock_guard lock(mutex);
    trouble = "no broker can be reached";
    if (newest.empty()) newest = trouble;
  }
  void NoteRefusal(rd_kafka_resp_err_t code, std::string reason) {
    const std::lock_guard lock(mutex);
    refusal = std::move(reason);
    is_about_certificates = code != RD_KAFKA_RESP_ERR__AUTHENTICATION;
  }

  KafkaDelivered delivered = nullptr;
  void* opaque = nullptr;
  std::mutex mutex;
  std::string trouble;  // under the mutex, as what follows; "" once it was taken
  std::string newest;
  std::string refusal;  // "": nobody refused this client
  bool is_about_certificates = false;
};

bool KafkaMayPass(rd_kafka_resp_err_t code) {
  return CodeOf(code) == StatusCode::kExternal && code != RD_KAFKA_RESP_ERR__FATAL;
}

Status KafkaStatus(rd_kafka_resp_err_t code, std::string_view what) {
  if (code == RD_KAFKA_RESP_ERR_NO_ERROR) return Status::Ok();
  return Failed(CodeOf(code), fmt::format("{}: {}", what, rd_kafka_err2str(code)));
}

Status KafkaStatus(rd_kafka_error_t* error, std::string_view what) {
  const KafkaErrorPointer owned(error);
  if (error == nullptr) return Status::Ok();
  return Failed(CodeOf(rd_kafka_error_code(error)),
                fmt::format("{}: {}", what, rd_kafka_error_string(error)));
}

Result<std::unique_ptr<KafkaHandle>> KafkaHandle::Create(KafkaKind kind,
                                                         const KafkaSettings& settings,
                                                         KafkaDelivered delivered, void* opaque) {
  std::unique_ptr<KafkaHandle> made(new KafkaHandle());
  made->said_ = std::make_shared<Said>();
  made->said_->delivered = delivered;
  made->said_->opaque = opaque;
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  char reason[kReasonBytes];
  for (const auto& [name, value] : settings) {
    if (rd_kafka_conf_set(conf, name.c_str(), value.c_str(), reason, sizeof(reason)) ==
        RD_KAFKA_CONF_OK) {
      continue;
    }
    rd_kafka_conf_destroy(conf);
    return Status::InvalidArgument("Kafka setting {}: {}", Quote(name), reason);
  }
  rd_kafka_conf_set_opaque(conf, made->said_.get());
  rd_kafka_conf_set_log_cb(conf, OnLog);
  rd_kafka_conf_set_error_cb(conf, OnError);
  if (delivered != nullptr) rd_kafka_conf_set_dr_msg_cb(conf, OnDelivered);
  made->handle_ = rd_kafka_new(kind == KafkaKind::kConsumer ? RD_KAFKA_CONSUMER : RD_KAFKA_PRODUCER,
                               conf, reason, sizeof(reason));
  if (made->handle_ != nullptr) return made;
  rd_kafka_conf_destroy(conf);
  return Status::InvalidArgument("Kafka client: {}", reason);
}

// librdkafka 2.0.2 may wait for ever for a broker that it read a topic from which is gone by then.
// A handle that does not end in time is left to itself, which costs its threads and memory.
KafkaHandle::~KafkaHandle() {
  if (handle_ == nullptr) return;
  struct Ended {
    std::mutex mutex;
    std::condition_variable changed;
    bool is_over = false;
  };
  const auto ended = std::make_shared<Ended>();
  // A consumer that belongs to no group has nothing to leave; a broker that is away is not waited
  // for.
  const auto destroy = [handle = handle_, ended, said = said_] {
    rd_kafka_destroy_flags(handle, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
    const std::lock_guard lock(ended->mutex);
    ended->is_over = true;
    ended->changed.notify_all();
  };
  Result<std::thread> thread = StartThread(destroy);
  if (!thread.ok()) {
    destroy();
    return;
  }
  std::unique_lock lock(ended->mutex);
  const bool is_over =
      ended->changed.wait_for(lock, kLongestEnd, [&ended] { return ended->is_over; });
  lock.unlock();
  if (is_over) {
    thread->join();
  } else {
    thread->detach();
  }
}

void KafkaHandle::OnLog(const rd_kafka_t* handle, int level, const char* facility,
                        const char* text) {
  if (level > LOG_ERR || handle == nullptr) return;
  auto* const said = static_cast<Said*>(rd_kafka_opaque(handle));
  if (said != nullptr && std::string_view(facility) != "CONFWARN") said->Note(text);
}

void KafkaHandle::OnError(rd_kafka_t* /*handle*/, int code, const char* reason, void* said) {
  const auto error = static_cast<rd_kafka_resp_err_t>(code);
  if (error == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN) {
    static_cast<Said*>(said)->NoteThatNoneIsLeft();
  } else {
    static_cast<Said*>(said)->Note(reason);
  }
  if (IsRefusal(error, reason)) static_cast<Said*>(said)->NoteRefusal(error, reason);
}

void KafkaHandle::OnDelivered(rd_kafka_t* handle, const rd_kafka_message_t* message, void* said) {
  auto* const owner = static_cast<Said*>(said);
  owner->delivered(handle, message, owner->opaque);
}

std::string KafkaHandle::TakeTrouble() {
  const std::lock_guard lock(said_->mutex);
  return std::exchange(said_->trouble, std::string());
}

Status KafkaHandle::fatal_error() const {
  char reason[kReasonBytes];
  const rd_kafka_resp_err_t code = rd_kafka_fatal_error(handle_, reason, sizeof(reason));
  if (code == RD_KAFKA_RESP_ERR_NO_ERROR) return Status::Ok();
  return Failed(StatusCode::kExternal,
                fmt::format("the Kafka client gave up ({}): {}", rd_kafka_err2name(code), reason));
}

Status KafkaHandle::refusal() const {
  rd_kafka_poll(handle_, 0);  // brings what was said meanwhile
  const std::lock_guard lock(said_->mutex);
  if (said_->refusal.empty()) return Status::Ok();
  return Failed(StatusCode::kInvalidArgument,
                "the broker does not let this client in: " + said_->refusal)
      .WithErrorCode("RT5003")
      .WithHint(HintOfRefusal(said_->is_about_certificates, said_->refusal));
}

std::string KafkaHandle::ReasonOf(const Status& failed) const {
  rd_kafka_poll(handle_, 0);
  const std::lock_guard lock(said_->mutex);
  return said_->newest.empty() ? failed.message() : failed.message() + ": " + said_->newest;
}

// --- questions ---

Status KafkaHandle::AwaitBroker(int millis) const {
  constexpr std::chrono::milliseconds kPause{50};
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(millis);
  for (int step = 1000;; step = std::min(2 * step, millis)) {
    const rd_kafka_metadata_t* answer = nullptr;
    const rd_kafka_resp_err_t code = rd_kafka_metadata(handle_, 0, nullptr, &answer, step);
    const std::unique_ptr<const rd_kafka_metadata_t, KafkaEnd> metadata(answer);
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) return Status::Ok();
    RT_TRY(refusal());
    const Status failed = KafkaStatus(code, "asking the brokers");
    const bool is_over = std::chrono::steady_clock::now() >= until;
    if (failed.code() != StatusCode::kExternal || is_over)
      return Failed(failed.code(), ReasonOf(failed));
    std::this_thread::sleep_for(kPause);
  }
}

Result<std::vector<int>> KafkaHandle::PartitionCounts(const std::vector<std::string>& topics,
                                                      int millis) const {
  std::vector<int> counts;
  for (const std::string& name : topics) {
    const KafkaTopicPointer topic(rd_kafka_topic_new(handle_, name.c_str(), nullptr));
    if (!topic) return KafkaStatus(rd_kafka_last_error(), "topic " + Quote(name));
    const rd_kafka_metadata_t* answer = nullptr;
    RT_TRY(KafkaStatus(rd_kafka_metadata(handle_, 0, topic.get(), &answer, millis),
                       "asking for topic " + Quote(name)));
    const std::unique_ptr<const rd_kafka_metadata_t, KafkaEnd> metadata(answer);
    int count = 0;
    for (int i = 0; i < metadata->topic_cnt; ++i) {
      const rd_kafka_metadata_topic_t& one = metadata->topics[i];
      if (name != one.topic) continue;
      if (one.err == RD_KAFKA_RESP_ERR_NO_ERROR) {
        count = one.partition_cnt;
      } else if (one.err != RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART) {
        return KafkaStatus(one.err, "topic " + Quote(name));
      }
    }
    counts.push_back(count);
  }
  return counts;
}

Result<std::vector<std::string>> KafkaHandle::TopicNames(int millis) const {
  const rd_kafka_metadata_t* answer = nullptr;
  RT_TRY(KafkaStatus(rd_kafka_metadata(handle_, 1, nullptr, &answer, millis),
                     "asking for the names of topics"));
  const std::unique_ptr<const rd_kafka_metadata_t, KafkaEnd> metadata(answer);
  std::vector<std::string> names;
  for (int i = 0; i < metadata->topic_cnt; ++i) {
    if (metadata->topics[i].err == RD_KAFKA_RESP_ERR_NO_ERROR)
      names.emplace_back(metadata->topics[i].topic);
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<KafkaOffsetRange> KafkaHandle::QueryOffsets(const KafkaTopicPartition& at,
                                                   int millis) const {
  KafkaOffsetRange range;
  RT_TRY(KafkaStatus(rd_kafka_query_watermark_offsets(handle_, at.topic.c_str(), at.partition,
                                                      &range.begin, &range.end, millis),
                     "asking for the offsets of " + KafkaPartitionText(at)));
  return range;
}

Result<int64_t> KafkaHandle::OffsetForTime(const KafkaTopicPartition& at, int64_t timestamp,
                                           int millis) const {
  const KafkaPartitionsPointer list = KafkaPartitionList({at}, {timestamp});
  const std::string what =
      fmt::format("asking where {} is at time {}", KafkaPartitionText(at), timestamp);
  RT_TRY(KafkaStatus(rd_kafka_offsets_for_times(handle_, list.get(), millis), what));
  RT_TRY(KafkaStatus(list->elems[0].err, what));
  if (list->elems[0].offset >= 0) return list->elems[0].offset;
  RT_ASSIGN(const KafkaOffsetRange range, QueryOffsets(at, millis));
  return range.end;
}

Result<std::vector<int64_t>> KafkaHandle::CommittedOffsets(
    const std::vector<KafkaTopicPartition>& partitions, int millis) const {
  const KafkaPartitionsPointer list = KafkaPartitionList(partitions, {});
  RT_TRY(KafkaStatus(rd_kafka_committed(handle_, list.get(), millis),
                     "asking for the group's offsets"));
  std::vector<int64_t> offsets;
  for (int i = 0; i < list->cnt; ++i) {
    RT_TRY(KafkaStatus(
        list->elems[i].err,
        "the group's offset of " + KafkaPartitionText(partitions[static_cast<size_t>(i)])));
    offsets.push_back(list->elems[i].offset);
  }
  return offsets;
}

KafkaPartitionsPointer KafkaPartitionList(const std::vector<KafkaTopicPartition>& partitions,
                                          const std::vector<int64_t>& offsets) {
  KafkaPartitionsPointer list(
      rd_kafka_topic_partition_list_new(static_cast<int>(partitions.size())));
  for (size_t i = 0; i < partitions.size(); ++i) {
    rd_kafka_topic_partition_t* const one = rd_kafka_topic_partition_list_add(
        list.get(), partitions[i].topic.c_str(), partitions[i].partition);
    if (i < offsets.size()) one->offset = offsets[i];
  }
  return list;
}

std::string KafkaPartitionText(const KafkaTopicPartition& at) {
  return fmt::format("topic {}, partition {}", Quote(at.topic), at.partition);
}

}  // namespace rowtide
