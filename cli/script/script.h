// A `.test` script as blocks: what tests/changelog/README.md describes, read and written back.
//
//   # head                    head: {"# head"}
//   --- sql                   block 0: kSql, lines {"CREATE …"}
//   CREATE …
//   --- query [name]          block 1: kQuery, the first unit, with what is expected of it:
//   SELECT …
//   --- changelog               expected[0]: kChangelog
//   +I ["a",1]
//
// A unit is one query, insert, write, explain or error block: what passes, fails or is skipped.
// Parsing keeps every line, so that recording rewrites nothing but the expected blocks.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/status.h"

namespace rowtide {

enum class BlockKind : uint8_t { kSql, kInput, kRows, kQuery, kInsert, kWrite, kExplain, kError };
enum class ExpectKind : uint8_t { kChangelog, kTable, kCounts, kFiles, kPlan, kMessage };

const char* Name(BlockKind kind);
const char* Name(ExpectKind kind);

struct Expectation {
  ExpectKind kind = ExpectKind::kChangelog;
  bool unordered = false;
  bool rowtide = false;            // `--- rowtide …`: Rowtide's own answer beside Flink's
  int line = 0;                    // of the header
  std::vector<std::string> lines;  // without blank ones at the end
};

// `--- flink-differs 15.9 order: …`
struct FlinkDiffers {
  std::string row;     // "9", or "x" while the page has none yet
  std::string reason;  // "order: …"
};

struct ScriptBlock {
  BlockKind kind = BlockKind::kSql;
  std::string arguments;  // a unit's name; `rows`: the table and the file
  int line = 0;           // of the header
  std::vector<std::string> lines;
  // Units only.
  std::optional<FlinkDiffers> differs;
  std::vector<Expectation> expected;

  bool is_unit() const { return kind >= BlockKind::kQuery; }
  std::string text() const;  // the lines, each with a newline
  const Expectation* Find(ExpectKind kind, bool rowtide) const;
};

struct Script {
  std::string path;
  std::vector<std::string> head;
  std::vector<ScriptBlock> blocks;
  int units() const;
};

Result<Script> ParseTestScript(std::string path, std::string_view text);
// The script as text, in the layout that recording writes: one blank line between blocks.
std::string ToText(const Script& script);

// The lines of a text; a last line need not end in a newline.
std::vector<std::string> SplitLines(std::string_view text);

}  // namespace rowtide
