// Writes Nexmark bids as CSV.
//
//   bench_generate ROWS [SEED [FIRST_EVENT]] > bids.csv
#include <cstdio>
#include <cstdlib>

#include "connectors/nexmark/generator.h"

int main(int arguments, char** argument) {
  if (arguments < 2 || arguments > 4) {
    std::fprintf(stderr, "usage: bench_generate ROWS [SEED [FIRST_EVENT]]\n");
    return 2;
  }
  rowtide::NexmarkOptions options;
  if (arguments > 2) options.seed = std::strtoull(argument[2], nullptr, 10);
  const int64_t first_event = arguments > 3 ? std::strtoll(argument[3], nullptr, 10) : 0;
  bool written = true;
  rowtide::NexmarkGenerator(options).WriteBidsCsv(
      first_event, std::strtoll(argument[1], nullptr, 10), [&](std::string_view lines) {
        written = std::fwrite(lines.data(), 1, lines.size(), stdout) == lines.size();
        return written;
      });
  return written && std::fflush(stdout) == 0 ? 0 : 1;
}
