// Rows as the lines of a script, `+I [1,"a"]\n`, for output in bulk: the same text as
// engine/value_text.h gives row by row.
//
//   row 0   +I [1001,"Google",
//   row 1   -U [1007,"Apple",
//   row 2   +U [1007,"Baidu",
//
// 32 rows grow side by side, a column at a time, so that no row waits for the length of its own
// last value. A row that does not fit into its place is written by the slow way instead.
//
// No allocation while rows are short. One thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "connectors/text_in_bulk.h"
#include "engine/row_batch.h"
#include "engine/schema.h"

namespace rowtide {

class ScriptEncoder {
 public:
  static constexpr int kStepRows = 32;
  // What a line begins with: `+I [`.
  static constexpr size_t kHeadBytes = 4;
  static const char* HeadOf(RowKind kind) {
    static constexpr char kHeads[4][kHeadBytes + 1] = {"+I [", "-U [", "+U [", "-D ["};
    return kHeads[static_cast<size_t>(kind)];
  }

  explicit ScriptEncoder(Schema schema);

  // Writes the lines of `rows` rows from `first` on. Requires: rows <= kStepRows.
  void Encode(const RowBatch& batch, int first, int rows);
  // The same, each line into a place of its own of `room` bytes, if it is not too long for it.
  void EncodeInto(const RowBatch& batch, int first, int rows, char* const* places, size_t room);
  // One of them, valid until the next Encode.
  std::string_view line(int row) const {
    const auto at = static_cast<size_t>(row);
    if (is_long_[at]) [[unlikely]]
      return long_lines_[at];
    return {RowAt(at), static_cast<size_t>(ends_[at] - RowAt(at))};
  }

 private:
  // Nine lines of the cache, so that beginnings of rows do not fall together in it.
  static constexpr size_t kRowBytes = 576;
  // What a value of fixed width, its comma and stores beyond the end take at most.
  static constexpr size_t kValueBytesMax = 64;

  enum class Way : uint8_t { kInt8, kInt16, kInt32, kInt64, kString, kMillis, kOther };
  static Way WayOf(const Type& type);
  char* RowAt(size_t row) const { return begins_[row]; }
  // Whether the row has room for a value of fixed width; else it is long.
  bool HasRoom(size_t row);
  void AppendColumn(const RowBatch& batch, int column, int first, size_t rows);
  template <typename T>
  void AppendIntegers(const T* values, size_t row, size_t rows);  // from `row` on
  void AppendLongsAvx2(const int64_t* values, size_t rows);
  void AppendStrings(const StringView* values, size_t rows);
  void AppendStringsAvx2(const StringView* values, size_t rows);
  template <typename Piece>
  void AppendStringsBy(const StringView* values, size_t rows);
  void AppendEscaped(size_t row, std::string_view text);
  void AppendMillis(const int64_t* values, size_t rows, LastSecond* last);
  void AppendOthers(const RowBatch& batch, int column, int first, size_t rows);
  void AppendScratch(size_t row);

  Schema schema_;
  std::vector<Way> ways_;
  std::vector<LastSecond> seconds_;  // by column
  bool has_avx2_;
  std::unique_ptr<char[]> rows_;
  // Plain arrays: the loops over rows must not check every index.
  char* own_places_[kStepRows];  // in rows_
  char* begins_[kStepRows];
  char* ends_[kStepRows];
  char* limits_[kStepRows];  // a value of fixed width may begin there at last
  bool is_long_[kStepRows];
  std::string long_lines_[kStepRows];
  std::string scratch_;
};

}  // namespace rowtide
