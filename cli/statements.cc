#include "cli/statements.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>

#include "cli/error.h"
#include "cli/monitor/counts.h"
#include "cli/progress.h"
#include "cli/restarts.h"
#include "cli/signals.h"
#include "cli/stats_table.h"
#include "cli/text_table.h"
#include "connectors/rejects.h"
#include "planner/exec/build_job.h"
#include "planner/exec/outputs.h"

namespace rowtide {

namespace {

constexpr int64_t kTickMillis = 50;

// A text of several lines, as of SHOW CREATE TABLE, is no table.
std::string TextOf(const TextTable& table, std::optional<OutputMode> mode) {
  const bool is_data = mode == OutputMode::kJson || mode == OutputMode::kCsv;
  const bool one_cell = table.rows.size() == 1 && table.columns.size() == 1;
  if (!is_data && one_cell && table.rows[0][0].find('\n') != std::string::npos)
    return Printable(table.rows[0][0]);
  return TextRows(mode.value_or(OutputMode::kTable), table.columns, table.rows);
}

// The script has been read to its end, so nothing would be left for the table.
Status CheckStandardInput(const PlannedJob& planned) {
  const std::optional<std::string> table = TableOnStandardInput(planned);
  if (!table) return Status::Ok();
  return Status::InvalidArgument(
             "table {} reads standard input ('path' = '-'), which is the script already",
             Quote(*table))
      .WithHint("give the script as a file or with -c: rowtide run job.sql < data");
}

Status EndlessInsert(SourcePosition at) {
  return Status::Validate(at, "this INSERT never ends, so the statements after it would not run")
      .WithHint(
          "put all inserts into one EXECUTE STATEMENT SET BEGIN … END, or let it be the last "
          "statement");
}

bool WritesPrint(const PlannedJob& planned) {
  return std::any_of(planned.plan.roots.begin(), planned.plan.roots.end(),
                     [](const ExecPointer& root) {
                       const auto* sink = root->as<PhysicalSink>();
                       return sink && sink->table->connector() == "print";
                     });
}

// What was read as Flink reads it, though hardly as it was meant.
void NoteOddity(const std::string& table, const std::string& name, int64_t count) {
  const auto rest = [&](std::string_view prefix) { return name.substr(prefix.size()); };
  if (name.starts_with(kOddBooleans)) {
    PrintNote("note", fmt::format("{} value{} of column {} of {} are neither true nor false: read "
                                  "as false, as Flink does",
                                  count, count == 1 ? "" : "s", Quote(rest(kOddBooleans)), table));
  } else if (name == kHeaderAsRow) {
    PrintNote("note",
              fmt::format("the first line of {} file{} of {} has the names of the columns and was "
                          "read as a row: SET 'rowtide.csv.header.{}' = 'true'",
                          count, count == 1 ? "" : "s", table, table));
  } else if (name.starts_with(kOtherCase)) {
    const std::string both = rest(kOtherCase);
    const size_t half = both.size() / 2;
    PrintNote("note",
              fmt::format("column {} of {} is NULL where the record has {}: names of "
                          "fields are case-sensitive",
                          Quote(both.substr(0, half)), table, Quote(both.substr(half + 1))));
  }
}

// Nothing is left out without a word, also where nobody asked for --stats.
void NoteRejects(const std::vector<NodeStats>& nodes) {
  for (const NodeStats& node : nodes) {
    const size_t name_at = node.name.find('(') + 1;  // TableSourceScan(t)
    const std::string table = node.name.substr(name_at, node.name.size() - name_at - 1);
    for (const auto& [name, count] : node.counters) {
      if (count > 0) NoteOddity(table, name, count);
    }
    int64_t read = 0, rejected = 0;
    std::string reasons;
    for (const auto& [name, count] : node.counters) {
      if (name == "records_read") {
        read = count;
      } else if (name == "rejected") {
        rejected = count;
      } else if (count > 0 && IsRejectReason(name)) {
        reasons += fmt::format(" {}={}", name, count);
      }
    }
    if (rejected == 0) continue;
    PrintNote("rejected",
              fmt::format("{} of {} records read by {}:{}", rejected, read, node.name, reasons));
  }
}

int NoteThatItIsOver(const PlannedJob& planned) {
  PrintNote("state", fmt::format("{} has read all of its input in an earlier run; --fresh runs it "
                                 "again from the first record",
                                 planned.name));
  return 0;
}

}  // namespace

StatementRunner::StatementRunner(const PrintSettings& settings, StateSettings state)
    : settings_(settings), state_(std::move(state)), watch_([this](const Wait& wait) {
        const std::chrono::duration<double> time = std::chrono::steady_clock::now() - wait.since;
        Say("waiting", wait.is_over ? fmt::format("{} goes on after {:.1f} s: {}", wait.who,
                                                  time.count(), wait.what)
                                    : fmt::format("{} waits for {}", wait.who, wait.what));
      }) {}

JobWatch* StatementRunner::Watched() {
  is_watched_ = true;
  return &watch_;
}

void StatementRunner::Say(std::string_view kind, const std::string& text) {
  const std::lock_guard lock(mutex_);
  if (progress_ != nullptr) progress_->Clear();
  PrintNote(kind, text);
}

int StatementRunner::Fail(const Status& status, const SqlText& sql) {
  watch_.Note(JobState::kFailed, status.message());
  return PrintError(status, sql.origin, sql.text);
}

int StatementRunner::Run(const ast::Statement& statement, const SqlText& sql, bool last) {
  stopped_ = false;
  Result<Outcome> outcome = session_.Execute(statement, sql.text);
  for (const std::string& note : session_.TakeNotes()) PrintNote("note", note);
  if (!outcome.ok()) return Fail(outcome.status(), sql);
  if (const auto* table = std::get_if<TextTable>(&*outcome)) {
    std::cout << TextOf(*table, settings_.output) << std::flush;
  } else if (const auto* explain = std::get_if<ExplainText>(&*outcome)) {
    std::cout << Printable(explain->text) << (explain->text.ends_with('\n') ? "" : "\n")
              << std::flush;
  } else if (const auto* job = std::get_if<PlannedJob>(&*outcome)) {
    if (!last && !job->bounded && !job->is_query)
      return Fail(EndlessInsert(statement.position), sql);
    return RunJob(*job, sql, statement.position);
  } else if (settings_.confirms) {
    std::cout << "ok\n" << std::flush;
  }
  return 0;
}

// Rows on the same terminal would be torn apart by a line that is redrawn: rows of a query wipe it
// first, those of `print` cannot.
bool StatementRunner::ShowsProgress(const PlannedJob& planned) const {
  if (!IsTerminal(STDERR_FILENO)) return false;
  return !IsTerminal(STDOUT_FILENO) || !WritesPrint(planned);
}

Status StatementRunner::OpenProfile(const PlannedJob& planned, const SqlText& sql) {
  if (settings_.profile.empty()) return Status::Ok();
  std::error_code ignored;
  if (std::filesystem::equivalent(settings_.profile, sql.origin, ignored)) {
    return Status::InvalidArgument("the profile would go to {}, which is the script", sql.origin)
        .WithErrorCode("RT5002")
        .WithHint("name a file of its own");
  }
  RT_TRY(CheckOutputs(planned, {{settings_.profile, "the profile"}}));
  if (profile_ != nullptr) return Status::Ok();
  RT_ASSIGN(profile_, ProfileFile::Open(settings_.profile));
  return Status::Ok();
}

int StatementRunner::RunJob(const PlannedJob& planned, const SqlText& sql, SourcePosition at) {
  const RunningJob is_running;
  ProgressLine progress(stderr, ShowsProgress(planned));
  const auto show = [this](ProgressLine* line) {
    const std::lock_guard lock(mutex_);
    progress_ = line;
  };
  show(&progress);
  AllowForShutdown(planned.options.GetMillis("rowtide.shutdown.timeout"));
  watch_.Start(planned.name);
  const int code = RunWatched(planned, sql, at, progress);
  show(nullptr);
  return code;
}

int StatementRunner::RunWatched(const PlannedJob& planned, const SqlText& sql, SourcePosition at,
                                ProgressLine& progress) {
  if (sql.origin == "-") {
    const Status free = CheckStandardInput(planned);
    if (!free.ok()) return Fail(free, sql);
  }
  const Status opened = OpenProfile(planned, sql);
  if (!opened.ok()) return Fail(opened, sql);
  Result<std::unique_ptr<DurableJob>> opening =
      DurableJob::Open(planned, state_, ++jobs_of_name_[planned.name],
                       [this](const std::string& text) { Say("state", text); });
  if (!opening.ok()) return Fail(opening.status(), sql);
  const std::unique_ptr<DurableJob> durable = std::move(*opening);
  if (durable != nullptr && durable->is_done()) return NoteThatItIsOver(planned);
  Attempt attempt;
  Status ready = Make(planned, durable.get(), progress, &attempt);
  const auto begin = std::chrono::steady_clock::now();
  Result<JobEnd> end = JobEnd::kEnded;
  while (true) {
    if (!ready.ok()) {
      end = ready;
    } else {
      end = attempt.has_read_all ? JobEnd::kEnded : attempt.job->RunToEnd();
    }
    if (end.ok() || durable == nullptr) break;
    const std::optional<int64_t> delay = durable->DelayAfter(end.status());
    if (!delay) break;
    attempt = Attempt();
    watch_.Note(JobState::kRestarting, end.status().message());
    if (!durable->AwaitRestart(*delay, stop_signal)) return NoteThatItWasStopped();
    ready = durable->Reopen();
    if (ready.ok()) ready = Make(planned, durable.get(), progress, &attempt);
  }
  progress.Clear();
  if (attempt.job == nullptr) return Fail(end.status(), sql);
  Job& job = *attempt.job;
  ResultSink* const result = attempt.result;
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  // What has come is shown, and that it is not all.
  if (!end.ok() && result != nullptr) (void)result->Terminate().ok();
  if (end.ok() && *end == JobEnd::kEnded && durable != nullptr) {
    const Status done = durable->MarkDone();
    if (!done.ok()) return Fail(done, sql);
    if (attempt.has_read_all) return NoteThatItIsOver(planned);
  }
  if (end.ok()) watch_.Note(*end == JobEnd::kEnded ? JobState::kEnded : JobState::kStopped);
  int code =
      end.ok() ? Close(job, planned, *end, result, durable.get(), sql) : Fail(end.status(), sql);
  if (end.ok() && *end == JobEnd::kEnded && !planned.is_query && IsTerminal(STDERR_FILENO)) {
    PrintNote("done",
              fmt::format("{} rows emitted by sources in {:.3f} s", job.rows_read(), took.count()));
  }
  if (!settings_.stats) NoteRejects(job.Stats());
  if (settings_.stats) {
    std::cerr << StatsTable(job.Stats(), took.count(), job.rows_read(), job.lanes())
              << CheckpointLine(job.checkpoint_costs());
    if (durable != nullptr && durable->restarts() > 0)
      std::cerr << "restarts=" << durable->restarts() << "; the counts are of the last start\n";
    std::cerr << std::flush;
  }
  if (profile_ != nullptr) {
    const std::string name = fmt::format("{} ({}:{})", planned.name, sql.origin, at.line);
    const Status written = profile_->Add(name, took.count(), job.TimePaths());
    if (!written.ok()) code = Fail(written, sql);
  }
  if (result != nullptr && result->partial())
    PrintNote("partial", "the table above is not the whole result");
  return code;
}

Status StatementRunner::Make(const PlannedJob& planned, DurableJob* durable, ProgressLine& progress,
                             Attempt* attempt) {
  BuildContext context;
  context.connectors.clock = &clock_;
  context.connectors.gauges = watch_.gauges();
  context.connectors.waits = watch_.waits();
  context.counts_conflicts =
      settings_.stats && session_.options().GetBool("rowtide.stats.conflicts");
  ResultSink* result = nullptr;
  if (planned.is_query) {
    ResultOptions options = ResultOptionsOf(planned);
    options.before_print = [&progress] { progress.Clear(); };
    std::unique_ptr<ResultSink> sink =
        ResultSink::Create(std::move(options), planned.schema, stdout);
    attempt->result = result = sink.get();
    context.result = std::move(sink);
  }
  RT_ASSIGN(std::vector<JobGraph> graphs, durable != nullptr
                                              ? durable->Build(std::move(context))
                                              : BuildJob(planned, std::move(context)));
  JobOptions options{&steady_clock_, kTickMillis, &stop_signal, {}};
  options.wall_clock = &clock_;
  options.samples_time = settings_.stats || profile_ != nullptr || is_watched_;
  if (is_watched_) options.board = watch_.board();
  options.is_enough = [this, &progress, attempt, result] {
    if (progress.IsDue()) progress.Draw(attempt->job->Progress(), WaitText());
    return result != nullptr && result->full();
  };
  if (durable != nullptr) durable->Prepare(&options);
  std::optional<int64_t> interval;
  if (durable != nullptr) interval = durable->interval_millis();
  watch_.Begin(graphs[0], interval, durable != nullptr ? durable->restarts() : 0);
  attempt->job = std::make_unique<Job>(std::move(graphs), std::move(options));
  if (durable == nullptr) return Status::Ok();
  Status restored = durable->Restore(*attempt->job);
  if (!restored.ok()) attempt->job = nullptr;
  attempt->has_read_all = durable->has_read_all();
  return restored;
}

int StatementRunner::NoteThatItWasStopped() {
  stopped_ = true;
  watch_.Note(JobState::kStopped);
  PrintNote("stopped",
            "the job had failed and was waiting for its restart; the same command goes on from its "
            "newest checkpoint");
  return 0;
}

std::string StatementRunner::WaitText() const {
  const std::vector<Wait> waits = watch_.waits()->All();
  return waits.empty() ? "" : waits.front().what;
}

ResultOptions StatementRunner::ResultOptionsOf(const PlannedJob& planned) const {
  ResultOptions options;
  options.mode = settings_.output.value_or(IsTerminal(STDOUT_FILENO) ? OutputMode::kTableau
                                                                     : OutputMode::kChangelog);
  options.rows_max = settings_.limit;
  options.kinds = !planned.gives_final_rows();
  options.insert_only = planned.plan.roots[0]->mode.insert_only();
  options.local_time_zone = planned.local_time_zone();
  options.color = UsesColor(settings_.color, STDOUT_FILENO);
  options.terminal_columns = TerminalColumns(STDOUT_FILENO);
  return options;
}

int StatementRunner::Close(Job& job, const PlannedJob& planned, JobEnd end, ResultSink* result,
                           DurableJob* durable, const SqlText& sql) {
  stopped_ = end == JobEnd::kStopped;
  if (stopped_) job.Abandon();
  if (stopped_ && result != nullptr) {
    const Status written = result->Terminate();
    if (!written.ok()) return Fail(written, sql);
  }
  for (const std::string& summary : job.Summaries()) std::cout << summary << "\n" << std::flush;
  if (!stopped_) return 0;
  if (durable != nullptr) {
    const Result<bool> forgotten = durable->ForgetIfAsked();
    if (!forgotten.ok()) return Fail(forgotten.status(), sql);
    PrintNote("stopped", *forgotten
                             ? "its checkpoints are deleted, as "
                               "'execution.checkpointing.externalized-checkpoint-retention' says; "
                               "the same command begins anew"
                             : "all that was read is in a checkpoint; the same command goes on "
                               "from it");
    return 0;
  }
  if (planned.writes_files()) {
    PrintNote("stopped",
              "nothing was published; the files written so far keep their temporary names");
  } else if (planned.bounded) {
    PrintNote("stopped", "not all of the input was read");
  } else {
    return 0;
  }
  return ExitCodeOfSignal(stop_signal);
}

}  // namespace rowtide
