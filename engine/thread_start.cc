#include "engine/thread_start.h"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <system_error>
#include <utility>

namespace rowtide {

Result<std::thread> StartThread(std::function<void()> run) {
  sigset_t all, before;
  sigfillset(&all);
  sigdelset(&all, SIGPIPE);  // comes to the thread that writes, and ends the command as elsewhere
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread;
  std::string trouble;
  try {
    thread = std::thread(std::move(run));
  } catch (const std::system_error& error) {
    trouble = error.what();
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!thread.joinable()) return Status::External("cannot start a thread: {}", trouble);
  return thread;
}

Result<std::thread> StartBackgroundThread(std::function<void()> run) {
  constexpr int kNice = 5;  // a quarter of the share of those that it competes with
  return StartThread([run = std::move(run)] {
    (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kNice);  // a thread's own
    const sched_param none{};
    (void)::sched_setscheduler(0, SCHED_BATCH, &none);  // it interrupts nobody when it wakes
    run();
  });
}

}  // namespace rowtide
