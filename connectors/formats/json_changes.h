// Messages of change data capture: one JSON object that says what happened to a row, or to several.
//
//   debezium-json  {"before":…,"after":…,"op":"c|r|u|d"}       with 'schema-include' in "payload"
//   ogg-json       {"before":…,"after":…,"op_type":"I|U|D"}
//   maxwell-json   {"data":…,"old":…,"type":"insert|update|delete"}
//   canal-json     {"data":[…],"old":[…],"type":"INSERT|UPDATE|DELETE|CREATE"}
//
// `old` has only the columns that were others; the rest of a row before an update is the row after
// it. A message is taken apart here; its rows are read by JsonRows. Names, letters and errors are
// those of Flink's DebeziumJsonDeserializationSchema and its siblings. With several rows in one
// canal message Flink takes a column that any of them has in `old` for NULL in all others; here
// each row stands for itself.
#pragma once

#include <re2/re2.h>
#include <simdjson.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "connectors/formats/json_options.h"
#include "connectors/formats/json_rows.h"

namespace rowtide {

// What a message says of one row.
struct JsonChange {
  enum class Kind : uint8_t { kInsert, kUpdate, kDelete };
  Kind kind = Kind::kInsert;
  JsonRows::Text row;       // an object: the row that is inserted, deleted, or there afterwards
  JsonRows::Text before;    // of an update
  bool is_partial = false;  // `before` has only what was another value
  JsonRows::Text message;
  JsonTrouble trouble;  // with a text: it is no change

  bool has_before() const { return trouble.message.empty() && kind == Kind::kUpdate; }
  RowKind row_kind() const {
    if (kind == Kind::kUpdate) return RowKind::kUpdateAfter;
    return kind == Kind::kInsert ? RowKind::kInsert : RowKind::kDelete;
  }
};

class JsonMessages {
 public:
  static Result<std::unique_ptr<JsonMessages>> Create(JsonEnvelope envelope,
                                                      const JsonOptions& options,
                                                      int64_t depth_max);
  ~JsonMessages();

  // Appends a change for each row of the message; one with trouble for a message that is none.
  void Read(const JsonRows::Text& message, std::vector<JsonChange>* changes);

 private:
  enum Part : uint8_t { kBefore, kRow, kKind, kDatabase, kTable, kParts };
  struct Names;

  JsonMessages(JsonEnvelope envelope, const JsonOptions& options, int64_t depth_max);
  static const Names& NamesOf(JsonEnvelope envelope);

  bool ReadMessage(std::vector<JsonChange>* changes);
  bool ReadParts(std::string_view text, bool is_payload);
  bool ReadFields(simdjson::ondemand::object& object, bool is_payload, std::string_view* payload);
  bool Explain(std::string_view text);
  bool Fail(std::string message, std::string hint = "");
  bool IsIncluded(Part part, const RE2* pattern, bool* included);
  bool ReadKind(std::string_view text, JsonChange::Kind* kind);
  bool ReadChange(JsonChange::Kind kind, std::vector<JsonChange>* changes);
  bool ReadList(JsonChange::Kind kind, std::vector<JsonChange>* changes);
  bool Elements(Part part, std::vector<std::string_view>* elements);
  bool IsObject(Part part, std::string_view text);
  JsonRows::Text TextOf(std::string_view json) const;
  std::string TextOfString(Part part) const;

  const JsonEnvelope envelope_;
  const Names& names_;
  const bool has_schema_;
  const int64_t depth_max_;
  std::unique_ptr<RE2> database_, table_;  // null: all
  simdjson::ondemand::parser parser_;

  // The message at hand.
  JsonRows::Text message_;
  std::array<std::string_view, kParts> parts_;  // as they stand; "": there is none, or null
  JsonTrouble trouble_;
};

}  // namespace rowtide
