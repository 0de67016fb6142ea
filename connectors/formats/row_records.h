// Messages that are one row each, of a binary format: what Avro and protobuf have in common.
//
//   Prepare(records)        what must be known before any of them is read; may wait for others
//   Take(bytes, row)        the row's slots; false: trouble() says why it is none
//
// A message without a value says nothing and becomes no row, as in Flink. A rejected one fails the
// job or is left out, by the policy of its table; under 'ignore-parse-errors' always the latter.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "connectors/rejects.h"

namespace rowtide {

template <typename Reader>
class RowRecordDecoder final : public RecordDecoder {
 public:
  RowRecordDecoder(std::unique_ptr<Reader> reader, InputLimits limits, bool is_quiet,
                   Rejects* rejects)
      : reader_(std::move(reader)), limits_(limits), is_quiet_(is_quiet), rejects_(rejects) {}

  Status Decode(const Records& records, RecordCursor* at) override {
    BeginBatch(records.block);
    RT_TRY(reader_->Prepare(records));
    const auto count = static_cast<int32_t>(records.bytes.size());
    for (; rows_ < kBatchRows && at->record < count; ++at->record, at->rows = 0) {
      const RecordBytes& one = records.bytes[static_cast<size_t>(at->record)];
      if (at->rows > 0 || one.kind == RecordBytes::Kind::kPassedOver) continue;
      if (one.kind == RecordBytes::Kind::kNull) {
        rejects_->CountEmpty();
        continue;
      }
      const std::string_view bytes(records.block->data() + one.begin, one.bytes);
      const bool is_too_large = static_cast<int64_t>(bytes.size()) > limits_.record_bytes;
      if (!is_too_large && reader_->Take(bytes, rows_)) [[likely]] {
        const RecordPlace place = PlaceOfRecord(records, at->record);
        reinterpret_cast<RowPlace*>(row_places_->data())[rows_++] = {place.line, place.byte};
      } else {
        RT_TRY(Refuse(is_too_large, PlaceOfRecord(records, at->record), bytes));
      }
      rejects_->CountRead(1);
    }
    return Status::Ok();
  }

  int rows() const override { return rows_; }

  RowBatch Finish() override {
    RowBatch batch;
    batch.rows = std::exchange(rows_, 0);
    batch.places = std::move(row_places_);
    batch.columns = reader_->FinishColumns();
    batch.blocks = std::move(blocks_);
    blocks_.clear();
    for (BlockPointer& block : reader_->FinishStrings()) batch.blocks.push_back(std::move(block));
    return batch;
  }

 private:
  void BeginBatch(const BlockPointer& block) {
    if (rows_ == 0) blocks_.clear();  // no row points into what was read so far
    if (row_places_ == nullptr) {
      row_places_ = std::make_shared<Block>(kBatchRows * sizeof(RowPlace));
      reader_->Begin();
    }
    if (blocks_.empty() || blocks_.back() != block) blocks_.push_back(block);
  }

  Status Refuse(bool is_too_large, const RecordPlace& place, std::string_view bytes) {
    Reject reject{RejectReason::kTooLarge, place, "", TooLargeText(limits_), "", bytes};
    if (!is_too_large) {
      reject.reason = reader_->trouble().reason;
      reject.column = reader_->trouble().column;
      reject.message = reader_->trouble().message;
    }
    return is_quiet_ ? rejects_->TakeQuietly(reject) : rejects_->Take(reject);
  }

  std::unique_ptr<Reader> reader_;
  InputLimits limits_;
  bool is_quiet_;
  Rejects* rejects_;

  // The batch so far.
  int rows_ = 0;
  std::shared_ptr<Block> row_places_;
  std::vector<BlockPointer> blocks_;
};

}  // namespace rowtide
