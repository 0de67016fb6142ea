// The port of formats for transports that keep records apart, as topics do: a batch in, the bytes
// of one record a row out.
//
//   rows  +I 7   +I NULL        bytes  {"id":7}{"id":null}        records  [0,8)   [8,19)
//         raw: 7 , NULL         bytes  7                          records  [0,1)   null
//
// A null record is not an empty one: in a topic it is a tombstone. Formats of lines are the
// encoders of connectors/formats/format.h without their line ends; binary ones implement this
// alone. One thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "connectors/formats/format.h"

namespace rowtide {

struct EncodedRecords {
  struct Record {
    size_t begin = 0;
    size_t end = 0;
    bool is_null = false;
  };
  std::string bytes;
  std::vector<Record> records;

  std::string_view at(size_t record) const {
    const Record& one = records[record];
    return std::string_view(bytes).substr(one.begin, one.end - one.begin);
  }
  void Clear() {
    bytes.clear();
    records.clear();
  }
};

class RecordEncoder {
 public:
  virtual ~RecordEncoder() = default;
  // Appends one record a row.
  virtual Status Encode(const RowBatch& batch, EncodedRecords* out) = 0;
};

// The records of a format of lines.
std::unique_ptr<RecordEncoder> RecordsOfLines(std::unique_ptr<Encoder> encoder);

}  // namespace rowtide
