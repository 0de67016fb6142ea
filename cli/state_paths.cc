#include "cli/state_paths.h"

#include <filesystem>

#include "state/durable/checkpoint_folder.h"

namespace rowtide {
namespace {

namespace fs = std::filesystem;

bool IsJobFolder(const std::string& path) { return fs::exists(path + "/ID"); }

}  // namespace

bool IsCheckpoint(const std::string& path) { return fs::exists(path + "/MANIFEST"); }

Result<std::vector<std::string>> JobFoldersOf(const std::string& path) {
  if (IsJobFolder(path)) return std::vector<std::string>{path};
  RT_ASSIGN(std::vector<std::string> folders, ListJobFolders(path));
  if (folders.empty())
    return Status::External("{} holds no state of a job", path).WithErrorCode("RT6006");
  return folders;
}

Result<std::string> JobFolderOf(const std::string& path) {
  RT_ASSIGN(std::vector<std::string> folders, JobFoldersOf(path));
  if (folders.size() == 1) return std::move(folders[0]);
  return Status::InvalidArgument("{} holds the state of {} jobs: {}", path, folders.size(),
                                 fmt::join(folders, ", "))
      .WithHint("name one of these folders");
}

Result<std::vector<std::string>> CheckpointsOf(const std::string& path) {
  if (IsCheckpoint(path)) return std::vector<std::string>{path};
  RT_ASSIGN(const std::string folder, JobFolderOf(path));
  RT_ASSIGN(const std::vector<CheckpointEntry> entries, ListCheckpoints(folder));
  std::vector<std::string> paths;
  for (const CheckpointEntry& entry : entries) {
    if (entry.is_decided) paths.push_back(entry.path);
  }
  if (paths.empty())
    return Status::External("{} has no checkpoint yet", folder).WithErrorCode("RT6006");
  return paths;
}

}  // namespace rowtide
