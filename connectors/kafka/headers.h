// The headers of a message as the client library has them: in their order, names may repeat.
#pragma once

#include <librdkafka/rdkafka.h>

#include <cstddef>

namespace rowtide {

// Calls `visit(name, value, size)` for each header; `value` is null where it has none. Both last
// as long as the message.
template <typename Visit>
void ForEachHeader(const rd_kafka_message_t& message, const Visit& visit) {
  rd_kafka_headers_t* headers = nullptr;
  if (rd_kafka_message_headers(&message, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR) return;
  const char* name = nullptr;
  const void* value = nullptr;
  size_t size = 0;
  for (size_t i = 0;
       rd_kafka_header_get_all(headers, i, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR;
       ++i) {
    visit(name, value, size);
  }
}

}  // namespace rowtide
