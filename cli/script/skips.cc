#include "cli/script/skips.h"

#include <charconv>
#include <fstream>

namespace rowtide {

namespace {

namespace fs = std::filesystem;

Result<Skip> ParseSkip(const std::string& line, const fs::path& folder, std::string where) {
  const size_t end = line.find_first_of(" \t");
  const size_t rest = end == std::string::npos ? end : line.find_first_not_of(" \t", end);
  if (rest == std::string::npos) {
    return Status::InvalidArgument("{}: the missing construct is not named: {}", where, line);
  }
  Skip skip;
  skip.construct = line.substr(rest);
  skip.where = std::move(where);
  std::string path = line.substr(0, end);
  const size_t colon = path.rfind(':');
  if (colon != std::string::npos) {
    const char* first = path.data() + colon + 1;
    const char* last = path.data() + path.size();
    const auto parsed = std::from_chars(first, last, skip.unit);
    if (parsed.ptr != last || skip.unit < 1) {
      return Status::InvalidArgument("{}: {} names no unit", skip.where, path);
    }
    path.resize(colon);
  }
  skip.script = (folder / path).lexically_normal();
  return skip;
}

}  // namespace

Status SkipList::Read(const fs::path& file) {
  const fs::path absolute = fs::absolute(file).lexically_normal();
  if (!read_.insert(absolute).second) return Status::Ok();
  std::ifstream in(absolute);
  if (!in) return Status::NotFound("{} cannot be read", absolute.string());
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    if (line.empty() || line[0] == '#') continue;
    const std::string where = fmt::format("{}:{}", file.string(), number);
    RT_ASSIGN(Skip skip, ParseSkip(line, absolute.parent_path(), where));
    skips_[skip.script].push_back(std::move(skip));
  }
  return Status::Ok();
}

Status SkipList::ReadAround(const fs::path& script) {
  fs::path folder = fs::absolute(script).lexically_normal().parent_path();
  while (true) {
    if (fs::is_regular_file(folder / "skips")) RT_TRY(Read(folder / "skips"));
    if (folder == folder.parent_path()) return Status::Ok();
    folder = folder.parent_path();
  }
}

const std::string* SkipList::Find(const fs::path& script, int unit) const {
  const auto found = skips_.find(fs::absolute(script).lexically_normal());
  if (found == skips_.end()) return nullptr;
  for (const Skip& skip : found->second) {
    if (skip.unit == 0 || skip.unit == unit) return &skip.construct;
  }
  return nullptr;
}

Status SkipList::Check(const fs::path& script, int units) const {
  const auto found = skips_.find(fs::absolute(script).lexically_normal());
  if (found == skips_.end()) return Status::Ok();
  for (const Skip& skip : found->second) {
    if (skip.unit > units) {
      return Status::InvalidArgument("{}: the script has {} units", skip.where, units);
    }
  }
  return Status::Ok();
}

Status SkipList::CheckScriptsExist() const {
  for (const auto& [script, skips] : skips_) {
    if (!fs::is_regular_file(script)) {
      return Status::NotFound("{}: there is no script {}", skips[0].where, script.string());
    }
  }
  return Status::Ok();
}

}  // namespace rowtide
