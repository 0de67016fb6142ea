// A job of one INSERT with its state over RocksDB, or in memory: what checkpoints and eviction
// cost.
//
//   bench_tier_job JOB.sql memory
//   bench_tier_job JOB.sql FOLDER BYTES SECONDS     at most so many bytes of state in memory; a
//                                                   checkpoint each so many seconds, 0 = none
//   bench_tier_job JOB.sql FOLDER BYTES restore     over the last checkpoint of such a run: how
//                                                   long until the first batch is through
//
// Prints rows, seconds of the process and of the wall, the longest pause at a barrier, checkpoints,
// bytes written into them, and the peak of resident memory.
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "engine/runtime/job.h"
#include "planner/exec/build_job.h"
#include "planner/session.h"
#include "planner/sql/parser.h"
#include "state/durable/rocksdb_backend.h"
#include "state/state_tier.h"

namespace rowtide {
namespace {

namespace fs = std::filesystem;
using Steady = std::chrono::steady_clock;

double SecondsSince(Steady::time_point begin) {
  return std::chrono::duration<double>(Steady::now() - begin).count();
}

struct Setup {
  std::string folder;  // empty: in memory
  int64_t bytes_max = 0;
  double interval = 0;
  bool restores = false;
};

class Run {
 public:
  Run(const PlannedJob& planned, Setup setup) : planned_(planned), setup_(std::move(setup)) {}

  Status Whole() {
    const auto begin = Steady::now();
    RT_TRY(OpenState());
    BuildContext context;
    context.connectors.clock = &clock_;
    context.connectors.error = stderr;
    context.tier = tier_.get();
    RT_ASSIGN(JobGraph graph, BuildJob(planned_, std::move(context)));
    Job job(std::move(graph));
    auto last = Steady::now();
    while (true) {
      RT_ASSIGN(const SourceState state, job.Step());
      if (setup_.restores) {
        std::printf("first batch after %.3f s\n", SecondsSince(begin));
        setup_.restores = false;
      }
      if (tier_) {
        const auto work = Steady::now();
        RT_TRY(tier_->Work());
        longest_work_ = std::max(longest_work_, SecondsSince(work));
        if (pending_ && tier_->written()) RT_TRY(EndCheckpoint());
        if (!pending_ && setup_.interval > 0 && SecondsSince(last) >= setup_.interval) {
          last = Steady::now();
          RT_TRY(BeginCheckpoint());
        }
      }
      if (warm_after_ == 0 && tier_ && !tier_->busy()) warm_after_ = SecondsSince(begin);
      if (state == SourceState::kEnd) break;
    }
    RT_TRY(job.Finish());
    const double wall = SecondsSince(begin);
    if (tier_) {
      if (pending_) RT_TRY(EndCheckpoint());
      RT_TRY(BeginCheckpoint());
      RT_TRY(EndCheckpoint());
    }
    Print(job, wall);
    return Status::Ok();
  }

 private:
  Status OpenState() {
    if (setup_.folder.empty()) return Status::Ok();
    const std::string work = setup_.folder + "/work";
    const RocksDbOptions options{static_cast<size_t>(setup_.bytes_max) / 8, nullptr};
    if (setup_.restores) {
      RT_ASSIGN(backend_, RocksDbBackend::Open(work, setup_.folder + "/last", options));
    } else {
      RT_ASSIGN(backend_, RocksDbBackend::Create(work, options));
    }
    tier_ = std::make_unique<StateTier>(
        backend_.get(), StateTier::Options{setup_.bytes_max / 8 * 7, setup_.restores, true});
    return Status::Ok();
  }

  Status BeginCheckpoint() {
    const auto begin = Steady::now();
    RT_TRY(tier_->BeginCheckpoint(setup_.folder + "/next"));
    longest_pause_ = std::max(longest_pause_, SecondsSince(begin));
    pending_ = true;
    return Status::Ok();
  }
  Status EndCheckpoint() {
    RT_TRY(tier_->WaitWritten().status());
    pending_ = false;
    ++checkpoints_;
    fs::remove_all(setup_.folder + "/last");
    fs::rename(setup_.folder + "/next", setup_.folder + "/last");
    return Status::Ok();
  }

  void Print(const Job& job, double wall) const {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
      return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    std::printf(
        "rows %lld  wall %.2f s  user %.2f s  system %.2f s  pause %.2f ms  work %.1f ms  "
        "checkpoints %d  warm after %.2f s  RSS %ld MB  files %lld MB\n",
        static_cast<long long>(job.rows_read()), wall, seconds(usage.ru_utime),
        seconds(usage.ru_stime), longest_pause_ * 1e3, longest_work_ * 1e3, checkpoints_,
        warm_after_, usage.ru_maxrss / 1024,
        backend_ ? static_cast<long long>(backend_->file_bytes() >> 20) : 0LL);
    for (const std::string& summary : job.Summaries()) std::printf("%s\n", summary.c_str());
  }

  const PlannedJob& planned_;
  Setup setup_;
  SystemClock clock_;
  std::unique_ptr<RocksDbBackend> backend_;
  std::unique_ptr<StateTier> tier_;
  bool pending_ = false;
  int checkpoints_ = 0;
  double longest_pause_ = 0;
  double longest_work_ = 0;
  double warm_after_ = 0;
};

Status RunFile(const std::string& path, const Setup& setup) {
  std::ifstream in(path);
  const std::string sql(std::istreambuf_iterator<char>(in), {});
  RT_ASSIGN(const std::vector<ast::Statement> statements, ParseScript(sql));
  Session session;
  for (const ast::Statement& statement : statements) {
    RT_ASSIGN(const Outcome outcome, session.Execute(statement));
    if (const auto* job = std::get_if<PlannedJob>(&outcome)) RT_TRY(Run(*job, setup).Whole());
  }
  return Status::Ok();
}

}  // namespace
}  // namespace rowtide

int main(int argc, char** argv) {
  if (argc != 3 && argc != 5) {
    std::fprintf(stderr, "bench_tier_job JOB.sql memory | FOLDER BYTES SECONDS|restore\n");
    return 2;
  }
  rowtide::Setup setup;
  if (argc == 5) {
    setup = {argv[2], std::atoll(argv[3]), std::atof(argv[4]), std::string(argv[4]) == "restore"};
  }
  const rowtide::Status status = rowtide::RunFile(argv[1], setup);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
