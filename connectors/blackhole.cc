#include "connectors/blackhole.h"

namespace rowtide {
namespace {

class BlackholeSink final : public Sink {
 public:
  Status Write(const RowBatch& /*batch*/) override { return Status::Ok(); }
};

}  // namespace

Result<std::unique_ptr<Sink>> CreateBlackholeSink(const TableSpec& /*table*/,
                                                  const ConnectorContext& /*context*/) {
  return std::unique_ptr<Sink>(std::make_unique<BlackholeSink>());
}

}  // namespace rowtide
