// The limit of a job between two topics: messages go from one to the other as they are.
//
//   limit_pass_through copy BROKERS FROM TO                 partition 0, up to where FROM ends now
//   limit_pass_through fold BROKERS TOPIC all|first|last    what partition 0 holds
//
//   {"auction":7,"bidder":1,"price":5}      all     3 records
//   {"auction":7,"bidder":1,"price":9}      first   of each (auction, bidder) the first: 5, 4
//   {"auction":7,"bidder":2,"price":4}      last    … the last: 9, 4
//
// A fold prints how many records there are, how many rows are left of them, and the sum of these
// rows' hashes, whatever their order. Where records have keys, they are told apart by these, and
// one without a value takes its key away.
//
// Batches in, batches out, one copy of the bytes, nothing looked at. The settings are those of
// connectors/kafka/properties.cc: only what is done with a message differs.
#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace {

using Settings = std::span<const std::array<const char*, 2>>;

constexpr std::array<const char*, 2> kConsumer[] = {
    {"group.id", "pass-through"},
    {"enable.auto.commit", "false"},
    {"enable.auto.offset.store", "false"},
    {"auto.offset.reset", "error"},
    {"queued.min.messages", "100000"},
    {"queued.max.messages.kbytes", "65536"},
    {"fetch.wait.max.ms", "50"},
    {"fetch.message.max.bytes", "4194304"},
    {"check.crcs", "true"},
    {"enable.partition.eof", "true"},
    {"isolation.level", "read_committed"},
    {"socket.nagle.disable", "true"},
};

constexpr std::array<const char*, 2> kProducer[] = {
    {"enable.idempotence", "true"},
    {"linger.ms", "5"},
    {"batch.size", "1000000"},
    {"batch.num.messages", "10000"},
    {"compression.codec", "lz4"},
    {"queue.buffering.max.messages", "1000000"},
    {"delivery.report.only.error", "true"},
    {"socket.nagle.disable", "true"},
};

constexpr size_t kBatchMessages = 1024;
constexpr int kAnswerMillis = 10'000;
constexpr int kFillMillis = 10;  // that a batch may take to fill
constexpr int kRoomMillis = 20;
constexpr int kFlushMillis = 60'000;

[[noreturn]] void Fail(const std::string& what) {
  std::fprintf(stderr, "pass_through: %s\n", what.c_str());
  std::exit(1);
}

void Check(rd_kafka_resp_err_t code, const char* what) {
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) Fail(std::string(what) + ": " + rd_kafka_err2str(code));
}

void OnDelivered(rd_kafka_t* /*client*/, const rd_kafka_message_t* message, void* /*opaque*/) {
  Check(message->err, "a record was not delivered");
}

rd_kafka_t* Connect(rd_kafka_type_t type, Settings settings, const char* brokers) {
  char reason[512];
  rd_kafka_conf_t* const conf = rd_kafka_conf_new();
  const auto set = [&](const char* name, const char* value) {
    if (rd_kafka_conf_set(conf, name, value, reason, sizeof(reason)) != RD_KAFKA_CONF_OK)
      Fail(reason);
  };
  set("bootstrap.servers", brokers);
  for (const auto& [name, value] : settings) set(name, value);
  if (type == RD_KAFKA_PRODUCER) rd_kafka_conf_set_dr_msg_cb(conf, OnDelivered);
  rd_kafka_t* const client = rd_kafka_new(type, conf, reason, sizeof(reason));
  if (client == nullptr) Fail(reason);
  return client;
}

// Partition 0 of a topic, from its beginning to where it ends now, in batches.
class Reader {
 public:
  Reader(const char* brokers, const char* topic)
      : client_(Connect(RD_KAFKA_CONSUMER, kConsumer, brokers)) {
    Check(rd_kafka_query_watermark_offsets(client_, topic, 0, &next_, &end_, kAnswerMillis),
          "asking for the ends of the topic");
    queue_ = rd_kafka_queue_get_partition(client_, topic, 0);
    if (queue_ == nullptr) Fail("the topic has no queue");
    rd_kafka_queue_forward(queue_, nullptr);
    rd_kafka_topic_partition_list_t* const list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, topic, 0)->offset = next_;
    Check(rd_kafka_assign(client_, list), "assigning the partition");
    rd_kafka_topic_partition_list_destroy(list);
  }

  // Good until the next call; empty: it is over.
  std::span<rd_kafka_message_t* const> Next() {
    for (rd_kafka_message_t* const message : std::span(messages_).first(kept_))
      rd_kafka_message_destroy(message);
    kept_ = 0;
    while (kept_ == 0 && next_ < end_) {
      const ssize_t taken = rd_kafka_consume_batch_queue(queue_, kFillMillis, messages_.data(),
                                                         messages_.size());
      for (ssize_t i = 0; i < taken; ++i) Keep(messages_[static_cast<size_t>(i)]);
    }
    return std::span(messages_).first(kept_);
  }

 private:
  void Keep(rd_kafka_message_t* message) {
    const bool is_end = message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF;
    if (!is_end) Check(message->err, "reading");
    if (!is_end && message->offset < end_) {
      next_ = message->offset + 1;
      messages_[kept_++] = message;
      return;
    }
    next_ = std::max(next_, message->offset);
    rd_kafka_message_destroy(message);
  }

  rd_kafka_t* const client_;
  rd_kafka_queue_t* queue_ = nullptr;
  int64_t next_ = 0;
  int64_t end_ = 0;
  std::array<rd_kafka_message_t*, kBatchMessages> messages_{};
  size_t kept_ = 0;
};

