// `rowtide run --metrics`: the job that runs, over HTTP.
//
//   /              the status page (status_page.html)
//   /status.json   what it shows
//   /metrics       for Prometheus
//   /livez         200 while the process answers
//   /readyz        200 while the job runs, 503 while it starts or waits for its restart
#pragma once

#include <memory>
#include <string>

#include "cli/monitor/http_server.h"
#include "cli/monitor/job_watch.h"

namespace rowtide {

class Monitor {
 public:
  // `watch` is borrowed.
  static Result<std::unique_ptr<Monitor>> Open(const HttpAddress& address, JobWatch* watch);
  const std::string& url() const { return server_->url(); }

 private:
  explicit Monitor(JobWatch* watch) : watch_(watch) {}
  HttpAnswer Answer(const std::string& path) const;

  JobWatch* watch_;
  std::unique_ptr<HttpServer> server_;
};

}  // namespace rowtide
