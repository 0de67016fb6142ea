#include "cli/signals.h"

#include <fcntl.h>
#include <unistd.h>
#include <csignal>

namespace rowtide {

std::atomic<int> stop_signal{0};
static_assert(std::atomic<int>::is_always_lock_free,
              "a signal handler may touch lock-free atomics only");

namespace {

// A read of standard input that waits for a writer would keep the job from seeing the request: it
// goes on with an input that is empty.
void EmptyStandardInput() {
  const int nothing = open("/dev/null", O_RDONLY);
  if (nothing >= 0) dup2(nothing, STDIN_FILENO);
}

void OnSignal(int signal) {
  if (stop_signal.exchange(signal) != 0) _exit(ExitCodeOfSignal(signal));
  EmptyStandardInput();
}

}  // namespace

void InstallSignalHandlers() {
  std::signal(SIGINT, OnSignal);
  std::signal(SIGTERM, OnSignal);
}

}  // namespace rowtide
