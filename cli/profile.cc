#include "cli/profile.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "engine/schema.h"

namespace rowtide {

namespace {

// What parts frames and lines is not in a name.
std::string Frame(std::string name) {
  for (char& letter : name) {
    if (letter == ';') letter = ',';
    if (static_cast<unsigned char>(letter) < ' ') letter = ' ';
  }
  return name;
}

Status Unwritable(const std::string& path) {
  return Status::External("the profile cannot be written to {}: {}", Quote(path),
                          std::strerror(errno));
}

}  // namespace

std::string FoldedStacks(const std::string& job, double seconds,
                         const std::vector<PathTime>& paths) {
  std::vector<int64_t> rest;  // of each lane
  std::string lines;
  for (const PathTime& path : paths) {
    while (rest.size() <= static_cast<size_t>(path.lane))
      rest.push_back(static_cast<int64_t>(seconds * 1e9));
    lines += fmt::format("{};task {}", Frame(job), path.lane + 1);
    for (const std::string& node : path.nodes) lines += ";" + Frame(node);
    lines += fmt::format(" {}\n", path.nanos / 1000);
    rest[static_cast<size_t>(path.lane)] -= path.nanos;
  }
  std::string tasks;
  for (size_t lane = 0; lane < rest.size(); ++lane) {
    tasks += fmt::format("{};task {} {}\n", Frame(job), lane + 1,
                         std::max<int64_t>(rest[lane], 0) / 1000);
  }
  return tasks + lines;
}

Result<std::unique_ptr<ProfileFile>> ProfileFile::Open(const std::string& path) {
  FILE* file = std::fopen(path.c_str(), "ae");
  if (file == nullptr) return Unwritable(path).WithHint("name a file in a folder that is there");
  return std::unique_ptr<ProfileFile>(new ProfileFile(path, file));
}

Status ProfileFile::Add(const std::string& job, double seconds,
                        const std::vector<PathTime>& paths) {
  const std::string lines = FoldedStacks(job, seconds, paths);
  if (is_old_ && ::ftruncate(::fileno(file_.get()), 0) != 0 && errno != EINVAL)
    return Unwritable(path_);
  is_old_ = false;
  const bool written = std::fwrite(lines.data(), 1, lines.size(), file_.get()) == lines.size();
  if (!written || std::fflush(file_.get()) != 0) return Unwritable(path_);
  return Status::Ok();
}

}  // namespace rowtide
