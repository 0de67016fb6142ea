#include "state/page_supply.h"

#include <sched.h>

#include <utility>

#include "engine/thread_start.h"
#include "state/arena.h"

namespace rowtide {
namespace {

bool HasSecondCore() {
  cpu_set_t cores;
  return sched_getaffinity(0, sizeof(cores), &cores) == 0 && CPU_COUNT(&cores) > 1;
}

}  // namespace

PageSupply& PageSupply::OfProcess() {
  static PageSupply supply;
  return supply;
}

PageSupply::~PageSupply() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  asked_.notify_one();
  if (thread_.joinable()) thread_.join();
  if (ready_ != nullptr) FreePages(ready_, kBytes);
}

char* PageSupply::Take() {
  char* memory;
  {
    const std::lock_guard lock(mutex_);
    if (second_ == Second::kNotAsked) {
      second_ = Second::kNone;
      if (HasSecondCore()) {
        Result<std::thread> thread = StartThread([this] { Run(); });
        if (thread.ok()) {
          thread_ = std::move(*thread);
          second_ = Second::kRuns;
        }
      }
    }
    memory = std::exchange(ready_, nullptr);
    wants_one_ = second_ == Second::kRuns;
  }
  asked_.notify_one();
  return memory != nullptr ? memory : AllocatePages(kBytes);
}

void PageSupply::Run() {
  std::unique_lock lock(mutex_);
  while (true) {
    asked_.wait(lock, [this] { return ends_ || wants_one_; });
    if (ends_) return;
    wants_one_ = false;
    lock.unlock();
    char* const memory = AllocatePages(kBytes);
    lock.lock();
    if (ready_ == nullptr) {
      ready_ = memory;
    } else {
      FreePages(memory, kBytes);
    }
  }
}

}  // namespace rowtide
