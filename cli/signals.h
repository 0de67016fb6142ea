// SIGINT and SIGTERM ask what runs to stop.
//
//   kScript   while a job runs, the first asks and the second leaves at once with 130 or 143; while
//             nothing runs that would have to end well (a statement is being planned), the first
//             leaves
//   kShell    SIGINT asks and never ends the shell; a second SIGTERM leaves
//
// What was asked has so long to come to its end (AllowForShutdown): a sink that waits for a reader
// or a broker may never. Then the process leaves with 130 or 143, as after a second signal.
//
// A closed standard output ends the program quietly, as SIGPIPE does by itself.
#pragma once

#include <atomic>
#include <csignal>
#include <cstdint>

namespace rowtide {

// The number of the signal that asked to stop, 0 as long as none has.
extern std::atomic<int> stop_signal;

// Says that a job runs as long as it lives.
class RunningJob {
 public:
  RunningJob();
  ~RunningJob();
  RunningJob(const RunningJob&) = delete;
  RunningJob& operator=(const RunningJob&) = delete;
};

// From the next signal on.
void AllowForShutdown(int64_t millis);

enum class SignalUse : uint8_t { kScript, kShell };
void InstallSignalHandlers(SignalUse use = SignalUse::kScript);
inline int ExitCodeOfSignal(int signal) { return 128 + signal; }

}  // namespace rowtide
