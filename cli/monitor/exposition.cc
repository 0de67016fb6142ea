#include "cli/monitor/exposition.h"

#include <fmt/format.h>

#include <cmath>

namespace rowtide {
namespace {

// Backslashes and line ends, in values of labels quotes as well.
std::string Escaped(std::string_view text, bool escapes_quotes) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\n') {
      escaped += "\\n";
    } else {
      if (c == '\\' || (c == '"' && escapes_quotes)) escaped += '\\';
      escaped += c;
    }
  }
  return escaped;
}

std::string NumberText(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return fmt::format("{}", value);
}

}  // namespace

void Exposition::Family(std::string_view name, std::string_view type, std::string_view help) {
  name_ = name;
  head_ = fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, Escaped(help, false), name, type);
}

void Exposition::Sample(const MetricLabels& labels, double value) {
  Line(labels, NumberText(value));
}

void Exposition::Sample(const MetricLabels& labels, int64_t value) {
  Line(labels, std::to_string(value));
}

void Exposition::Line(const MetricLabels& labels, std::string_view value) {
  text_ += std::exchange(head_, "");
  text_ += name_;
  for (size_t i = 0; i < labels.size(); ++i) {
    text_ += fmt::format("{}{}=\"{}\"", i == 0 ? "{" : ",", labels[i].first,
                         Escaped(labels[i].second, true));
  }
  text_ += fmt::format("{} {}\n", labels.empty() ? "" : "}", value);
}

}  // namespace rowtide
