// A small HTTP server that only tells: GET and HEAD of fixed paths, answered from memory on a
// thread of its own. Boost.Beast reads the requests.
//
// Whoever connects is a stranger. A request has 8 KiB and no body, and arrives within ten seconds;
// there are so many connections, and the oldest goes first; a Host that is somebody's domain is
// refused where the server listens on loopback, since a web page elsewhere could have sent the
// browser there (DNS rebinding). Nothing of the request but its path is looked at, and no file is
// ever opened.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "engine/status.h"

namespace rowtide {

// `[HOST]:PORT`, `[::1]:9249`, `:9249`, `9249`. Without a host it is loopback.
struct HttpAddress {
  std::string host = "127.0.0.1";
  int port = 0;  // 0: any that is free
};
Result<HttpAddress> ParseHttpAddress(const std::string& text);

struct HttpAnswer {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body;
};

class HttpServer {
 public:
  // Both are called on the server's thread: `answer` with a path such as `/metrics`, `each_second`
  // as it says.
  struct Calls {
    std::function<HttpAnswer(const std::string& path)> answer;
    std::function<void()> each_second;
  };
  // Listens when it returns.
  static Result<std::unique_ptr<HttpServer>> Open(const HttpAddress& address, Calls calls);
  ~HttpServer();

  // `http://127.0.0.1:9249/`, with the port that it has.
  const std::string& url() const;

 private:
  class Loop;
  explicit HttpServer(std::unique_ptr<Loop> loop);

  std::unique_ptr<Loop> loop_;
};

}  // namespace rowtide
