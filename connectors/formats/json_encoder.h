// Rows as json lines, as Flink writes them: a field a column, floats and decimals as Java prints
// them, times as text.
//
//   json            {"id":1}                                           inserts only: no kind
//   debezium-json   {"before":null,"after":{"id":1},"op":"c"}          +I, +U
//                   {"before":{"id":1},"after":null,"op":"d"}          -U, -D
//   ogg-json        {"before":null,"after":{"id":1},"op_type":"I"}     … "D"
//   maxwell-json    {"data":{"id":1},"type":"insert"}                  … "delete"
//   canal-json      {"data":[{"id":1}],"type":"INSERT"}                … "DELETE"
#pragma once

#include <memory>

#include "connectors/formats/format.h"
#include "connectors/formats/json_options.h"
#include "engine/schema.h"

namespace rowtide {

std::unique_ptr<Encoder> CreateJsonEncoder(Schema schema, JsonOptions options,
                                           JsonEnvelope envelope);

}  // namespace rowtide
