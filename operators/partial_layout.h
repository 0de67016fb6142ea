// The columns that a local phase puts out behind the group columns and a global phase reads, with
// Flink's names.
//
//   COUNT(DISTINCT v), SUM(s), MIN(m) over updates
//       ->   count$0, (sum$1, count$2), min$3, count1$4, distinct$0
//
//   COUNT    count$n (COUNT(*): count1$n)       MIN, MAX, FIRST_VALUE, LAST_VALUE   min$n, …
//   SUM      sum$n, and count$n if it retracts  LISTAGG   accDelimiter$n, concatAcc$n
//   AVG      sum$n, count$n                     the last five, if they retract: a log in BYTES
//
// Sums of FLOAT and DOUBLE that retract are the bytes of an ExactSum.
//
// After the calls comes the row count, if one is needed and no call is it, then one log a set of
// DISTINCT arguments; the columns of the DISTINCT calls themselves are NULL. A log is a sequence of
// changes:
//
//   | taken back: u8 | filter number: u8 | size: u32 | the arguments as a BinaryRow |
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "engine/schema.h"
#include "operators/accumulators.h"

namespace rowtide {

struct PartialLayout {
  Schema schema;                          // without the group columns
  std::vector<std::vector<int>> columns;  // per call: its columns in `schema`
  int row_count = -1;                     // the column that counts rows, or -1
  struct DistinctSet {
    std::vector<int> arguments;
    std::vector<int> filters;  // each variant once, in order of first use; -1 = none
    int column = 0;
    int FilterNumber(int filter) const;
  };
  std::vector<DistinctSet> distinct_sets;
  const DistinctSet& SetOf(const Aggregation& call) const;
};

// `counts_rows`: the input can retract. `count_star`: the call that serves as the row count, or -1.
PartialLayout LayoutOfPartials(const std::vector<Aggregation>& calls, bool counts_rows,
                               int count_star, const Schema& raw_input);

// Sums of AVG: BIGINT for integers, DOUBLE for floats, DECIMAL(38, s).
Type AverageSumType(const Type& argument);
// The columns of a call's values in a log, all nullable.
Schema LogSchema(const Schema& raw_input, const std::vector<int>& arguments);

// One change of a log.
struct LogEntry {
  bool retracts = false;
  uint8_t filter = 0;
  std::string_view row;
};
inline constexpr size_t kLogHeaderBytes = 6;
void AppendLogHeader(bool retracts, uint8_t filter, size_t row_bytes, std::string* log);
// Takes the first entry off `log`. Requires: not empty.
LogEntry TakeLogEntry(std::string_view* log);

}  // namespace rowtide
