// The `filesystem` connector as a source: the files of a path, one after the other in byte order of
// their paths, through the decoder of the table's format.
//
//   block n      ....rec7,rec8,re
//   block n+1    rec9,rec10....
//
// The rest of a record that a block cuts off is copied to the head of the next one. Blocks are
// shared with the batches that point into them, and used again when nobody holds them.
//
// With 'source.monitor-interval' the path is looked at again and again, and the rows do not end.
//
// A batch has 1,024 rows unless its file ends or a pipe holds nothing more now: no row waits for
// another one. It never spans two files. The position in the snapshot is the file, the byte and the
// line of the next record.
#pragma once

#include "connectors/registry.h"

namespace rowtide {

// Requires: the options have been checked.
Result<std::unique_ptr<Source>> CreateFileSource(const TableSpec& table, const ScanSpec& scan,
                                                 const ConnectorContext& context);

// The METADATA columns of a file.
std::vector<MetadataKey> FileMetadata();

}  // namespace rowtide
