// SIGINT and SIGTERM: the first asks the job to stop, the second leaves at once with 130 or 143.
//
// A closed standard output ends the program quietly, as SIGPIPE does by itself.
#pragma once

#include <atomic>

namespace rowtide {

// The number of the signal that asked to stop, 0 as long as none has.
extern std::atomic<int> stop_signal;
void InstallSignalHandlers();
inline int ExitCodeOfSignal(int signal) { return 128 + signal; }

}  // namespace rowtide
