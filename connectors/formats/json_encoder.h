// Rows as json lines, as Flink writes them: a field a column, floats and decimals as Java prints
// them, times as text.
//
//   json            {"id":1}                                      inserts only: no kind is written
//   debezium-json   {"before":null,"after":{"id":1},"op":"c"}     +I, +U
//                   {"before":{"id":1},"after":null,"op":"d"}     -U, -D
#pragma once

#include <memory>

#include "connectors/formats/format.h"
#include "connectors/formats/json_options.h"
#include "engine/schema.h"

namespace rowtide {

enum class JsonEnvelope : uint8_t { kNone, kDebezium };

std::unique_ptr<Encoder> CreateJsonEncoder(Schema schema, JsonOptions options,
                                           JsonEnvelope envelope);

}  // namespace rowtide
