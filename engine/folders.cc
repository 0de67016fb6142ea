#include "engine/folders.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace rowtide {
namespace {

namespace fs = std::filesystem;

std::string ParentOf(const std::string& path) {
  fs::path whole(path);
  if (!whole.has_filename()) whole = whole.parent_path();  // `a/b/`
  const std::string parent = whole.parent_path().string();
  return parent.empty() ? "." : parent;
}

}  // namespace

Status SyncFolder(const std::string& path) {
  const int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool synced = folder >= 0 && ::fsync(folder) == 0;
  const int fault = errno;
  if (folder >= 0) ::close(folder);
  if (synced) return Status::Ok();
  return Status::External("cannot sync the folder {}: {}", path, std::strerror(fault));
}

Status MakeFolders(const std::string& path) {
  std::error_code error;
  const std::string parent = ParentOf(path);
  const bool is_there = fs::exists(path, error);
  if (!is_there && !error && !fs::exists(parent, error)) RT_TRY(MakeFolders(parent));
  if (!is_there && !error) fs::create_directory(path, error);
  if (!error && !fs::is_directory(path, error))
    error = std::make_error_code(std::errc::not_a_directory);
  if (error) return Status::External("cannot make the folder {}: {}", path, error.message());
  return SyncFolder(parent).WithContext("cannot make the folder " + path);
}

}  // namespace rowtide
