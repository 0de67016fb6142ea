#include "planner/references.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "engine/schema.h"
#include "engine/secrets.h"

namespace rowtide {
namespace {

constexpr const char* kCode = "RT2028";
constexpr std::string_view kFile = "file:";
constexpr size_t kFileBytesMax = 64 << 10;

bool IsVariable(std::string_view name) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !name.empty() && is_letter(name[0]) && std::all_of(name.begin(), name.end(), [&](char c) {
    return is_letter(c) || (c >= '0' && c <= '9');
  });
}

Result<std::string> ValueOfVariable(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  if (value != nullptr) return std::string(value);
  return Status::InvalidArgument("the environment variable {} is not set", name)
      .WithErrorCode(kCode)
      .WithHint(
          fmt::format("export {}=…, or write $${{{}}} if that text itself is meant", name, name));
}

// Editors and `echo` put a line end behind it.
Result<std::string> ValueOfFile(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             std::fclose);
  std::string text(kFileBytesMax + 1, '\0');
  if (file != nullptr) text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  if (file == nullptr || std::ferror(file.get()) != 0) {
    return Status::InvalidArgument("the file {} that a value refers to cannot be read: {}",
                                   Quote(path), std::strerror(errno))
        .WithErrorCode(kCode)
        .WithHint("give its path behind `file:`, and let the one who runs this read it");
  }
  if (text.size() > kFileBytesMax) {
    return Status::InvalidArgument("the file {} that a value refers to has more than {} KiB",
                                   Quote(path), kFileBytesMax >> 10)
        .WithErrorCode(kCode);
  }
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
  return text;
}

Result<std::string> ValueOf(std::string_view reference) {
  if (reference.starts_with(kFile) && reference.size() > kFile.size())
    return ValueOfFile(std::string(reference.substr(kFile.size())));
  if (IsVariable(reference)) return ValueOfVariable(std::string(reference));
  return Status::InvalidArgument("${{{}}} names neither an environment variable nor a file",
                                 reference)
      .WithErrorCode(kCode)
      .WithHint("write ${NAME} or ${file:/path}; $${ is the text ${");
}

}  // namespace

Result<std::string> ResolveReferences(std::string_view value) {
  std::string resolved;
  while (true) {
    const size_t at = value.find("${");
    if (at == std::string_view::npos) return resolved.append(value);
    if (at > 0 && value[at - 1] == '$') {  // $${ is ${
      resolved.append(value.substr(0, at - 1)).append("${");
      value.remove_prefix(at + 2);
      continue;
    }
    const size_t end = value.find('}', at);
    if (end == std::string_view::npos) {
      return Status::InvalidArgument("${{ has no }} behind it")
          .WithErrorCode(kCode)
          .WithHint("write ${NAME} or ${file:/path}; $${ is the text ${");
    }
    RT_ASSIGN(const std::string text, ValueOf(value.substr(at + 2, end - at - 2)));
    HideSecretValue(text);
    resolved.append(value.substr(0, at)).append(text);
    value.remove_prefix(end + 1);
  }
}

Status CheckReferences(const std::map<std::string, std::string>& options) {
  for (const auto& [key, value] : options) {
    const Result<std::string> resolved = ResolveReferences(value);
    if (!resolved.ok())
      return Status(resolved.status()).WithContext(fmt::format("the option {}", Quote(key)));
  }
  return Status::Ok();
}

}  // namespace rowtide
