#include "connectors/collect.h"

#include "engine/value_text.h"

namespace rowtide {
namespace {

class CollectSink final : public Sink {
 public:
  CollectSink(Schema schema, std::vector<CollectedRow>* rows)
      : schema_(std::move(schema)), rows_(rows) {}

  Status Write(const RowBatch& batch) override {
    for (int row = 0; row < batch.rows; ++row) {
      std::string text;
      AppendScriptRow(batch, row, schema_, &text);
      rows_->push_back({batch.kind(row), text.substr(text.find('['))});
    }
    return Status::Ok();
  }

 private:
  Schema schema_;
  std::vector<CollectedRow>* rows_;
};

}  // namespace

Result<std::unique_ptr<Sink>> CreateCollectSink(const TableSpec& table,
                                                const ConnectorContext& context) {
  if (context.collected == nullptr) {
    return Status::InvalidArgument(
        "table {} has the connector 'collect', which only scripts can read", table.name);
  }
  return std::unique_ptr<Sink>(
      std::make_unique<CollectSink>(table.schema, &context.collected->of(table.name)));
}

}  // namespace rowtide
