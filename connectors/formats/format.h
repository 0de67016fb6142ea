// The port of formats: bytes of a file in, batches out; batches in, bytes out. Transport (files,
// topics) stays outside.
//
// A decoder gets one file after the other, block by block, and takes whole records only. What it
// did not take comes again at the head of the next block, with more behind it. What is no record
// goes to `Rejects` (connectors/rejects.h), which says whether the job goes on. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "engine/row_batch.h"
#include "engine/status.h"

namespace rowtide {

// Where the next record begins.
struct RecordPlace {
  int64_t byte = 0;    // from the beginning of the (unpacked) file
  int64_t line = 1;    // counted by line ends
  int64_t record = 0;  // records before it, decoded or not
  int64_t rows = 0;    // of it that have been handed out: a json array is one record of many rows
};

class Decoder {
 public:
  virtual ~Decoder() = default;

  // The next bytes belong to another file, or to the same one at another place; then `header` is
  // what header() was there.
  virtual Status Begin(RecordPlace place, std::string_view header) = 0;
  // The line at the head of the file that says what its columns are; "" where there is none.
  virtual std::string_view header() const { return {}; }

  // Takes records from block[begin, end) until it holds kBatchRows rows or no whole record is left;
  // `at_end`: nothing follows in this file. Returns how many bytes it took. After an error, Finish
  // still gives the rows before it.
  virtual Result<size_t> Decode(const BlockPointer& block, size_t begin, size_t end,
                                bool at_end) = 0;

  virtual int rows() const = 0;
  // The rows so far, with the number of their first record and their places.
  virtual RowBatch Finish() = 0;

  virtual const RecordPlace& place() const = 0;
};

class Encoder {
 public:
  virtual ~Encoder() = default;
  virtual Status Encode(const RowBatch& batch, std::string* out) = 0;
};

}  // namespace rowtide
