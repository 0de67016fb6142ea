// What parses, prints; the print parses again and prints the same. The print has parentheses around
// everything, so it may be nested more deeply than the bound allows, and is refused by name then.
#include "planner/sql/parser.h"
#include "planner/sql/unparse.h"
#include "tests/fuzz/fuzz.h"

using namespace rowtide;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text = fuzz::TextOf(data, size);
  ScriptParser parser(text);
  // Behind an error the parser goes on with the next statement.
  for (int statements = 0; statements < 1000; ++statements) {
    Result<std::optional<ast::Statement>> statement = parser.NextStatement();
    if (!statement.ok()) continue;
    if (!*statement) break;
    const std::string first = Unparse(**statement);
    const Result<std::vector<ast::Statement>> again = ParseScript(first);
    if (!again.ok() && again.status().message().starts_with("more than 256 expressions")) continue;
    if (!again.ok()) fuzz::Fail("a printed statement parses", first, again.status().ToString());
    if (again->size() != 1) fuzz::Fail("a printed statement is one statement", first);
    const std::string second = Unparse(again->front());
    if (first != second) fuzz::Fail("printing is stable", first, second);
  }
  return 0;
}
