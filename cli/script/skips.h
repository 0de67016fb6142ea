// The files named `skips`: which units are not run, and for want of which construct.
//
//   aggregate/over.test        OVER aggregation       every unit of the script
//   reports/plans.test:3       regular join           its third unit
//
// Paths are relative to the folder of the file. An entry that matches no script or no unit is an
// error, so the list cannot rot. Files are looked for in a script's folder and all folders above
// it.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/status.h"

namespace rowtide {

struct Skip {
  std::filesystem::path script;  // absolute
  int unit = 0;                  // from 1; 0: all
  std::string construct;
  std::string where;  // file:line of the entry
};

class SkipList {
 public:
  // Reads one file; a file that was read before is not read again.
  Status Read(const std::filesystem::path& file);
  // Reads the `skips` files beside and above the script.
  Status ReadAround(const std::filesystem::path& script);

  // The construct that the unit (from 1) lacks, or null.
  const std::string* Find(const std::filesystem::path& script, int unit) const;
  // Entries whose script does not exist, or has fewer units; `units` is asked per script.
  Status Check(const std::filesystem::path& script, int units) const;
  Status CheckScriptsExist() const;

 private:
  std::set<std::filesystem::path> read_;
  std::map<std::filesystem::path, std::vector<Skip>> skips_;
};

}  // namespace rowtide
