#include "connectors/formats/record_encoder.h"

namespace rowtide {
namespace {

class LineRecords final : public RecordEncoder {
 public:
  explicit LineRecords(std::unique_ptr<Encoder> encoder) : encoder_(std::move(encoder)) {}

  Status Encode(const RowBatch& batch, EncodedRecords* out) override {
    ends_.clear();
    size_t begin = out->bytes.size();
    RT_TRY(encoder_->Encode(batch, &out->bytes, &ends_));
    for (const size_t end : ends_) {
      out->records.push_back({begin, end - 1, false});
      begin = end;
    }
    return Status::Ok();
  }

 private:
  std::unique_ptr<Encoder> encoder_;
  std::vector<size_t> ends_;
};

}  // namespace

std::unique_ptr<RecordEncoder> RecordsOfLines(std::unique_ptr<Encoder> encoder) {
  return std::make_unique<LineRecords>(std::move(encoder));
}

}  // namespace rowtide
