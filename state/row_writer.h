// Rows of one batch as BinaryRows, one by one and each to a place of its own: straight into state.
//
//   writer.Bind(batch)            resolves the columns once
//   writer.SizeOf(row)            bytes that Write needs
//   writer.Write(row, room)       writes exactly those: what lies behind may be another row
//
// RowCodec::EncodeAll is the way to encode a whole batch into one block; this is for the rows that
// are kept, once it is known which they are. The layout is that of state/row_codec.h. Scratch of an
// operator; one lane.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/row_batch.h"
#include "state/row_codec.h"

namespace rowtide {

class RowWriter {
 public:
  explicit RowWriter(const RowCodec& codec);

  // Borrows the batch until the next Bind.
  void Bind(const RowBatch& batch);
  size_t SizeOf(int row) const {
    size_t size = strings_offset_;
    for (const StringColumn& column : strings_) size += column.values[row].size();
    return size;
  }
  void Write(int row, char* to) const;

 private:
  struct FixedColumn {
    int number;
    uint32_t width;   // in the row
    uint32_t stride;  // in the column
    uint32_t offset;  // in the row
    const char* values;
  };
  struct StringColumn {
    int number;
    uint32_t end_offset;  // in the row
    const StringView* values;
  };
  struct NullableColumn {
    int number;
    const uint8_t* validity;
  };

  uint32_t null_bytes_;
  uint32_t strings_offset_;
  std::vector<FixedColumn> eights_;  // of eight bytes: the usual width
  std::vector<FixedColumn> others_;
  std::vector<StringColumn> strings_;
  std::vector<NullableColumn> nullables_;  // that have a NULL in this batch
};

}  // namespace rowtide
