// Every form of Deduplicate and Rank that a plan can ask for, with a stream and a model for each:
// for random streams (oracle_test.cc) and for those that a fuzzer thinks of
// (tests/fuzz/fuzz_operators.cc).
#pragma once

#include <vector>

#include "tests/oracle/oracle.h"

namespace rowtide {

std::vector<OracleCase> Deduplications();
std::vector<OracleCase> Ranks();

}  // namespace rowtide
