// One JSON value as a value of each SQL type, by the rules of Flink's json format
// (tests/changelog/flink/files has each).
//
//   INT, BIGINT        1  1.9 -> 1  1e2 -> 100  " 1 "; exact, from the digits of the token
//   TINYINT, SMALLINT  1  " 1 "
//   FLOAT, DOUBLE      what Java's parseDouble takes, quoted or not
//   DECIMAL            any number, rounded half up; too many digits are NULL
//   BOOLEAN            true or "true"; everything else is false
//   STRING             a string, or the token as it stands
#pragma once

#include <string_view>

#include "connectors/formats/column_slots.h"
#include "connectors/formats/json_options.h"
#include "engine/batch_builder.h"

namespace rowtide {

struct JsonScalar {
  enum class Kind : uint8_t { kString, kNumber, kWord };  // a word: true or false
  Kind kind;
  std::string_view text;  // of a string: without quotes and escapes
  bool stays;             // the text lives as long as the batch
};

enum class JsonCast : uint8_t { kValue, kNull, kBad };

// Writes the value into the slot. kNull and kBad write nothing.
JsonCast StoreJson(const JsonScalar& scalar, const Type& type, const JsonOptions& options, int row,
                   ColumnSlots* slots, StringBlocks* strings);

}  // namespace rowtide
