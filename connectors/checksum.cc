#include "connectors/checksum.h"

#include <algorithm>

#include "connectors/checksum_hash.h"
#include "connectors/named_lines.h"
#include "connectors/script_encoder.h"

namespace rowtide {
namespace {

class ChecksumSink final : public Sink, private NamedRowsTaker {
 public:
  explicit ChecksumSink(const Schema& schema)
      : encoder_(schema), numbered_lines_(schema, true), whole_lines_(schema, false) {}

  Status Write(const RowBatch& batch) override {
    for (int first = 0; first < batch.rows; first += ScriptEncoder::kStepRows) {
      const int rows = std::min(ScriptEncoder::kStepRows, batch.rows - first);
      encoder_.Encode(batch, first, rows);
      for (int row = 0; row < rows; ++row) {
        state_.Add(static_cast<unsigned>(batch.kind(first + row)), encoder_.line(row));
      }
    }
    return Status::Ok();
  }

  NamedRowsTaker* named_rows() override { return this; }

  std::string Summary(std::span<const Sink* const> others) const override {
    ChecksumState all = state_;
    for (const Sink* other : others) all.Merge(static_cast<const ChecksumSink*>(other)->state_);
    return all.Text();
  }

 private:
  Status Take(const NamedRows& rows) override {
    NamedLines& lines = rows.numbers.empty() ? whole_lines_ : numbered_lines_;
    lines.ForEach(rows, [this](RowKind kind, std::string_view line) {
      state_.Add(static_cast<unsigned>(kind), line);
    });
    return Status::Ok();
  }

  ScriptEncoder encoder_;
  NamedLines numbered_lines_;
  NamedLines whole_lines_;
  ChecksumState state_;
};

}  // namespace

Result<std::unique_ptr<Sink>> CreateChecksumSink(const TableSpec& table,
                                                 const ConnectorContext& /*context*/) {
  return std::unique_ptr<Sink>(std::make_unique<ChecksumSink>(table.schema));
}

}  // namespace rowtide
