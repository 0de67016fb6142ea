// The json format, as Flink reads it: one object a line, fields by name; an array of objects gives
// a row for each.
//
//   block     {"id":1,"name":"Ann","x":[…]}\n{"id":2}\n      lines, and what simdjson finds in each
//   fields    id -> column 0, name -> column 1, x: checked and passed over
//   columns   1 2 | Ann NULL                                 one slot a row (column_slots.h)
//
// Every record is checked as a whole, also what nobody reads. Of two fields of one name the last
// counts. Strings without escapes stay in the input block.
//
// A record goes the shortest way that takes it:
//   json_shape     it looks like one of the last: names are compared, values found where they end
//   simdjson       any object, parsed
//   json_syntax    no object that simdjson takes: why, and where
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "connectors/formats/json_options.h"
#include "connectors/rejects.h"
#include "engine/schema.h"

namespace rowtide {

struct JsonDecoderSpec {
  Schema schema;             // all columns of a record
  std::vector<int> columns;  // which of them are wanted, in output order
  JsonOptions options;
  InputLimits limits;
  bool trusts_not_null = false;  // Flink lets NULL into NOT NULL columns …
  bool stops_early = false;      // … and does not look at a record behind what it wanted
  bool guesses = true;           // records may be walked by the shape of earlier ones
};

// `rejects` outlives the decoder.
Result<std::unique_ptr<Decoder>> CreateJsonDecoder(JsonDecoderSpec spec, Rejects* rejects);

}  // namespace rowtide
