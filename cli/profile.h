// The file of `rowtide run --profile`: where the time of each job went, as folded stacks, which
// programs that draw flame graphs read as they are. Values are microseconds.
//
//   insert-into_default_catalog.default_database.s (job.sql:25);task 1;TableSourceScan(t);Rank 8123
//
// A line is the own time of its last node when called along that way; of a task alone: waiting for
// input and all else that no node does. So the lines of a job add up to about the time that it
// took, for each of its lanes: `task 1` is the first one.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "engine/runtime/stats.h"
#include "engine/status.h"

namespace rowtide {

class ProfileFile {
 public:
  // What the file holds is replaced by the first job's lines: a run that does not come to its end
  // leaves it alone. For a file of which it was checked that nobody reads it
  // (planner/exec/outputs.h).
  static Result<std::unique_ptr<ProfileFile>> Open(const std::string& path);

  Status Add(const std::string& job, double seconds, const std::vector<PathTime>& paths);

 private:
  ProfileFile(std::string path, FILE* file) : path_(std::move(path)), file_(file, &std::fclose) {}

  std::string path_;
  bool is_old_ = true;  // the file holds what was in it before
  std::unique_ptr<FILE, int (*)(FILE*)> file_;
};

// The lines of one job. `seconds`: that it took.
std::string FoldedStacks(const std::string& job, double seconds,
                         const std::vector<PathTime>& paths);

}  // namespace rowtide
