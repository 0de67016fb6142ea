#include "engine/runtime/batch_prefetch.h"

#include <algorithm>

namespace rowtide {

namespace {

void PrefetchBytes(const char* begin, size_t bytes) {
  constexpr size_t kLineBytes = 64;
  for (size_t at = 0; at < bytes; at += kLineBytes) __builtin_prefetch(begin + at, 0, 2);
}

}  // namespace

void Prefetch(const RowBatch& batch) {
  constexpr uint32_t kTextBytesMax = 1024;  // of each; the rest is long enough to be foreseen
  for (const Column& column : batch.columns) {
    const auto width = static_cast<size_t>(WidthOf(column.layout()));
    PrefetchBytes(column.data(), width * static_cast<size_t>(batch.rows));
    if (column.layout() != Layout::kBytes) continue;
    const auto* const texts = column.values<StringView>();
    for (int row = 0; row < batch.rows; ++row) {
      if (!texts[row].is_inline())
        PrefetchBytes(texts[row].data(), std::min(texts[row].size(), kTextBytesMax));
    }
  }
}

}  // namespace rowtide
