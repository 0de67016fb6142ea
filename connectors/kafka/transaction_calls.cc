#include "connectors/kafka/transaction_calls.h"

#include <thread>
#include <utility>

namespace rowtide {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

namespace {

constexpr int kCallMillis = 5'000;
constexpr milliseconds kPause{50};

}  // namespace

Status RetryKafka(KafkaHandle& handle, const std::string& what, milliseconds longest,
                  const std::function<rd_kafka_error_t*(int millis)>& call,
                  const std::function<void(const std::string& reason)>& say) {
  const auto begun = steady_clock::now();
  bool has_said = false;
  while (true) {
    const KafkaErrorPointer error(call(kCallMillis));
    if (error == nullptr) return Status::Ok();
    const auto waited = steady_clock::now() - begun;
    const char* const reason = rd_kafka_error_string(error.get());
    if (rd_kafka_error_is_retriable(error.get()) == 0 || waited > longest)
      return KafkaStatus(rd_kafka_error_code(error.get()), fmt::format("{}: {}", what, reason));
    if (!std::exchange(has_said, true)) say(reason);
    handle.Poll();
    std::this_thread::sleep_for(kPause);
  }
}

rd_kafka_error_t* SendOffsets(const KafkaHandle& handle, const std::string& group,
                              const rd_kafka_topic_partition_list_t* offsets, int millis) {
  const std::unique_ptr<rd_kafka_consumer_group_metadata_t,
                        decltype(&rd_kafka_consumer_group_metadata_destroy)>
      metadata(rd_kafka_consumer_group_metadata_new(group.c_str()),
               rd_kafka_consumer_group_metadata_destroy);
  return rd_kafka_send_offsets_to_transaction(handle.get(), offsets, metadata.get(), millis);
}

}  // namespace rowtide
