// Rows as protobuf messages, one a row, as the library for Java writes them: fields in the order of
// their numbers, no NULLs, and no default of a field whose absence cannot be told from it.
#pragma once

#include <string>
#include <vector>

#include "connectors/formats/protobuf_schema.h"
#include "engine/row_batch.h"

namespace rowtide {

class ProtoRecordWriter {
 public:
  // Requires: CheckProtoColumns was content.
  ProtoRecordWriter(ProtoMessage message, Schema schema);
  ProtoRecordWriter(const ProtoRecordWriter&) = delete;
  ProtoRecordWriter& operator=(const ProtoRecordWriter&) = delete;

  // Fails for a required field that is NULL or has no column, and a name that the enum lacks.
  Status Append(const RowBatch& batch, int row, std::string* out) const;

 private:
  struct Piece {
    const ProtoField* field = nullptr;
    size_t column = 0;
    std::string tag;
  };

  Status AppendField(const Piece& piece, const RowBatch& batch, int row, std::string* out) const;
  Result<int64_t> EnumOf(const Piece& piece, const Column& column, int row) const;

  ProtoMessage message_;
  Schema schema_;
  std::vector<Piece> pieces_;            // by number
  const ProtoField* missing_ = nullptr;  // required, and no column
};

}  // namespace rowtide
