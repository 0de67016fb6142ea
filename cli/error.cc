#include "cli/error.h"

#include <algorithm>
#include <cstdio>

#include <nlohmann/json.hpp>

#include "cli/error_codes.h"
#include "cli/terminal.h"

namespace rowtide {

namespace {

ErrorForm error_form;

std::string_view LineOf(std::string_view text, int line) {
  for (; line > 1; --line) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  return text.substr(0, std::min(text.find_first_of("\r\n"), text.size()));
}

// Blanks up to the column, tabs kept, so that the caret stands under its character.
std::string Margin(std::string_view line, int column) {
  std::string margin;
  int at = 1;
  for (const char c : line) {
    if (at >= column) break;
    const bool continuation = (static_cast<unsigned char>(c) & 0xc0) == 0x80;
    if (continuation) continue;
    margin.push_back(c == '\t' ? '\t' : ' ');
    ++at;
  }
  return margin;
}

void AppendSource(const SourcePosition& at, std::string_view origin, std::string_view sql,
                  std::string* text) {
  const std::string number = std::to_string(at.line);
  const std::string gutter(number.size() + 1, ' ');
  *text += fmt::format("{}--> {}:{}:{}\n", gutter, origin, at.line, at.column);
  const std::string_view line = LineOf(sql, at.line);
  if (line.empty()) return;
  const bool one_line = at.end_line == at.line && at.end_column >= at.column;
  const int carets = one_line ? at.end_column - at.column + 1 : 1;
  *text += fmt::format("{} |\n {} | {}\n{} | {}{}\n", gutter, number, line, gutter,
                       Margin(line, at.column), std::string(static_cast<size_t>(carets), '^'));
}

}  // namespace

void SetErrorForm(ErrorForm form) { error_form = form; }

std::string ErrorText(const Status& error, std::string_view origin, std::string_view sql,
                      bool colored) {
  const auto painted = [colored](std::string text, const char* color) {
    return colored ? color + text + kPlain : text;
  };
  std::string text =
      painted(fmt::format("error[{}]", CodeOf(error)), kErrorColor) + ": " + error.message() + "\n";
  if (error.position().known() && !sql.empty()) AppendSource(error.position(), origin, sql, &text);
  if (!error.hint().empty())
    text += "  = " + painted("hint", kHintColor) + ": " + error.hint() + "\n";
  return text;
}

std::string ErrorJson(const Status& error, std::string_view origin) {
  nlohmann::ordered_json json = {{"code", CodeOf(error)},
                                 {"kind", Name(error.kind())},
                                 {"message", error.message()},
                                 {"exit", ExitCodeOf(error)}};
  const SourcePosition at = error.position();
  if (at.known()) {
    json["span"] = {{"file", origin}, {"line", at.line}, {"column", at.column}};
    if (at.end_line > 0) {
      json["span"]["end_line"] = at.end_line;
      json["span"]["end_column"] = at.end_column;
    }
  }
  if (!error.hint().empty()) json["hint"] = error.hint();
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

int PrintError(const Status& error, std::string_view origin, std::string_view sql) {
  std::fflush(stdout);
  const std::string text = error_form.json ? ErrorJson(error, origin)
                                           : ErrorText(error, origin, sql, error_form.colored);
  std::fwrite(text.data(), 1, text.size(), stderr);
  return ExitCodeOf(error);
}

int ExitCodeOf(const Status& error) {
  switch (error.code()) {
    case StatusCode::kOk: return 0;
    case StatusCode::kInvalidArgument:
    case StatusCode::kUnsupported:
    case StatusCode::kNotFound: return kExitUsage;
    case StatusCode::kDataError: return kExitBadData;
    case StatusCode::kExternal: return kExitExternal;
    case StatusCode::kCorruption:
    case StatusCode::kInternal: return kExitJobFailed;
  }
  return kExitJobFailed;
}

}  // namespace rowtide
