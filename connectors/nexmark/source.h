// The `nexmark` connector: one kind of event as a table, made up as fast as it is read.
//
//   CREATE TABLE bid (auction BIGINT, price BIGINT, `dateTime` TIMESTAMP(3))
//   WITH ('connector' = 'nexmark', 'nexmark.kind' = 'bid', 'events.num' = '1000000');
//
// A table has any of the kind's columns, in any order, by name. 'events.num' counts events of all
// kinds, as Flink's connector does; without it the table has no end. The number of the next event
// and how many rows are left are the whole snapshot.
#pragma once

#include "connectors/registry.h"

namespace rowtide {

// Requires: the options have been checked.
Result<std::unique_ptr<Source>> CreateNexmarkSource(const TableSpec& table, const ScanSpec& scan,
                                                    const ConnectorContext& context);

}  // namespace rowtide
