#include "operators/group_output.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace rowtide {
namespace {

template <typename T>
Column WithoutMinusZero(const Column& column, int rows) {
  const T* values = column.values<T>();
  const bool any =
      std::any_of(values, values + rows, [](T value) { return value == 0 && std::signbit(value); });
  if (!any) return column;
  auto block = std::make_shared<Block>(static_cast<size_t>(rows) * sizeof(T));
  T* to = reinterpret_cast<T*>(block->data());
  for (int row = 0; row < rows; ++row) to[row] = values[row] == 0 ? 0 : values[row];
  return Column(column.layout(), std::move(block), column.validity_block());
}

Column Canonical(const Column& column, int rows) {
  if (column.layout() == Layout::kDouble) return WithoutMinusZero<double>(column, rows);
  if (column.layout() == Layout::kFloat) return WithoutMinusZero<float>(column, rows);
  return column;
}

struct Width16 {
  uint64_t words[2];
};

}  // namespace

Column GatherResults(const ResultColumn& before, const ResultColumn& after, const int32_t* results,
                     size_t rows) {
  auto values = std::make_shared<Block>(rows * static_cast<size_t>(before.width()));
  std::shared_ptr<Block> validity;
  char* to = values->data();
  const auto copy = [&](auto sample) {
    using T = decltype(sample);
    const char* const from[] = {before.at(0), after.at(0)};
    for (size_t i = 0; i < rows; ++i) {
      const auto at = static_cast<size_t>(results[i] >> 1) * sizeof(T);
      std::memcpy(to + i * sizeof(T), from[results[i] & 1] + at, sizeof(T));
    }
  };
  switch (before.width()) {
    case 1: copy(uint8_t{}); break;
    case 2: copy(uint16_t{}); break;
    case 4: copy(uint32_t{}); break;
    case 8: copy(uint64_t{}); break;
    default: copy(Width16{}); break;
  }
  const bool may_have_nulls = before.may_have_nulls() || after.may_have_nulls();
  for (size_t i = 0; may_have_nulls && i < rows; ++i) {
    const ResultColumn& column = (results[i] & 1) != 0 ? after : before;
    if (!column.IsNull(results[i] >> 1)) continue;
    if (!validity) {
      validity = std::make_shared<Block>((rows + 7) / 8);
      std::memset(validity->data(), 0xff, validity->size());
    }
    validity->data()[i >> 3] = static_cast<char>(validity->data()[i >> 3] & ~(1 << (i & 7)));
  }
  return Column(before.layout(), std::move(values), std::move(validity));
}

RowBatch GroupOutput::BatchOf(const RowBatch& keys, const GroupCalls& calls,
                              const std::vector<BlockPointer>& blocks, size_t first,
                              size_t rows) const {
  RowBatch from;
  from.rows = keys.rows;
  from.blocks = keys.blocks;
  from.split = keys.split;
  from.first_record = keys.first_record;
  for (int column : group_) from.columns.push_back(keys.columns[static_cast<size_t>(column)]);
  RowBatch batch = Select(from, {key_rows_.data() + first, rows});
  batch.kinds = nullptr;
  const char* kinds = kinds_.data() + first;
  if (std::any_of(kinds, kinds + rows,
                  [](char kind) { return kind != static_cast<char>(RowKind::kInsert); })) {
    auto block = std::make_shared<Block>(rows);
    std::memcpy(block->data(), kinds, rows);
    batch.kinds = std::move(block);
  }
  if (!separate_zeros_) {
    for (Column& column : batch.columns) column = Canonical(column, batch.rows);
  }
  for (int i = 0; i < calls.size(); ++i) {
    batch.columns.push_back(
        GatherResults(calls.before(i), calls.after(i), results_.data() + first, rows));
  }
  batch.blocks.insert(batch.blocks.end(), blocks.begin(), blocks.end());
  return batch;
}

Status GroupOutput::FlushTo(const RowBatch& keys, const GroupCalls& calls, StringBlocks* strings,
                            Collector& out) {
  const std::vector<BlockPointer> blocks = strings->Finish();
  Status status;
  for (size_t first = 0; first < rows_ && status.ok(); first += kBatchRows) {
    const size_t rows = std::min(static_cast<size_t>(kBatchRows), rows_ - first);
    status = out.Emit(BatchOf(keys, calls, blocks, first, rows));
  }
  rows_ = 0;
  return status;
}

}  // namespace rowtide
