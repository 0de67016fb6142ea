// Row times in epoch milliseconds, of a batch and of stored rows, whatever the precision of the
// column.
#pragma once

#include <vector>

#include "engine/row_batch.h"
#include "engine/schema.h"
#include "engine/status.h"
#include "state/row_codec.h"

namespace rowtide {

class RowTimes {
 public:
  RowTimes(const Schema& schema, int column)
      : column_(column),
        is_micros_(LayoutOf(schema.type(column)) == Layout::kInt64 &&
                   schema.type(column).precision > 3) {}

  // kDataError when a row has none.
  Status Read(const RowBatch& batch, std::vector<int64_t>* millis) const;
  int64_t Of(const RowCodec& codec, const char* row) const {
    return Millis(codec.Fixed<int64_t>(row, column_));
  }

 private:
  int64_t Millis(int64_t value) const {
    if (!is_micros_) return value;
    return value / 1000 - (value % 1000 < 0 ? 1 : 0);
  }
  int column_;
  bool is_micros_;
};

}  // namespace rowtide
