#include "cli/restarts.h"

#include <algorithm>

#include "planner/exec/node_operators.h"

namespace rowtide {
namespace {

// Another instance runs the job: it would only be disturbed.
constexpr std::string_view kTakenOver = "RT6011";

std::optional<std::string> TableOnStandardInput(const ExecNode& node) {
  const auto* scan = node.as<PhysicalScan>();
  if (scan && scan->table->connector() == "filesystem" &&
      TableSpecOf(*scan->table, scan->hint_options).options["path"] == "-")
    return scan->table->path.name;
  for (const ExecPointer& input : node.inputs) {
    if (std::optional<std::string> found = TableOnStandardInput(*input)) return found;
  }
  return std::nullopt;
}

}  // namespace

RestartSettings RestartSettingsOf(const Options& options) {
  const std::string type = options.Get("restart-strategy.type");
  RestartSettings settings;
  if (type.starts_with("exponential")) {
    const std::string family = "restart-strategy.exponential-delay.";
    settings.strategy = RestartStrategy::kExponentialDelay;
    settings.delay_millis = options.GetMillis(family + "initial-backoff");
    settings.delay_max_millis =
        std::max(settings.delay_millis, options.GetMillis(family + "max-backoff"));
    settings.multiplier = options.GetNumber(family + "backoff-multiplier");
    settings.jitter = options.GetNumber(family + "jitter-factor");
    settings.interval_millis = options.GetMillis(family + "reset-backoff-threshold");
    settings.restarts_max = options.GetInt(family + "attempts-before-reset-backoff");
  } else if (type.starts_with("fixed")) {
    settings.strategy = RestartStrategy::kFixedDelay;
    settings.delay_millis = options.GetMillis("restart-strategy.fixed-delay.delay");
    settings.restarts_max = options.GetInt("restart-strategy.fixed-delay.attempts");
  } else if (type.starts_with("failure")) {
    const std::string family = "restart-strategy.failure-rate.";
    settings.strategy = RestartStrategy::kFailureRate;
    settings.delay_millis = options.GetMillis(family + "delay");
    settings.restarts_max = options.GetInt(family + "max-failures-per-interval");
    settings.interval_millis = options.GetMillis(family + "failure-rate-interval");
  }
  return settings;
}

bool MayPass(const Status& failure) {
  return failure.code() == StatusCode::kExternal && failure.error_code() != kTakenOver;
}

std::optional<std::string> TableOnStandardInput(const PlannedJob& planned) {
  for (const ExecPointer& root : planned.plan.roots) {
    if (std::optional<std::string> found = TableOnStandardInput(*root)) return found;
  }
  return std::nullopt;
}

}  // namespace rowtide
