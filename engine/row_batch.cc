#include "engine/row_batch.h"

#include <cstdlib>
#include <cstring>

#include "engine/status.h"

namespace rowtide {
namespace {

// Blocks are aligned to a cache line and padded by one, so vector loads may run past the end.
constexpr size_t kAlignment = 64;

size_t Padded(size_t bytes) { return (bytes + 2 * kAlignment - 1) / kAlignment * kAlignment; }

BlockPointer GatherValues(const Column& column, std::span<const int32_t> rows) {
  const size_t width = static_cast<size_t>(WidthOf(column.layout()));
  auto block = std::make_shared<Block>(width * rows.size());
  char* to = block->data();
  for (int32_t row : rows) {
    std::memcpy(to, column.data() + static_cast<size_t>(row) * width, width);
    to += width;
  }
  return block;
}

BlockPointer GatherValidity(const Column& column, std::span<const int32_t> rows) {
  if (!column.may_have_nulls()) return nullptr;
  auto block = std::make_shared<Block>((rows.size() + 7) / 8);
  std::memset(block->data(), 0, block->size());
  bool any_null = false;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (column.IsNull(rows[i])) {
      any_null = true;
    } else {
      block->data()[i >> 3] = static_cast<char>(block->data()[i >> 3] | (1 << (i & 7)));
    }
  }
  return any_null ? block : nullptr;
}

}  // namespace

Block::Block(size_t bytes)
    : data_(static_cast<char*>(std::aligned_alloc(kAlignment, Padded(bytes)))), bytes_(bytes) {
  RT_CHECK(data_ != nullptr);
}

Block::~Block() { std::free(data_); }

RowBatch Select(const RowBatch& batch, std::span<const int32_t> rows) {
  RowBatch out;
  out.rows = static_cast<int>(rows.size());
  out.blocks = batch.blocks;
  out.split = batch.split;
  out.first_record = batch.first_record;
  if (batch.kinds) {
    auto kinds = std::make_shared<Block>(rows.size());
    for (size_t i = 0; i < rows.size(); ++i) kinds->data()[i] = batch.kinds->data()[rows[i]];
    out.kinds = std::move(kinds);
  }
  out.columns.reserve(batch.columns.size());
  for (const Column& column : batch.columns) {
    out.columns.emplace_back(column.layout(), GatherValues(column, rows), GatherValidity(column, rows));
  }
  return out;
}

RowBatch Slice(const RowBatch& batch, int first, int rows) {
  std::vector<int32_t> numbers(static_cast<size_t>(rows));
  for (int i = 0; i < rows; ++i) numbers[static_cast<size_t>(i)] = first + i;
  RowBatch out = Select(batch, numbers);
  out.first_record = batch.first_record + first;
  return out;
}

}  // namespace rowtide
