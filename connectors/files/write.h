// The `filesystem` connector as a sink: a folder of `part-<uuid>-0-<n>` files in the table's
// format.
//
//   .part-….inprogress   while rows come in
//   part-…               at the commit, or at the clean end of a job
//
// INSERT OVERWRITE removes, at the clean end, what the folder held before.
//
// Readers skip names that begin with a dot, so they never see half a file. A job that fails leaves
// the unpublished file where it is and says so on standard error. Without rows there is no folder.
// `-` writes to standard output.
//
// With checkpoints each epoch ends its file, and the checkpoint knows which files it has staged: a
// run that goes on from it gives those their names and deletes the ones that were begun later. So
// every row is in the files once, whenever the process died.
#pragma once

#include "connectors/registry.h"

namespace rowtide {

// Requires: the options have been checked.
Result<std::unique_ptr<Sink>> CreateFileSink(const TableSpec& table,
                                             const ConnectorContext& context);

}  // namespace rowtide
