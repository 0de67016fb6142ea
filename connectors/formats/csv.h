// The csv format, as Flink reads it: columns by position, no header, quotes as in RFC 4180.
//
//   block    1,"a,b",x\n2,c,y\n            marks: every , " \n \r and escape (csv_scan.h)
//   fields   [1][a,b][x]  [2][c][y]   per row and wanted column: where it begins, how long
//   columns  1 2 | a,b c | x y             typed, one column after the other, 128 rows at a time
//
// Strings stay in the input block; only fields with doubled quotes or escapes are copied. A row
// with the expected marks and nothing else takes the short way; every other row is walked mark by
// mark. Columns that nobody asked for are not looked at, but a row with too few or too many of them
// is bad all the same. With a header line, columns are found by name: in any order, among others.
#pragma once

#include <string>
#include <vector>

#include "connectors/formats/csv_options.h"
#include "connectors/formats/csv_scan.h"
#include "connectors/formats/csv_values.h"
#include "connectors/formats/format.h"
#include "connectors/rejects.h"
#include "engine/operator.h"
#include "engine/schema.h"

namespace rowtide {

struct CsvDecoderSpec {
  Schema schema;             // all columns of a record
  std::vector<int> columns;  // which of them are wanted, in output order
  CsvOptions options;
  InputLimits limits;
  bool trusts_not_null = false;  // Flink lets NULL into NOT NULL columns
};

class CsvDecoder final : public Decoder, public RecordDecoder {
 public:
  // `rejects` outlives the decoder.
  static Result<std::unique_ptr<CsvDecoder>> Create(CsvDecoderSpec spec, Rejects* rejects);

  Status Begin(RecordPlace place, std::string_view header) override;
  std::string_view header() const override { return header_; }
  Result<size_t> Decode(const BlockPointer& block, size_t begin, size_t end, bool at_end) override;
  Status Decode(const Records& records, RecordCursor* at) override;
  int rows() const override { return rows_; }
  RowBatch Finish() override;
  const RecordPlace& place() const override { return place_; }

 private:
  static constexpr int kStepRows = 128;

  struct Cell {
    const char* begin;  // null: NULL
    uint32_t bytes;
  };
  // The step's fields of one wanted column, and the column so far.
  struct Wanted {
    int column;  // in the schema
    int place;   // in the record: another one where a header says so
    Type type;
    Layout layout;
    const char* begins[kStepRows];  // plain arrays: an index in a row loop is not checked
    uint32_t bytes[kStepRows];
    std::shared_ptr<Block> values;
    std::shared_ptr<Block> validity;
    CsvMillis millis;
    int64_t* odd_booleans = nullptr;  // BOOLEAN: how many were neither true nor false
  };
  enum class Walk : uint8_t { kRow, kSkipped, kIncomplete, kBad };
  // A bad row of a step; what it is for the user.
  struct Trouble {
    int row = kStepRows;
    int column = -1;
    RejectReason reason = RejectReason::kCast;
    std::string message;
    std::string hint = {};
  };

  CsvDecoder(CsvDecoderSpec spec, Rejects* rejects);

