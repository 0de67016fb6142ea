// Rows as json lines, as Flink writes them: a field a column, floats and decimals as Java prints
// them, times as text. The row kind is not written: the format takes inserts only.
#pragma once

#include <memory>

#include "connectors/formats/format.h"
#include "connectors/formats/json_options.h"
#include "engine/schema.h"

namespace rowtide {

std::unique_ptr<Encoder> CreateJsonEncoder(Schema schema, JsonOptions options);

}  // namespace rowtide
