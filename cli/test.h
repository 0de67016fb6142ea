// `rowtide test`: runs `.test` scripts (tests/changelog/README.md) and counts what passed, failed
// and was skipped.
//
// The last line is `N passed, N failed, N skipped`. Returns the exit code: 1 when something failed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rowtide {

struct TestArguments {
  std::vector<std::string> paths;
  std::vector<std::string> stages;  // none: physical and exec
  std::string skip_list;
  std::string ways = "all";
  uint64_t seed = 1;
  int threads = 2;
  bool record = false;
  bool summary = false;
  bool print = false;
};

int Test(const TestArguments& arguments);

}  // namespace rowtide
