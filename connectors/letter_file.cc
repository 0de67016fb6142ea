#include "connectors/letter_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "connectors/utf8.h"
#include "engine/base64.h"
#include "engine/durable_files.h"
#include "engine/value_text.h"

namespace rowtide {
namespace {

// Letters are gathered up to this; of a record that is too large, one keeps as much.
constexpr size_t kLetterBytes = 64 << 10;

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

Result<std::unique_ptr<LetterFile>> LetterFile::Create(std::string table, std::string path,
                                                       std::string job_id) {
  std::unique_ptr<LetterFile> made(
      new LetterFile(std::move(table), std::move(path), std::move(job_id)));
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::path(made->path_).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder, error);
  RT_TRY(made->Open());
  // Until a job has begun, its letters may leave the file (ForgetUnread).
  ::close(std::exchange(made->descriptor_, -1));
  return made;
}

LetterFile::~LetterFile() {
  (void)Flush().ok();
  if (descriptor_ >= 0) ::close(descriptor_);
}

Status LetterFile::Open() {
  descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (descriptor_ >= 0) return Status::Ok();
  return Status::External("cannot open {} for dead letters: {}", path_, std::strerror(errno));
}

void LetterFile::AppendField(const char* name, std::string_view value) {
  fmt::format_to(std::back_inserter(buffer_), "\"{}\":", name);
  std::string text;
  AppendUtf8(value, &text);
  AppendJsonString(text, &buffer_);
  buffer_ += ',';
}

Status LetterFile::Append(const DeadLetter& letter) {
  buffer_ += '{';
  if (!job_id_.empty()) AppendField("job", job_id_);
  AppendField("code", letter.code);
  AppendField("reason", letter.reason);
  AppendField("message", letter.message);
  AppendField("table_name", table_);
  std::optional<std::string_view> raw = letter.bytes;
  if (letter.places != nullptr) {
    const int32_t record = RecordOfPlace(letter.place.line);
    letter.places->AppendFields(record, &buffer_);
    raw = letter.places->Value(record);
  } else {
    AppendField("file", letter.file);
    fmt::format_to(std::back_inserter(buffer_), "\"line\":{},\"byte\":{},", letter.place.line,
                   letter.place.byte);
  }
  const bool is_cut = letter.is_record_too_large && raw && raw->size() > kLetterBytes;
  if (is_cut) raw = raw->substr(0, kLetterBytes);
  if (raw) {
    buffer_ += "\"raw_bytes\":\"";
    AppendBase64(*raw, &buffer_);
    buffer_ += "\",\"text\":";
    std::string text;
    AppendUtf8(*raw, &text);
    AppendJsonString(text, &buffer_);
  } else {
    buffer_ += "\"raw_bytes\":null,\"text\":null";
  }
  buffer_ += is_cut ? ",\"truncated\":true}\n" : "}\n";
  return buffer_.size() < kLetterBytes ? Status::Ok() : Flush();
}

Status LetterFile::Flush() {
  std::string_view rest = buffer_;
  if (rest.empty()) return Status::Ok();
  if (descriptor_ < 0) RT_TRY(Open());
  synced_ = false;
  while (!rest.empty()) {
    const ssize_t count = ::write(descriptor_, rest.data(), rest.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0)
      return Status::External("cannot write dead letters to {}: {}", path_, std::strerror(errno));
    rest.remove_prefix(static_cast<size_t>(count));
  }
  buffer_.clear();
  return Status::Ok();
}

Status LetterFile::Sync() {
  RT_TRY(Flush());
  if (std::exchange(synced_, true) || job_id_.empty()) return Status::Ok();
  if (::fsync(descriptor_) == 0) return Status::Ok();
  return Status::External("cannot sync the dead letters in {}: {}", path_, std::strerror(errno));
}

// --- after a crash ---

bool LetterFile::IsForgotten(const std::string& letter, const IsRead& is_read) const {
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

Status LetterFile::ForgetUnread(const IsRead& is_read) {
  std::error_code error;
  if (job_id_.empty() || !std::filesystem::is_regular_file(path_, error)) return Status::Ok();
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
