// What came out of a unit, and how it is compared with what a script expects.
//
//   changelog   +I ["a",1]  -U ["a",1]  +U ["a",2]     in order, or sorted by text (`unordered`)
//   table       ["a",2]                                what the changelog folds to, sorted by text
//   counts      +I 1  -U 1  +U 1  -D 0
//   plan        three sections, of which the chosen stages are compared
//   message     a Java class and its text: the kind of error is compared, the words are our own
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/script/script.h"
#include "connectors/collect.h"

namespace rowtide {

// The changelog of one sink table. An upsert sink folds by its key, all others to a bag of rows.
struct SinkChangelog {
  std::string table;
  std::vector<CollectedRow> rows;
  std::vector<int> upsert_key;  // columns; empty: a bag
};

struct UnitAnswer {
  std::optional<Status> failure;                         // then nothing else counts
  std::map<ExpectKind, std::vector<std::string>> lines;  // changelog, table, counts; files; plan

  // The answer as lines of that kind; of a failed unit its error, whatever the kind.
  std::vector<std::string> Lines(ExpectKind kind) const;
};

// Text in the order of its UTF-16 code units, as Flink's runner sorts: characters beyond the BMP
// stand before the last ones in it.
bool Utf16Less(const std::string& a, const std::string& b);

// Puts the rows of one key together, in the order they came; without a key, equal rows. What two
// jobs have in common that differ only in what passes whom.
void GroupByKey(SinkChangelog* sink);

// Fills changelog, table and counts.
void AddChangelog(const std::vector<SinkChangelog>& sinks, UnitAnswer* answer);

// Which sections of a plan are compared.
struct PlanStages {
  bool ast = false;
  bool physical = true;
  bool exec = true;
};

// The kind of error that Flink's message tells: `TableException: …` is kPlan.
ErrorKind KindOfMessage(const std::string& message);

// A class of that kind, for recording our own messages.
const char* ClassOfKind(ErrorKind kind);

// Nothing when the answer is as expected, else what differs, as lines for a person.
std::optional<std::string> Compare(const Expectation& expected, const UnitAnswer& answer,
                                   const PlanStages& stages);
// Whether the section "Abstract Syntax Tree" alone is equal.
bool SameAst(const Expectation& expected, const UnitAnswer& answer);

}  // namespace rowtide
