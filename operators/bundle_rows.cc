#include "operators/bundle_rows.h"

#include <cstring>

namespace rowtide {

void GatherRows(const Bundle& bundle, const RowCodec& codec, int first, int keys, BundleRows* out) {
  std::vector<Bundle::Row> rows;
  out->units.clear();
  out->last_rows.clear();
  size_t bytes = 0;
  for (int unit = 0; unit < keys; ++unit) {
    Bundle::Row row = bundle.First(static_cast<uint32_t>(first + unit));
    while (true) {
      rows.push_back(row);
      out->units.push_back(unit);
      bytes += row.bytes.size();
      if (row.next == Bundle::kNone) break;
      row = bundle.At(row.next);
    }
    out->last_rows.push_back(static_cast<int32_t>(rows.size()) - 1);
  }
  auto block = std::make_shared<Block>(bytes);
  auto kinds = std::make_shared<Block>(rows.size());
  std::vector<const char*> pointers;
  pointers.reserve(rows.size());
  char* to = block->data();
  for (size_t i = 0; i < rows.size(); ++i) {
    std::memcpy(to, rows[i].bytes.data(), rows[i].bytes.size());
    pointers.push_back(to);
    to += rows[i].bytes.size();
    kinds->data()[i] = static_cast<char>(rows[i].kind);
  }
  out->batch = RowBatch();
  out->batch.rows = static_cast<int>(rows.size());
  out->batch.kinds = std::move(kinds);
  for (int i = 0; i < codec.columns(); ++i)
    out->batch.columns.push_back(codec.GatherColumn(pointers, i));
  out->batch.blocks.push_back(std::move(block));
}

}  // namespace rowtide
