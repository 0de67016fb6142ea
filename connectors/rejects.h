// What becomes of the records of one source that do not decode, and how many there were.
//
//   fail          the job stops; the message has table, file, line, byte, reason and the record
//   skip          the record is left out and counted
//   dead-letter   the same, and it is appended to a file of JSON lines that a json table can read:
//                 {"code":"RT4001","reason":"cast","message":…,"table_name":…,"file":…,"line":2,
//                  "byte":4,"raw_bytes":"eCxi","text":"x,b"}    base64: any bytes come back
//
// In a job with checkpoints a letter also says which life of the job wrote it ("job"). When that
// goes on from a checkpoint, the letters that it wrote later leave the file, since their records
// are read again: each is there once, whatever happens in between.
//
// records_read = rows of the source + rejected, where a record of many rows counts as its rows.
// Of a topic, a letter has "topic", "partition", "offset", "key" and "headers" in place of file,
// line and byte. Each rejected record has one reason. A field that becomes NULL under
// 'ignore-parse-errors' is counted as `cast_to_null` and rejects nothing. One thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "connectors/formats/format.h"
#include "connectors/registry.h"

namespace rowtide {

// Oddities, by what follows behind them: the column; nothing; the column and the field's name.
inline constexpr const char* kOddBooleans = "neither_true_nor_false.";
inline constexpr const char* kHeaderAsRow = "header_as_row";
inline constexpr const char* kOtherCase = "other_case.";

enum class RejectReason : uint8_t {
  kUndecodable,
  kInvalidEncoding,
  kTooLarge,
  kTooDeep,
  kMissingField,
  kCast,
  kNotNull,
  kNullKey,  // kNotNull in a column of the primary key
};
inline constexpr size_t kRejectReasons = 8;
const char* NameOfReason(RejectReason reason);  // `too_large`, as counters have it

struct Reject {
  RejectReason reason = RejectReason::kUndecodable;
  RecordPlace place;
  std::string column;      // "" = the record as a whole
  std::string message;     // what is wrong
  std::string hint;        // what would be right
  std::string_view bytes;  // the record, or its beginning if it is too large
};

// Who knows which message a record of a topic was (PlaceOfRecord).
class MessagePlaces {
 public:
  virtual ~MessagePlaces() = default;
  // topic "orders", partition 3, offset 42, key "k": for a message.
  virtual std::string Text(int32_t record) const = 0;
  // "topic":"orders","partition":3,"offset":42,"key":…, : fields of a letter, a comma behind each.
  virtual void AppendFields(int32_t record, std::string* letter) const = 0;
};

// Where the record of a letter stood.
struct LetterPlace {
  std::string source;      // the file, or the topic
  int32_t partition = -1;  // of a topic; -1: a file
  int64_t position = 0;    // the byte, or the offset
};

class Rejects {
 public:
  // Opens the dead-letter file where there is one.
  static Result<std::unique_ptr<Rejects>> Create(const std::string& table,
                                                 const ConnectorContext& context);
  ~Rejects();
  Rejects(const Rejects&) = delete;
  Rejects& operator=(const Rejects&) = delete;

  void BeginFile(std::string path) { file_ = std::move(path); }
  // Borrowed: of records that are messages.
  void ReadsFrom(const MessagePlaces* places) { places_ = places; }
  // Whether the first bad record ends the job.
  bool fails() const { return settings_.bad_data == BadData::kFail; }
  const TableSettings& settings() const { return settings_; }

  // The error under `fail`; else the record is counted.
  Status Take(const Reject& reject);
  // The same for a format that is told to ignore errors: never an error of the data.
  Status TakeQuietly(const Reject& reject);
  // Of records that became rows or were taken here; one that ended the job is neither.
  void CountRead(int64_t records) { *records_read_ += records; }
  void CountNulled() { ++*nulled_; }
  // A message that says nothing, and becomes no row: without a value, or of no bytes.
  void CountEmpty() { ++*empty_; }
  // How often something was read as it is meant to be, though hardly as the user means it; the
  // command says so at the end (cli/statements.cc). Stays put.
  int64_t* Oddity(const std::string& name) { return counters_->Find(name); }
  // What was appended is in the file.
  Status Flush();
  // … and survives a crash of the machine. Costs nothing where nothing was appended.
  Status Sync();
  // Whether the record that begins there will not be read any more.
  using IsRead = std::function<bool(const LetterPlace& place)>;
  // Takes this job's letters of the table out of the file whose records are read again. Requires:
  // nobody writes letters yet.
  Status ForgetUnread(const IsRead& is_read);

 private:
  Rejects(std::string table, const ConnectorContext& context);
  RejectReason ReasonOf(const Reject& reject) const;
  Status ErrorOf(const Reject& reject) const;
  void AppendLetter(const Reject& reject);

  std::string table_;
  TableSettings settings_;
  std::string file_;  // being read
  Counters own_;      // where nobody else counts
  Counters* counters_;
  int64_t* records_read_;
  int64_t* rejected_;
  int64_t* reasons_[kRejectReasons];
  int64_t* nulled_;
  int64_t* empty_;
  const MessagePlaces* places_ = nullptr;
  Status OpenLetters();
  bool IsForgotten(const std::string& letter, const IsRead& is_read) const;

  std::string job_id_;  // "": without checkpoints
  std::string path_;    // of dead letters; "": none
  int letters_ = -1;    // file descriptor, from the first letter on
  bool synced_ = true;
  std::string buffer_;
};

// Bytes for a message: printable UTF-8 as it is, all else as \xNN, cut behind `bytes_max`.
std::string Excerpt(std::string_view bytes, size_t bytes_max);
// The message of a record that is longer than the limit.
std::string TooLargeText(const InputLimits& limits);

}  // namespace rowtide
