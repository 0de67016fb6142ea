// Which files a `path` names, in byte order of their paths.
//
//   a file              itself, whatever its name
//   a folder            all files in it and below, without names that begin with . or _
//   a pattern  *.csv    what the shell would find, without such names; folders as above
//   -                   standard input
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/status.h"

namespace rowtide {

struct FileEntry {
  std::string path;  // without `file:`
  int64_t bytes = 0;
  int64_t modified_ms = 0;
  std::string name() const { return path.substr(path.rfind('/') + 1); }
};

// What the lanes that read a table take as one: the first of them lists, the others see the same.
struct FileListing {
  std::optional<std::vector<FileEntry>> files;
};

inline constexpr const char* kStandardStream = "-";

// `regex` must match a whole path. A path that is not there is an error, one without files is not.
Result<std::vector<FileEntry>> ListFiles(const std::string& path,
                                         const std::optional<std::string>& regex);

// The path of a `file:` URI, or the text as it is.
std::string LocalPath(const std::string& path);

}  // namespace rowtide
