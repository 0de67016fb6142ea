// Writes Prometheus' text format: families of samples, each with its HELP and TYPE once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rowtide {

using MetricLabels = std::vector<std::pair<std::string, std::string>>;

class Exposition {
 public:
  // What follows belongs to it. A family without samples leaves no trace.
  void Family(std::string_view name, std::string_view type, std::string_view help);
  void Sample(const MetricLabels& labels, double value);
  void Sample(const MetricLabels& labels, int64_t value);

  std::string Take() { return std::move(text_); }

 private:
  void Line(const MetricLabels& labels, std::string_view value);

  std::string text_;
  std::string name_;
  std::string head_;  // of the family, until its first sample
};

}  // namespace rowtide
