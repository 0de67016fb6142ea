// Avro container files: blocks of records behind a head that says what they are.
//
//   | Obj 1 | avro.schema, avro.codec, … | sync: 16 |
//   | records: 2 | bytes: 9 | ......... | sync: 16 |      packed by the codec
//   | records: 5 | bytes: 21 | ..................... | sync: 16 |
//
// The place of a record is the byte where its block begins, and how many records of that have been
// read. The head goes into the snapshot, so a job goes on inside any file.
//
// What is damaged costs no more than it has to: a record that a column cannot take is rejected
// alone, bytes that are no record with the rest of their block, a block that is none with what
// stands before the next sync marker.
#pragma once

#include <memory>

#include "connectors/formats/avro_options.h"
#include "connectors/formats/avro_rows.h"

namespace rowtide {

// `rejects` outlives the decoder.
std::unique_ptr<Decoder> CreateAvroFileDecoder(AvroRowsSpec spec, InputLimits limits,
                                               Rejects* rejects);

inline constexpr std::string_view kAvroMagic{"Obj\x01", 4};
inline constexpr size_t kAvroSyncBytes = 16;

}  // namespace rowtide
