// What one core has written, another one has to fetch line by line, and an operator would wait for
// each of them; asked for at once, they come at once. For a batch that comes from another thread.
#pragma once

#include "engine/row_batch.h"

namespace rowtide {

// Asks for the values and texts of a batch.
void Prefetch(const RowBatch& batch);

}  // namespace rowtide
