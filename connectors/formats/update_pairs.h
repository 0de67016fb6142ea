// With SET 'rowtide.encode.update-pairs' = 'true', the two halves of an update are one message of
// debezium-json; Flink's has two, each of which stands alone.
//
//   -U 7 a   {"before":{"id":7,"n":"a"},"after":null,"op":"d"}
//   +U 7 b   {"before":null,"after":{"id":7,"n":"b"},"op":"c"}
//            {"before":{"id":7,"n":"a"},"after":{"id":7,"n":"b"},"op":"u"}
//
// Halves that stand next to each other are one update, if the table's primary key is the same in
// both; a half without the other stays what it is.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "connectors/formats/format.h"
#include "connectors/registry.h"
#include "engine/value.h"

namespace rowtide {

bool JoinsUpdates(const TableSpec& format, const ConnectorContext& context);

// Requires: both are records of connectors/formats/json_encoder.h, without line ends.
std::string JoinUpdate(std::string_view before, std::string_view after);

// Whose row it is: the values of the table's primary key, none where it has none.
class RowKey {
 public:
  explicit RowKey(const TableSpec& table);
  std::vector<Value> Of(const RowBatch& batch, int row) const;

 private:
  Schema schema_;
  std::vector<int> columns_;
};

// Lines of an encoder with updates joined: a -U is held back until the next row or Finish.
std::unique_ptr<Encoder> WithJoinedUpdates(std::unique_ptr<Encoder> encoder, RowKey key);

}  // namespace rowtide
