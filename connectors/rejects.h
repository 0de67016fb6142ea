// What becomes of the records of one source that do not decode, and how many there were.
//
//   fail          the job stops; the message has table, file, line, byte, reason and the record
//   skip          the record is left out and counted
//   dead-letter   the same, and a letter of it is kept (connectors/dead_letters.h)
//
// records_read = rows of the source + rejected, where a record of many rows counts as its rows.
// Each rejected record has one reason. A field that becomes NULL under 'ignore-parse-errors' is
// counted as `cast_to_null` and rejects nothing. One thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "connectors/dead_letters.h"
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

class Rejects {
 public:
  // `letters`: where they go, of a source that has a place of its own for them; else a file is
  // opened where one is named.
  static Result<std::unique_ptr<Rejects>> Create(const std::string& table,
                                                 const ConnectorContext& context,
                                                 std::unique_ptr<DeadLetters> letters = nullptr);
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
  // A message that says nothing, and becomes no row: without a value, of no bytes, or no elements.
  void CountEmpty() { ++*empty_; }
  // How often something was read as it is meant to be, though hardly as the user means it; the
  // command says so at the end (cli/statements.cc). Stays put.
  int64_t* Oddity(const std::string& name) { return counters_->Find(name); }
  // Of the letters, where some are kept.
  Status Flush() { return letters_ ? letters_->Flush() : Status::Ok(); }
  Status Sync() { return letters_ ? letters_->Sync() : Status::Ok(); }
  Status ForgetUnread(const DeadLetters::IsRead& is_read) {
    return letters_ ? letters_->ForgetUnread(is_read) : Status::Ok();
  }

 private:
  Rejects(std::string table, const ConnectorContext& context, std::unique_ptr<DeadLetters> letters);
  RejectReason ReasonOf(const Reject& reject) const;
  Status ErrorOf(const Reject& reject) const;
  DeadLetter LetterOf(const Reject& reject) const;

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
  std::unique_ptr<DeadLetters> letters_;  // null: none are kept
};

// Bytes for a message: printable UTF-8 as it is, all else as \xNN, cut behind `bytes_max`.
std::string Excerpt(std::string_view bytes, size_t bytes_max);
// The message of a record that is longer than the limit.
std::string TooLargeText(const InputLimits& limits);

}  // namespace rowtide
