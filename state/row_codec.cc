#include "state/row_codec.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>

#include "state/copy_bytes.h"
#include "state/float_order.h"
#include "state/value_bytes.h"

namespace rowtide {
namespace {

uint32_t RowWidth(Layout layout) {
  if (layout == Layout::kBytes) return 0;
  return layout == Layout::kWideTime ? 12 : static_cast<uint32_t>(WidthOf(layout));
}

bool IsFloat(Layout layout) { return layout == Layout::kFloat || layout == Layout::kDouble; }

void SetNull(char* row, size_t column) {
  row[column >> 3] = static_cast<char>(row[column >> 3] | (1 << (column & 7)));
}

template <size_t kWidth>
void ScatterColumn(const Column& column, int rows, size_t stride_in, const uint32_t* begins,
                   char* to) {
  const char* from = column.data();
  for (int row = 0; row < rows; ++row, from += stride_in)
    std::memcpy(to + begins[row], from, kWidth);
}

}  // namespace

RowCodec::RowCodec(const Schema& schema) {
  null_bytes_ = static_cast<uint32_t>((schema.size() + 7) / 8);
  uint32_t offset = null_bytes_;
  uint32_t strings = 0;
  for (int i = 0; i < schema.size(); ++i) {
    const Type& type = schema.type(i);
    const Layout layout = LayoutOf(type);
    const uint32_t width = RowWidth(layout);
    fields_.push_back({layout, width, offset, strings, type.is_proctime()});
    types_.push_back(type);
    offset += width;
    if (width == 0) {
      string_columns_.push_back(i);
      ++strings;
    }
    if (IsFloat(layout) || type.is_proctime()) exact_ = false;
  }
  ends_offset_ = offset;
  strings_offset_ = offset + 4 * strings;
  for (const int column : string_columns_) {
    Field& field = fields_[static_cast<size_t>(column)];
    field.offset = ends_offset_ + 4 * field.string;
  }
}

Status RowCodec::EncodeAll(const RowBatch& batch, EncodedRows* rows) const {
  const size_t count = static_cast<size_t>(batch.rows);
  rows->begins_.resize(count + 1);
  uint32_t* begins = rows->begins_.data();
  uint64_t at = 0;
  for (size_t row = 0; row < count; ++row) {
    begins[row] = static_cast<uint32_t>(at);
    uint64_t size = strings_offset_;
    for (const int column : string_columns_) {
      size += batch.columns[static_cast<size_t>(column)].values<StringView>()[row].size();
    }
    RT_TRY(CheckRowSize(size));
    at += size;
    if (at > 0xffffff00u) return Status::DataError("the rows of one batch have more than 4 GiB");
  }
  begins[count] = static_cast<uint32_t>(at);
  auto block = std::make_shared<Block>(at + 64);
  char* const to = block->data();
  rows->block_ = std::move(block);
  rows->data_ = to;

  // Strings row by row, with copies that may run over into what is written later; then the fixed
  // parts by column.
  WriteStrings(batch, begins, to);
  for (size_t row = 0; row < count; ++row) std::memset(to + begins[row], 0, null_bytes_);
  for (size_t i = 0; i < fields_.size(); ++i) {
    const Field& field = fields_[i];
    const Column& column = batch.columns[i];
    switch (field.width) {
      case 0: break;
      case 1: ScatterColumn<1>(column, batch.rows, 1, begins, to + field.offset); break;
      case 2: ScatterColumn<2>(column, batch.rows, 2, begins, to + field.offset); break;
      case 4: ScatterColumn<4>(column, batch.rows, 4, begins, to + field.offset); break;
      case 8: ScatterColumn<8>(column, batch.rows, 8, begins, to + field.offset); break;
      case 12: ScatterColumn<12>(column, batch.rows, 16, begins, to + field.offset); break;
      default: ScatterColumn<16>(column, batch.rows, 16, begins, to + field.offset); break;
    }
    if (!column.may_have_nulls()) continue;
    for (int row = 0; row < batch.rows; ++row) {
      if (column.IsNull(row)) SetNull(to + begins[row], i);
    }
  }
  return Status::Ok();
}

void RowCodec::WriteStrings(const RowBatch& batch, const uint32_t* begins, char* to) const {
  if (string_columns_.empty()) return;
  std::vector<const StringView*> values;
  values.reserve(string_columns_.size());
  for (const int column : string_columns_) {
    values.push_back(batch.columns[static_cast<size_t>(column)].values<StringView>());
  }
  const size_t strings = values.size();
  for (int row = 0; row < batch.rows; ++row) {
    char* const begin = to + begins[row];
    char* const ends = begin + ends_offset_;
    char* at = begin + strings_offset_;
    char* const first = at;
    for (size_t i = 0; i < strings; ++i) {
      const StringView& value = values[i][row];
      const uint32_t size = value.size();
      if (value.is_inline()) {
        std::memcpy(at, value.data(), StringView::kInlineBytes);
      } else {
        CopyLong(value.data(), size, at);
      }
      at += size;
      const uint32_t end = static_cast<uint32_t>(at - first);
      std::memcpy(ends + 4 * i, &end, 4);
    }
  }
}

void RowCodec::AppendTo(const char* row, BatchBuilder* builder, int first_column) const {
  uint32_t begin = 0;
  for (size_t i = 0; i < fields_.size(); ++i) {
    const Field& field = fields_[i];
    ColumnBuilder& column = builder->column(first_column + static_cast<int>(i));
    const bool is_null = (row[i >> 3] >> (i & 7)) & 1;
    uint32_t end = 0;
    if (field.width == 0) std::memcpy(&end, row + field.offset, 4);
    if (is_null) {
      column.AppendNull();
    } else if (field.width == 0) {
      column.Append(builder->strings().Copy({row + strings_offset_ + begin, end - begin}));
    } else if (field.width == 12) {
      WideTime time{};
      std::memcpy(static_cast<void*>(&time), row + field.offset, 12);
      column.Append(time);
    } else {
      column.AppendBytes(row + field.offset);
    }
    if (field.width == 0) begin = end;
  }
}

namespace {

template <size_t kWidth, size_t kStrideOut = kWidth>
void GatherFixed(std::span<const char* const> rows, size_t offset, char* to) {
  for (const char* row : rows) {
    if constexpr (kStrideOut != kWidth) std::memset(to + kWidth, 0, kStrideOut - kWidth);
    std::memcpy(to, row + offset, kWidth);
    to += kStrideOut;
  }
}

}  // namespace

Column RowCodec::GatherColumn(std::span<const char* const> rows, int column) const {
  const Field& field = fields_[static_cast<size_t>(column)];
  auto values = std::make_shared<Block>(rows.size() * static_cast<size_t>(WidthOf(field.layout)));
  if (field.width != 0) {
    GatherField(rows, field, values->data());
  } else {
    StringView* views = reinterpret_cast<StringView*>(values->data());
    for (size_t i = 0; i < rows.size(); ++i) views[i] = StringView(Bytes(rows[i], column));
  }
  const bool has_null =
      std::any_of(rows.begin(), rows.end(), [&](const char* row) { return IsNull(row, column); });
  return Column(field.layout, std::move(values), has_null ? GatherValidity(rows, column) : nullptr);
}

// Rows in steps that stay in the first-level cache while column after column is taken out of them.
void RowCodec::GatherColumns(std::span<const char* const> rows,
                             std::vector<Column>* columns) const {
  constexpr size_t kStepRows = 64;
  std::vector<std::shared_ptr<Block>> values;
  std::vector<StringView*> strings(string_columns_.size());
  values.reserve(fields_.size());
  for (const Field& field : fields_) {
    values.push_back(
        std::make_shared<Block>(rows.size() * static_cast<size_t>(WidthOf(field.layout))));
  }
  std::vector<unsigned char> nulls(null_bytes_);
  for (size_t first = 0; first < rows.size(); first += kStepRows) {
    const auto step = rows.subspan(first, std::min(kStepRows, rows.size() - first));
    for (const char* row : step) {
      for (size_t i = 0; i < nulls.size(); ++i) nulls[i] |= static_cast<unsigned char>(row[i]);
    }
    for (size_t i = 0; i < fields_.size(); ++i) {
      char* const to = values[i]->data() + first * static_cast<size_t>(WidthOf(fields_[i].layout));
      if (fields_[i].width == 0) {
        strings[fields_[i].string] = reinterpret_cast<StringView*>(to);
      } else {
        GatherField(step, fields_[i], to);
      }
    }
    GatherStrings(step, strings);
  }
  for (size_t i = 0; i < fields_.size(); ++i) {
    const bool has_null = (nulls[i >> 3] >> (i & 7)) & 1;
    columns->emplace_back(fields_[i].layout, std::move(values[i]),
                          has_null ? GatherValidity(rows, static_cast<int>(i)) : nullptr);
  }
}

void RowCodec::PutInto(std::span<const PlacedRow> rows, int column, char* values) const {
  const Field& field = fields_[static_cast<size_t>(column)];
  const auto stride = static_cast<size_t>(WidthOf(field.layout));
  for (const PlacedRow& row : rows) {
    char* const to = values + static_cast<size_t>(row.place) * stride;
    if (field.width == 0) {
      const StringView view = StringView::WithSlack(
          Bytes(row.bytes, column).data(), static_cast<uint32_t>(Bytes(row.bytes, column).size()));
      std::memcpy(to, &view, sizeof(view));
    } else if (field.width == 8) {
      std::memcpy(to, row.bytes + field.offset, 8);
    } else {
      std::memset(to, 0, stride);
      std::memcpy(to, row.bytes + field.offset, field.width);
    }
  }
}

void RowCodec::GatherField(std::span<const char* const> rows, const Field& field, char* to) const {
  switch (field.width) {
    case 1: return GatherFixed<1>(rows, field.offset, to);
    case 2: return GatherFixed<2>(rows, field.offset, to);
    case 4: return GatherFixed<4>(rows, field.offset, to);
    case 8: return GatherFixed<8>(rows, field.offset, to);
    case 12: return GatherFixed<12, 16>(rows, field.offset, to);
    default: return GatherFixed<16>(rows, field.offset, to);
  }
}

void RowCodec::GatherStrings(std::span<const char* const> rows,
                             std::span<StringView* const> to) const {
  StringView* const* const views = to.data();
  const auto strings = static_cast<uint32_t>(to.size());
  size_t at = 0;
  for (const char* row : rows) {
    const char* begin = row + strings_offset_;
    const char* const first = begin;
    for (uint32_t i = 0; i < strings; ++i) {
      const char* const end = first + EndOf(row, i);
      views[i][at] = StringView::WithSlack(begin, static_cast<uint32_t>(end - begin));
      begin = end;
    }
    ++at;
  }
}

BlockPointer RowCodec::GatherValidity(std::span<const char* const> rows, int column) const {
  auto validity = std::make_shared<Block>((rows.size() + 7) / 8);
  std::memset(validity->data(), 0, validity->size());
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!IsNull(rows[i], column))
      validity->data()[i >> 3] = static_cast<char>(validity->data()[i >> 3] | (1 << (i & 7)));
  }
  return validity;
}

