// The `print` sink: a line per row as Flink prints it, `ident> +I[1, Ann,
// 2020-01-01T10:00:01.123]`, on standard output or, with 'standard-error', on the other one. Lines
// are handed over at the end of every batch.
#pragma once

#include "connectors/registry.h"

namespace rowtide {

Result<std::unique_ptr<Sink>> CreatePrintSink(const TableSpec& table,
                                              const ConnectorContext& context);

}  // namespace rowtide
