#include "state/row_writer.h"

#include <cstring>

#include "state/copy_bytes.h"

namespace rowtide {

RowWriter::RowWriter(const RowCodec& codec)
    : null_bytes_(codec.null_bytes()), strings_offset_(codec.strings_offset()) {
  for (int i = 0; i < codec.columns(); ++i) {
    const uint32_t offset = codec.offset(i);
    if (codec.layout(i) == Layout::kBytes) {
      strings_.push_back({i, offset, nullptr});
      continue;
    }
    const auto stride = static_cast<uint32_t>(WidthOf(codec.layout(i)));
    const FixedColumn column{i, codec.width(i), stride, offset, nullptr};
    (column.width == 8 ? eights_ : others_).push_back(column);
  }
}

void RowWriter::Bind(const RowBatch& batch) {
  const auto column_of = [&](int number) -> const Column& {
    return batch.columns[static_cast<size_t>(number)];
  };
  for (FixedColumn& column : eights_) column.values = column_of(column.number).data();
  for (FixedColumn& column : others_) column.values = column_of(column.number).data();
  for (StringColumn& column : strings_)
    column.values = column_of(column.number).values<StringView>();
  nullables_.clear();
  for (int i = 0; i < static_cast<int>(batch.columns.size()); ++i) {
    if (column_of(i).may_have_nulls()) nullables_.push_back({i, column_of(i).validity()});
  }
}

void RowWriter::Write(int row, char* to) const {
  const auto at = static_cast<size_t>(row);
  std::memset(to, 0, null_bytes_);
  for (const NullableColumn& column : nullables_) {
    const bool is_null = !((column.validity[at >> 3] >> (at & 7)) & 1);
    const int byte = column.number >> 3;
    to[byte] = static_cast<char>(to[byte] | (int{is_null} << (column.number & 7)));
  }
  for (const FixedColumn& column : eights_)
    std::memcpy(to + column.offset, column.values + at * 8, 8);
  for (const FixedColumn& column : others_) {
    const char* const from = column.values + at * column.stride;
    char* const field = to + column.offset;
    switch (column.width) {
      case 1: *field = *from; break;
      case 2: std::memcpy(field, from, 2); break;
      case 4: std::memcpy(field, from, 4); break;
      case 12: std::memcpy(field, from, 12); break;
      default: std::memcpy(field, from, 16); break;
    }
  }
  char* const strings = to + strings_offset_;
  uint32_t end = 0;
  for (const StringColumn& column : strings_) {
    const StringView& value = column.values[at];
    const uint32_t size = value.size();
    if (value.is_inline()) {
      CopyShort(value.data(), size, strings + end);
    } else {
      CopyLong(value.data(), size, strings + end);
    }
    end += size;
    std::memcpy(to + column.end_offset, &end, 4);
  }
}

}  // namespace rowtide
