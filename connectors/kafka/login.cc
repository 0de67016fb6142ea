#include "connectors/kafka/login.h"

#include <cctype>
#include <map>

#include "engine/schema.h"
#include "engine/secrets.h"

namespace rowtide {
namespace {

struct LoginModule {
  std::string name;
  std::map<std::string, std::string> options;
};

LoginModule ParseModule(std::string_view text) {
  LoginModule module;
  size_t at = 0;
  const auto skip_blanks = [&] {
    while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at]))) ++at;
  };
  const auto word = [&](std::string_view ends) {
    const size_t begin = at;
    while (at < text.size() && ends.find(text[at]) == std::string_view::npos &&
           !std::isspace(static_cast<unsigned char>(text[at]))) {
      ++at;
    }
    return std::string(text.substr(begin, at - begin));
  };
  const auto quoted = [&](char quote) {
    std::string value;
    for (++at; at < text.size() && text[at] != quote; ++at) {
      if (text[at] == '\\' && at + 1 < text.size()) ++at;
      value += text[at];
    }
    ++at;
    return value;
  };
  skip_blanks();
  module.name = word(";");
  skip_blanks();
  word(";=");  // required, sufficient, …
  while (true) {
    skip_blanks();
    if (at >= text.size() || text[at] == ';') return module;
    const std::string key = word("=;");
    skip_blanks();
    if (at >= text.size() || text[at] != '=') return module;
    ++at;
    skip_blanks();
    const bool is_quoted = at < text.size() && (text[at] == '"' || text[at] == '\'');
    module.options[key] = is_quoted ? quoted(text[at]) : word(";");
  }
}

// What librdkafka has instead of a module that cannot be carried over.
std::string_view InsteadOf(const std::string& module) {
  if (module.ends_with("Krb5LoginModule")) {
    return "'properties.sasl.kerberos.principal', '….keytab' and '….service.name' say it here";
  }
  if (module.ends_with("OAuthBearerLoginModule")) {
    return "'properties.sasl.oauthbearer.method' = 'oidc' with '….client.id', '….client.secret' "
           "and '….token.endpoint.url' say it here";
  }
  return "PlainLoginModule and ScramLoginModule are";
}

}  // namespace

Result<KafkaLogin> ReadKafkaLogin(std::string_view jaas) {
  LoginModule module = ParseModule(jaas);
  if (!module.name.ends_with("PlainLoginModule") && !module.name.ends_with("ScramLoginModule")) {
    // What is no class may be a password.
    const bool may_show = module.name.ends_with("LoginModule");
    return Status::InvalidArgument(
        "{} is not known; {}",
        may_show ? "login module " + Quote(module.name) : "its login module",
        InsteadOf(module.name));
  }
  for (const char* key : {"username", "password"}) {
    if (!module.options.contains(key)) return Status::InvalidArgument("it has no {}", key);
  }
  if (module.options["tokenauth"] == "true") {
    return Status::InvalidArgument(
        "librdkafka takes no delegation tokens (tokenauth); a user's own name and password do");
  }
  HideSecret(module.options["password"]);
  return KafkaLogin{module.options["username"], module.options["password"]};
}

}  // namespace rowtide
