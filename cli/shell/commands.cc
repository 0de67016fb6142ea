#include "cli/shell/commands.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <vector>

#include "cli/error.h"
#include "cli/error_codes.h"
#include "cli/run.h"
#include "planner/sql/lexer.h"

namespace rowtide {

namespace {

constexpr const char* kHelp = R"(Statements end with ; and may have many lines. Tab completes.
Ctrl-C stops a statement, Ctrl-D ends the shell.

  \?                    this text
  \q                    end the shell
  \d                    tables and views; \dv: views only
  \d NAME               columns of a table or view
  \output FORM          changelog, tableau, table, json, csv; auto: tableau
  \limit N              end a SELECT after N rows; off: do not
  \stats on|off         counts, state and time per operator after each job
  \i FILE               run the statements of a file
  \set                  what SET has set
  \help CODE            explain an error code such as RT2031; codes: all of them
)";

std::string QuotedName(const std::string& name) {
  if (name.find('`') != std::string::npos) return name;
  std::string quoted = "`";
  for (const char c : name) quoted += c == '.' ? "`.`" : std::string(1, c);
  return quoted + "`";
}

struct Words {
  std::string command;
  std::string argument;
};

Words Split(std::string line) {
  while (!line.empty() && (line.back() == ';' || line.back() == ' ')) line.pop_back();
  line.erase(0, line.find_first_not_of(' '));
  const size_t blank = line.find(' ');
  if (blank == std::string::npos) return {line, ""};
  const size_t begin = line.find_first_not_of(' ', blank);
  return {line.substr(0, blank), line.substr(begin)};
}

Status SetOutput(const std::string& form, PrintSettings* settings) {
  if (form == "auto") {
    settings->output.reset();
    return Status::Ok();
  }
  const std::optional<OutputMode> mode = OutputModeByName(form);
  if (!mode) {
    return Status::InvalidArgument("there is no form {}", Quote(form))
        .WithHint("changelog, tableau, table, json, csv or auto");
  }
  settings->output = mode;
  return Status::Ok();
}

Status SetLimit(const std::string& text, PrintSettings* settings) {
  if (text == "off") {
    settings->limit.reset();
    return Status::Ok();
  }
  int64_t rows = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rows);
  if (error != std::errc() || end != text.data() + text.size() || rows < 0) {
    return Status::InvalidArgument("{} is no number of rows", Quote(text))
        .WithHint("a whole number from 0 on, or off");
  }
  settings->limit = rows;
  return Status::Ok();
}

Status SetStats(const std::string& text, PrintSettings* settings) {
  if (text != "on" && text != "off") {
    return Status::InvalidArgument("{} is neither on nor off", Quote(text));
  }
  settings->stats = text == "on";
  return Status::Ok();
}

Status PrintHelp(const std::string& topic) {
  if (topic.empty()) {
    std::fputs(kHelp, stdout);
  } else if (topic == "codes") {
    std::fputs(ErrorCodeList().c_str(), stdout);
  } else if (const ErrorCode* code = FindErrorCode(topic)) {
    std::fputs(ErrorCodeText(*code).c_str(), stdout);
  } else {
    return Status::InvalidArgument("there is no error code {}", Quote(topic))
        .WithHint("\\help codes lists them");
  }
  return Status::Ok();
}

Status RunFile(const std::string& file, ShellContext& context) {
  RT_ASSIGN(const SqlText sql, ReadSql(file, ""));
  context.run(sql);
  return Status::Ok();
}

Status NoSuchCommand(const std::string& command) {
  const std::vector<std::string> known = {"\\?",     "\\q",     "\\d", "\\dv",  "\\output",
                                          "\\limit", "\\stats", "\\i", "\\set", "\\help"};
  const std::string nearest = Nearest(command, known);
  return Status::InvalidArgument("there is no command {}", Quote(command))
      .WithHint(nearest.empty() ? "\\? lists the commands" : "did you mean " + nearest + "?");
}

Status Run(const Words& words, ShellContext& context) {
  const auto& [command, argument] = words;
  if (command == "\\?") return PrintHelp("");
  if (command == "\\help" || command == "\\h") return PrintHelp(argument);
  if (command == "\\output") return SetOutput(argument, context.settings);
  if (command == "\\limit") return SetLimit(argument, context.settings);
  if (command == "\\stats") return SetStats(argument, context.settings);
  if (command == "\\i" && !argument.empty()) return RunFile(argument, context);
  std::string sql;
  if (command == "\\d" || command == "\\dt") {
    sql = argument.empty() ? "SHOW TABLES" : "DESCRIBE " + QuotedName(argument);
  }
  if (command == "\\dv") sql = "SHOW VIEWS";
  if (command == "\\set") sql = "SET";
  if (sql.empty()) return NoSuchCommand(command);
  context.run({command, sql});
  return Status::Ok();
}

}  // namespace

bool IsShellCommand(std::string_view line) {
  const std::string word = UpperCase(Split(std::string(line)).command);
  return word.starts_with('\\') || word == "QUIT" || word == "EXIT" || word == "HELP";
}

bool RunShellCommand(const std::string& line, ShellContext& context) {
  Words words = Split(line);
  const std::string word = UpperCase(words.command);
  if (words.command == "\\q" || word == "QUIT" || word == "EXIT") return false;
  if (word == "HELP") words.command = "\\help";
  const Status status = Run(words, context);
  if (!status.ok()) PrintError(status, "", "");
  std::fflush(stdout);
  return true;
}

}  // namespace rowtide