  void BeginBatch(const BlockPointer& block);
  void Scan(const BlockPointer& block, size_t begin, size_t end);
  void LookForHeader();
  Result<bool> TakeHeader();
  Status BadHeader(const std::string& why) const;
  Status UseHeader();
  // How many plain records follow, up to `rows`: a delimiter behind each field, \n behind the last
  // one, no other mark between.
  int FindPlainRows(int rows) const;
  bool TakePlainRecord(int row);  // false: not plain, nothing taken
  Walk WalkRecord(int row);
  Walk WalkCells(const char** at);
  Walk WalkCell(const char** at, bool* is_last);
  Walk WalkQuoted(const char** at, bool* is_last);
  Walk EndCell(const char* begin, const char* end, bool escaped, bool quoted, const char** at,
               bool* is_last);
  Walk EndQuoted(const char* begin, const char* close, bool escaped, const char** at,
                 bool* is_last);
  Walk CheckCells(int row, const char* end);
  Walk RejectRecord(const char* at, RejectReason reason, std::string message);
  const char* LineEnd(const char* at) const;  // or where the bytes at hand end
  Walk SkipLine(const char* at);
  bool IsDelimiter(const char* at) const;
  Cell Unescape(const char* begin, const char* end, bool quoted);
  char* Room(size_t bytes);
  bool HasNullText() const {
    return spec_.options.null_literal || spec_.options.empty_string_as_null;
  }
  void MarkNulls(Wanted& wanted, int rows) const;
  void DecodeColumn(Wanted& wanted, int rows, Trouble* trouble);
  template <typename T, typename Parse>
  void DecodeCells(Wanted& wanted, int rows, Trouble* trouble, Parse parse);
  template <typename T, typename Parse>
  void DecodePlainCells(Wanted& wanted, int first, int end, Trouble* trouble, Parse parse);
  template <typename Parse>
  void DecodePlainLongs(Wanted& wanted, int rows, Trouble* trouble, Parse parse);
  void DecodeTimestamps(Wanted& wanted, int rows, Trouble* trouble);
  void SetNull(Wanted& wanted, int row, Trouble* trouble);
  void BadCell(Wanted& wanted, int row, Trouble* trouble);
  void Drop(const Wanted& wanted, int row, Trouble* trouble, RejectReason reason,
            std::string message);
  Status DecodePlainStep(int rows);
  Status DecodeStep(int rows);
  // Of a row of the step.
  RecordPlace PlaceOf(int row) const;
  int64_t EndOf(int row) const;
  uint32_t PlainBegin(int row) const {  // an offset like the marks
    return plain_marks_[static_cast<ptrdiff_t>(row) * fields_ - 1] + 1;
  }
  void MoveTo(const char* next, int64_t lines);
  // Bad rows of the step, and records that were walked past, in the order of the file.
  Status HandOver();
  Reject RejectOf(const Trouble& trouble) const;
  std::string_view RecordOf(int row) const;
  Result<size_t> PassLongRecord(const BlockPointer& block, size_t begin, size_t end);
  Status TooLarge();
  bool SkipRest();

  CsvDecoderSpec spec_;
  CsvScanner scanner_;
  int fields_;                     // of a whole record
  bool has_plain_rows_;            // whether the short way exists under these options
  bool takes_plain_rows_ = false;  // … and in this block: no record in it can be too large
  std::vector<Wanted> wanted_;
  Rejects* rejects_;
  std::string header_;          // names of the file's columns, each with a zero byte behind it
  bool header_is_due_ = false;  // the next record is the header
  bool skips_line_ = false;     // the next bytes are the rest of a record that was too large

  // The block at hand. `text_` + a mark's offset is its place; `next_` is where the next record
  // begins.
  BlockPointer block_;
  CsvMarks marks_;
  size_t mark_ = 0;
  const char* text_ = nullptr;
  const char* next_ = nullptr;
  const char* end_ = nullptr;
  bool at_end_ = false;
  RecordPlace place_;

  // The batch so far.
  int rows_ = 0;
  int rows_max_ = kBatchRows;
  int64_t records_ = 0;  // messages so far
  int64_t first_record_ = 0;
  std::shared_ptr<Block> row_places_;
  std::vector<BlockPointer> blocks_;
  std::shared_ptr<Block> copies_;  // cells that had to be changed
  size_t copied_ = 0;
  std::vector<uint8_t> dropped_;  // rows left out under kSkip; empty = none

  // The step at hand: of plain rows alone, whose fields are where the marks say, or of rows whose
  // fields were walked to.
  const uint32_t* plain_marks_ = nullptr;  // null: it is not
  RecordPlace plain_place_;                // of its first row
  RecordPlace places_[kStepRows];
  int64_t ends_[kStepRows];  // bytes; comments may follow before the next row
  std::vector<Cell> record_;
  int cells_ = 0;  // of the record, kept in record_ or not
  int64_t record_lines_ = 0;
  RejectReason bad_reason_ = RejectReason::kUndecodable;
  const char* bad_end_ = nullptr;  // of the bad record, without its line end
  std::string bad_message_;
  std::vector<Trouble> troubles_;  // unless the first one ends the job
  std::vector<Reject> walked_past_;
  std::string scratch_;
};

}  // namespace rowtide
