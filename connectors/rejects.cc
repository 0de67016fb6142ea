#include "connectors/rejects.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "engine/base64.h"
#include "connectors/files/list.h"
#include "connectors/formats/hints.h"
#include "connectors/utf8.h"
#include "engine/value_text.h"

namespace rowtide {
namespace {

constexpr size_t kExcerptBytes = 200;
// Of a record that is too large, a dead letter keeps this much.
constexpr size_t kLetterBytes = 64 << 10;

struct ReasonName {
  const char* name;
  const char* code;
};
constexpr ReasonName kReasonNames[kRejectReasons] = {
    {"undecodable", "RT4001"}, {"invalid_encoding", "RT4001"}, {"too_large", "RT4004"},
    {"too_deep", "RT4004"},    {"missing_field", "RT4001"},    {"cast", "RT4001"},
    {"not_null", "RT4001"},    {"null_key", "RT4001"}};

const ReasonName& NameOf(RejectReason reason) { return kReasonNames[static_cast<size_t>(reason)]; }

}  // namespace

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
                                                 const ConnectorContext& context) {
  std::unique_ptr<Rejects> rejects(new Rejects(table, context));
  const TableSettings& settings = rejects->settings_;
  if (settings.bad_data != BadData::kDeadLetter) return rejects;
  if (settings.dead_letter.empty()) {
    return Status::InvalidArgument("'rowtide.bad-data.{}' is dead-letter, but no file is named",
                                   settings.key)
        .WithHint(fmt::format("SET 'rowtide.dead-letter.{}' = 'rejects.ndjson'", settings.key));
  }
  const std::string path = LocalPath(settings.dead_letter);
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder, error);
  rejects->letters_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (rejects->letters_ < 0)
    return Status::External("cannot open {} for dead letters: {}", path, std::strerror(errno));
  return rejects;
}

Rejects::Rejects(std::string table, const ConnectorContext& context)
    : table_(std::move(table)), settings_(context.settings) {
  counters_ = context.counters != nullptr ? context.counters : &own_;
  Counters& counters = *counters_;
  records_read_ = counters.Find("records_read");
  rejected_ = counters.Find("rejected");
  for (size_t i = 0; i < kRejectReasons; ++i) reasons_[i] = counters.Find(kReasonNames[i].name);
  nulled_ = counters.Find("cast_to_null");
}

Rejects::~Rejects() {
  if (letters_ < 0) return;
  (void)Flush().ok();
  ::close(letters_);
}

Status Rejects::Take(const Reject& reject) {
  if (fails()) return ErrorOf(reject);
  return TakeQuietly(reject);
}

Status Rejects::TakeQuietly(const Reject& reject) {
  ++*rejected_;
  ++*reasons_[static_cast<size_t>(ReasonOf(reject))];
  if (letters_ >= 0) AppendLetter(reject);
  return buffer_.size() < kLetterBytes ? Status::Ok() : Flush();
}

RejectReason Rejects::ReasonOf(const Reject& reject) const {
  const std::vector<std::string>& key = settings_.primary_key;
  const bool is_key = reject.reason == RejectReason::kNotNull &&
                      std::find(key.begin(), key.end(), reject.column) != key.end();
  return is_key ? RejectReason::kNullKey : reject.reason;
}

Status Rejects::ErrorOf(const Reject& reject) const {
  const std::string column = reject.column.empty() ? "" : ", column " + Quote(reject.column);
  Status error = Status::DataError("table {}, file {}: line {}, byte {}{}: {}\nthe record: {}",
                                   table_, file_, reject.place.line, reject.place.byte, column,
                                   reject.message, Excerpt(reject.bytes, kExcerptBytes))
                     .WithErrorCode(NameOf(reject.reason).code);
  const std::string meant =
      reject.hint.empty() && reject.place.byte == 0 ? PackedHint(reject.bytes) : reject.hint;
  const std::string hint =
      meant.empty() ? fmt::format(
                          "SET 'rowtide.bad-data.{}' = 'skip' leaves such records out and counts "
                          "them; 'dead-letter' keeps them in a file",
                          settings_.key)
                    : meant;
  return std::move(error).WithHint(hint);
}

void Rejects::AppendLetter(const Reject& reject) {
  const bool is_cut =
      reject.reason == RejectReason::kTooLarge && reject.bytes.size() > kLetterBytes;
  const std::string_view raw = is_cut ? reject.bytes.substr(0, kLetterBytes) : reject.bytes;
  const auto field = [this](const char* name, std::string_view value) {
    fmt::format_to(std::back_inserter(buffer_), "\"{}\":", name);
    std::string text;
    AppendUtf8(value, &text);
    AppendJsonString(text, &buffer_);
    buffer_ += ',';
  };
  buffer_ += '{';
  field("code", NameOf(ReasonOf(reject)).code);
  field("reason", NameOf(ReasonOf(reject)).name);
  field("message", reject.column.empty()
                       ? reject.message
                       : "column " + Quote(reject.column) + ": " + reject.message);
  field("table_name", table_);
  field("file", file_);
  fmt::format_to(std::back_inserter(buffer_), "\"line\":{},\"byte\":{},\"raw_bytes\":\"",
                 reject.place.line, reject.place.byte);
  AppendBase64(raw, &buffer_);
  buffer_ += "\",\"text\":";
  std::string text;
  AppendUtf8(raw, &text);
  AppendJsonString(text, &buffer_);
  buffer_ += is_cut ? ",\"truncated\":true}\n" : "}\n";
}

Status Rejects::Flush() {
  std::string_view rest = buffer_;  // empty unless letters are written
  while (!rest.empty()) {
    const ssize_t count = ::write(letters_, rest.data(), rest.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      return Status::External("cannot write dead letters to {}: {}", settings_.dead_letter,
                              std::strerror(errno));
    }
    rest.remove_prefix(static_cast<size_t>(count));
  }
  buffer_.clear();
  return Status::Ok();
}

}  // namespace rowtide
