#include "cli/error.h"

#include <algorithm>
#include <cstdio>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/error_codes.h"
#include "cli/terminal.h"
#include "engine/secrets.h"
#include "planner/refusals.h"
#include "planner/sql/secrets.h"

namespace rowtide {

namespace {

constexpr int kLineShownMax = 100;

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

// A long line is shown around the place: `…` stands for what is left out. Counted in characters.
struct ShownLine {
  std::string text;
  int column;
};

ShownLine Window(std::string_view line, int column) {
  std::vector<size_t> begins;
  for (size_t at = 0; at < line.size(); ++at) {
    if ((static_cast<unsigned char>(line[at]) & 0xc0) != 0x80) begins.push_back(at);
  }
  const int length = static_cast<int>(begins.size());
  begins.push_back(line.size());
  if (length <= kLineShownMax) return {std::string(line), column};
  const int first = std::clamp(column - kLineShownMax / 2, 0, length - kLineShownMax);
  const int last = first + kLineShownMax;
  const size_t begin = begins[static_cast<size_t>(first)];
  std::string text = first > 0 ? "…" : "";
  text += line.substr(begin, begins[static_cast<size_t>(last)] - begin);
  if (last < length) text += "…";
  return {text, column - first + (first > 0 ? 1 : 0)};
}

void AppendSource(const SourcePosition& at, std::string_view origin, std::string_view sql,
                  std::string* text) {
  const std::string number = std::to_string(at.line);
  const std::string gutter(number.size() + 1, ' ');
  *text += fmt::format("{}--> {}:{}:{}\n", gutter, origin, at.line, at.column);
  const std::string_view line = LineOf(sql, at.line);
  if (line.empty()) return;
  const ShownLine shown = Window(line, at.column);
  const bool one_line = at.end_line == at.line && at.end_column >= at.column;
  const int room = kLineShownMax + 2 - shown.column;
  const int carets = one_line ? std::clamp(at.end_column - at.column + 1, 1, std::max(room, 1)) : 1;
  *text +=
      fmt::format("{} |\n {} | {}\n{} | {}{}\n", gutter, number, Printable(shown.text), gutter,
                  Margin(shown.text, shown.column), std::string(static_cast<size_t>(carets), '^'));
}

// An error of a code of its own that says nothing about what to do gets the first sentence of what
// `rowtide help` says about it.
Status WithWayOut(Status error) {
  const ErrorCode* code = FindErrorCode(error.error_code());
  if (error.ok() || !error.hint().empty() || !code) return error;
  const std::string_view remedy = code->remedy;
  return std::move(error).WithHint(std::string(remedy.substr(0, remedy.find(". ") + 1)));
}

}  // namespace

void SetErrorForm(ErrorForm form) { error_form = form; }

std::string ErrorText(const Status& error, std::string_view origin, std::string_view sql,
                      bool colored) {
  const auto painted = [colored](std::string text, const char* color) {
    return colored ? color + text + kPlain : text;
  };
  std::string text = painted(fmt::format("error[{}]", CodeOf(error)), kErrorColor) + ": " +
                     Printable(Redacted(error.message())) + "\n";
  if (error.position().known() && !sql.empty())
    AppendSource(error.position(), origin, WithSecretsCovered(sql), &text);
  if (!error.hint().empty())
    text += "  = " + painted("hint", kHintColor) + ": " + Printable(Redacted(error.hint())) + "\n";
  return text;
}

std::string ErrorJson(const Status& error, std::string_view origin) {
  nlohmann::ordered_json json = {{"code", CodeOf(error)},
                                 {"kind", Name(error.kind())},
                                 {"message", Redacted(error.message())},
                                 {"exit", ExitCodeOf(error)}};
  const SourcePosition at = error.position();
  if (at.known()) {
    json["span"] = {{"file", origin}, {"line", at.line}, {"column", at.column}};
    if (at.end_line > 0) {
      json["span"]["end_line"] = at.end_line;
      json["span"]["end_column"] = at.end_column;
    }
  }
  if (!error.hint().empty()) json["hint"] = Redacted(error.hint());
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

void PrintNote(std::string_view kind, std::string_view text) {
  std::fflush(stdout);
  const std::string shown = Redacted(text);
  std::string line = fmt::format("{}: {}\n", kind, Printable(shown));
  if (error_form.json) {
    const nlohmann::ordered_json json = {{std::string(kind), shown}};
    line = json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  }
  std::fwrite(line.data(), 1, line.size(), stderr);
}

int PrintError(const Status& status, std::string_view origin, std::string_view sql) {
  const Status error = WithWayOut(AsSentence(status));
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
