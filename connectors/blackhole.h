// The `blackhole` sink: takes rows and forgets them. Asks for no -U, as Flink's does.
#pragma once

#include "connectors/registry.h"

namespace rowtide {

Result<std::unique_ptr<Sink>> CreateBlackholeSink(const TableSpec& table,
                                                  const ConnectorContext& context);

}  // namespace rowtide
