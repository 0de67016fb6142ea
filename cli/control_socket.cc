#include "cli/control_socket.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <utility>

#include "engine/thread_start.h"

namespace rowtide {
namespace {

constexpr const char* kName = "control";
constexpr size_t kRequestBytesMax = 8192;
constexpr int kPatienceMillis = 5000;  // for a request to arrive in full

Status Failed(const char* what, const std::string& folder) {
  return Status::External("cannot {} {}/{}: {}", what, folder, kName, std::strerror(errno));
}

// Paths of sockets are short; one through the folder's descriptor is.
sockaddr_un AddressIn(int folder) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = fmt::format("/proc/self/fd/{}/{}", folder, kName);
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

const sockaddr* Plain(const sockaddr_un& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

// Up to the end of a line; none when it does not come.
std::optional<std::string> ReadLine(int connection, int patience_millis) {
  std::string line;
  while (line.size() < kRequestBytesMax) {
    pollfd ready = {connection, POLLIN, 0};
    if (::poll(&ready, 1, patience_millis) <= 0) return std::nullopt;
    char bytes[512];
    const ssize_t count = ::read(connection, bytes, sizeof(bytes));
    if (count <= 0) return std::nullopt;
    line.append(bytes, static_cast<size_t>(count));
    if (const size_t end = line.find('\n'); end != std::string::npos) return line.substr(0, end);
  }
  return std::nullopt;
}

void Send(int connection, std::string line) {
  for (char& c : line) {
    if (c == '\n') c = ' ';
  }
  line += '\n';
  (void)::send(connection, line.data(), line.size(), MSG_NOSIGNAL);
}

}  // namespace

ControlSocket::ControlSocket(int folder, int listener, std::string new_savepoint,
                             JobRequests* requests)
    : folder_(folder),
      listener_(listener),
      new_savepoint_(std::move(new_savepoint)),
      requests_(requests) {}

Result<std::unique_ptr<ControlSocket>> ControlSocket::Open(const std::string& job_folder,
                                                           const std::string& savepoint_dir,
                                                           JobRequests* requests) {
  const int folder = ::open(job_folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return Failed("make", job_folder);
  const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const std::string job = std::filesystem::path(job_folder).lexically_normal().filename();
  std::unique_ptr<ControlSocket> socket(new ControlSocket(
      folder, listener, fmt::format("{}/savepoint-{}-", savepoint_dir, job), requests));
  const sockaddr_un address = AddressIn(folder);
  ::unlinkat(folder, kName, 0);  // of a run that was killed
  const mode_t mask = ::umask(0177);
  const bool bound = listener >= 0 && ::bind(listener, Plain(address), sizeof(address)) == 0;
  ::umask(mask);
  if (!bound || ::listen(listener, 8) != 0) return Failed("make", job_folder);
  RT_ASSIGN(socket->thread_, StartThread([raw = socket.get()] { raw->Serve(); }));
  return socket;
}

ControlSocket::~ControlSocket() {
  requests_->Close();
  over_.Set();
  if (thread_.joinable()) thread_.join();
  ::unlinkat(folder_, kName, 0);
  if (listener_ >= 0) ::close(listener_);
  ::close(folder_);
}

void ControlSocket::Serve() {
  while (true) {
    pollfd ready[] = {{listener_, POLLIN, 0}, {over_.descriptor(), POLLIN, 0}};
    if (::poll(ready, 2, -1) < 0 && errno != EINTR) return;
    if (ready[1].revents != 0) return;
    if (ready[0].revents == 0) continue;
    const int connection = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) continue;
    Answer(connection);
    ::close(connection);
  }
}

std::optional<JobRequests::Request> ControlSocket::ReadRequest(const std::string& line) const {
  const size_t blank = line.find(' ');
  const std::string verb = line.substr(0, blank);
  std::string path = blank == std::string::npos ? "" : line.substr(blank + 1);
  if (!path.empty() && path[0] != '/') return std::nullopt;
  if (verb == "stop") return JobRequests::Request{path, true};
  if (verb != "savepoint") return std::nullopt;
  if (path.empty()) {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    path = new_savepoint_ +
           std::to_string(std::chrono::duration_cast<std::chrono::seconds>(now).count());
  }
  return JobRequests::Request{path, false};
}

void ControlSocket::Answer(int connection) {
  const std::optional<std::string> line = ReadLine(connection, kPatienceMillis);
  if (!line) return Send(connection, "error no request came");
  const std::optional<JobRequests::Request> request = ReadRequest(*line);
  if (!request) return Send(connection, "error this is no request: " + *line);
  const Status status = requests_->Ask(*request);
  if (!status.ok()) return Send(connection, "error " + status.message());
  Send(connection, "ok " + (request->savepoint.empty() ? "stopped" : request->savepoint));
}

Result<std::string> AskJob(const std::string& job_folder, const std::string& request) {
  const int folder = ::open(job_folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return Failed("reach", job_folder);
  const int connection = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_un address = AddressIn(folder);
  const bool reached =
      connection >= 0 && ::connect(connection, Plain(address), sizeof(address)) == 0;
  ::close(folder);
  std::optional<std::string> answer;
  if (reached) {
    Send(connection, request);
    answer = ReadLine(connection, -1);
  }
  if (connection >= 0) ::close(connection);
  if (!reached)
    return Status::External("no process runs the job of {}", job_folder).WithErrorCode("RT6005");
  if (!answer) return Status::External("the job of {} has ended without an answer", job_folder);
  if (answer->starts_with("ok ")) return answer->substr(3);
  return Status::External("{}", answer->starts_with("error ") ? answer->substr(6) : *answer);
}

}  // namespace rowtide
