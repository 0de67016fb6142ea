#include "operators/output_rows.h"

#include <algorithm>
#include <cstring>

namespace rowtide {
namespace {
constexpr size_t kCopyBlockBytes = size_t{64} << 10;
constexpr size_t kFirstCopyBlockBytes = size_t{1} << 10;
}  // namespace

void OutputRows::MakeRoom(size_t bytes) {
  const size_t wanted = copies_.empty() ? kFirstCopyBlockBytes : kCopyBlockBytes;
  auto block = std::make_shared<Block>(std::max(wanted, bytes));
  next_ = block->data();
  left_ = block->size();
  copies_.push_back(std::move(block));
}

Status OutputRows::FlushTo(Collector& out) {
  const size_t rows = rows_.size();
  for (size_t first = 0; first < rows; first += kBatchRows) {
    RT_TRY(out.Emit(BatchOf(first, std::min<size_t>(kBatchRows, rows - first))));
  }
  rows_.clear();
  kinds_.clear();
  numbers_.clear();
  kept_.clear();
  copies_.clear();
  next_ = nullptr;
  left_ = 0;
  return Status::Ok();
}

RowBatch OutputRows::BatchOf(size_t first, size_t rows) const {
  RowBatch batch;
  batch.rows = static_cast<int>(rows);
  const auto kinds = kinds_.begin() + static_cast<ptrdiff_t>(first);
  if (std::any_of(kinds, kinds + static_cast<ptrdiff_t>(rows),
                  [](char kind) { return kind != 0; })) {
    auto block = std::make_shared<Block>(rows);
    std::memcpy(block->data(), &*kinds, rows);
    batch.kinds = std::move(block);
  }
  const std::span<const char* const> pointers(rows_.data() + first, rows);
  batch.columns.reserve(static_cast<size_t>(codec_->columns()) + 1);
  codec_->GatherColumns(pointers, &batch.columns);
  if (numbered_) {
    auto block = std::make_shared<Block>(rows * sizeof(int64_t));
    std::memcpy(block->data(), numbers_.data() + first, rows * sizeof(int64_t));
    batch.columns.emplace_back(Layout::kInt64, std::move(block), nullptr);
  }
  batch.blocks = kept_;
  batch.blocks.insert(batch.blocks.end(), copies_.begin(), copies_.end());
  return batch;
}

Status EmitSelected(const RowBatch& batch, const std::vector<int32_t>& rows,
                    const std::vector<char>* kinds, Collector& out) {
  if (rows.empty()) return Status::Ok();
  RowBatch selected = static_cast<int>(rows.size()) == batch.rows ? batch : Select(batch, rows);
  selected.kinds = nullptr;
  if (kinds != nullptr) {
    auto block = std::make_shared<Block>(kinds->size());
    std::memcpy(block->data(), kinds->data(), kinds->size());
    selected.kinds = std::move(block);
  }
  return out.Emit(std::move(selected));
}

}  // namespace rowtide
