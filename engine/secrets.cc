#include "engine/secrets.h"

#include <algorithm>
#include <mutex>
#include <set>

namespace rowtide {
namespace {

// Longer ones first, so that what holds another one is hidden as a whole.
struct LongerFirst {
  using is_transparent = void;
  bool operator()(std::string_view a, std::string_view b) const {
    return a.size() != b.size() ? a.size() > b.size() : a < b;
  }
};

struct HiddenTexts {
  std::mutex mutex;
  std::set<std::string, LongerFirst> texts;
};

HiddenTexts& Hidden() {
  static HiddenTexts hidden;
  return hidden;
}

char Upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

}  // namespace

bool IsSecretKey(std::string_view key) {
  static constexpr std::string_view kWords[] = {
      "PASSWORD",    "SECRET",       "FS.AZURE.ACCOUNT.KEY",
      "APIKEY",      "API-KEY",      "AUTH-PARAMS",
      "SERVICE-KEY", "TOKEN",        "BASIC-AUTH",
      "JAAS.CONFIG", "HTTP-HEADERS", "PASSPHRASE",
      "CREDENTIAL",  "ACCESS-KEY",   "ACCESS.KEY",
      "PRIVATE-KEY", "PRIVATE.KEY",  "KEYSTORE.KEY",
      "SSL.KEY"};
  std::string upper(key);
  std::transform(upper.begin(), upper.end(), upper.begin(), Upper);
  return std::any_of(std::begin(kWords), std::end(kWords),
                     [&](std::string_view word) { return upper.find(word) != std::string::npos; });
}

std::string ShownValue(std::string_view key, std::string_view value) {
  const bool is_reference = value.starts_with("${") && value.find('}') + 1 == value.size();
  return std::string(IsSecretKey(key) && !is_reference ? kHidden : value);
}

void HideSecret(std::string_view secret) {
  if (secret.size() < kSecretBytesMin || secret == kHidden) return;
  HiddenTexts& hidden = Hidden();
  const std::lock_guard lock(hidden.mutex);
  hidden.texts.emplace(secret);
}

void HideSecretValue(std::string_view value) {
  HideSecret(value);
  while (true) {
    const size_t open = value.find('"');
    if (open == std::string_view::npos) return;
    const size_t close = value.find('"', open + 1);
    if (close == std::string_view::npos) return;
    HideSecret(value.substr(open + 1, close - open - 1));
    value.remove_prefix(close + 1);
  }
}

std::string Redacted(std::string_view text) {
  HiddenTexts& hidden = Hidden();
  const std::lock_guard lock(hidden.mutex);
  std::string shown(text);
  for (const std::string& secret : hidden.texts) {
    for (size_t at = shown.find(secret); at != std::string::npos;
         at = shown.find(secret, at + kHidden.size()))
      shown.replace(at, secret.size(), kHidden);
  }
  return shown;
}

}  // namespace rowtide