bool RowCodec::EqualByField(std::string_view a, std::string_view b) const {
  for (int i = 0; i < columns(); ++i) {
    const Field& field = fields_[static_cast<size_t>(i)];
    if (field.is_proctime) continue;
    const bool is_null = IsNull(a.data(), i);
    if (is_null != IsNull(b.data(), i)) return false;
    if (is_null) continue;
    if (field.width == 0) {
      if (Bytes(a.data(), i) != Bytes(b.data(), i)) return false;
    } else if (field.layout == Layout::kFloat) {
      if (OrderedBits(Fixed<float>(a.data(), i)) != OrderedBits(Fixed<float>(b.data(), i)))
        return false;
    } else if (field.layout == Layout::kDouble) {
      if (OrderedBits(Fixed<double>(a.data(), i)) != OrderedBits(Fixed<double>(b.data(), i)))
        return false;
    } else if (std::memcmp(a.data() + field.offset, b.data() + field.offset, field.width) != 0) {
      return false;
    }
  }
  return true;
}

bool RowCodec::EqualsRow(std::string_view stored, const RowBatch& batch, int row) const {
  for (int i = 0; i < columns(); ++i) {
    if (!fields_[static_cast<size_t>(i)].is_proctime && !EqualsInColumn(stored, batch, row, i))
      return false;
  }
  return true;
}

