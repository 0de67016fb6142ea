#include "engine/gauges.h"

#include <algorithm>
#include <string_view>

namespace rowtide {

Gauge* Gauges::Find(GaugeName name, GaugeLabels labels) {
  const std::lock_guard lock(mutex_);
  const auto same_name = [&](const Entry& entry) {
    return std::string_view(entry.name.name) == name.name;
  };
  auto place = entries_.end();  // behind the last one of the name
  for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
    if (!same_name(*entry)) continue;
    place = entry + 1;
    if (entry->labels != labels) continue;
    entry->is_shown = true;
    return entry->gauge.get();
  }
  return entries_.insert(place, Entry{name, std::move(labels), std::make_unique<Gauge>(), true})
      ->gauge.get();
}

std::vector<GaugeReading> Gauges::Read() const {
  const std::lock_guard lock(mutex_);
  std::vector<GaugeReading> readings;
  for (const Entry& entry : entries_) {
    if (entry.is_shown) readings.push_back({entry.name, entry.labels, entry.gauge->value()});
  }
  return readings;
}

void Gauges::Retire() {
  const std::lock_guard lock(mutex_);
  for (Entry& entry : entries_) entry.is_shown = false;
}

}  // namespace rowtide
