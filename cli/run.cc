#include "cli/run.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "cli/error.h"
#include "cli/monitor/monitor.h"
#include "cli/signals.h"
#include "cli/terminal.h"
#include "planner/sql/parser.h"

namespace rowtide {

namespace {

int RunAll(const SqlText& sql, StatementRunner& runner) {
  ScriptParser parser(sql.text);
  Result<std::optional<ast::Statement>> statement = parser.NextStatement();
  while (true) {
    if (!statement.ok()) return PrintError(statement.status(), sql.origin, sql.text);
    if (!*statement) return 0;
    Result<std::optional<ast::Statement>> next = parser.NextStatement();
    const bool last = next.ok() && !*next;
    const int code = runner.Run(**statement, sql, last);
    if (code != 0 || runner.stopped()) return code;
    statement = std::move(next);
  }
}

}  // namespace

namespace {

// Rows go out when the input pauses (engine/runtime/job.h); while it does not, in few large writes.
void WriteInLargePieces() {
  constexpr size_t kBytes = 64 << 10;
  if (!IsTerminal(STDOUT_FILENO)) std::setvbuf(stdout, nullptr, _IOFBF, kBytes);
}

// The whole of it, without the mark that some editors put in front of UTF-8. `name`: for messages.
Result<std::string> ReadText(std::FILE* file, const std::string& name) {
  constexpr size_t kPieceBytes = 64 << 10;
  std::string text;
  for (size_t count = kPieceBytes; count == kPieceBytes;) {
    const size_t size = text.size();
    text.resize(size + kPieceBytes);
    count = std::fread(text.data() + size, 1, kPieceBytes, file);
    text.resize(size + count);
  }
  if (std::ferror(file) != 0)
    return Status::External("the file {} cannot be read: {}", Quote(name), std::strerror(errno));
  if (text.starts_with("\xef\xbb\xbf")) text.erase(0, 3);
  return text;
}

Result<std::unique_ptr<Monitor>> OpenMonitor(const std::string& text, StatementRunner& runner) {
  RT_ASSIGN(const HttpAddress address, ParseHttpAddress(text));
  RT_ASSIGN(std::unique_ptr<Monitor> monitor, Monitor::Open(address, runner.Watched()));
  PrintNote("status", fmt::format("{} shows the job, {}metrics is for Prometheus", monitor->url(),
                                  monitor->url()));
  return monitor;
}

}  // namespace

Result<SqlText> ReadSql(const std::string& file, const std::string& command) {
  if (file.empty()) return SqlText{"-c", command};
  if (file == "-") {
    RT_ASSIGN(std::string text, ReadText(stdin, "standard input"));
    return SqlText{"-", std::move(text)};
  }
  std::error_code error;
  if (std::filesystem::is_directory(file, error)) {
    return Status::External("{} is a folder; a file of SQL statements is wanted", Quote(file));
  }
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> in(std::fopen(file.c_str(), "rb"),
                                                           std::fclose);
  if (in == nullptr) {
    return Status::External("the file {} cannot be read: {}", Quote(file), std::strerror(errno))
        .WithErrorCode("RT5001");
  }
  RT_ASSIGN(std::string text, ReadText(in.get(), file));
  return SqlText{file, std::move(text)};
}

int Run(const RunArguments& arguments) {
  const Result<SqlText> sql = ReadSql(arguments.file, arguments.command);
  if (!sql.ok()) return PrintError(sql.status(), "", "");
  InstallSignalHandlers();
  WriteInLargePieces();
  StatementRunner runner(arguments.print, arguments.state);
  if (!arguments.parallelism.empty()) {
    std::string note;
    const Status set =
        runner.session().options().Set("parallelism.default", arguments.parallelism, &note);
    if (!set.ok()) return PrintError(set, "", "");
  }
  std::unique_ptr<Monitor> monitor;
  if (!arguments.metrics.empty()) {
    Result<std::unique_ptr<Monitor>> opened = OpenMonitor(arguments.metrics, runner);
    if (!opened.ok()) return PrintError(opened.status(), "", "");
    monitor = std::move(*opened);
  }
  return RunAll(*sql, runner);
}

}  // namespace rowtide
