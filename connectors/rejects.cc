#include "connectors/rejects.h"

#include <algorithm>

#include "connectors/files/list.h"
#include "connectors/formats/hints.h"
#include "connectors/letter_file.h"
#include "connectors/utf8.h"

namespace rowtide {
namespace {

constexpr size_t kExcerptBytes = 200;

struct ReasonName {
  const char* name;
  const char* code;
};
constexpr ReasonName kReasonNames[kRejectReasons] = {
    {"undecodable", "RT4001"}, {"invalid_encoding", "RT4001"}, {"too_large", "RT4004"},
    {"too_deep", "RT4004"},    {"missing_field", "RT4001"},    {"cast", "RT4001"},
    {"not_null", "RT4001"},    {"null_key", "RT4001"}};

const ReasonName& NameOf(RejectReason reason) { return kReasonNames[static_cast<size_t>(reason)]; }

Result<std::unique_ptr<DeadLetters>> OpenLetterFile(const std::string& table,
                                                    const ConnectorContext& context) {
  const TableSettings& settings = context.settings;
  if (settings.dead_letter.empty()) {
    return Status::InvalidArgument("'rowtide.bad-data.{}' is dead-letter, but no place is named",
                                   settings.key)
        .WithHint(fmt::format("SET 'rowtide.dead-letter.{}' = 'rejects.ndjson'", settings.key));
  }
  if (LetterTopicOf(settings.dead_letter)) {
    return Status::InvalidArgument(
               "'rowtide.dead-letter.{}' = {}: letters go into a topic of the cluster that the "
               "table is read from, and table {} is none of Kafka's",
               settings.key, Quote(settings.dead_letter), table)
        .WithHint("name a file; a json table reads it, and can be written into a topic");
  }
  RT_ASSIGN(std::unique_ptr<LetterFile> letters,
            LetterFile::Create(table, LocalPath(settings.dead_letter), context.job_id));
  return std::unique_ptr<DeadLetters>(std::move(letters));
}

}  // namespace

const char* NameOfReason(RejectReason reason) { return NameOf(reason).name; }

std::string Excerpt(std::string_view bytes, size_t bytes_max) {
  std::string text;
  std::string_view rest = bytes.substr(0, bytes_max);
  while (!rest.empty()) {
    const size_t taken = Utf8CharacterBytes(rest);
    if (taken == 0 || static_cast<unsigned char>(rest[0]) < ' ' || rest[0] == '\x7f') {
      fmt::format_to(std::back_inserter(text), "\\x{:02x}", static_cast<unsigned char>(rest[0]));
      rest.remove_prefix(1);
    } else {
      text += rest.substr(0, taken);
      rest.remove_prefix(taken);
    }
  }
  return bytes.size() > bytes_max ? text + "..." : text;
}

std::string TooLargeText(const InputLimits& limits) {
  return fmt::format("a record of more than {} bytes ('rowtide.limits.record-bytes')",
                     limits.record_bytes);
}

Result<std::unique_ptr<Rejects>> Rejects::Create(const std::string& table,
                                                 const ConnectorContext& context,
                                                 std::unique_ptr<DeadLetters> letters) {
  if (context.settings.bad_data == BadData::kDeadLetter && letters == nullptr) {
    RT_ASSIGN(letters, OpenLetterFile(table, context));
  }
  return std::unique_ptr<Rejects>(new Rejects(table, context, std::move(letters)));
}

Rejects::Rejects(std::string table, const ConnectorContext& context,
                 std::unique_ptr<DeadLetters> letters)
    : table_(std::move(table)), settings_(context.settings), letters_(std::move(letters)) {
  counters_ = context.counters != nullptr ? context.counters : &own_;
  Counters& counters = *counters_;
  records_read_ = counters.Find("records_read");
  rejected_ = counters.Find("rejected");
  for (size_t i = 0; i < kRejectReasons; ++i) reasons_[i] = counters.Find(kReasonNames[i].name);
  nulled_ = counters.Find("cast_to_null");
  empty_ = counters.Find("empty_message");
}

Status Rejects::Take(const Reject& reject) {
  if (fails()) return ErrorOf(reject);
  return TakeQuietly(reject);
}

Status Rejects::TakeQuietly(const Reject& reject) {
  ++*rejected_;
  ++*reasons_[static_cast<size_t>(ReasonOf(reject))];
  return letters_ ? letters_->Append(LetterOf(reject)) : Status::Ok();
}

RejectReason Rejects::ReasonOf(const Reject& reject) const {
  const std::vector<std::string>& key = settings_.primary_key;
  const bool is_key = reject.reason == RejectReason::kNotNull &&
                      std::find(key.begin(), key.end(), reject.column) != key.end();
  return is_key ? RejectReason::kNullKey : reject.reason;
}

Status Rejects::ErrorOf(const Reject& reject) const {
  const std::string column = reject.column.empty() ? "" : ", column " + Quote(reject.column);
  const bool is_message = IsPlaceOfRecord(reject.place.line);
  const std::string line =
      reject.place.line == 0 ? "" : fmt::format("line {}, ", reject.place.line);
  const std::string place = is_message
                                ? places_->Text(RecordOfPlace(reject.place.line))
                                : fmt::format("file {}: {}byte {}", file_, line, reject.place.byte);
  Status error = Status::DataError("table {}, {}{}: {}\nthe record: {}", table_, place, column,
                                   reject.message, Excerpt(reject.bytes, kExcerptBytes))
                     .WithErrorCode(NameOf(reject.reason).code);
  const std::string meant = reject.hint.empty() && reject.place.byte == 0 && !is_message
                                ? PackedHint(reject.bytes)
                                : reject.hint;
  const std::string hint =
      meant.empty() ? fmt::format(
                          "SET 'rowtide.bad-data.{}' = 'skip' leaves such records out and counts "
                          "them; 'dead-letter' keeps them",
                          settings_.key)
                    : meant;
  return std::move(error).WithHint(hint);
}

DeadLetter Rejects::LetterOf(const Reject& reject) const {
  const ReasonName& name = NameOf(ReasonOf(reject));
  const bool is_message = IsPlaceOfRecord(reject.place.line);
  std::string message = reject.column.empty()
                            ? reject.message
                            : "column " + Quote(reject.column) + ": " + reject.message;
  return {name.code,
          name.name,
          std::move(message),
          reject.place,
          is_message ? std::string_view() : std::string_view(file_),
          is_message ? places_ : nullptr,
          reject.bytes,
          reject.reason == RejectReason::kTooLarge};
}

}  // namespace rowtide
