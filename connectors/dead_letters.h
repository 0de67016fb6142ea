// The port of what keeps the rejected records of one source ('rowtide.dead-letter.<table>'):
//
//   rejects.ndjson    a file of JSON lines                  connectors/letter_file.h
//   topic:rejects     a topic, records as they were         connectors/kafka/letter_topic.h
//
// A letter is kept for each rejected record, and none is lost: Sync comes before the checkpoint
// that passes its record. One thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "connectors/formats/format.h"
#include "engine/status.h"

namespace rowtide {

// Who knows which message a record of a topic was (PlaceOfRecord).
class MessagePlaces {
 public:
  virtual ~MessagePlaces() = default;
  // topic "orders", partition 3, offset 42, key "k": for a message.
  virtual std::string Text(int32_t record) const = 0;
  // "topic":"orders","partition":3,"offset":42,"key":…, : fields of a letter, a comma behind each.
  virtual void AppendFields(int32_t record, std::string* letter) const = 0;
  // None: a message without a value.
  virtual std::optional<std::string_view> Value(int32_t record) const = 0;
};

struct DeadLetter {
  const char* code;     // `RT4001`
  const char* reason;   // `cast`
  std::string message;  // what is wrong, the column first
  RecordPlace place;
  std::string_view file;         // that it stood in; "" of a message
  const MessagePlaces* places;   // of a message; null of a file
  std::string_view bytes;        // what was decoded: of a message its value, or its key
  bool is_record_too_large;
};

// Where the record of a letter stood.
struct LetterPlace {
  std::string source;      // the file, or the topic
  int32_t partition = -1;  // of a topic; -1: a file
  int64_t position = 0;    // the byte, or the offset
};

class DeadLetters {
 public:
  virtual ~DeadLetters() = default;
  virtual Status Append(const DeadLetter& letter) = 0;
  // What was appended has left this process, as far as it may.
  virtual Status Flush() = 0;
  // … and survives a crash of the machine. Costs nothing where nothing was appended.
  virtual Status Sync() = 0;
  // Whether the record that begins there will not be read any more.
  using IsRead = std::function<bool(const LetterPlace& place)>;
  // Takes back this job's letters of records that are read again, where that can be done. Requires:
  // nobody writes letters yet.
  virtual Status ForgetUnread(const IsRead& is_read) = 0;
};

// `rejects` of `topic:rejects`; none: a file is named.
inline std::optional<std::string> LetterTopicOf(std::string_view setting) {
  constexpr std::string_view kPrefix = "topic:";
  if (!setting.starts_with(kPrefix)) return std::nullopt;
  return std::string(setting.substr(kPrefix.size()));
}

}  // namespace rowtide
