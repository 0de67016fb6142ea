// BinaryRow: one row as packed bytes, the form in which rows lie in keyed state.
//
//   | null bits: (n + 7) / 8 | fixed-width values | end of each string: u32 | bytes of strings |
//
//   ["ab", 7, NULL] of (STRING, INT, STRING)  ->  04 | 07 00 00 00 | 02 00 00 00  02 00 00 00 | a b
//
// Little-endian, unaligned. A NULL has its bit set, zero bytes, an empty string. Kinds are never
// stored. Equal rows have equal bytes, but for floats (-0.0 equals 0.0, a NaN equals any NaN) and
// PROCTIME columns, which Equal passes over. Rows are at most kRowBytesMax long. Codecs are
// immutable after construction; scratch space is the caller's.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "engine/batch_builder.h"
#include "engine/row_batch.h"
#include "engine/schema.h"
#include "engine/status.h"
#include "engine/value.h"

namespace rowtide {

inline constexpr size_t kRowBytesMax = (size_t{1} << 30) - 1;
// kDataError above kRowBytesMax.
inline Status CheckRowSize(size_t bytes) {
  if (bytes <= kRowBytesMax) [[likely]]
    return Status::Ok();
  return Status::DataError("a row has {} bytes; state holds at most {}", bytes, kRowBytesMax);
}

// All rows of a batch as BinaryRows in one shared block, so that output may point into it. Reused
// between batches.
class EncodedRows {
 public:
  std::string_view row(int row) const {
    const uint32_t begin = begins_[static_cast<size_t>(row)];
    return {data_ + begin, begins_[static_cast<size_t>(row) + 1] - begin};
  }
  const BlockPointer& block() const { return block_; }

 private:
  friend class RowCodec;
  BlockPointer block_;
  const char* data_ = nullptr;
  std::vector<uint32_t> begins_ = {0};
};

class RowCodec {
 public:
  explicit RowCodec(const Schema& schema);

  int columns() const { return static_cast<int>(fields_.size()); }

  // --- from a batch ---
  Status EncodeAll(const RowBatch& batch, EncodedRows* rows) const;

  // --- to a batch ---
  // Appends all columns, the first of them to column `first_column` of the builder, after the
  // caller's AppendKind.
  void AppendTo(const char* row, BatchBuilder* builder, int first_column = 0) const;
  // One column of many rows. Long strings point into the rows: the caller keeps those bytes alive.
  Column GatherColumn(std::span<const char* const> rows, int column) const;
  // All columns of many rows, appended to `columns`. Long strings point into the rows: the caller
  // keeps those bytes alive. Much faster than one by one. Requires: 16 readable bytes behind each
  // row, as in a Block.
  void GatherColumns(std::span<const char* const> rows, std::vector<Column>* columns) const;
  // A row's bytes and its place among the rows of a batch.
  struct PlacedRow {
    int32_t place;
    const char* bytes;
  };
  // One column of those rows, into the values of a column that is being made. As GatherColumns.
  void PutInto(std::span<const PlacedRow> rows, int column, char* values) const;

  // Of bytes that come from outside: kCorruption unless they are a row, so that nothing else here
  // reads what is not there.
  Status Check(std::string_view row) const;

  // --- comparing ---
  bool Equal(std::string_view a, std::string_view b) const {
    if (!exact_) return EqualByField(a, b);
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size()) == 0;
  }
  bool EqualsRow(std::string_view stored, const RowBatch& batch, int row) const;
  bool EqualsInColumn(std::string_view stored, const RowBatch& batch, int row, int column) const;
  // Equal rows hash equal.
  uint64_t HashContent(std::string_view row) const;

  // --- single fields ---
  bool IsNull(const char* row, int column) const { return (row[column >> 3] >> (column & 7)) & 1; }
  // Of a fixed-width column.
  template <typename T>
  T Fixed(const char* row, int column) const {
    T value;
    std::memcpy(&value, row + fields_[static_cast<size_t>(column)].offset, sizeof(T));
    return value;
  }
  // Of a string column.
  std::string_view Bytes(const char* row, int column) const {
    const Field& field = fields_[static_cast<size_t>(column)];
    const uint32_t begin = field.string == 0 ? 0 : EndOf(row, field.string - 1);
    return {row + strings_offset_ + begin, EndOf(row, field.string) - begin};
  }
  Value ValueOf(const char* row, int column, const Type& type) const;  // slow path
  Layout layout(int column) const { return fields_[static_cast<size_t>(column)].layout; }

  // --- the drawing above, for state/row_writer.h ---
  // Of the value in the row; 0 for strings.
  uint32_t width(int column) const { return fields_[static_cast<size_t>(column)].width; }
  // Of the value, or of the string's end.
  uint32_t offset(int column) const { return fields_[static_cast<size_t>(column)].offset; }
  uint32_t null_bytes() const { return null_bytes_; }
  uint32_t strings_offset() const { return strings_offset_; }

 private:
  struct Field {
    Layout layout;
    uint32_t width;   // 0 for strings
    uint32_t offset;  // of the value, or of the string's end
    uint32_t string;  // which string it is
    bool is_proctime;
  };
  uint32_t EndOf(const char* row, uint32_t string) const {
    uint32_t end;
    std::memcpy(&end, row + ends_offset_ + 4 * string, 4);
    return end;
  }
  bool EqualByField(std::string_view a, std::string_view b) const;
  void WriteStrings(const RowBatch& batch, const uint32_t* begins, char* to) const;
  void GatherField(std::span<const char* const> rows, const Field& field, char* to) const;
  void GatherStrings(std::span<const char* const> rows, std::span<StringView* const> to) const;
  BlockPointer GatherValidity(std::span<const char* const> rows, int column) const;

  std::vector<Field> fields_;
  std::vector<int> string_columns_;
  std::vector<Type> types_;
  uint32_t null_bytes_ = 0;
  uint32_t ends_offset_ = 0;
  uint32_t strings_offset_ = 0;
  bool exact_ = true;  // equal rows have equal bytes
};

}  // namespace rowtide
