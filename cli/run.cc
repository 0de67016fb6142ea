#include "cli/run.h"

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "cli/error.h"
#include "cli/signals.h"
#include "cli/stats_table.h"
#include "cli/text_table.h"
#include "engine/runtime/job.h"
#include "planner/exec/build_job.h"
#include "planner/session.h"
#include "planner/sql/parser.h"

namespace rowtide {

namespace {

constexpr int64_t kTickMillis = 50;

// One run of one script: what the statements share.
class ScriptRun {
 public:
  ScriptRun(const RunArguments& arguments, const SqlText& sql) : arguments_(arguments), sql_(sql) {}

  // The exit code of the first statement that fails or is stopped, else 0.
  int RunAll() {
    ScriptParser parser(sql_.text);
    Result<std::optional<ast::Statement>> statement = parser.NextStatement();
    while (true) {
      if (!statement.ok()) return Fail(statement.status());
      if (!*statement) return 0;
      Result<std::optional<ast::Statement>> next = parser.NextStatement();
      const bool last = next.ok() && !*next;
      const int code = RunOne(**statement, last);
      if (code != 0 || stopped_) return code;
      statement = std::move(next);
    }
  }

 private:
  int Fail(const Status& status) { return PrintError(status, sql_.origin, sql_.text); }

  int RunOne(const ast::Statement& statement, bool last) {
    Result<Outcome> outcome = session_.Execute(statement);
    for (const std::string& note : session_.TakeNotes()) std::cerr << "note: " << note << "\n";
    if (!outcome.ok()) return Fail(outcome.status());
    if (const auto* table = std::get_if<TextTable>(&*outcome)) {
      std::cout << TextOf(*table) << std::flush;
    } else if (const auto* explain = std::get_if<ExplainText>(&*outcome)) {
      std::cout << explain->text << (explain->text.ends_with('\n') ? "" : "\n") << std::flush;
    } else if (const auto* job = std::get_if<PlannedJob>(&*outcome)) {
      if (!last && !job->bounded && !job->is_query) return Fail(EndlessInsert(statement.position));
      return RunJob(*job);
    }
    return 0;
  }

  // A text of several lines, as of SHOW CREATE TABLE, is no table.
  static std::string TextOf(const TextTable& table) {
    const bool one_cell = table.rows.size() == 1 && table.columns.size() == 1;
    if (one_cell && table.rows[0][0].find('\n') != std::string::npos) return table.rows[0][0];
    return ResultTable(table.columns, table.rows, Align::kRight);
  }

  static Status EndlessInsert(SourcePosition at) {
    return Status::Validate(at, "this INSERT never ends, so the statements after it would not run")
        .WithHint(
            "put all inserts into one EXECUTE STATEMENT SET BEGIN … END, or let it be the last "
            "statement");
  }

  int RunJob(const PlannedJob& planned) {
    BuildContext context;
    context.connectors.clock = &clock_;
    ResultSink* result = nullptr;
    if (planned.is_query) {
      std::unique_ptr<ResultSink> sink =
          ResultSink::Create(ResultOptionsOf(planned), planned.schema, stdout);
      result = sink.get();
      context.result = std::move(sink);
    }
    Result<JobGraph> graph = BuildJob(planned, std::move(context));
    if (!graph.ok()) return Fail(graph.status());
    Job job(std::move(*graph), {&clock_, kTickMillis, &stop_signal});
    const auto begin = std::chrono::steady_clock::now();
    const Result<JobEnd> end =
        result == nullptr || !arguments_.limit ? job.RunToEnd() : RunToLimit(job, *result);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    const int code = end.ok() ? Close(job, planned, *end, result) : Fail(end.status());
    if (arguments_.stats)
      std::cerr << StatsTable(job.Stats(), took.count(), job.rows_read()) << std::flush;
    return code;
  }

  ResultOptions ResultOptionsOf(const PlannedJob& planned) const {
    ResultOptions options;
    options.mode = arguments_.output.value_or(isatty(STDOUT_FILENO) ? OutputMode::kTableau
                                                                    : OutputMode::kChangelog);
    options.rows_max = arguments_.limit;
    options.local_time_zone = planned.local_time_zone();
    return options;
  }

  // To the end or until as many rows as were asked for are printed.
  static Result<JobEnd> RunToLimit(Job& job, const ResultSink& result) {
    while (!result.full() && stop_signal == 0) {
      RT_ASSIGN(const SourceState state, job.Step());
      if (state == SourceState::kWait) usleep(1000);
      if (state == SourceState::kEnd) break;
    }
    if (stop_signal != 0) return JobEnd::kStopped;
    RT_TRY(job.Finish());
    return JobEnd::kEnded;
  }

  int Close(Job& job, const PlannedJob& planned, JobEnd end, ResultSink* result) {
    if (end == JobEnd::kEnded) {
      for (const std::string& summary : job.Summaries()) std::cout << summary << "\n" << std::flush;
      return 0;
    }
    stopped_ = true;
    job.Abandon();
    if (result != nullptr) {
      const Status written = result->Terminate();
      return written.ok() ? 0 : Fail(written);
    }
    for (const std::string& summary : job.Summaries()) std::cout << summary << "\n" << std::flush;
    if (!planned.writes_files()) return 0;
    std::cerr
        << "stopped: nothing was published, the files written so far keep their temporary names\n";
    return ExitCodeOfSignal(stop_signal);
  }

  const RunArguments& arguments_;
  const SqlText& sql_;
  Session session_;
  SystemClock clock_;
  bool stopped_ = false;
};

}  // namespace

Result<SqlText> ReadSql(const std::string& file, const std::string& command) {
  if (file.empty()) return SqlText{"-c", command};
  if (file == "-") return SqlText{"-", std::string(std::istreambuf_iterator<char>(std::cin), {})};
  std::error_code error;
  if (std::filesystem::is_directory(file, error)) {
    return Status::External("{} is a folder; a file of SQL statements is wanted", Quote(file));
  }
  std::ifstream in(file, std::ios::binary);
  if (!in) return Status::External("the file {} cannot be read", Quote(file));
  return SqlText{file, std::string(std::istreambuf_iterator<char>(in), {})};
}

int Run(const RunArguments& arguments) {
  const Result<SqlText> sql = ReadSql(arguments.file, arguments.command);
  if (!sql.ok()) return PrintError(sql.status(), "", "");
  InstallSignalHandlers();
  return ScriptRun(arguments, *sql).RunAll();
}

}  // namespace rowtide
