#include "connectors/formats/json_changes.h"

#include <algorithm>

#include "connectors/formats/json_nested.h"

namespace rowtide {

namespace ondemand = simdjson::ondemand;

// What a format calls the parts of a message, and its kinds of changes.
struct JsonMessages::Names {
  std::string_view format;
  std::array<std::string_view, kParts> parts;
  std::string_view insert;
  std::string_view update;
  std::string_view remove;
  std::string_view other_insert;  // "" = none
  std::string_view of_no_row;     // "" = none
};

namespace {

bool IsNull(std::string_view text) { return text.empty() || text == "null"; }

Status Compile(const char* option, const std::string& pattern, std::unique_ptr<RE2>* compiled) {
  if (pattern.empty()) return Status::Ok();
  *compiled = std::make_unique<RE2>(pattern, RE2::Quiet);
  if ((*compiled)->ok()) return Status::Ok();
  return Status::InvalidArgument("'canal-json.{}' {}: {}", option, pattern, (*compiled)->error());
}

}  // namespace

const JsonMessages::Names& JsonMessages::NamesOf(JsonEnvelope envelope) {
  static constexpr Names kDebezium = {
      "Debezium", {"before", "after", "op", "", ""}, "c", "u", "d", "r", ""};
  static constexpr Names kOgg = {"Ogg", {"before", "after", "op_type", "", ""}, "I", "U", "D", "",
                                 ""};
  static constexpr Names kMaxwell = {
      "Maxwell", {"old", "data", "type", "", ""}, "insert", "update", "delete", "", ""};
  static constexpr Names kCanal = {
      "Canal", {"old", "data", "type", "database", "table"}, "INSERT", "UPDATE", "DELETE", "",
      "CREATE"};
  switch (envelope) {
    case JsonEnvelope::kOgg: return kOgg;
    case JsonEnvelope::kMaxwell: return kMaxwell;
    case JsonEnvelope::kCanal: return kCanal;
    case JsonEnvelope::kDebezium:
    case JsonEnvelope::kNone: break;
  }
  return kDebezium;
}

Result<std::unique_ptr<JsonMessages>> JsonMessages::Create(JsonEnvelope envelope,
                                                           const JsonOptions& options,
                                                           int64_t depth_max) {
  auto messages = std::unique_ptr<JsonMessages>(new JsonMessages(envelope, options, depth_max));
  RT_TRY(Compile("database.include", options.database_include, &messages->database_));
  RT_TRY(Compile("table.include", options.table_include, &messages->table_));
  return messages;
}

JsonMessages::JsonMessages(JsonEnvelope envelope, const JsonOptions& options, int64_t depth_max)
    : envelope_(envelope),
      names_(NamesOf(envelope)),
      has_schema_(options.schema_include),
      depth_max_(depth_max) {}

JsonMessages::~JsonMessages() = default;

void JsonMessages::Read(const JsonRows::Text& message, std::vector<JsonChange>* changes) {
  message_ = message;
  trouble_ = {};
  if (!ReadMessage(changes)) {
    JsonChange none;
    none.message = message;
    none.trouble = std::move(trouble_);
    changes->push_back(std::move(none));
  }
}

bool JsonMessages::ReadMessage(std::vector<JsonChange>* changes) {
  parts_ = {};
  if (!ReadParts(message_.json, !has_schema_)) return false;
  bool included = true;
  if (!IsIncluded(kDatabase, database_.get(), &included)) return false;
  if (included && !IsIncluded(kTable, table_.get(), &included)) return false;
  if (!included) return true;
  if (IsNull(parts_[kKind])) return Fail(fmt::format("it has no \"{}\"", names_.parts[kKind]));
  const std::string text = TextOfString(kKind);
  if (text == names_.of_no_row && !text.empty()) return true;
  JsonChange::Kind kind;
  if (!ReadKind(text, &kind)) return false;
  return envelope_ == JsonEnvelope::kCanal ? ReadList(kind, changes) : ReadChange(kind, changes);
}

// --- the parts ---

bool JsonMessages::ReadParts(std::string_view text, bool is_payload) {
  ondemand::document document;
  ondemand::object object;
  std::string_view payload;
  if (IterateJson(&parser_, text, &document) != simdjson::SUCCESS ||
      document.get_object().get(object) != simdjson::SUCCESS ||
      !ReadFields(object, is_payload, &payload) || !IsAtEnd(document)) {
    return Explain(text);
  }
  if (is_payload) return true;
  if (payload.empty() || payload.front() != '{')
    return Fail("it has no \"payload\" of an object",
                "'debezium-json.schema-include' is for messages that Kafka Connect wrote with "
                "their schema");
  return ReadParts(payload, true);
}

// Parts are looked into later, by who needs them; what is none is checked here.
bool JsonMessages::ReadFields(ondemand::object& object, bool is_payload,
                              std::string_view* payload) {
  for (auto result : object) {
    ondemand::field field;
    std::string_view name;
    if (std::move(result).get(field) != simdjson::SUCCESS ||
        field.unescaped_key().get(name) != simdjson::SUCCESS) {
      return false;
    }
    std::string_view* part = nullptr;
    if (!is_payload && name == "payload") part = payload;
    for (size_t i = 0; is_payload && i < kParts; ++i) {
      if (!names_.parts[i].empty() && name == names_.parts[i]) part = &parts_[i];
    }
    std::string_view text;
    if (part == nullptr) {
      if (!SkipJson(field.value(), 2, depth_max_)) return false;
      continue;
    }
    if (!RawText(field.value(), &text)) return false;
    const JsonVerdict verdict = CheckJson(text, depth_max_ - 1);
    if (verdict.kind != JsonVerdict::Kind::kOk || verdict.has_more || verdict.has_controls)
      return false;
    *part = text;
  }
  return true;
}

bool JsonMessages::Explain(std::string_view text) {
  trouble_ = ExplainJson(text, CheckJson(text, depth_max_), TextOf(text).at);
  return false;
}

bool JsonMessages::Fail(std::string message, std::string hint) {
  trouble_ = {};
  trouble_.message = fmt::format("no {} message: {}", names_.format, message);
  trouble_.hint = std::move(hint);
  return false;
}

JsonRows::Text JsonMessages::TextOf(std::string_view json) const {
  const int64_t offset = message_.stays ? json.data() - message_.json.data() : 0;
  return {json, message_.stays, message_.at + offset};
}

// A string without its quotes; anything else as it stands.
std::string JsonMessages::TextOfString(Part part) const {
  const std::string_view text = parts_[part];
  if (text.size() < 2 || text.front() != '"') return std::string(text);
  const std::string_view inside = text.substr(1, text.size() - 2);
  std::string unescaped;
  return UnescapeJson(inside, &unescaped) ? unescaped : std::string(inside);
}

// --- what they say ---

bool JsonMessages::IsIncluded(Part part, const RE2* pattern, bool* included) {
  if (pattern == nullptr) return true;
  if (IsNull(parts_[part])) return Fail(fmt::format("it has no \"{}\"", names_.parts[part]));
  *included = RE2::FullMatch(TextOfString(part), *pattern);
  return true;
}

bool JsonMessages::ReadKind(std::string_view text, JsonChange::Kind* kind) {
  if (text == names_.insert || (text == names_.other_insert && !text.empty())) {
    *kind = JsonChange::Kind::kInsert;
  } else if (text == names_.update) {
    *kind = JsonChange::Kind::kUpdate;
  } else if (text == names_.remove) {
    *kind = JsonChange::Kind::kDelete;
  } else {
    return Fail(fmt::format("its \"{}\" is {}, which is none of {}{}{}, {}, {}",
                            names_.parts[kKind], Excerpt(parts_[kKind], 40), names_.insert,
                            names_.other_insert.empty() ? "" : ", ", names_.other_insert,
                            names_.update, names_.remove));
  }
  return true;
}

bool JsonMessages::IsObject(Part part, std::string_view text) {
  if (!IsNull(text) && text.front() == '{') return true;
  const std::string_view name = names_.parts[part];
  if (!IsNull(text) || part != kBefore ||
      (envelope_ != JsonEnvelope::kDebezium && envelope_ != JsonEnvelope::kOgg)) {
    return Fail(IsNull(text) ? fmt::format("it has no \"{}\"", name)
                             : fmt::format("its \"{}\" is no object", name));
  }
  return Fail(fmt::format("it has no \"{}\"", name),
              "Postgres sends the whole row before a change once the table has REPLICA IDENTITY "
              "FULL");
}

bool JsonMessages::ReadChange(JsonChange::Kind kind, std::vector<JsonChange>* changes) {
  const bool has_both_rows =
      envelope_ == JsonEnvelope::kDebezium || envelope_ == JsonEnvelope::kOgg;
  const bool is_update = kind == JsonChange::Kind::kUpdate;
  const Part row = kind == JsonChange::Kind::kDelete && has_both_rows ? kBefore : kRow;
  if (is_update && !IsObject(kBefore, parts_[kBefore])) return false;
  if (!IsObject(row, parts_[row])) return false;
  JsonChange change;
  change.kind = kind;
  change.row = TextOf(parts_[row]);
  if (is_update) change.before = TextOf(parts_[kBefore]);
  change.is_partial = !has_both_rows;
  change.message = message_;
  changes->push_back(std::move(change));
  return true;
}

// One row after the other: a row that is none does not take those before it along.
bool JsonMessages::ReadList(JsonChange::Kind kind, std::vector<JsonChange>* changes) {
  std::vector<std::string_view> rows, before;
  if (!Elements(kRow, &rows)) return false;
  const bool is_update = kind == JsonChange::Kind::kUpdate;
  if (is_update && !Elements(kBefore, &before)) return false;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!IsObject(kRow, rows[i])) return false;
    if (is_update && i >= before.size())
      return Fail(fmt::format("\"{}\" has {} rows, \"{}\" has {}", names_.parts[kBefore],
                              before.size(), names_.parts[kRow], rows.size()));
    if (is_update && !IsObject(kBefore, before[i])) return false;
    JsonChange change;
    change.kind = kind;
    change.row = TextOf(rows[i]);
    if (is_update) change.before = TextOf(before[i]);
    change.is_partial = true;
    change.message = message_;
    changes->push_back(std::move(change));
  }
  return true;
}

bool JsonMessages::Elements(Part part, std::vector<std::string_view>* elements) {
  ondemand::document document;
  ondemand::array array;
  if (IsNull(parts_[part]) || parts_[part].front() != '[' ||
      IterateJson(&parser_, parts_[part], &document) != simdjson::SUCCESS ||
      document.get_array().get(array) != simdjson::SUCCESS) {
    return Fail(fmt::format("its \"{}\" is no list of rows", names_.parts[part]));
  }
  for (auto element : array) {
    ondemand::value value;
    std::string_view text;
    if (std::move(element).get(value) != simdjson::SUCCESS || !RawText(value, &text))
      return Explain(parts_[part]);
    elements->push_back(text);
  }
  return true;
}

}  // namespace rowtide
