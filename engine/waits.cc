#include "engine/waits.h"

#include <algorithm>

namespace rowtide {

using std::chrono::steady_clock;

namespace {

constexpr std::chrono::seconds kTellAgainAfter{10};

}  // namespace

void Waits::Begin(const std::string& who, const std::string& what) {
  const std::lock_guard lock(mutex_);
  const steady_clock::time_point now = steady_clock::now();
  auto entry = std::find_if(entries_.begin(), entries_.end(),
                            [&](const Entry& one) { return one.wait.who == who; });
  const bool is_new = entry == entries_.end();
  if (is_new) entry = entries_.insert(entry, {{who, what, now}, now});
  const bool is_other = entry->wait.what != what;
  entry->wait.what = what;
  if (!is_new && !(is_other && now - entry->told >= kTellAgainAfter)) return;
  entry->told = now;
  if (listener_) listener_(entry->wait);
}

void Waits::End(const std::string& who) {
  const std::lock_guard lock(mutex_);
  const auto entry = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& one) { return one.wait.who == who; });
  if (entry == entries_.end()) return;
  Wait over = std::move(entry->wait);
  entries_.erase(entry);
  over.is_over = true;
  if (listener_) listener_(over);
}

void Waits::Clear() {
  const std::lock_guard lock(mutex_);
  entries_.clear();
}

std::vector<Wait> Waits::All() const {
  const std::lock_guard lock(mutex_);
  std::vector<Wait> all;
  for (const Entry& entry : entries_) all.push_back(entry.wait);
  return all;
}

}  // namespace rowtide
