#include "operators/output_rows.h"

#include <algorithm>
#include <cstring>

#include "engine/named_rows.h"

namespace rowtide {
namespace {
constexpr size_t kCopyBlockBytes = size_t{64} << 10;
constexpr size_t kFirstCopyBlockBytes = size_t{1} << 10;
constexpr size_t kFirstRows = 64;
}  // namespace

void OutputRows::Grow() {
  const size_t rows = std::max(kFirstRows, 2 * kinds_.size());
  stored_.resize(rows);
  picks_.resize(rows);
  kinds_.resize(rows);
  names_.resize(rows);
  if (numbered_) numbers_.resize(rows);
}

OutputRows::Places OutputRows::Offer(size_t rows) {
  while (kinds_.size() < rows_ + rows) Grow();
  return {stored_.data() + rows_, picks_.data() + rows_,
          reinterpret_cast<RowKind*>(kinds_.data() + rows_), names_.data() + rows_};
}

void OutputRows::MakeRoom(size_t bytes) {
  const size_t wanted = copies_.empty() ? kFirstCopyBlockBytes : kCopyBlockBytes;
  auto block = std::make_shared<Block>(std::max(wanted, bytes));
  next_ = block->data();
  left_ = block->size();
  copies_.push_back(std::move(block));
}

Status OutputRows::FlushTo(Collector& out) {
  for (size_t first = 0; first < rows_; first += kBatchRows) {
    RT_TRY(out.Emit(BatchOf(first, std::min<size_t>(kBatchRows, rows_ - first))));
  }
  Clear();
  return Status::Ok();
}

void OutputRows::Clear() {
  rows_ = 0;
  has_input_ = false;
  kept_.clear();
  copies_.clear();
  next_ = nullptr;
  left_ = 0;
}

class OutputRows::Named final : public NamedRows {
 public:
  explicit Named(const OutputRows& output) : output_(output) {
    names = {output.names_.data(), output.rows_};
    kinds = {reinterpret_cast<const RowKind*>(output.kinds_.data()), output.rows_};
    if (output.numbered_) numbers = {output.numbers_.data(), output.rows_};
  }
  RowBatch Values(std::span<const int32_t> rows) const override {
    std::vector<const char*> stored(rows.size());
    for (size_t i = 0; i < rows.size(); ++i)
      stored.data()[i] = output_.stored_.data()[static_cast<size_t>(rows[i])];
    RowBatch batch;
    batch.rows = static_cast<int>(rows.size());
    if (!output_.has_input_) {
      output_.codec_->GatherColumns(stored, &batch.columns);
      return batch;
    }
    std::vector<int32_t> picks(rows.size());
    for (size_t i = 0; i < rows.size(); ++i)
      picks.data()[i] = output_.picks_.data()[static_cast<size_t>(rows[i])];
    output_.MixColumns(picks, stored, &batch.columns);
    return batch;
  }

