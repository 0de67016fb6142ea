#include "tests/oracle/cases.h"

namespace rowtide {
namespace {

TEST(OracleTest, Deduplicate) { RunOracles(Deduplications()); }
TEST(OracleTest, Rank) { RunOracles(Ranks()); }

}  // namespace
}  // namespace rowtide
