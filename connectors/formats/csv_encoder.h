// Rows as csv records, as Flink writes them: quotes where a text is long or holds a character that
// might need them, floats and decimals as Java prints them, times with a blank, NULL as
// 'null-literal'. The row kind is not written: the format takes inserts only.
//
//   pieces  1009, 1005, 1000,       a column at a time for 32 rows: numbers and times
//   texts   channel-2533            stay where they are
//   rows    1009,channel-2533\n     a row at a time: pieces and texts copied one behind the other
//
// What is rare (other types, delimiters beyond ASCII) is appended value by value, and then copied
// like a text. One thread.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "connectors/formats/csv_options.h"
#include "connectors/formats/format.h"
#include "connectors/text_in_bulk.h"
#include "engine/schema.h"

namespace rowtide {

class CsvEncoder final : public Encoder {
 public:
  static Result<std::unique_ptr<CsvEncoder>> Create(Schema schema, CsvOptions options);

  using Encoder::Encode;
  Status Encode(const RowBatch& batch, std::string* out, std::vector<size_t>* ends) override;
  // Works as on a machine without them, for tests.
  void AvoidWideInstructions() { has_avx2_ = false; }

 private:
  static constexpr size_t kStepRows = 32;
  static constexpr size_t kPieceBytes = 32;  // a number or a time in quotes, and its delimiter

  enum class Way : uint8_t { kPieces, kText, kOther };
  // The step's values of a column; which fields count is said by `way`.
  struct Cells {
    Way way;
    char pieces[kStepRows][kPieceBytes];  // each with its delimiter
    char slack[kPieceBytes];              // what is written beyond the end of the last piece
    uint8_t bytes[kStepRows];             // of them
    const StringView* texts;
    const uint8_t* validity;  // of the texts from `first` on; null: no NULLs
    int first;
    std::string others;  // one behind the other, each with its delimiter
    size_t ends[kStepRows + 1];
    LastSecond second;
  };

  CsvEncoder(Schema schema, CsvOptions options);

  void TakeColumn(const RowBatch& batch, int column, int first, size_t rows);
  bool TakePieces(const Column& column, const Type& type, int first, size_t rows, Cells* cells);
  template <typename T>
  void TakeIntegers(const T* values, size_t rows, Cells* cells) const;
  void TakeLongs(const int64_t* values, size_t row, size_t rows, Cells* cells) const;
  void TakeLongsAvx2(const int64_t* values, size_t rows, Cells* cells) const;
  template <typename T>
  bool TakeDecimals(const T* values, int scale, size_t rows, Cells* cells) const;
  bool TakeTimes(const int64_t* values, const Type& type, size_t rows, Cells* cells) const;
  bool TakeNulls(const Column& column, int first, size_t rows, Cells* cells) const;
  void TakeOthers(const RowBatch& batch, int column, int first, size_t rows);
  static void EndPiece(size_t row, char* end, char delimiter, Cells* cells);

  // Where the rows' bytes end.
  char* WriteRows(size_t rows);
  char* WriteRowsAvx2(size_t rows);
  template <typename Piece>
  char* WriteRowsBy(size_t rows);
  static bool IsNull(const Cells& cells, size_t row);
  char* WriteText(std::string_view text, char* out);
  char* WriteBytes(std::string_view bytes, char* out);
  const char* Limit() const;
  char* RoomFor(size_t bytes, char* out);

  void AppendValue(const RowBatch& batch, int column, int row, std::string* out);
  void AppendText(std::string_view text, std::string* out) const;
  void AppendQuoted(std::string_view text, std::string* out) const;
  bool NeedsQuotes(std::string_view text) const;

  Schema schema_;
  CsvOptions options_;
  std::string null_literal_;
  std::array<uint8_t, 256> needs_quotes_ = {};  // by byte, of ASCII
  uint32_t last_quoted_;                        // units up to it need them, also beyond ASCII
  bool has_quick_values_;                       // whether there are any ways but kOther
  bool has_quick_times_;
  bool has_avx2_;
  std::vector<std::unique_ptr<Cells>> cells_;  // by column
  std::string scratch_;

  // The rows of a step.
  size_t row_ends_[kStepRows];  // in the room
  size_t room_bytes_;
  std::unique_ptr<char[]> room_;
  size_t row_bytes_;  // what all pieces of a row take, and stores beyond the end
};

}  // namespace rowtide
