// The `datagen` connector: rows made up, as fast as 'rows-per-second' says (10,000), for ever or up
// to 'number-of-rows', or to the end of a sequence.
//
// With SET 'rowtide.datagen.seed.<table>' every run gives the same rows; without, each its own. The
// seed and the number of the next row are the whole snapshot. Time since the first poll decides how
// many rows may come, so a slow reader is not overrun and catches up.
#pragma once

#include "connectors/registry.h"

namespace rowtide {

// Requires: the options have been checked.
Result<std::unique_ptr<Source>> CreateDatagenSource(const TableSpec& table, const ScanSpec& scan,
                                                    const ConnectorContext& context);
// Whether the rows end.
bool IsDatagenBounded(const TableSpec& table);

}  // namespace rowtide
