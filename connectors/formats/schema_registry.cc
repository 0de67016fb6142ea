#include "connectors/formats/schema_registry.h"

#include <httplib.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "engine/base64.h"

namespace rowtide {
namespace {

using Json = nlohmann::json;

constexpr int kTimeoutSeconds = 10;
constexpr size_t kAnswerBytesMax = 4 << 20;
constexpr const char* kContentType = "application/vnd.schemaregistry.v1+json";

// One of the addresses of 'url'.
struct Address {
  std::string origin;  // http://host:8081
  std::string path;    // in front of all paths; "" = none
  std::string user;    // with its password; "" = none
};

Result<Address> AddressOf(std::string text) {
  Address address;
  while (text.ends_with('/')) text.pop_back();
  const size_t scheme = text.find("://");
  const bool is_known = text.starts_with("http://") || text.starts_with("https://");
  if (!is_known || scheme + 3 >= text.size())
    return Status::InvalidArgument(
        "'avro-confluent.url' has an address that is no http:// and no "
        "https://");
  std::string rest = text.substr(scheme + 3);
  const size_t slash = rest.find('/');
  if (slash != std::string::npos) {
    address.path = rest.substr(slash);
    rest.resize(slash);
  }
  if (const size_t at = rest.rfind('@'); at != std::string::npos) {
    address.user = rest.substr(0, at);
    rest.erase(0, at + 1);
  }
  address.origin = text.substr(0, scheme + 3) + rest;
  return address;
}

// As a part of a path.
std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.' ||
        c == '~') {
      escaped.push_back(c);
    } else {
      escaped += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return escaped;
}

class HttpRegistry final : public SchemaRegistry {
 public:
  HttpRegistry(const ConfluentOptions& options, std::vector<Address> addresses)
      : options_(options), addresses_(std::move(addresses)) {}

  Result<Found> SchemaOf(uint32_t number) override {
    RT_ASSIGN(const Answer answer, Ask(fmt::format("/schemas/ids/{}", number), nullptr));
    if (answer.code == 404) return Found{false, "the registry has no such schema"};
    Json json;
    RT_TRY(ReadJson(answer, &json));
    const auto kind = json.find("schemaType");
    if (kind != json.end() && *kind != "AVRO")
      return Found{false, "the registry has it, but not as one of Avro"};
    const auto schema = json.find("schema");
    if (schema == json.end() || !schema->is_string()) return NoAnswer(answer);
    return Found{true, schema->get<std::string>()};
  }

  Result<uint32_t> Register(const std::string& subject, const std::string& schema) override {
    const std::string body =
        Json{{"schema", schema}}.dump(-1, ' ', false, Json::error_handler_t::replace);
    RT_ASSIGN(const Answer answer, Ask("/subjects/" + Escaped(subject) + "/versions", &body));
    Json json;
    RT_TRY(ReadJson(answer, &json));
    const auto number = json.find("id");
    if (number == json.end() || !number->is_number_unsigned() ||
        number->get<uint64_t>() > UINT32_MAX)
      return NoAnswer(answer);
    return number->get<uint32_t>();
  }

 private:
  struct Answer {
    std::string what;  // GET http://host/path
    int code = 0;
    std::string body;
  };

  // The first address that answers. POST where there is a body.
  Result<Answer> Ask(const std::string& path, const std::string* body) {
    Status trouble;
    for (const Address& address : addresses_) {
      Answer answer{(body != nullptr ? "POST " : "GET ") + address.origin + address.path + path, 0,
                    ""};
      httplib::Client client(address.origin);
      if (!client.is_valid())
        return Status::InvalidArgument("schema registry {}: no valid address", address.origin);
      client.set_connection_timeout(kTimeoutSeconds);
      client.set_read_timeout(kTimeoutSeconds);
      client.set_write_timeout(kTimeoutSeconds);
      if (!options_.ca_file.empty()) client.set_ca_cert_path(options_.ca_file.c_str());
      httplib::Request request;
      request.method = body != nullptr ? "POST" : "GET";
      request.path = address.path + path;
      request.headers = HeadersOf(address);
      if (body != nullptr) {
        request.body = *body;
        request.headers.emplace("Content-Type", kContentType);
      }
      bool is_long = false;
      request.content_receiver = [&](const char* data, size_t bytes, uint64_t, uint64_t) {
        is_long = answer.body.size() + bytes > kAnswerBytesMax;
        if (!is_long) answer.body.append(data, bytes);
        return !is_long;
      };
      const httplib::Result result = client.send(request);
      if (is_long)
        return Status::External("{}: an answer of more than {} bytes", answer.what,
                                kAnswerBytesMax);
      if (!result) {
        trouble = Status::External("{}: {}", answer.what, httplib::to_string(result.error()))
                      .WithHint("is the schema registry of 'avro-confluent.url' running?");
        continue;
      }
      answer.code = result->status;
      if (answer.code >= 500) {
        trouble = Status::External("{}: status {}{}", answer.what, answer.code, ReasonOf(answer));
        continue;
      }
      return answer;
    }
    return trouble;
  }

  httplib::Headers HeadersOf(const Address& address) const {
    httplib::Headers headers{{"Accept", kContentType}};
    const std::string& user = options_.user.empty() ? address.user : options_.user;
    if (!options_.token.empty()) {
      headers.emplace("Authorization", "Bearer " + options_.token);
    } else if (!user.empty()) {
      std::string text = "Basic ";
      AppendBase64(user, &text);
      headers.emplace("Authorization", text);
    }
    return headers;
  }

  static Status ReadJson(const Answer& answer, Json* json) {
    if (answer.code < 200 || answer.code > 299)
      return Status::InvalidArgument("{}: status {}{}", answer.what, answer.code, ReasonOf(answer));
    *json = Json::parse(answer.body, nullptr, false);
    return json->is_object() ? Status::Ok() : NoAnswer(answer);
  }
  static Status NoAnswer(const Answer& answer) {
    return Status::External("{}: the answer is not that of a schema registry", answer.what);
  }
  // `: Incompatible schema`, as the registry says it.
  static std::string ReasonOf(const Answer& answer) {
    const Json json = Json::parse(answer.body, nullptr, false);
    if (!json.is_object() || !json.contains("message") || !json["message"].is_string()) return "";
    return ": " + json["message"].get<std::string>().substr(0, 400);
  }

  ConfluentOptions options_;
  std::vector<Address> addresses_;
};

}  // namespace

Result<std::unique_ptr<SchemaRegistry>> OpenSchemaRegistry(const ConfluentOptions& options) {
  std::vector<Address> addresses;
  std::string_view rest = options.url;
  while (!rest.empty()) {
    const size_t comma = std::min(rest.find(','), rest.size());
    RT_ASSIGN(Address address, AddressOf(std::string(rest.substr(0, comma))));
    addresses.push_back(std::move(address));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return std::unique_ptr<SchemaRegistry>(
      std::make_unique<HttpRegistry>(options, std::move(addresses)));
}

}  // namespace rowtide
