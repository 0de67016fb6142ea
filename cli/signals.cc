#include "cli/signals.h"

#include <unistd.h>
#include <csignal>

namespace rowtide {

std::atomic<int> stop_signal{0};
static_assert(std::atomic<int>::is_always_lock_free,
              "a signal handler may touch lock-free atomics only");

namespace {

void OnSignal(int signal) {
  if (stop_signal.exchange(signal) != 0) _exit(ExitCodeOfSignal(signal));
}

}  // namespace

void InstallSignalHandlers() {
  std::signal(SIGINT, OnSignal);
  std::signal(SIGTERM, OnSignal);
}

}  // namespace rowtide