// All of them, in order: a full queue is waited for.
void Produce(rd_kafka_t* producer, rd_kafka_topic_t* topic, std::span<rd_kafka_message_t> batch) {
  while (!batch.empty()) {
    const int taken = rd_kafka_produce_batch(topic, 0, RD_KAFKA_MSG_F_COPY, batch.data(),
                                             static_cast<int>(batch.size()));
    batch = batch.subspan(static_cast<size_t>(taken));
    if (!batch.empty() && batch.front().err != RD_KAFKA_RESP_ERR__QUEUE_FULL)
      Check(batch.front().err, "writing");
    rd_kafka_poll(producer, batch.empty() ? 0 : kRoomMillis);
  }
}

void Copy(const char* brokers, const char* from, const char* to) {
  const auto begin = std::chrono::steady_clock::now();
  Reader reader(brokers, from);
  rd_kafka_t* const producer = Connect(RD_KAFKA_PRODUCER, kProducer, brokers);
  rd_kafka_topic_t* const topic = rd_kafka_topic_new(producer, to, nullptr);
  std::vector<rd_kafka_message_t> batch(kBatchMessages);
  int64_t records = 0;
  for (auto messages = reader.Next(); !messages.empty(); messages = reader.Next()) {
    for (size_t i = 0; i < messages.size(); ++i) {
      batch[i].payload = messages[i]->payload;
      batch[i].len = messages[i]->len;
      batch[i].key = messages[i]->key;
      batch[i].key_len = messages[i]->key_len;
    }
    Produce(producer, topic, std::span(batch).first(messages.size()));
    records += static_cast<int64_t>(messages.size());
  }
  Check(rd_kafka_flush(producer, kFlushMillis), "waiting for delivery");
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::printf("records=%lld seconds=%.3f\n", static_cast<long long>(records), took.count());
}

// What tells rows apart: the record's key, else the value up to its third column.
std::string_view KeyOf(const rd_kafka_message_t& message) {
  if (message.key != nullptr) return {static_cast<const char*>(message.key), message.key_len};
  const std::string_view value(static_cast<const char*>(message.payload), message.len);
  return value.substr(0, value.find(",\"price\""));
}

void Fold(const char* brokers, const char* topic, std::string_view which) {
  Reader reader(brokers, topic);
  std::unordered_map<std::string, uint64_t> table;  // a row's hash
  int64_t records = 0, bytes = 0;
  uint64_t sum = 0, rows = 0;
  for (auto messages = reader.Next(); !messages.empty(); messages = reader.Next()) {
    for (const rd_kafka_message_t* const message : messages) {
      const std::string_view value(static_cast<const char*>(message->payload), message->len);
      const uint64_t hash = std::hash<std::string_view>()(value);
      ++records;
      bytes += static_cast<int64_t>(message->len);
      if (which == "all") {
        sum += hash;
        ++rows;
      } else if (message->payload == nullptr) {
        table.erase(std::string(KeyOf(*message)));
      } else if (which == "first") {
        table.try_emplace(std::string(KeyOf(*message)), hash);
      } else {
        table[std::string(KeyOf(*message))] = hash;
      }
    }
  }
  for (const auto& [key, hash] : table) sum += hash;
  rows += table.size();
  std::printf("records=%lld rows=%llu checksum=0x%016llx bytes=%lld\n",
              static_cast<long long>(records), static_cast<unsigned long long>(rows),
              static_cast<unsigned long long>(sum), static_cast<long long>(bytes));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view verb = argc == 5 ? argv[1] : "";
  if (verb == "copy") {
    Copy(argv[2], argv[3], argv[4]);
  } else if (verb == "fold") {
    Fold(argv[2], argv[3], argv[4]);
  } else {
    Fail("copy BROKERS FROM TO, or fold BROKERS TOPIC all|first|last");
  }
  std::fflush(stdout);
  std::_Exit(0);  // nothing is left that clients have to say goodbye to
}
