// Rows as the lines of a script, `+I [1,"a"]\n`, for output in bulk. The same text as engine/value_text.h gives row by
// row, without an allocation: integers, strings and timestamps are written straight into the buffer.
#pragma once

#include <string>
#include <vector>

#include "engine/row_batch.h"
#include "engine/schema.h"

namespace rowtide {

class ScriptEncoder {
 public:
  explicit ScriptEncoder(Schema schema);

  // Writes one line into a buffer of its own; the view lives until the next call.
  std::string_view Line(const RowBatch& batch, int row);

 private:
  // The last day and second, and their text: rows of one moment follow each other.
  struct LastTime {
    int64_t second = INT64_MIN;
    char text[24];  // `"yyyy-MM-dd HH:mm:ss.`
  };
  enum class Way : uint8_t { kInt8, kInt16, kInt32, kInt64, kString, kMillis, kOther };

  static Way WayOf(const Type& type);
  char* Append(const RowBatch& batch, size_t column, int row, char* out);
  char* AppendString(const StringView& text, char* out);
  char* AppendEscaped(std::string_view text, char* out);
  char* AppendMillis(size_t column, int64_t millis, char* out);
  char* AppendOther(const Column& column, size_t number, int row, char* out);
  // Room for `bytes` more behind `out`; returns where `out` is now.
  char* Reserve(char* out, size_t bytes);

  Schema schema_;
  std::vector<Way> ways_;
  std::vector<LastTime> last_times_;
  std::string buffer_;
  std::string scratch_;
};

}  // namespace rowtide
