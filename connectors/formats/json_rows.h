// One JSON object as one row of a batch: fields by name into columns, a slot a row.
//
//   {"id":1,"name":"Ann","x":[…]}     id -> column 0, name -> column 1, x: checked and passed over
//
// Every object is checked as a whole, also what nobody reads. Of two fields of one name the last
// counts. Strings without escapes stay in the input block.
//
//   simdjson       any object, parsed
//   json_syntax    no object that simdjson takes: why, and where
//
// Whose text it is (a line, an element of an array, a half of a change) is the caller's business.
#pragma once

#include <simdjson.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "connectors/formats/json.h"
#include "connectors/formats/json_syntax.h"
#include "connectors/formats/json_values.h"
#include "connectors/rejects.h"

namespace rowtide {

// Why a text is no record.
struct JsonTrouble {
  RejectReason reason = RejectReason::kUndecodable;
  std::string message;
  std::string hint;
  int column = -1;  // in the schema; -1: the record as a whole
};

// Of a text that begins at byte `at` of its file: what CheckJson said of it.
JsonTrouble ExplainJson(std::string_view text, const JsonVerdict& verdict, int64_t at);

// Requires: 64 readable bytes behind the text, as blocks and repaired records have them.
simdjson::error_code IterateJson(simdjson::ondemand::parser* parser, std::string_view text,
                                 simdjson::ondemand::document* document);
bool IsAtEnd(simdjson::ondemand::document& document);

// The text with control characters inside strings escaped, with room behind it.
std::string RepairedJson(std::string_view text);

class JsonRows {
 public:
  JsonRows(JsonDecoderSpec spec, Rejects* rejects);

  void Begin();
  std::vector<Column> FinishColumns();
  std::vector<BlockPointer> FinishStrings() { return strings_.Finish(); }

  struct Text {
    std::string_view json;
    bool stays = true;  // in a block: strings may point into it
    int64_t at = 0;     // the byte of the file where it begins
  };
  // Writes the row. What the object does not have is NULL, or of a partial one what the slot holds.
  // False: trouble() says why it is none.
  bool Take(const Text& text, int row, bool is_partial = false);
  JsonTrouble& trouble() { return trouble_; }

  // For who knows where the values of an object stand: one value of the row; false: it is not
  // usual, and nobody has looked at the rest.
  bool TakeScalar(int wanted, JsonScalar scalar, int row);
  JsonColumn* columns() { return columns_.data(); }
  const JsonNames& names() const { return names_; }

  // Names of fields are what they are: `ID` is not `id`, which is then NULL in every row. Looks at
  // the object taken last.
  void LookForOtherCase();

 private:
  enum class Found : uint8_t { kNothing, kNull, kValue };
  enum class Walk : uint8_t { kDone, kBadText, kBadValue };

  bool TakeText(const Text& text);
  bool TakeSlowly(const Text& text);
  bool IgnoresRest(std::string_view rest) const;
  void FindNothing();
  bool FoundAll() const;
  bool CheckRow(bool is_partial);
  bool TakesNull(int wanted) const;

  Walk TakeFields(simdjson::ondemand::object& object);
  bool NumberOf(const char* raw, int* number);
  Walk TakeField(int wanted, simdjson::ondemand::value value);
  Walk TakeNested(int wanted, simdjson::ondemand::value value, simdjson::ondemand::json_type type);
  Walk GoOnInside(int wanted, simdjson::ondemand::value value);
  bool CheckInside(std::string_view text) const;
  bool Unescape(JsonScalar* scalar);
  Walk BadField(int wanted, std::string_view text);
  bool BadValue(int wanted, RejectReason reason, std::string message);
  const std::string& NameOf(int wanted) const;

  static constexpr size_t kSeenMax = 256;
  static constexpr size_t kSeenBytesMax = 63;  // readable behind any name
  struct Seen {
    std::string name;  // with the quote behind it
    int number = -1;
  };

  JsonDecoderSpec spec_;
  Rejects* rejects_;
  std::vector<JsonColumn> columns_;  // the wanted ones
  std::vector<Found> found_;         // of each
  JsonNames names_;
  simdjson::ondemand::parser parser_;
  StringBlocks strings_;

  // The object at hand.
  int row_ = 0;
  std::vector<Seen> seen_;
  size_t field_ = 0;
  int64_t nested_ = 0;
  bool stays_ = true;
  bool is_over_ = false;  // the rest of the text does not count
  std::string repaired_;  // it, with control characters escaped
  std::string scratch_;
  JsonTrouble trouble_;
};

}  // namespace rowtide
