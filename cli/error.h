// How an error reaches the user: code, message, the line of SQL with a caret, a hint; and the exit
// code it means.
//
//   error[RT2031]: column 'amout' not found
//     --> job.sql:3:8
//      |
//    3 | SELECT amout FROM t
//      |        ^^^^^
//      = hint: did you mean 'amount'?
#pragma once

#include <string>
#include <string_view>

#include "engine/status.h"

namespace rowtide {

inline constexpr int kExitJobFailed = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitBadData = 3;
inline constexpr int kExitExternal = 4;

// How PrintError prints; set once, by the arguments.
struct ErrorForm {
  bool json = false;     // --errors json: one object a line, see ErrorJson
  bool colored = false;  // of standard error
};
void SetErrorForm(ErrorForm form);

// `origin` names the SQL text (a file, `-c`, `-`); `sql` is the text that positions point into.
std::string ErrorText(const Status& error, std::string_view origin, std::string_view sql,
                      bool colored = false);
// {"code":"RT2031","kind":"validate","message":…,"exit":2,"span":{"file":…,"line":…,"column":…,
// "end_line":…,"end_column":…},"hint":…}; `span` and `hint` where there is one.
std::string ErrorJson(const Status& error, std::string_view origin);
// Something to know that is no error, on standard error: `note: text`, or {"note":"text"}.
void PrintNote(std::string_view kind, std::string_view text);
// Prints it on standard error and returns the exit code.
int PrintError(const Status& error, std::string_view origin, std::string_view sql);
int ExitCodeOf(const Status& error);

}  // namespace rowtide
