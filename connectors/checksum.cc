#include "connectors/checksum.h"

#include "connectors/checksum_hash.h"
#include "connectors/script_encoder.h"

namespace rowtide {
namespace {

class ChecksumSink final : public Sink {
 public:
  explicit ChecksumSink(Schema schema) : encoder_(std::move(schema)) {}

  Status Write(const RowBatch& batch) override {
    encoder_.Begin(batch);
    for (int row = 0; row < batch.rows; ++row) {
      state_.Add(static_cast<unsigned>(batch.kind(row)), encoder_.Line(row));
    }
    return Status::Ok();
  }

  std::string Summary() const override { return state_.Text(); }

 private:
  ScriptEncoder encoder_;
  ChecksumState state_;
};

}  // namespace

Result<std::unique_ptr<Sink>> CreateChecksumSink(const TableSpec& table, const ConnectorContext& /*context*/) {
  return std::unique_ptr<Sink>(std::make_unique<ChecksumSink>(table.schema));
}

}  // namespace rowtide
