#include "cli/monitor/monitor.h"

#include "cli/monitor/metrics_text.h"
#include "cli/monitor/status_json.h"
#include "cli/monitor/status_page.h"
#include "engine/clock.h"

namespace rowtide {
namespace {

int64_t NowMillis() { return SystemClock().NowMillis(); }

HttpAnswer Readiness(const JobLook& look) {
  const bool is_ready = look.state == JobState::kRunning || look.state == JobState::kEnded;
  return {is_ready ? 200 : 503, "text/plain; charset=utf-8", std::string(Text(look.state)) + "\n"};
}

}  // namespace

Result<std::unique_ptr<Monitor>> Monitor::Open(const HttpAddress& address, JobWatch* watch) {
  std::unique_ptr<Monitor> monitor(new Monitor(watch));
  HttpServer::Calls calls;
  calls.answer = [raw = monitor.get()](const std::string& path) { return raw->Answer(path); };
  calls.each_second = [watch] { watch->Sample(); };
  RT_ASSIGN(monitor->server_, HttpServer::Open(address, std::move(calls)));
  return monitor;
}

HttpAnswer Monitor::Answer(const std::string& path) const {
  if (path == "/") return {200, "text/html; charset=utf-8", std::string(StatusPage())};
  if (path == "/status.json")
    return {200, "application/json", StatusJson(watch_->Look(), NowMillis())};
  if (path == "/metrics") return {200, kMetricsType, MetricsText(watch_->Look(), NowMillis())};
  if (path == "/livez") return {200, "text/plain; charset=utf-8", "ok\n"};
  if (path == "/readyz") return Readiness(watch_->Look());
  return {404, "text/plain; charset=utf-8",
          "there are /, /status.json, /metrics, /livez and /readyz\n"};
}

}  // namespace rowtide
