#include "cli/signals.h"

#include <fcntl.h>
#include <sys/time.h>
#include <unistd.h>

namespace rowtide {

std::atomic<int> stop_signal{0};
static_assert(std::atomic<int>::is_always_lock_free,
              "a signal handler may touch lock-free atomics only");

namespace {

std::atomic<bool> job_runs{false};
static_assert(std::atomic<bool>::is_always_lock_free);

std::atomic<int64_t> shutdown_millis{0};  // 0: as long as it takes
static_assert(std::atomic<int64_t>::is_always_lock_free);

void OnAlarm(int /*signal*/) {
  static constexpr char kText[] =
      "stopped: the job did not come to its end within 'rowtide.shutdown.timeout'; with a state "
      "folder the same command goes on from its newest checkpoint\n";
  (void)!write(STDERR_FILENO, kText, sizeof(kText) - 1);
  _exit(ExitCodeOfSignal(stop_signal));
}

void SetAlarm(int64_t millis) {
  itimerval timer{};
  timer.it_value.tv_sec = millis / 1000;
  timer.it_value.tv_usec = millis % 1000 * 1000;
  setitimer(ITIMER_REAL, &timer, nullptr);
}

// A read of standard input that waits for a writer would keep the job from seeing the request: it
// goes on with an input that is empty.
void EmptyStandardInput() {
  const int nothing = open("/dev/null", O_RDONLY);
  if (nothing >= 0) dup2(nothing, STDIN_FILENO);
}

void OnSignalOfScript(int signal) {
  if (stop_signal.exchange(signal) != 0 || !job_runs) _exit(ExitCodeOfSignal(signal));
  EmptyStandardInput();
  SetAlarm(shutdown_millis);
}

void OnSignalOfShell(int signal) {
  const int before = stop_signal.exchange(signal);
  if (before == SIGTERM && signal == SIGTERM) _exit(ExitCodeOfSignal(signal));
  if (before == SIGTERM) stop_signal = SIGTERM;
}

}  // namespace

RunningJob::RunningJob() { job_runs = true; }
RunningJob::~RunningJob() {
  job_runs = false;
  SetAlarm(0);
}

void AllowForShutdown(int64_t millis) { shutdown_millis = millis; }

void InstallSignalHandlers(SignalUse use) {
  std::signal(SIGPIPE, SIG_DFL);  // whoever starts us may have it ignored
  const auto handler = use == SignalUse::kShell ? OnSignalOfShell : OnSignalOfScript;
  std::signal(SIGINT, handler);
  std::signal(SIGTERM, handler);
  std::signal(SIGALRM, OnAlarm);
}

}  // namespace rowtide
