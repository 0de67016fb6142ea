// Which folders a path on the command line means.
//
//   kept                        a state folder: the jobs that keep their state there
//   kept/insert-into_…s         a job's folder: its newest checkpoint, where one is wanted
//   kept/insert-into_…s/chk-7-… a checkpoint; a savepoint, wherever it lies
#pragma once

#include <string>
#include <vector>

#include "engine/status.h"

namespace rowtide {

bool IsCheckpoint(const std::string& path);
// The folders of jobs that a path names; at least one.
Result<std::vector<std::string>> JobFoldersOf(const std::string& path);
// The one job's folder that a path names.
Result<std::string> JobFolderOf(const std::string& path);
// The path itself, if it is a checkpoint; else the decided ones of the one job that it names, the
// newest first; at least one.
Result<std::vector<std::string>> CheckpointsOf(const std::string& path);

}  // namespace rowtide
