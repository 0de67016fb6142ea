#include "cli/state_key.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/value_text.h"
#include "planner/sql/lexer.h"

namespace rowtide {
namespace {

constexpr const char* kUsageCode = "RT2800";
constexpr const char* kHint =
    "column=value pairs, such as id=o1 day=2026-01-02, or JSON: '{\"id\":\"o1\"}'";

}  // namespace

Result<StateKey> StateKey::Parse(const std::vector<std::string>& words) {
  StateKey key;
  for (const std::string& word : words) {
    if (word.starts_with('{')) {
      RT_TRY(key.TakeJson(word));
      continue;
    }
    const size_t equals = word.find('=');
    if (equals == 0 || equals == std::string::npos)
      return Status::InvalidArgument("{} is no part of a key", Quote(word))
          .WithErrorCode(kUsageCode)
          .WithHint(kHint);
    key.columns_[word.substr(0, equals)] = {word.substr(equals + 1)};
  }
  return key;
}

Status StateKey::TakeJson(const std::string& word) {
  const nlohmann::json json = nlohmann::json::parse(word, nullptr, false);
  const auto text_of = [](const nlohmann::json& value) {
    return Text{value.is_string() ? value.get<std::string>() : value.dump(), true, value.is_null()};
  };
  const bool is_flat =
      json.is_object() && std::none_of(json.begin(), json.end(),
                                       [](const auto& value) { return value.is_structured(); });
  if (!is_flat)
    return Status::InvalidArgument("{} is no key in JSON", Quote(word))
        .WithErrorCode(kUsageCode)
        .WithHint(kHint);
  for (const auto& [name, value] : json.items()) columns_[name] = text_of(value);
  return Status::Ok();
}

bool StateKey::Fits(const Schema& key) const {
  for (const auto& [name, text] : columns_) {
    if (key.Find(name) < 0) return false;
  }
  return true;
}

Result<Value> StateKey::ValueOf(const Text& text, const Field& column) {
  const bool is_text = IsCharacter(column.type);
  if (text.is_null || (!text.is_json && !is_text && UpperCase(text.text) == "NULL")) return Value();
  std::string plain = text.text;
  if (column.type.kind == TypeKind::kBoolean && !text.is_json) {
    for (char& c : plain) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  Result<Value> value = ParseScriptValue(plain, true, column.type);
  if (value.ok()) return value;
  return Status::InvalidArgument("{} is no value of the key column {} {}", Quote(text.text),
                                 Quote(column.name), ToString(column.type))
      .WithErrorCode(kUsageCode);
}

Result<std::vector<std::optional<Value>>> StateKey::ValuesOf(const Schema& key) const {
  std::vector<std::optional<Value>> values(static_cast<size_t>(key.size()));
  for (int i = 0; i < key.size(); ++i) {
    const auto named = columns_.find(key.name(i));
    if (named == columns_.end()) continue;
    RT_ASSIGN(values[static_cast<size_t>(i)], ValueOf(named->second, key.field(i)));
  }
  return values;
}

std::vector<std::string> StateKey::names() const {
  std::vector<std::string> names;
  for (const auto& [name, text] : columns_) names.push_back(name);
  return names;
}

}  // namespace rowtide
