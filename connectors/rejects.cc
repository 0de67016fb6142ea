#include "connectors/rejects.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "connectors/files/list.h"
#include "connectors/formats/hints.h"
#include "connectors/utf8.h"
#include "engine/base64.h"
#include "engine/durable_files.h"
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
                                                 const ConnectorContext& context) {
  std::unique_ptr<Rejects> rejects(new Rejects(table, context));
  const TableSettings& settings = rejects->settings_;
  if (settings.bad_data != BadData::kDeadLetter) return rejects;
  if (settings.dead_letter.empty()) {
    return Status::InvalidArgument("'rowtide.bad-data.{}' is dead-letter, but no file is named",
                                   settings.key)
        .WithHint(fmt::format("SET 'rowtide.dead-letter.{}' = 'rejects.ndjson'", settings.key));
  }
  if (settings.dead_letter.starts_with("topic:")) {
    return Status::Unsupported("'rowtide.dead-letter.{}' = {}: a topic of dead letters",
                               settings.key, Quote(settings.dead_letter))
        .WithHint("name a file; a json table reads it, and can be written into a topic");
  }
  rejects->path_ = LocalPath(settings.dead_letter);
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::path(rejects->path_).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder, error);
  RT_TRY(rejects->OpenLetters());
  // Until a job has begun, its letters may leave the file (ForgetUnread).
  ::close(std::exchange(rejects->letters_, -1));
  return rejects;
}

Status Rejects::OpenLetters() {
  letters_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (letters_ >= 0) return Status::Ok();
  return Status::External("cannot open {} for dead letters: {}", path_, std::strerror(errno));
}

Rejects::Rejects(std::string table, const ConnectorContext& context)
    : table_(std::move(table)), settings_(context.settings), job_id_(context.job_id) {
  counters_ = context.counters != nullptr ? context.counters : &own_;
  Counters& counters = *counters_;
  records_read_ = counters.Find("records_read");
  rejected_ = counters.Find("rejected");
  for (size_t i = 0; i < kRejectReasons; ++i) reasons_[i] = counters.Find(kReasonNames[i].name);
  nulled_ = counters.Find("cast_to_null");
  empty_ = counters.Find("empty_message");
}

Rejects::~Rejects() {
  (void)Flush().ok();
  if (letters_ >= 0) ::close(letters_);
}

Status Rejects::Take(const Reject& reject) {
  if (fails()) return ErrorOf(reject);
  return TakeQuietly(reject);
}

Status Rejects::TakeQuietly(const Reject& reject) {
  ++*rejected_;
  ++*reasons_[static_cast<size_t>(ReasonOf(reject))];
  if (!path_.empty()) AppendLetter(reject);
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
  if (!job_id_.empty()) field("job", job_id_);
  field("code", NameOf(ReasonOf(reject)).code);
  field("reason", NameOf(ReasonOf(reject)).name);
  field("message", reject.column.empty()
                       ? reject.message
                       : "column " + Quote(reject.column) + ": " + reject.message);
  field("table_name", table_);
  if (IsPlaceOfRecord(reject.place.line)) {
    places_->AppendFields(RecordOfPlace(reject.place.line), &buffer_);
  } else {
    field("file", file_);
    fmt::format_to(std::back_inserter(buffer_), "\"line\":{},\"byte\":{},", reject.place.line,
                   reject.place.byte);
  }
  buffer_ += "\"raw_bytes\":\"";
  AppendBase64(raw, &buffer_);
  buffer_ += "\",\"text\":";
  std::string text;
  AppendUtf8(raw, &text);
  AppendJsonString(text, &buffer_);
  buffer_ += is_cut ? ",\"truncated\":true}\n" : "}\n";
}

Status Rejects::Flush() {
  std::string_view rest = buffer_;  // empty unless letters are written
  if (rest.empty()) return Status::Ok();
  if (letters_ < 0) RT_TRY(OpenLetters());
  synced_ = false;
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

Status Rejects::Sync() {
  RT_TRY(Flush());
  if (std::exchange(synced_, true) || job_id_.empty()) return Status::Ok();
  if (::fsync(letters_) == 0) return Status::Ok();
  return Status::External("cannot sync the dead letters in {}: {}", path_, std::strerror(errno));
}

// --- after a crash ---

namespace {

// Calls `visit` with each line, without its end; what comes last and has none is no letter.
template <typename Visit>
Status ForEachLine(const std::string& path, const Visit& visit) {
  std::ifstream in(path, std::ios::binary);
  std::string line;
  while (std::getline(in, line) && !in.eof()) RT_TRY(visit(line));
  if (in.bad()) return Status::External("cannot read the dead letters in {}", path);
  return Status::Ok();
}

}  // namespace

bool Rejects::IsForgotten(const std::string& letter, const IsRead& is_read) const {
  if (letter.find(job_id_) == std::string::npos) return false;  // most are of other jobs
  const nlohmann::json fields = nlohmann::json::parse(letter, nullptr, false);
  const auto text = [&](const char* name) {
    const auto at = fields.find(name);
    return at != fields.end() && at->is_string() ? at->get<std::string>() : std::string();
  };
  if (!fields.is_object() || text("job") != job_id_ || text("table_name") != table_) return false;
  const auto number = [&](const char* name) -> std::optional<int64_t> {
    const auto at = fields.find(name);
    if (at == fields.end() || !at->is_number_integer()) return std::nullopt;
    return at->get<int64_t>();
  };
  if (const auto partition = number("partition")) {
    const auto offset = number("offset");
    return offset && !is_read({text("topic"), static_cast<int32_t>(*partition), *offset});
  }
  const auto byte = number("byte");
  return byte && !is_read({text("file"), -1, *byte});
}

Status Rejects::ForgetUnread(const IsRead& is_read) {
  std::error_code error;
  if (path_.empty() || job_id_.empty() || !std::filesystem::is_regular_file(path_, error))
    return Status::Ok();
  std::uintmax_t kept = 0;
  RT_TRY(ForEachLine(path_, [&](const std::string& line) {
    if (!IsForgotten(line, is_read)) kept += line.size() + 1;
    return Status::Ok();
  }));
  if (kept == std::filesystem::file_size(path_, error)) return Status::Ok();
  const std::string rewritten = path_ + ".new";
  std::filesystem::remove(rewritten, error);
  {
    std::ofstream out(rewritten, std::ios::binary);
    RT_TRY(ForEachLine(path_, [&](const std::string& line) {
      if (!IsForgotten(line, is_read)) out << line << '\n';
      return Status::Ok();
    }));
    if (!out.flush())
      return Status::External("cannot write {}: {}", rewritten, std::strerror(errno));
  }
  RT_TRY(SyncFile(rewritten));
  return RenameDurably(rewritten, path_);
}

}  // namespace rowtide
