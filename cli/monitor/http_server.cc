#include "cli/monitor/http_server.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <charconv>
#include <list>
#include <optional>
#include <thread>

#include "engine/schema.h"
#include "engine/thread_start.h"

namespace rowtide {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;

constexpr size_t kConnectionsMax = 256;
constexpr uint32_t kHeaderBytesMax = 8192;
constexpr std::chrono::seconds kPatience{10};

// The page is one document: its own style and script, and what it asks this server for.
constexpr const char* kContentPolicy =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src "
    "'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

std::string MachineName() {
  char name[256] = {};
  return ::gethostname(name, sizeof(name) - 1) == 0 ? name : "localhost";
}

// `localhost:9249` -> `localhost`, `[::1]:9249` -> `::1`
std::string HostOf(std::string_view field) {
  if (field.starts_with('[')) return std::string(field.substr(1, field.find(']') - 1));
  return std::string(field.substr(0, field.find(':')));
}

bool IsAddress(const std::string& host) {
  error_code error;
  asio::ip::make_address(host, error);
  return !error;
}

class Connection;
using Connections = std::list<std::weak_ptr<Connection>>;

// What all connections share.
struct Service {
  HttpServer::Calls calls;
  std::string host;  // as it was given
  bool is_loopback = true;
  Connections connections;  // the oldest first
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(tcp::socket socket, Service* service)
      : stream_(std::move(socket)), buffer_(kHeaderBytesMax), service_(service) {}

  void Read() {
    parser_.emplace();
    parser_->header_limit(kHeaderBytesMax);
    stream_.expires_after(kPatience);
    http::async_read(
        stream_, buffer_, *parser_,
        [self = shared_from_this()](error_code error, size_t /*bytes*/) { self->Take(error); });
  }
  void Close() { stream_.close(); }

 private:
  using Request = http::request<http::empty_body>;

  void Take(error_code error) {
    if (error == http::error::end_of_stream || error == beast::error::timeout ||
        error == asio::error::operation_aborted)
      return Close();
    if (error == http::error::header_limit || error == http::error::buffer_overflow)
      return Write({431, "text/plain; charset=utf-8", "the request is too long\n"}, false, false);
    if (error)
      return Write({400, "text/plain; charset=utf-8", "this is no request\n"}, false, false);
    const Request& request = parser_->get();
    const bool is_head = request.method() == http::verb::head;
    Write(AnswerTo(request), request.keep_alive(), is_head);
  }

  HttpAnswer AnswerTo(const Request& request) const {
    if (request.method() != http::verb::get && request.method() != http::verb::head)
      return {405, "text/plain; charset=utf-8", "GET and HEAD are all there is\n"};
    if (!HasGoodHost(request)) {
      return {421, "text/plain; charset=utf-8",
              "this server does not answer under that host name; ask for its address\n"};
    }
    const std::string_view target(request.target().data(), request.target().size());
    return service_->calls.answer(std::string(target.substr(0, target.find('?'))));
  }

  bool HasGoodHost(const Request& request) const {
    const auto hosts = request.equal_range(http::field::host);
    const auto count = std::distance(hosts.first, hosts.second);
    if (count != 1) return count == 0 && request.version() == 10;
    if (!service_->is_loopback) return true;
    const auto field = hosts.first->value();
    const std::string host = HostOf({field.data(), field.size()});
    static const std::string machine = MachineName();
    return IsAddress(host) || beast::iequals(host, "localhost") ||
           beast::iequals(host, service_->host) || beast::iequals(host, machine);
  }

  // `keeps`: whoever asks may ask again.
  void Write(HttpAnswer answer, bool keeps, bool is_head) {
    response_.emplace();
    response_->result(static_cast<unsigned>(answer.status));
    response_->set(http::field::server, "rowtide");
    response_->set(http::field::content_type, answer.type);
    response_->set(http::field::cache_control, "no-store");
    response_->set("Content-Security-Policy", kContentPolicy);
    response_->set("Referrer-Policy", "no-referrer");
    response_->set("X-Content-Type-Options", "nosniff");
    if (answer.status == 405) response_->set(http::field::allow, "GET, HEAD");
    response_->keep_alive(keeps);
    response_->content_length(answer.body.size());
    if (!is_head) response_->body() = std::move(answer.body);
    stream_.expires_after(kPatience);
    http::async_write(stream_, *response_,
                      [self = shared_from_this(), keeps](error_code error, size_t /*bytes*/) {
                        if (!error && keeps) return self->Read();
                        error_code ignored;
                        self->stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
                      });
  }