bool RowCodec::EqualsInColumn(std::string_view stored, const RowBatch& batch, int row,
                              int column) const {
  const Field& field = fields_[static_cast<size_t>(column)];
  const Column& values = batch.columns[static_cast<size_t>(column)];
  const bool is_null = values.IsNull(row);
  if (is_null != IsNull(stored.data(), column)) return false;
  if (is_null) return true;
  switch (field.layout) {
    case Layout::kBytes:
      return Bytes(stored.data(), column) == values.values<StringView>()[row].view();
    case Layout::kFloat:
      return OrderedBits(Fixed<float>(stored.data(), column)) ==
             OrderedBits(values.values<float>()[row]);
    case Layout::kDouble:
      return OrderedBits(Fixed<double>(stored.data(), column)) ==
             OrderedBits(values.values<double>()[row]);
    default: break;
  }
  const size_t width = static_cast<size_t>(WidthOf(field.layout));
  return std::memcmp(stored.data() + field.offset, values.data() + static_cast<size_t>(row) * width,
                     field.width) == 0;
}

uint64_t RowCodec::HashContent(std::string_view row) const {
  if (exact_) return XXH3_64bits(row.data(), row.size());
  std::string copy(row);
  for (int i = 0; i < columns(); ++i) {
    const Field& field = fields_[static_cast<size_t>(i)];
    char* at = copy.data() + field.offset;
    if (field.is_proctime) {
      std::memset(at, 0, field.width);
      copy[static_cast<size_t>(i >> 3)] =
          static_cast<char>(copy[static_cast<size_t>(i >> 3)] & ~(1 << (i & 7)));
    } else if (field.layout == Layout::kFloat) {
      const uint32_t bits = OrderedBits(Fixed<float>(row.data(), i));
      std::memcpy(at, &bits, 4);
    } else if (field.layout == Layout::kDouble) {
      const uint64_t bits = OrderedBits(Fixed<double>(row.data(), i));
      std::memcpy(at, &bits, 8);
    }
  }
  return XXH3_64bits(copy.data(), copy.size());
}

Status RowCodec::Check(std::string_view row) const {
  const auto wrong = [&] {
    return Status::Corruption(
        "a row of {} bytes in the state does not have the columns of its "
        "operator",
        row.size());
  };
  if (row.size() < strings_offset_ || row.size() > kRowBytesMax) return wrong();
  uint32_t end = 0;
  for (uint32_t string = 0; string < string_columns_.size(); ++string) {
    const uint32_t next = EndOf(row.data(), string);
    if (next < end) return wrong();
    end = next;
  }
  return row.size() - strings_offset_ == end ? Status::Ok() : wrong();
}

Value RowCodec::ValueOf(const char* row, int column, const Type& type) const {
  if (IsNull(row, column)) return {};
  const Field& field = fields_[static_cast<size_t>(column)];
  return ValueOfBytes(
      field.width == 0 ? Bytes(row, column) : std::string_view(row + field.offset, field.width),
      type);
}

}  // namespace rowtide
