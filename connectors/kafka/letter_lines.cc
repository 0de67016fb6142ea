#include "connectors/kafka/letter_lines.h"

#include <fcntl.h>
#include <unistd.h>
#include <xxhash.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "engine/base64.h"
#include "engine/schema.h"
#include "engine/value_text.h"

namespace rowtide {
namespace {

using Json = nlohmann::json;

// Base64 text, or null for none. False: it is neither.
bool TakeBytes(const Json& object, const char* name, std::optional<std::string>* bytes) {
  const auto at = object.find(name);
  if (at == object.end()) return false;
  if (at->is_null()) return true;
  return at->is_string() && ParseBase64(at->get_ref<const std::string&>(), &bytes->emplace());
}

// "" where the line is a letter of a topic's record.
std::string FaultOf(const std::string& line, KafkaLetter* letter) {
  const Json object = Json::parse(line, nullptr, false);
  if (!object.is_object()) return "it is no JSON object";
  const auto topic = object.find("topic");
  if (topic == object.end() || !topic->is_string())
    return object.contains("file") ? "the record stood in a file, not in a topic"
                                   : "it has no field 'topic'";
  letter->at.topic = topic->get<std::string>();
  for (const char* name : {"partition", "offset"}) {
    const auto at = object.find(name);
    if (at == object.end() || !at->is_number_integer())
      return fmt::format("it has no field '{}'", name);
  }
  letter->at.partition = object["partition"].get<int32_t>();
  letter->offset = object["offset"].get<int64_t>();
  if (object.contains("truncated")) return "it has only the beginning of the record";
  if (!TakeBytes(object, "key", &letter->key)) return "its field 'key' is not base64";
  if (!TakeBytes(object, "raw_bytes", &letter->value)) return "its field 'raw_bytes' is not base64";
  const auto headers = object.find("headers");
  if (headers == object.end() || !headers->is_array()) return "it has no field 'headers'";
  for (const Json& one : *headers) {
    KafkaHeader& header = letter->headers.emplace_back();
    const bool is_named = one.is_object() && one.contains("key") && one["key"].is_string();
    if (!is_named || !TakeBytes(one, "value", &header.value))
      return "its field 'headers' has something else than headers";
    header.name = one["key"].get<std::string>();
  }
  return "";
}

std::string BackLine(const KafkaLetter& letter) {
  const std::string bytes = letter.key.value_or("") + '\0' + letter.value.value_or("");
  std::string line = "{\"topic\":";
  AppendJsonString(letter.at.topic, &line);
  return line + fmt::format(",\"partition\":{},\"offset\":{},\"xxh3\":\"{:016x}\"}}",
                            letter.at.partition, letter.offset,
                            XXH3_64bits(bytes.data(), bytes.size()));
}

std::string BackPath(const std::string& path) { return path + ".requeued"; }

}  // namespace

Result<LetterLines> LetterLines::Open(const std::string& path) {
  LetterLines lines(path);
  if (!lines.in_) {
    return Status::External("the file {} cannot be read: {}", Quote(path), std::strerror(errno))
        .WithErrorCode("RT5001");
  }
  std::ifstream back(BackPath(path), std::ios::binary);
  for (std::string line; std::getline(back, line);) lines.back_.insert(line);
  return lines;
}

Result<std::optional<LetterLines::Line>> LetterLines::Next() {
  std::string text;
  if (!std::getline(in_, text) || in_.eof()) {
    if (in_.bad())
      return Status::External("the file {} cannot be read: {}", Quote(path_), std::strerror(errno));
    return std::optional<Line>();
  }
  Line line;
  line.number = ++number_;
  KafkaLetter letter;
  line.fault = FaultOf(text, &letter);
  if (line.fault.empty()) line.letter = std::move(letter);
  return std::optional<Line>(std::move(line));
}

bool LetterLines::IsNew(const KafkaLetter& letter) {
  std::string line = BackLine(letter);
  if (!back_.insert(line).second) return false;
  new_ += std::move(line) + "\n";
  return true;
}

Status LetterLines::MarkBack() {
  if (new_.empty()) return Status::Ok();
  const std::string path = BackPath(path_);
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  size_t done = 0;
  while (descriptor >= 0 && done < new_.size()) {
    const ssize_t count = ::write(descriptor, new_.data() + done, new_.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) break;
    done += static_cast<size_t>(count);
  }
  const bool is_kept = done == new_.size() && ::fsync(descriptor) == 0;
  const int error = errno;
  if (descriptor >= 0) ::close(descriptor);
  if (!is_kept) {
    return Status::External("records are back, but {} cannot be written: {}; the next run puts "
                            "them back again",
                            path, std::strerror(error));
  }
  new_.clear();
  return Status::Ok();
}

}  // namespace rowtide
