// Starts a thread that gets no signals: those are for the thread that looks at the stop request,
// which they shall wake from its waits.
#pragma once

#include <functional>
#include <thread>

#include "engine/status.h"

namespace rowtide {

Result<std::thread> StartThread(std::function<void()> run);
// The same for work that rows do not wait for: they come first where there are too few cores.
Result<std::thread> StartBackgroundThread(std::function<void()> run);

}  // namespace rowtide
