// Runs statements one by one in a session: for scripts and for the shell.
//
// A SELECT prints its rows (cli/output.h); SHOW, DESCRIBE and EXPLAIN print text; jobs run in the
// foreground, with a progress line on a terminal, until their input ends, --limit is reached, or a
// signal asks to stop (cli/signals.h). Failures are printed here.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "cli/durable_job.h"
#include "cli/monitor/job_watch.h"
#include "cli/output.h"
#include "cli/profile.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "engine/clock.h"
#include "engine/runtime/job.h"
#include "engine/steady_clock.h"
#include "planner/session.h"

namespace rowtide {

struct SqlText {
  std::string origin;  // a file's name, `-c` or `-`
  std::string text;
};

struct PrintSettings {
  std::optional<OutputMode> output;  // none: by what standard output is
  std::optional<int64_t> limit;
  bool stats = false;
  std::string profile;    // a file (cli/profile.h); empty: none
  bool confirms = false;  // the shell: a statement that gives nothing says `ok`
  ColorWhen color = ColorWhen::kAuto;
};

class StatementRunner {
 public:
  // `settings` is borrowed and read anew for each statement.
  explicit StatementRunner(const PrintSettings& settings, StateSettings state = {});

  // The exit code. `sql` is what the statement's positions point into; `last`: no statement follows
  // that an endless INSERT would keep from running.
  int Run(const ast::Statement& statement, const SqlText& sql, bool last);
  // Whether a signal ended the last statement.
  bool stopped() const { return stopped_; }
  Session& session() { return session_; }
  // What shows the jobs that are run, to other threads; from now on they tell it how they go.
  JobWatch* Watched();

 private:
  // On standard error, from any thread.
  void Say(std::string_view kind, const std::string& text);
  int RunWatched(const PlannedJob& planned, const SqlText& sql, SourcePosition at,
                 ProgressLine& progress);
  int Fail(const Status& status, const SqlText& sql);
  // `at`: of the statement.
  int RunJob(const PlannedJob& planned, const SqlText& sql, SourcePosition at);
  Status OpenProfile(const PlannedJob& planned, const SqlText& sql);
  // A job that is run: once, or with a state folder again and again.
  struct Attempt {
    ResultSink* result = nullptr;  // of a query; the job's
    std::unique_ptr<Job> job;
    bool has_read_all = false;  // in an earlier run: there is nothing to run
  };
  // Builds and restores it. `attempt` stays where it is while the job runs.
  Status Make(const PlannedJob& planned, DurableJob* durable, ProgressLine& progress,
              Attempt* attempt);
  int Close(Job& job, const PlannedJob& planned, JobEnd end, ResultSink* result,
            DurableJob* durable, const SqlText& sql);
  int NoteThatItWasStopped();
  std::string WaitText() const;
  ResultOptions ResultOptionsOf(const PlannedJob& planned) const;
  bool ShowsProgress(const PlannedJob& planned) const;

  const PrintSettings& settings_;
  StateSettings state_;
  std::map<std::string, int> jobs_of_name_;
  Session session_;
  SystemClock clock_;
  SteadyClock steady_clock_;
  std::unique_ptr<ProfileFile> profile_;  // from the first job on
  bool stopped_ = false;
  std::mutex mutex_;
  ProgressLine* progress_ = nullptr;  // under the mutex: of the job that runs
  JobWatch watch_;
  bool is_watched_ = false;
};

}  // namespace rowtide
