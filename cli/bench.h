// `rowtide bench generate`: seeded Nexmark bids as CSV, to have something to run on.
#pragma once

#include <cstdint>
#include <string>

namespace rowtide {

struct GenerateArguments {
  int64_t rows = 0;
  uint64_t seed = 42;
  int64_t first_event = 0;
  std::string file = "-";
};

int GenerateBids(const GenerateArguments& arguments);

}  // namespace rowtide
