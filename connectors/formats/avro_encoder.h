// Rows as records of Avro's binary encoding, and container files of them, as Flink writes them: the
// schema is that of the table's columns (avro_schema.h), a block is closed at 64,000 bytes. But the
// schema of a file is the record itself, where Flink has a union of it and null: nothing is ever
// null there, and Spark, for one, cannot read such a file.
//
//   NULL, in a nullable column   | 00 |            a value   | 02 | value |
//   DECIMAL    | length | unscaled, big-endian, as few bytes as hold it |
//   TIMESTAMP  | milliseconds |      without the legacy mapping also micro- and nanoseconds
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "connectors/formats/avro_options.h"
#include "connectors/formats/format.h"
#include "engine/schema.h"

namespace rowtide {

// Records one behind the other in memory of its own.
class AvroRecordWriter {
 public:
  explicit AvroRecordWriter(Schema schema);

  // Appends the row. Requires: columns as in the schema.
  Status Append(const RowBatch& batch, int row);
  std::string_view bytes() const { return {room_.get(), used_}; }
  void Clear() { used_ = 0; }

 private:
  struct Out {
    char* to;
    Status status;
  };

  void MakeRoom(size_t bytes);
  void PutValue(const Column& column, const Type& type, int row, Out* out) const;

  Schema schema_;
  std::unique_ptr<char[]> room_;
  size_t room_bytes_ = 0;
  size_t used_ = 0;
};

// Of container files. Requires: CheckAvroTable was content.
Result<std::unique_ptr<Encoder>> CreateAvroFileEncoder(const TableSpec& table);

}  // namespace rowtide
