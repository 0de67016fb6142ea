#include "connectors/formats/json_rows.h"

#include <algorithm>
#include <cstring>

#include "connectors/formats/hints.h"
#include "connectors/formats/json_nested.h"

namespace rowtide {
namespace {

namespace ondemand = simdjson::ondemand;

// As much of a value as a message shows.
constexpr size_t kValueBytes = 40;

char Lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

}  // namespace

JsonTrouble ExplainJson(std::string_view text, const JsonVerdict& verdict, int64_t at) {
  JsonTrouble trouble;
  std::string reason = verdict.reason;
  if (verdict.kind == JsonVerdict::Kind::kEncoding) trouble.reason = RejectReason::kInvalidEncoding;
  if (verdict.kind == JsonVerdict::Kind::kTooDeep) trouble.reason = RejectReason::kTooDeep;
  const std::string_view rest = text.substr(std::min(verdict.at, text.size()));
  if (verdict.kind == JsonVerdict::Kind::kOk) {
    reason = verdict.has_more ? "text behind the value" : "an object in braces is expected";
    if (!verdict.has_more) {
      trouble.message = fmt::format("no record: {}, not '{}'", reason, Excerpt(text, kValueBytes));
      return trouble;
    }
  }
  trouble.message =
      fmt::format("no JSON: {} at byte {}, ", reason, at + static_cast<int64_t>(verdict.at));
  if (rest.empty()) {
    trouble.message += "where the record ends";
  } else {
    trouble.message += fmt::format("not '{}'", Excerpt(rest, 16));
  }
  return trouble;
}

simdjson::error_code IterateJson(ondemand::parser* parser, std::string_view text,
                                 ondemand::document* document) {
  static_assert(simdjson::SIMDJSON_PADDING <= 64);
  const size_t padded = text.size() + simdjson::SIMDJSON_PADDING;
  return parser->iterate(text.data(), text.size(), padded).get(*document);
}

bool IsAtEnd(ondemand::document& document) {
  return document.current_location().error() == simdjson::OUT_OF_BOUNDS;
}

std::string RepairedJson(std::string_view text) {
  std::string repaired = EscapeControls(text);
  repaired.reserve(repaired.size() + simdjson::SIMDJSON_PADDING);
  return repaired;
}

JsonRows::JsonRows(JsonDecoderSpec spec, Rejects* rejects)
    : spec_(std::move(spec)), rejects_(rejects), found_(spec_.columns.size()) {
  for (const int column : spec_.columns) {
    names_[spec_.schema.name(column)] = static_cast<int>(columns_.size());
    columns_.emplace_back(spec_.schema.type(column), spec_.options);
  }
}

void JsonRows::Begin() {
  for (JsonColumn& column : columns_) column.slots().Begin();
}

std::vector<Column> JsonRows::FinishColumns() {
  std::vector<Column> columns;
  for (JsonColumn& column : columns_) columns.push_back(column.slots().Finish());
  return columns;
}

bool JsonRows::Take(const Text& text, int row, bool is_partial) {
  row_ = row;
  trouble_ = {};
  FindNothing();
  return TakeText(text) && CheckRow(is_partial);
}

bool JsonRows::TakeScalar(int wanted, JsonScalar scalar, int row) {
  if (scalar.has_escapes && !Unescape(&scalar)) return false;
  if (wanted < 0) return true;
  JsonColumn& column = columns_[static_cast<size_t>(wanted)];
  const JsonCast cast = scalar.kind == JsonScalar::Kind::kNull
                            ? JsonCast::kNull
                            : column.Store(scalar, row, &strings_);
  if (cast != JsonCast::kNull) return cast == JsonCast::kValue;
  if (!TakesNull(wanted)) return false;
  column.slots().SetNull(row);
  return true;
}

void JsonRows::LookForOtherCase() {
  for (size_t wanted = 0; wanted < columns_.size(); ++wanted) {
    if (found_[wanted] != Found::kNothing) continue;
    const std::string& column = NameOf(static_cast<int>(wanted));
    for (size_t i = 0; i < std::min(field_, seen_.size()); ++i) {
      const Seen& seen = seen_[i];
      if (seen.number >= 0 || seen.name.size() != column.size() + 1) continue;
      const bool same = std::equal(column.begin(), column.end(), seen.name.begin(),
                                   [](char a, char b) { return Lower(a) == Lower(b); });
      if (same) ++*rejects_->Oddity(kOtherCase + column + "." + seen.name.substr(0, column.size()));
    }
  }
}

// --- the object ---

void JsonRows::FindNothing() { std::fill(found_.begin(), found_.end(), Found::kNothing); }

bool JsonRows::TakeText(const Text& text) {
  stays_ = text.stays;
  is_over_ = false;
  nested_ = 1;
  field_ = 0;
  ondemand::document document;
  ondemand::object object;
  if (IterateJson(&parser_, text.json, &document) == simdjson::SUCCESS &&
      document.get_object().get(object) == simdjson::SUCCESS) {
    switch (TakeFields(object)) {
      case Walk::kDone:
        if (is_over_ || IsAtEnd(document)) return true;
        break;
      case Walk::kBadValue: return false;
      case Walk::kBadText: break;
    }
  }
  return TakeSlowly(text);
}

bool JsonRows::TakeSlowly(const Text& text) {
  const JsonVerdict verdict = CheckJson(text.json, spec_.limits.json_depth);
  if (verdict.kind == JsonVerdict::Kind::kOk && text.stays) {
    FindNothing();
    if (verdict.has_more && IgnoresRest(text.json.substr(verdict.at)))
      return TakeText({text.json.substr(0, verdict.end), text.stays, text.at});
    if (!verdict.has_more && verdict.has_controls) {
      repaired_ = RepairedJson(text.json);
      return TakeText({repaired_, false, text.at});
    }
  }
  trouble_ = ExplainJson(text.json, verdict, text.at);
  return false;
}

// Text behind an object may be passed over where errors are, unless it is a record that would be
// lost.
bool JsonRows::IgnoresRest(std::string_view rest) const {
  if (spec_.stops_early) return true;
  return spec_.options.ignore_parse_errors && rest.front() != '{' && rest.front() != '[';
}

bool JsonRows::FoundAll() const {
  return std::find(found_.begin(), found_.end(), Found::kNothing) == found_.end();
}

// What was not found; whether all of the row is well.
bool JsonRows::CheckRow(bool is_partial) {
  for (size_t i = 0; i < columns_.size(); ++i) {
    const auto wanted = static_cast<int>(i);
    if (found_[i] == Found::kValue) continue;
    if (found_[i] == Found::kNothing && is_partial) continue;
    if (found_[i] == Found::kNothing && spec_.options.fail_on_missing_field)
      return BadValue(wanted, RejectReason::kMissingField, "the record does not have the field");
    if (!TakesNull(wanted))
      return BadValue(wanted, RejectReason::kNotNull, "NULL in a NOT NULL column");
    columns_[i].slots().SetNull(row_);
  }
  return true;
}

bool JsonRows::TakesNull(int wanted) const {
  return columns_[static_cast<size_t>(wanted)].type().nullable || spec_.trusts_not_null;
}

// --- its fields ---

JsonRows::Walk JsonRows::TakeFields(ondemand::object& object) {
  for (auto result : object) {
    ondemand::field field;
    if (std::move(result).get(field) != simdjson::SUCCESS) return Walk::kBadText;
    int number;
    if (!NumberOf(field.key().raw(), &number)) return Walk::kBadText;
    if (number < 0) {
      if (!SkipJson(field.value(), nested_ + 1, spec_.limits.json_depth)) return Walk::kBadText;
      continue;
    }
    const Walk walk = TakeField(number, field.value());
    if (walk != Walk::kDone || is_over_) return walk;
    if (spec_.stops_early && FoundAll()) {
      is_over_ = true;
      return Walk::kDone;
    }
  }
  return Walk::kDone;
}

// Which wanted column a name is for, -1: none. Objects tend to have the same names in the same
// order, so the n-th name is first compared with that of the object before. False: no name.
bool JsonRows::NumberOf(const char* raw, int* number) {
  if (field_ == seen_.size() && field_ < kSeenMax) seen_.emplace_back();
  Seen& seen = seen_[std::min(field_++, kSeenMax - 1)];
  if (!seen.name.empty() && std::memcmp(raw, seen.name.data(), seen.name.size()) == 0) {
    *number = seen.number;
    return true;
  }
  size_t size = 0;
  bool escaped = false;
  for (; raw[size] != '"'; ++size) {
    if (raw[size] == '\\') {
      escaped = true;
      ++size;
    }
  }
  std::string name(raw, size);
  if (escaped && !UnescapeJson({raw, size}, &name)) return false;
  const auto found = names_.find(name);
  *number = found == names_.end() ? -1 : found->second;
  if (size <= kSeenBytesMax) seen = {std::string(raw, size + 1), *number};
  return true;
}

JsonRows::Walk JsonRows::TakeField(int wanted, ondemand::value value) {
  ondemand::json_type type;
  if (value.type().get(type) != simdjson::SUCCESS) return Walk::kBadText;
  if (type == ondemand::json_type::object || type == ondemand::json_type::array)
    return TakeNested(wanted, value, type);
  const std::string_view token = TokenOf(value);
  Found& found = found_[static_cast<size_t>(wanted)];
  if (type == ondemand::json_type::null) {
    if (token != "null") return Walk::kBadText;
    found = Found::kNull;
    return Walk::kDone;
  }
  JsonScalar scalar{.kind = JsonScalar::Kind::kWord, .stays = stays_, .text = token};
  if (type == ondemand::json_type::number) {
    if (!IsJsonNumber(token)) return Walk::kBadText;
    scalar.kind = JsonScalar::Kind::kNumber;
  } else if (type == ondemand::json_type::string) {
    scalar.kind = JsonScalar::Kind::kString;
    scalar.text = token.substr(1, token.size() - 2);
    scalar.has_escapes = scalar.text.find('\\') != std::string_view::npos;
    if (scalar.has_escapes && !Unescape(&scalar)) return Walk::kBadText;
  } else if (token != "true" && token != "false") {
    return Walk::kBadText;
  }
  switch (columns_[static_cast<size_t>(wanted)].Store(scalar, row_, &strings_)) {
    case JsonCast::kValue: found = Found::kValue; return Walk::kDone;
    case JsonCast::kNull: found = Found::kNull; return Walk::kDone;
    case JsonCast::kBad: return BadField(wanted, token);
  }
  return Walk::kDone;
}

bool JsonRows::Unescape(JsonScalar* scalar) {
  if (!UnescapeJson(scalar->text, &scratch_)) return false;
  *scalar = {.kind = scalar->kind, .stays = false, .text = scratch_};
  return true;
}

// An object or an array is text in a STRING column, and fits nowhere else.
JsonRows::Walk JsonRows::TakeNested(int wanted, ondemand::value value, ondemand::json_type type) {
  JsonColumn& column = columns_[static_cast<size_t>(wanted)];
  if (IsCharacter(column.type())) {
    scratch_.clear();
    if (!AppendJsonText(value, nested_ + 1, spec_.limits.json_depth, &scratch_))
      return Walk::kBadText;
    column.slots().Set(row_, strings_.Copy(scratch_));
    found_[static_cast<size_t>(wanted)] = Found::kValue;
    return Walk::kDone;
  }
  if (type == ondemand::json_type::object && spec_.options.ignore_parse_errors)
    return GoOnInside(wanted, value);
  std::string_view text;
  if (!RawText(value, &text) || !CheckInside(text)) return Walk::kBadText;
  if (type == ondemand::json_type::array && column.type().kind == TypeKind::kBoolean) {
    column.slots().Set(row_, uint8_t{0});  // not true, so false
    found_[static_cast<size_t>(wanted)] = Found::kValue;
    return Walk::kDone;
  }
  return BadField(wanted, text);
}

// Flink's reader, told to ignore errors, stays inside the object that did not fit: takes its fields
// for those of the record, and its end for the record's end.
JsonRows::Walk JsonRows::GoOnInside(int wanted, ondemand::value value) {
  ondemand::object object;
  const Walk bad = BadField(wanted, "{");
  if (bad != Walk::kDone || value.get_object().get(object) != simdjson::SUCCESS) return bad;
  ++nested_;
  if (nested_ > spec_.limits.json_depth) return Walk::kBadText;
  const Walk walk = TakeFields(object);
  is_over_ = true;
  return walk;
}

bool JsonRows::CheckInside(std::string_view text) const {
  const JsonVerdict verdict = CheckJson(text, spec_.limits.json_depth - nested_);
  return verdict.kind == JsonVerdict::Kind::kOk && !verdict.has_more;
}

JsonRows::Walk JsonRows::BadField(int wanted, std::string_view text) {
  const Type& type = columns_[static_cast<size_t>(wanted)].type();
  if (spec_.options.ignore_parse_errors) {
    rejects_->CountNulled();
    found_[static_cast<size_t>(wanted)] = Found::kNull;
    return Walk::kDone;
  }
  BadValue(wanted, RejectReason::kCast,
           fmt::format("no {}: {}", ToString(type.Nullable()), Excerpt(text, kValueBytes)));
  if (rejects_->fails()) trouble_.hint = CastHint(text, NameOf(wanted), type, TextFormat::kJson);
  return Walk::kBadValue;
}

bool JsonRows::BadValue(int wanted, RejectReason reason, std::string message) {
  trouble_ = {reason, std::move(message), "", spec_.columns[static_cast<size_t>(wanted)]};
  return false;
}

const std::string& JsonRows::NameOf(int wanted) const {
  return spec_.schema.name(spec_.columns[static_cast<size_t>(wanted)]);
}

}  // namespace rowtide
