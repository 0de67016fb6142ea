#include "operators/row_times.h"

namespace rowtide {

Status RowTimes::Read(const RowBatch& batch, std::vector<int64_t>* millis) const {
  const Column& column = batch.columns[static_cast<size_t>(column_)];
  millis->resize(static_cast<size_t>(batch.rows));
  if (column.may_have_nulls()) {
    for (int row = 0; row < batch.rows; ++row) {
      if (column.IsNull(row))
        return Status::DataError("{}the row time of a row is NULL; deduplication needs one",
                                 PlaceText(batch, row));
    }
  }
  if (column.layout() == Layout::kWideTime) {
    const WideTime* times = column.values<WideTime>();
    for (int row = 0; row < batch.rows; ++row)
      (*millis)[static_cast<size_t>(row)] = times[row].millis;
    return Status::Ok();
  }
  const int64_t* times = column.values<int64_t>();
  for (int row = 0; row < batch.rows; ++row)
    (*millis)[static_cast<size_t>(row)] = Millis(times[row]);
  return Status::Ok();
}

}  // namespace rowtide
