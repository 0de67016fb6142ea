// The `checksum` sink: reads every row of the changelog, encodes it as script text and keeps what
// checksum_hash.h keeps. Its summary is the line `+I n -U n +U n -D n ordered=… unordered=…`. Not
// durable; for measurements and tests.
#pragma once

#include "connectors/registry.h"

namespace rowtide {

Result<std::unique_ptr<Sink>> CreateChecksumSink(const TableSpec& table,
                                                 const ConnectorContext& context);

}  // namespace rowtide
