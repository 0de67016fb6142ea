#include "cli/shell/shell.h"

#include <cstdio>
#include <cstdlib>

#include "cli/error.h"
#include "cli/shell/commands.h"
#include "cli/shell/line_editor.h"
#include "cli/shell/statement_text.h"
#include "cli/signals.h"
#include "cli/version.h"
#include "planner/sql/parser.h"
#include "planner/sql/secrets.h"

namespace rowtide {

namespace {

const char* PromptOf(Typed typed) {
  switch (typed) {
    case Typed::kNothing:
    case Typed::kComplete: return "rowtide> ";
    case Typed::kStatement: return "      -> ";
    case Typed::kString: return "      '> ";
    case Typed::kName: return "      `> ";
    case Typed::kComment: return "     /*> ";
  }
  return "";
}

std::string HistoryFile() {
  const char* file = std::getenv("ROWTIDE_HISTORY");
  if (file != nullptr) return file;
  const char* home = std::getenv("HOME");
  return home == nullptr ? "" : std::string(home) + "/.rowtide_history";
}

class Shell {
 public:
  explicit Shell(const PrintSettings& settings)
      : settings_(Confirming(settings)),
        runner_(settings_),
        commands_{&settings_, [this](const SqlText& sql) { return RunText(sql); }},
        editor_(HistoryFile(), [this](std::string_view before, std::string_view after) {
          return Complete(typed_ + std::string(before), after, runner_.session());
        }) {}

  int Run() {
    std::printf("rowtide %s. Statements end with ; \\? is help, \\q ends.\n", Version());
    while (true) {
      const LineEditor::Line line = editor_.Read(PromptOf(LookAt(typed_)));
      if (stop_signal == SIGTERM) return ExitCodeOfSignal(SIGTERM);
      if (line.end == LineEditor::Line::End::kInterrupted) {
        std::puts("^C");
        typed_.clear();
        stop_signal = 0;
        continue;
      }
      if (line.end == LineEditor::Line::End::kEndOfInput) {
        std::puts("");
        return 0;
      }
      if (!Take(line.text)) return 0;
      if (stop_signal == SIGTERM) return ExitCodeOfSignal(SIGTERM);
      stop_signal = 0;
    }
  }

 private:
  static PrintSettings Confirming(PrintSettings settings) {
    settings.confirms = true;
    return settings;
  }

  // False: the shell is to end.
  bool Take(const std::string& line) {
    if (typed_.empty() && IsShellCommand(line)) {
      const bool goes_on = RunShellCommand(line, commands_);
      if (goes_on) editor_.Remember(line);
      return goes_on;
    }
    typed_ += line + "\n";
    const Typed typed = LookAt(typed_);
    if (typed == Typed::kNothing) typed_.clear();
    if (typed != Typed::kComplete) return true;
    const SqlText sql{"input", std::exchange(typed_, "")};
    // A statement with a password in it is typed again, not found in a file.
    if (WithSecretsCovered(sql.text) == sql.text) editor_.Remember(OnOneLine(sql.text));
    RunText(sql);
    return true;
  }

  int RunText(const SqlText& sql) {
    ScriptParser parser(sql.text);
    while (true) {
      const Result<std::optional<ast::Statement>> statement = parser.NextStatement();
      if (!statement.ok()) return PrintError(statement.status(), sql.origin, sql.text);
      if (!*statement) return 0;
      const int code = runner_.Run(**statement, sql, true);
      if (code != 0 || runner_.stopped()) return code;
    }
  }

  PrintSettings settings_;
  StatementRunner runner_;
  ShellContext commands_;
  std::string typed_;
  LineEditor editor_;
};

}  // namespace

int RunShell(const PrintSettings& settings) {
  InstallSignalHandlers(SignalUse::kShell);
  return Shell(settings).Run();
}

}  // namespace rowtide
