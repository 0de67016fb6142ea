// Bytes choose a form of Deduplicate or Rank, its rows, watermarks, cuts and restores; the
// changelog folds to the batch answer after every row, and is the same in any cut and through any
// restore.
#include "tests/fuzz/fuzz.h"
#include "tests/oracle/cases.h"

using namespace rowtide;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::vector<OracleCase> cases = [] {
    std::vector<OracleCase> all = Deduplications();
    for (OracleCase& rank : Ranks()) all.push_back(std::move(rank));
    return all;
  }();
  fuzz::Choices choices(data, size);
  const size_t number = choices.Byte() * size_t{256} + choices.Byte();
  const int rows_max = 1 + static_cast<int>(choices.Below(60));
  const OracleCase& oracle = cases[number % cases.size()];
  if (!RunOracle(oracle, Random(choices.Rest()), rows_max)) fuzz::Fail(oracle.name);
  return 0;
}