  beast::tcp_stream stream_;
  beast::flat_buffer buffer_;
  Service* service_;
  std::optional<http::request_parser<http::empty_body>> parser_;
  std::optional<http::response<http::string_body>> response_;
};

}  // namespace

class HttpServer::Loop {
 public:
  explicit Loop(Calls calls) : acceptor_(context_), second_(context_) {
    service_.calls = std::move(calls);
  }

  Status Listen(const HttpAddress& address) {
    RT_ASSIGN(const tcp::endpoint endpoint, Resolve(address));
    error_code error;
    acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (error) {
      return Status::External("cannot listen on {}:{}: {}", address.host, address.port,
                              error.message())
          .WithHint("choose another port, or :0 for any that is free");
    }
    service_.host = address.host;
    service_.is_loopback = endpoint.address().is_loopback();
    const tcp::endpoint local = acceptor_.local_endpoint(error);
    const bool is_v6 = local.address().is_v6();
    url_ = fmt::format("http://{}{}{}:{}/", is_v6 ? "[" : "", local.address().to_string(),
                       is_v6 ? "]" : "", local.port());
    return Status::Ok();
  }

  Status Start() {
    Accept();
    AwaitSecond();
    RT_ASSIGN(thread_, StartThread([this] { context_.run(); }));
    return Status::Ok();
  }

  ~Loop() {
    context_.stop();
    if (thread_.joinable()) thread_.join();
  }

  const std::string& url() const { return url_; }

 private:
  Result<tcp::endpoint> Resolve(const HttpAddress& address) {
    const auto port = static_cast<uint16_t>(address.port);
    error_code error;
    const asio::ip::address given = asio::ip::make_address(address.host, error);
    if (!error) return tcp::endpoint(given, port);
    tcp::resolver resolver(context_);
    const auto found = resolver.resolve(address.host, std::to_string(port), error);
    if (error || found.empty()) {
      return Status::External("there is no host {} to listen on: {}", Quote(address.host),
                              error.message());
    }
    return found.begin()->endpoint();
  }

  // After a failure, as when there are no more descriptors, it rests for a moment.
  void Accept() {
    acceptor_.async_accept([this](error_code error, tcp::socket socket) {
      if (error == asio::error::operation_aborted) return;
      if (error) {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
      } else {
        Serve(std::move(socket));
      }
      Accept();
    });
  }

  void Serve(tcp::socket socket) {
    Connections& all = service_.connections;
    std::erase_if(all, [](const auto& connection) { return connection.expired(); });
    if (all.size() >= kConnectionsMax) {
      if (const auto oldest = all.front().lock()) oldest->Close();
      all.pop_front();
    }
    const auto connection = std::make_shared<Connection>(std::move(socket), &service_);
    all.push_back(connection);
    connection->Read();
  }

  void AwaitSecond() {
    second_.expires_after(std::chrono::seconds(1));
    second_.async_wait([this](error_code error) {
      if (error) return;
      service_.calls.each_second();
      AwaitSecond();
    });
  }

  Service service_;  // outlives the connections that the context holds
  asio::io_context context_{1};
  tcp::acceptor acceptor_;
  asio::steady_timer second_;
  std::string url_;
  std::thread thread_;
};

HttpServer::HttpServer(std::unique_ptr<Loop> loop) : loop_(std::move(loop)) {}
HttpServer::~HttpServer() = default;
const std::string& HttpServer::url() const { return loop_->url(); }

Result<std::unique_ptr<HttpServer>> HttpServer::Open(const HttpAddress& address, Calls calls) {
  auto loop = std::make_unique<Loop>(std::move(calls));
  RT_TRY(loop->Listen(address));
  RT_TRY(loop->Start());
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(loop)));
}

Result<HttpAddress> ParseHttpAddress(const std::string& text) {
  HttpAddress address;
  const size_t colon = text.rfind(':');
  std::string host = colon == std::string::npos ? "" : text.substr(0, colon);
  const std::string port = colon == std::string::npos ? text : text.substr(colon + 1);
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
  const bool is_number = error == std::errc() && end == port.data() + port.size() && !port.empty();
  const bool is_bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (is_bracketed) host = host.substr(1, host.size() - 2);
  const bool is_host = is_bracketed || host.find_first_of(":[]/ ") == std::string::npos;
  if (!is_number || !is_host || address.port < 0 || address.port > 65535) {
    return Status::InvalidArgument("{} is no address to listen on", Quote(text))
        .WithHint("write :9249 for this machine alone, 0.0.0.0:9249 for all that can reach it");
  }
  if (!host.empty()) address.host = host;
  return address;
}

}  // namespace rowtide
