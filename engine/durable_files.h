// Files and folders that survive a crash: written in full, synced, renamed, and the rename synced
// as well. Errors are kExternal and name path and reason.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/folders.h"
#include "engine/status.h"

namespace rowtide {

// A new file, which must not exist; synced.
Status WriteFileDurably(const std::string& path, std::string_view bytes);
Result<std::string> ReadWholeFile(const std::string& path);
Status SyncFile(const std::string& path);
// Over `to` if it exists; the folder of `to` is synced.
Status RenameDurably(const std::string& from, const std::string& to);
// The folder and all in it; fine if there is none.
Status RemoveTree(const std::string& path);
// A hard link, or a synced copy where links cannot be made or `copies`.
Status LinkOrCopy(const std::string& from, const std::string& to, bool copies);

struct FileDigest {
  uint64_t bytes = 0;
  uint64_t xxh3 = 0;
};
Result<FileDigest> DigestOf(const std::string& path);

}  // namespace rowtide
