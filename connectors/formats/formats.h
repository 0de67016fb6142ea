// The one table of formats: their options, and what reads and writes them.
//
//   'format' = 'csv' | 'json' | 'raw'                         rows; options behind `csv.`, …
//              'debezium-json' | 'canal-json' | 'maxwell-json' | 'ogg-json'          changes
//
// A format that Flink has and Rowtide does not is refused by name; an unknown one is an error that
// names those there are.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "connectors/formats/record_encoder.h"
#include "connectors/options.h"
#include "connectors/rejects.h"

namespace rowtide {

// The options of the table's format, without prefix. Requires nothing.
Result<std::span<const OptionSpec>> FormatOptionSpecs(const TableSpec& table);
// The format can hold the table's columns, and its options go together. Requires: each of them has
// been checked.
Status CheckFormat(const TableSpec& table);

// `columns`: positions in the table's schema, in output order. `rejects` outlives the decoder.
Result<std::unique_ptr<Decoder>> CreateDecoder(const TableSpec& table,
                                               const std::vector<int>& columns,
                                               const ConnectorContext& context, Rejects* rejects);
// The same for messages, which are cut already.
Result<std::unique_ptr<RecordDecoder>> CreateRecordDecoder(const TableSpec& table,
                                                           const std::vector<int>& columns,
                                                           const ConnectorContext& context,
                                                           Rejects* rejects);
Result<std::unique_ptr<Encoder>> CreateEncoder(const TableSpec& table);
Result<std::unique_ptr<RecordEncoder>> CreateRecordEncoder(const TableSpec& table);

// What kinds of changes it reads and can write; inserts alone where it is not known.
ChangelogMode FormatMode(const TableSpec& table);

// All formats, as help shows them.
struct FormatText {
  std::string_view name;
  const char* text;
  std::span<const OptionSpec> options;
};
std::vector<FormatText> FormatTexts();

// Whether the format reads text: a byte order mark is none of it, and UTF-16 is turned into UTF-8.
bool ReadsText(const TableSpec& table);

}  // namespace rowtide
