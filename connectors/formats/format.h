// The port of formats: bytes of a file in, batches out; batches in, bytes out. Transport (files,
// topics) stays outside.
//
// A decoder gets one file after the other, block by block, and takes whole records only. What it
// did not take comes again at the head of the next block, with more behind it. What is no record
// goes to `Rejects` (connectors/rejects.h), which says whether the job goes on. One thread.
//
// Of a topic the transport has cut records already. Their bytes lie one behind the other in a
// block, a line end that is none of theirs behind each:
//
//   block    {"id":1}\n{"id":2}\n\n{"id":4}\n……   64 readable bytes behind the last one
//   bytes    0,8     9,8     18,0  19,8            of each: where, how long, its offset; or none
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

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

// The bytes of a message.
struct RecordBytes {
  enum class Kind : uint8_t {
    kBytes,
    kNull,        // without a value
    kPassedOver,  // none of this decoder's, and not counted
  };
  uint32_t begin = 0;  // in the block
  uint32_t bytes = 0;
  int64_t offset = 0;  // in its partition
  Kind kind = Kind::kBytes;
};

// Messages of one partition, up to kBatchRows of them.
struct Records {
  BlockPointer block;
  std::span<const RecordBytes> bytes;
};

inline constexpr size_t kRecordPadding = 64;

// The next row: that of a record, with so many of its rows before it.
struct RecordCursor {
  int32_t record = 0;
  int32_t rows = 0;
};

class RecordDecoder {
 public:
  virtual ~RecordDecoder() = default;

  // Takes rows from `at` on until it holds kBatchRows of them or the records are over, and moves
  // `at`. The same records come again until it is at their end. A record may give any number of
  // rows; the same bytes give the same rows, so one may be gone on with in its middle after a
  // restart. What is no record goes to `Rejects` with a place made by PlaceOfRecord. After an
  // error, Finish still gives the rows before it.
  virtual Status Decode(const Records& records, RecordCursor* at) = 0;

  virtual int rows() const = 0;
  // The rows so far. The places of the batch are those of their records (RecordOfPlace).
  virtual RowBatch Finish() = 0;
};

// The place of the record with that number among its Records: | line: -1 - number | byte: offset |
inline RecordPlace PlaceOfRecord(const Records& records, int32_t number) {
  return {records.bytes[static_cast<size_t>(number)].offset, -1 - int64_t{number}, 0, 0};
}
inline bool IsPlaceOfRecord(int64_t line) { return line < 0; }
inline int32_t RecordOfPlace(int64_t line) { return static_cast<int32_t>(-1 - line); }

class Encoder {
 public:
  virtual ~Encoder() = default;
  // The head of a file, before its first batch.
  virtual Status Begin(std::string* /*out*/) { return Status::Ok(); }
  // Appends a record a row, in a format of lines each with a line end. `ends`, where given, gets
  // where each ends in `out`, its line end included.
  virtual Status Encode(const RowBatch& batch, std::string* out, std::vector<size_t>* ends) = 0;
  Status Encode(const RowBatch& batch, std::string* out) { return Encode(batch, out, nullptr); }
  // What was held back, to be one record with the next row or to be packed with more of them; a
  // file may end behind it.
  virtual Status Finish(std::string* /*out*/) { return Status::Ok(); }
};

}  // namespace rowtide
