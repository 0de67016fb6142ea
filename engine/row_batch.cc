#include "engine/row_batch.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "engine/status.h"

namespace rowtide {
namespace {

// Blocks are aligned to a cache line and padded by one, so vector loads may run past the end.
constexpr size_t kAlignment = 64;

constexpr size_t kFreeBytesMax = size_t{16} << 20;
std::atomic<size_t> free_bytes_max = kFreeBytesMax;

// Set when a thread ends: blocks that die later are freed at once.
thread_local bool shelf_is_gone = false;

// Freed blocks of up to 1 MiB wait for the next one of their size: a batch needs a dozen, and the
// allocator would give their pages back to the system and fetch them again. Sizes are powers of
// two; one shelf a thread, bounded.
class BlockShelf {
 public:
  BlockShelf() = default;
  BlockShelf(const BlockShelf&) = delete;
  BlockShelf& operator=(const BlockShelf&) = delete;
  ~BlockShelf() {
    shelf_is_gone = true;
    for (Free*& list : lists_) {
      while (list != nullptr) std::free(std::exchange(list, list->next));
    }
  }

  static int ClassOf(size_t bytes) {
    const size_t padded = std::max(bytes + kAlignment, kSmallest);
    return std::bit_width(padded - 1) - kSmallestBits;
  }
  char* Take(int size_class) {
    if (size_class < kClasses && lists_[size_class] != nullptr) {
      kept_bytes_ -= BytesOf(size_class);
      return reinterpret_cast<char*>(std::exchange(lists_[size_class], lists_[size_class]->next));
    }
    return static_cast<char*>(std::aligned_alloc(kAlignment, BytesOf(size_class)));
  }
  void Give(char* data, int size_class) {
    if (shelf_is_gone || size_class >= kClasses ||
        kept_bytes_ + BytesOf(size_class) > free_bytes_max.load(std::memory_order_relaxed))
      return std::free(data);
    kept_bytes_ += BytesOf(size_class);
    lists_[size_class] = new (data) Free{lists_[size_class]};
  }

 private:
  struct Free {
    Free* next;
  };
  static constexpr int kSmallestBits = 8;
  static constexpr size_t kSmallest = size_t{1} << kSmallestBits;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  static constexpr int kClasses = 0;  // a block that is used after its end has to be seen
#else
  static constexpr int kClasses = 13;
#endif
  static size_t BytesOf(int size_class) { return kSmallest << size_class; }

  Free* lists_[kClasses + 1] = {};
  size_t kept_bytes_ = 0;
};

thread_local BlockShelf shelf;

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

BlockPointer GatherPlaces(const RowBatch& batch, std::span<const int32_t> rows) {
  if (!batch.places) return nullptr;
  auto block = std::make_shared<Block>(rows.size() * sizeof(RowPlace));
  char* to = block->data();
  for (const int32_t row : rows) {
    std::memcpy(to, batch.place_of(row), sizeof(RowPlace));
    to += sizeof(RowPlace);
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

void LimitFreeBlocks(size_t bytes) { free_bytes_max = std::min(bytes, kFreeBytesMax); }

Block::Block(size_t bytes) : data_(shelf.Take(BlockShelf::ClassOf(bytes))), bytes_(bytes) {
  RT_CHECK(data_ != nullptr);
}

Block::~Block() { shelf.Give(data_, BlockShelf::ClassOf(bytes_)); }

RowBatch Select(const RowBatch& batch, std::span<const int32_t> rows) {
  RowBatch out;
  out.rows = static_cast<int>(rows.size());
  out.blocks = batch.blocks;
  out.split = batch.split;
  out.first_record = batch.first_record;
  out.places = GatherPlaces(batch, rows);
  out.file = batch.file;
  if (batch.kinds) {
    auto kinds = std::make_shared<Block>(rows.size());
    for (size_t i = 0; i < rows.size(); ++i) kinds->data()[i] = batch.kinds->data()[rows[i]];
    out.kinds = std::move(kinds);
  }
  out.columns.reserve(batch.columns.size());
  for (const Column& column : batch.columns) {
    out.columns.emplace_back(column.layout(), GatherValues(column, rows),
                             GatherValidity(column, rows));
  }
  return out;
}

std::string PlaceText(const RowBatch& batch, int row) {
  const RowPlace* const place = batch.place_of(row);
  if (place == nullptr) return "";
  const std::string_view name(batch.file->data(), batch.file->size());
  if (place->line < 0) return fmt::format("{}, offset {}: ", name, place->byte);
  if (place->line == 0) return fmt::format("file {}, byte {}: ", name, place->byte);
  return fmt::format("file {}, line {}, byte {}: ", name, place->line, place->byte);
}

RowBatch Slice(const RowBatch& batch, int first, int rows) {
  std::vector<int32_t> numbers(static_cast<size_t>(rows));
  for (int i = 0; i < rows; ++i) numbers[static_cast<size_t>(i)] = first + i;
  RowBatch out = Select(batch, numbers);
  out.first_record = batch.first_record + first;
  return out;
}

}  // namespace rowtide
