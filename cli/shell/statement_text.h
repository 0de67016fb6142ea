// Whether what has been typed is a whole statement yet. A look at quotes, comments and `;` only:
// the parser has the last word.
//
//   SELECT 'a;            incomplete, open quote
//   SELECT 1 -- ;         incomplete
//   SELECT 1; SELECT 2;   complete
//   EXECUTE STATEMENT SET BEGIN INSERT …;        incomplete until END;
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace rowtide {

enum class Typed : uint8_t {
  kNothing,    // blanks and comments
  kComplete,   // ends with the `;` of a statement
  kStatement,  // more is to come, up to a `;`
  kString,     // within '…'
  kName,       // within `…`
  kComment,    // within /* … */
};

Typed LookAt(std::string_view text);

// The statement on one line without its comments, to be called back from the history.
std::string OnOneLine(std::string_view text);

}  // namespace rowtide
