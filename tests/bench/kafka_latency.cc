// How long a record is on its way through a job between two topics, in an open loop.
//
//   bench_kafka_latency BROKERS IN OUT RATE SECONDS
//
//   record i   {"id":i mod 100000,"sent":start + i / RATE,"filler":"…"}     150 bytes
//   latency    when it was read from OUT, less "sent"
//
// A record carries when it was due, not when it was sent: whoever is late, be it this program, its
// own producer or the broker, makes the latency longer. "sent" is of the monotonic clock, in
// nanoseconds. The first tenth is warm-up; `tail` is the median of the last tenth, which grows with
// the time when the rate cannot be kept up with.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "connectors/kafka/consumer.h"
#include "connectors/kafka/producer.h"

namespace {

using namespace rowtide;

constexpr int64_t kKeys = 100'000;
constexpr size_t kRecordBytes = 150;
constexpr int kAnswerMillis = 10'000;
constexpr int64_t kStartNanos = 500'000'000;  // the reader reads by then
constexpr int64_t kPatienceNanos = 20'000'000'000;
constexpr std::chrono::microseconds kTick{200};

int64_t Now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

[[noreturn]] void Fail(std::string_view what) {
  std::fprintf(stderr, "kafka_latency: %.*s\n", static_cast<int>(what.size()), what.data());
  std::exit(1);
}

void Check(const Status& status) {
  if (!status.ok()) Fail(status.message());
}

struct Plan {
  std::string brokers, in, out;
  int64_t rate = 0;  // records a second
  int64_t records = 0;
  int64_t start = 0;

  int64_t due(int64_t record) const { return start + record * 1'000'000'000 / rate; }
  int64_t due_by(int64_t now) const {
    return now < start ? 0 : std::min((now - start) * rate / 1'000'000'000 + 1, records);
  }
};

void AppendRecord(const Plan& plan, int64_t record, std::string* out) {
  const size_t begin = out->size();
  *out += "{\"id\":" + std::to_string(record % kKeys) +
          ",\"sent\":" + std::to_string(plan.due(record)) + ",\"filler\":\"";
  out->append(kRecordBytes - 2 - (out->size() - begin), 'x');
  *out += "\"}";
}

void Send(const Plan& plan) {
  auto producer = KafkaProducer::Create({{"bootstrap.servers", plan.brokers},
                                         {"linger.ms", "1"},
                                         {"socket.nagle.disable", "true"}});
  Check(producer.status());
  const auto topic = (*producer)->OpenTopic(plan.in);
  Check(topic.status());
  std::string bytes;
  std::vector<rd_kafka_message_t> batch;
  for (int64_t sent = 0; sent < plan.records;) {
    const int64_t due = plan.due_by(Now());
    bytes.clear();
    for (int64_t record = sent; record < due; ++record) AppendRecord(plan, record, &bytes);
    batch.assign(static_cast<size_t>(due - sent), {});
    for (size_t i = 0; i < batch.size(); ++i) {
      batch[i].payload = bytes.data() + i * kRecordBytes;
      batch[i].len = kRecordBytes;
    }
    if (!batch.empty()) Check((*producer)->Produce(topic->get(), batch));
    sent = due;
    std::this_thread::sleep_for(kTick);
  }
  Check((*producer)->AwaitAll(std::chrono::milliseconds(kPatienceNanos / 1'000'000)));
}

int64_t SentOf(const rd_kafka_message_t& message) {
  const std::string_view value(static_cast<const char*>(message.payload), message.len);
  constexpr std::string_view kField = "\"sent\":";
  const size_t at = value.find(kField);
  if (at == std::string_view::npos) Fail("a record is none of these");
  return std::strtoll(value.data() + at + kField.size(), nullptr, 10);
}

class Arrivals {
 public:
  // Begins where OUT ends now.
  explicit Arrivals(const Plan& plan) : plan_(plan), micros_(static_cast<size_t>(plan.records)) {
    auto consumer = KafkaConsumer::Create({{"bootstrap.servers", plan.brokers},
                                           {"group.id", "latency"},
                                           {"enable.auto.commit", "false"},
                                           {"fetch.wait.max.ms", "50"},
                                           {"socket.nagle.disable", "true"}},
                                          -1);
    Check(consumer.status());
    consumer_ = std::move(*consumer);
    const auto range = consumer_->handle().QueryOffsets({plan.out, 0}, kAnswerMillis);
    Check(range.status());
    Check(consumer_->Assign({{plan.out, 0}}, {range->end}));
  }

  void ReadAll() {
    const int64_t longest = plan_.due(plan_.records) + kPatienceNanos;
    std::array<rd_kafka_message_t*, 1024> messages;
    while (arrived_ < plan_.records) {
      const int count = consumer_->Take(0, messages);
      const int64_t now = Now();
      if (now > longest) Fail(std::to_string(arrived_) + " records arrived");
      for (int i = 0; i < count; ++i) {
        if (messages[static_cast<size_t>(i)]->err == RD_KAFKA_RESP_ERR_NO_ERROR)
          Note(*messages[static_cast<size_t>(i)], now);
        rd_kafka_message_destroy(messages[static_cast<size_t>(i)]);
      }
      if (count == 0) std::this_thread::sleep_for(kTick / 2);
    }
  }

  void Print() {
    const auto tenth = micros_.end() - static_cast<std::ptrdiff_t>(micros_.size() / 10);
    std::vector<int32_t> last(tenth, micros_.end());
    micros_.erase(micros_.begin(), micros_.begin() + (micros_.end() - tenth));
    std::sort(last.begin(), last.end());
    std::sort(micros_.begin(), micros_.end());
    const auto at = [](const std::vector<int32_t>& sorted, double share) {
      return sorted[static_cast<size_t>(static_cast<double>(sorted.size() - 1) * share)] / 1000.0;
    };
    std::printf("records=%lld p50=%.3f p90=%.3f p99=%.3f p999=%.3f max=%.3f tail=%.3f\n",
                static_cast<long long>(arrived_), at(micros_, 0.5), at(micros_, 0.9),
                at(micros_, 0.99), at(micros_, 0.999), at(micros_, 1), at(last, 0.5));
  }

 private:
  // A record of an earlier run may come late.
  void Note(const rd_kafka_message_t& message, int64_t now) {
    const int64_t sent = SentOf(message);
    if (sent < plan_.start) return;
    micros_[static_cast<size_t>(arrived_++)] = static_cast<int32_t>((now - sent) / 1000);
  }

  const Plan& plan_;
  std::unique_ptr<KafkaConsumer> consumer_;
  int64_t arrived_ = 0;
  std::vector<int32_t> micros_;  // in the order of arrival
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) Fail("BROKERS IN OUT RATE SECONDS");
  Plan plan;
  plan.brokers = argv[1];
  plan.in = argv[2];
  plan.out = argv[3];
  plan.rate = std::max(std::atoll(argv[4]), 1LL);
  plan.records = std::max(plan.rate * std::atoll(argv[5]), 100LL);
  plan.start = Now() + kStartNanos;
  Arrivals arrivals(plan);
  std::thread sender(Send, std::cref(plan));
  arrivals.ReadAll();
  sender.join();
  arrivals.Print();
}
