// Folders and names in them that survive when the machine loses its power.
//
//   MakeFolders("a/b")   mkdir a, sync of the folder that a is in, mkdir a/b, sync of a
//
// Syncing a file keeps its bytes; that it has a name is kept by syncing its folder. Errors are
// kExternal and name path and reason.
#pragma once

#include <string>

#include "engine/status.h"

namespace rowtide {

Status SyncFolder(const std::string& path);
// With the folders above it. One that is there is fine: its name is synced once more, since whoever
// made it may not have come to that.
Status MakeFolders(const std::string& path);

}  // namespace rowtide
