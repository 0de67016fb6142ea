#include "connectors/files/list.h"

#include <glob.h>
#include <re2/re2.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

namespace rowtide {
namespace {

bool IsHidden(const std::string& name) { return name.starts_with('.') || name.starts_with('_'); }

std::string NameOf(const std::string& path) { return path.substr(path.rfind('/') + 1); }

Status Add(const std::string& path, std::vector<FileEntry>* files) {
  struct stat stat;
  if (::stat(path.c_str(), &stat) != 0)
    return Status::External("cannot read file {}: {}", path, std::strerror(errno));
  files->push_back(
      {path, stat.st_size, stat.st_mtim.tv_sec * 1000 + stat.st_mtim.tv_nsec / 1000000});
  return Status::Ok();
}

using FolderId = std::pair<dev_t, ino_t>;

Status FolderFailed(const std::string& folder, const std::string& reason) {
  return Status::External("cannot read folder {}: {}", folder, reason);
}

// `above`: the folders that lead to it. A link back to one of them would never end.
Status AddFolder(const std::string& folder, std::vector<FolderId>* above,
                 std::vector<FileEntry>* files) {
  struct stat stat;
  if (::stat(folder.c_str(), &stat) != 0) return FolderFailed(folder, std::strerror(errno));
  const FolderId id{stat.st_dev, stat.st_ino};
  if (std::find(above->begin(), above->end(), id) != above->end())
    return FolderFailed(folder, "it is a link to a folder that contains it");
  above->push_back(id);
  std::error_code error;
  std::filesystem::directory_iterator entry(folder, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    if (IsHidden(entry->path().filename().string())) continue;
    const std::string path = entry->path().string();
    std::error_code unknown;  // Add says what is wrong with the path
    RT_TRY(std::filesystem::is_directory(path, unknown) ? AddFolder(path, above, files)
                                                        : Add(path, files));
  }
  if (error) return FolderFailed(folder, error.message());
  above->pop_back();
  return Status::Ok();
}

Status AddPath(std::string path, std::vector<FileEntry>* files) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  std::error_code unknown;
  std::vector<FolderId> above;
  return std::filesystem::is_directory(path, unknown) ? AddFolder(path, &above, files)
                                                      : Add(path, files);
}

Status AddPattern(const std::string& pattern, std::vector<FileEntry>* files) {
  glob_t found = {};
  const int failed = ::glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found);
  Status status;
  for (size_t i = 0; failed == 0 && status.ok() && i < found.gl_pathc; ++i) {
    // A star stands for no hidden name; one that is spelt out is meant.
    const std::string path = found.gl_pathv[i];
    if (!IsHidden(NameOf(path)) || IsHidden(NameOf(pattern))) status = AddPath(path, files);
  }
  ::globfree(&found);
  if (failed == GLOB_NOMATCH)
    return Status::External("no file matches {}", pattern).WithErrorCode("RT5001");
  if (failed != 0) return Status::External("cannot look for files {}", pattern);
  return status;
}

}  // namespace

std::string LocalPath(const std::string& path) {
  if (path.starts_with("file://")) return path.substr(7);
  if (path.starts_with("file:")) return path.substr(5);
  return path;
}

Result<std::vector<FileEntry>> ListFiles(const std::string& uri,
                                         const std::optional<std::string>& regex) {
  const std::string path = LocalPath(uri);
  std::vector<FileEntry> files;
  if (path == kStandardStream) return std::vector<FileEntry>{{path}};
  std::error_code error;
  if (std::filesystem::exists(path, error)) {
    RT_TRY(AddPath(path, &files));
  } else if (path.find_first_of("*?[") != std::string::npos) {
    RT_TRY(AddPattern(path, &files));
  } else {
    return Status::External("no file or folder {}", path).WithErrorCode("RT5001");
  }
  if (regex) {
    const RE2 pattern(*regex, RE2::Quiet);
    if (!pattern.ok()) {
      return Status::InvalidArgument("'source.path.regex-pattern' {}: {}", *regex, pattern.error())
          .WithKind(ErrorKind::kRun);
    }
    std::erase_if(files,
                  [&](const FileEntry& file) { return !RE2::FullMatch(file.path, pattern); });
  }
  std::sort(files.begin(), files.end(),
            [](const FileEntry& a, const FileEntry& b) { return a.path < b.path; });
  return files;
}

}  // namespace rowtide
