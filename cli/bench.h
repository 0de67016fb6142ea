// `rowtide bench generate`: seeded Nexmark events as csv or json, to have something to run on.
#pragma once

#include <cstdint>
#include <string>

namespace rowtide {

struct GenerateArguments {
  int64_t rows = 0;
  uint64_t seed = 42;
  int64_t first_event = 0;
  std::string kind = "bid";
  std::string format = "csv";
  std::string file = "-";
};

int GenerateEvents(const GenerateArguments& arguments);

}  // namespace rowtide
