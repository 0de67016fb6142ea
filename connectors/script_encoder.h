// Rows as the lines of a script, `+I [1,"a"]\n`, for output in bulk. The same text as engine/value_text.h gives row by
// row, without an allocation: integers, strings and timestamps are written straight into the buffer.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/row_batch.h"
#include "engine/schema.h"

namespace rowtide {

class ScriptEncoder {
 public:
  explicit ScriptEncoder(Schema schema);

  // The rows of this batch come next. It must outlive the calls of Line.
  void Begin(const RowBatch& batch);
  // One row's line in a buffer of the encoder; the view lives until the next call.
  std::string_view Line(int row) { return (this->*line_)(row); }

 private:
  enum class Way : uint8_t { kInt8, kInt16, kInt32, kInt64, kString, kMillis, kOther };
  struct ColumnWay {
    Way way;
    const char* values;
    const uint8_t* validity;
    // kMillis: the last second and its text, `"yyyy-MM-dd HH:mm:ss.`; rows of one moment follow each other.
    int64_t second;
    char second_text[24];
  };

  static Way WayOf(const Type& type);
  // Strings are copied 32 bytes at a step with AVX2, 16 otherwise, chosen when the encoder is made.
  std::string_view LineAvx2(int row);
  std::string_view LineSse(int row);
  template <typename Block>
  std::string_view LineWith(int row);
  template <typename Block>
  char* AppendString(const StringView& text, char* out);
  char* AppendEscaped(std::string_view text, char* out);
  char* AppendMillis(ColumnWay& column, int64_t millis, char* out);
  bool TakeSecond(ColumnWay& column, int64_t second);
  char* AppendOther(size_t column, int row, char* out);
  char* AppendScratch(char* out);
  // Makes room for `bytes` more behind `out`, and for what fixed-width values may write; returns where `out` is now.
  char* Reserve(char* out, size_t bytes);

  Schema schema_;
  std::string_view (ScriptEncoder::*line_)(int row);
  const RowBatch* batch_ = nullptr;
  std::vector<ColumnWay> columns_;
  size_t slack_;  // what all fixed-width values of a row write at most
  std::string buffer_;
  const char* full_;  // a string that would end behind it asks for room
  std::string scratch_;
};

}  // namespace rowtide
