// One protobuf message as one row of a batch, walked in its wire format.
//
//   | tag: field 1, varint | 7 | tag: field 9, bytes | 3 | ... | tag: field 2, bytes | 3 | Ann |
//     -> column of field 1      passed over                      -> column of field 2
//
// As protobuf has it: the last of equal fields counts, a field of another wire type than its own is
// an unknown one, and of a oneof only the last is there. What is absent is NULL where absence can
// be told (optional, a oneof, proto2), else the default; with 'protobuf.read-default-values' always
// that. uint32 and uint64 become INT and BIGINT with the same bits, as in Java.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "connectors/formats/column_slots.h"
#include "connectors/formats/protobuf_schema.h"
#include "connectors/rejects.h"
#include "engine/batch_builder.h"

namespace rowtide {

struct ProtoRowsSpec {
  ProtoMessage message;
  std::vector<Field> columns;  // the wanted ones, in output order; each is a field of the message
  bool reads_defaults = false;
  bool trusts_not_null = false;  // Flink lets NULL into NOT NULL columns
};

class ProtoRows {
 public:
  explicit ProtoRows(ProtoRowsSpec spec);
  ProtoRows(const ProtoRows&) = delete;
  ProtoRows& operator=(const ProtoRows&) = delete;

  // The message was known when it was made (RowRecordDecoder).
  static Status Prepare(const Records& /*records*/) { return Status::Ok(); }
  void Begin();
  std::vector<Column> FinishColumns();
  std::vector<BlockPointer> FinishStrings() { return strings_.Finish(); }

  // Writes the row; false: trouble() says why the bytes are none. Strings stay where they are.
  // Requires: 64 readable bytes behind the message.
  bool Take(std::string_view bytes, int row);
  struct Trouble {
    RejectReason reason = RejectReason::kUndecodable;
    std::string column;
    std::string message;
  };
  const Trouble& trouble() const { return trouble_; }

 private:
  // What becomes of a field of the message.
  struct Step {
    const ProtoField* field = nullptr;
    int wanted = -1;       // column; -1: none
    uint32_t wire = 0;     // its wire type
    uint64_t seen_in = 0;  // number of the last record that had it
  };

  Step* StepOf(uint32_t number);
  const char* TakeField(Step* step, const char* at, const char* end, int row);
  void TakeNumber(Step* step, uint64_t bits, int row);
  void TakeEnum(Step* step, int32_t number, int row);
  void TakeText(Step* step, std::string_view text, int row);
  bool FinishRow(int row);
  bool FillAbsent(const Step& step, int row);
  void StoreInteger(int wanted, int64_t value, int row);
  void Refuse(const Step& step, RejectReason reason, std::string message);

  ProtoRowsSpec spec_;
  std::vector<Step> steps_;         // of all fields that matter, as in the message
  std::vector<int16_t> by_number_;  // of low numbers: place in steps_, or -1
  std::vector<const Step*> last_;   // of each oneof, in the record at hand
  std::vector<ColumnSlots> slots_;
  StringBlocks strings_;
  uint64_t record_ = 0;
  bool counts_ = false;  // the field at hand is none that is unknown
  bool is_refused_ = false;
  Trouble trouble_;
};

}  // namespace rowtide
