// How another process speaks with a job that runs: a socket `control` in the job's folder, for its
// owner alone (mode 0600).
//
//   savepoint /abs/path\n        ok /abs/path\n
//   savepoint\n                  ok /savepoints/savepoint-insert-into_s-1767225600\n
//   stop\n                       ok stopped\n
//   stop /abs/path\n             error it exists already\n
//
// One request a connection, answered when it is done. Requests are bounded; what is no request is
// answered with an error and changes nothing.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "engine/runtime/bounded_queue.h"
#include "engine/runtime/job_requests.h"

namespace rowtide {

class ControlSocket {
 public:
  // Requires: this process holds the folder's lock. `savepoint_dir`: where savepoints go that have
  // no place of their own. `requests` is borrowed.
  static Result<std::unique_ptr<ControlSocket>> Open(const std::string& job_folder,
                                                     const std::string& savepoint_dir,
                                                     JobRequests* requests);
  // Whoever still waits is told that the job has ended.
  ~ControlSocket();

 private:
  ControlSocket(int folder, int listener, std::string new_savepoint, JobRequests* requests);
  void Serve();
  void Answer(int connection);
  // None: it is no request.
  std::optional<JobRequests::Request> ReadRequest(const std::string& line) const;

  int folder_;
  int listener_;
  std::string new_savepoint_;  // the time comes behind it
  JobRequests* requests_;
  WakeupFlag over_;
  std::thread thread_;
};

// Sends the request to the job of that folder and waits for the answer. RT6005: no process runs the
// job.
Result<std::string> AskJob(const std::string& job_folder, const std::string& request);

}  // namespace rowtide
