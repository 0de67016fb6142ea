// Memory for state, made ready while the lanes still fill what they have: where there is a second
// core, a thread touches the next 4 MiB in advance. To touch a page is to have the kernel clear it,
// and on a virtual machine to have the host find one: a tenth of a second for each GiB at best.
//
//   lane     | fills region 7 | Take() | fills region 8 | Take() | ...
//   thread            | touches 8 |            | touches 9 |          then sleeps
//
// One supply a process, at most one region ahead, started by the first Take; on a single core, or
// when no thread can be had, Take does it by itself. Thread-safe.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>

namespace rowtide {

class PageSupply {
 public:
  static constexpr size_t kBytes = size_t{4} << 20;

  static PageSupply& OfProcess();
  ~PageSupply();
  PageSupply(const PageSupply&) = delete;
  PageSupply& operator=(const PageSupply&) = delete;

  // kBytes as AllocatePages gives them; given back with FreePages.
  char* Take();

 private:
  enum class Second { kNotAsked, kNone, kRuns };  // the thread

  PageSupply() = default;
  void Run();

  std::mutex mutex_;
  std::condition_variable asked_;
  Second second_ = Second::kNotAsked;
  bool wants_one_ = false;
  bool ends_ = false;
  char* ready_ = nullptr;
  std::thread thread_;
};

}  // namespace rowtide