 private:
  const OutputRows& output_;
};

Status OutputRows::FlushNamed(NamedRowsTaker& taker) {
  if (rows_ == 0) return Status::Ok();
  RT_TRY(taker.Take(Named(*this)));
  Clear();
  return Status::Ok();
}

RowBatch OutputRows::BatchOf(size_t first, size_t rows) {
  RowBatch batch;
  batch.rows = static_cast<int>(rows);
  const auto kinds = kinds_.begin() + static_cast<ptrdiff_t>(first);
  if (std::any_of(kinds, kinds + static_cast<ptrdiff_t>(rows),
                  [](char kind) { return kind != 0; })) {
    auto block = std::make_shared<Block>(rows);
    std::memcpy(block->data(), &*kinds, rows);
    batch.kinds = std::move(block);
  }
  batch.columns.reserve(static_cast<size_t>(codec_->columns()) + 1);
  if (!has_input_) {
    codec_->GatherColumns({stored_.data() + first, rows}, &batch.columns);
  } else {
    MixColumns({picks_.data() + first, rows}, {stored_.data() + first, rows}, &batch.columns);
  }
  if (numbered_) {
    auto block = std::make_shared<Block>(rows * sizeof(int64_t));
    std::memcpy(block->data(), numbers_.data() + first, rows * sizeof(int64_t));
    batch.columns.emplace_back(Layout::kInt64, std::move(block), nullptr);
  }
  batch.blocks = kept_;
  batch.blocks.insert(batch.blocks.end(), copies_.begin(), copies_.end());
  if (has_input_)
    batch.blocks.insert(batch.blocks.end(), input_->blocks.begin(), input_->blocks.end());
  return batch;
}

namespace {

bool AreAll(std::span<const int32_t> picks, int rows) {
  if (picks.size() != static_cast<size_t>(rows)) return false;
  int32_t differs = 0;
  for (int32_t row = 0; row < rows; ++row) differs |= picks[static_cast<size_t>(row)] ^ row;
  return differs == 0;
}

template <typename T>
void Pick(const Column& column, std::span<const int32_t> picks, char* to) {
  const T* const from = column.values<T>();
  T* out = reinterpret_cast<T*>(to);
  for (const int32_t pick : picks) *out++ = from[pick];
}

void PickValues(const Column& column, std::span<const int32_t> picks, char* to) {
  switch (WidthOf(column.layout())) {
    case 1: return Pick<uint8_t>(column, picks, to);
    case 2: return Pick<uint16_t>(column, picks, to);
    case 4: return Pick<uint32_t>(column, picks, to);
    case 8: return Pick<uint64_t>(column, picks, to);
    default: return Pick<StringView>(column, picks, to);  // sixteen bytes of any kind
  }
}

}  // namespace

// Rows of the input, picked column by column; then the others, put in their places.
void OutputRows::MixColumns(std::span<const int32_t> picks, std::span<const char* const> stored,
                            std::vector<Column>* columns) const {
  const size_t rows = picks.size();
  placed_.resize(kBatchRows);
  RT_DCHECK(rows <= placed_.size());
  RowCodec::PlacedRow* const all_placed = placed_.data();
  size_t placed_rows = 0;
  for (size_t i = 0; i < rows; ++i) {
    all_placed[placed_rows] = {static_cast<int32_t>(i), stored.data()[i]};
    placed_rows += stored.data()[i] != nullptr;
  }
  if (placed_rows == 0 && AreAll(picks, input_->rows)) {  // in their order
    *columns = input_->columns;
    return;
  }
  const std::span<const RowCodec::PlacedRow> placed(all_placed, placed_rows);
  for (int i = 0; i < codec_->columns(); ++i) {
    const Column& column = input_->columns[static_cast<size_t>(i)];
    auto values = std::make_shared<Block>(rows * static_cast<size_t>(WidthOf(codec_->layout(i))));
    PickValues(column, picks, values->data());
    codec_->PutInto(placed, i, values->data());
    columns->emplace_back(codec_->layout(i), std::move(values), MixValidity(i, picks, placed));
  }
}

BlockPointer OutputRows::MixValidity(int column, std::span<const int32_t> picks,
                                     std::span<const RowCodec::PlacedRow> placed) const {
  const size_t rows = picks.size();
  const Column& input = input_->columns[static_cast<size_t>(column)];
  const bool any = input.may_have_nulls() ||
                   std::any_of(placed.begin(), placed.end(),
                               [&](const auto& row) { return codec_->IsNull(row.bytes, column); });
  if (!any) return nullptr;
  auto validity = std::make_shared<Block>((rows + 7) / 8);
  std::memset(validity->data(), 0, validity->size());
  const auto set = [&](size_t row, bool is_valid) {
    char& byte = validity->data()[row >> 3];
    const int bit = 1 << (row & 7);
    byte = static_cast<char>(is_valid ? byte | bit : byte & ~bit);
  };
  for (size_t i = 0; i < rows; ++i) set(i, !input.IsNull(picks[i]));
  for (const RowCodec::PlacedRow& row : placed)
    set(static_cast<size_t>(row.place), !codec_->IsNull(row.bytes, column));
  return validity;
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
