// The json formats, as Flink reads them, line by line: an object is a row, an array of objects a
// row for each; of a format of changes (json_changes.h) an object is a message.
//
//   block     {"id":1,"name":"Ann","x":[…]}\n{"id":2}\n      lines
//   columns   1 2 | Ann NULL                                 one slot a row (column_slots.h)
//
// A record goes the shortest way that takes it:
//   json_shape     it looks like one of the last: names are compared, values found where they end
//   json_rows      any object
#pragma once

#include <memory>
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
  JsonEnvelope envelope = JsonEnvelope::kNone;
};

// `rejects` outlives the decoder.
Result<std::unique_ptr<Decoder>> CreateJsonDecoder(JsonDecoderSpec spec, Rejects* rejects);
Result<std::unique_ptr<RecordDecoder>> CreateJsonRecordDecoder(JsonDecoderSpec spec,
                                                               Rejects* rejects);

}  // namespace rowtide
