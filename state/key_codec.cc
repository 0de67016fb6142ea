#include "state/key_codec.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "state/float_order.h"
#include "state/value_bytes.h"

namespace rowtide {
namespace {

// Calls `put(row, to)` for each row of a column of fixed width, `stride` bytes apart.
template <typename Put>
void EachRow(int rows, char* to, size_t stride, const Put& put) {
  for (int row = 0; row < rows; ++row, to += stride) put(row, to);
}

template <typename T>
void CopyColumn(const Column& column, int rows, char* to, size_t stride) {
  const T* values = column.values<T>();
  EachRow(rows, to, stride,
          [values](int row, char* at) { std::memcpy(at, &values[row], sizeof(T)); });
}

template <typename F>
void CopyFloats(const Column& column, int rows, bool separate_zeros, char* to, size_t stride) {
  const F* values = column.values<F>();
  EachRow(rows, to, stride, [&](int row, char* at) {
    F value = CanonicalFloat(values[row]);
    if (separate_zeros && values[row] == 0) value = values[row];
    std::memcpy(at, &value, sizeof(F));
  });
}

void CopyWideTimes(const Column& column, int rows, char* to, size_t stride) {
  const WideTime* values = column.values<WideTime>();
  EachRow(rows, to, stride, [values](int row, char* at) { std::memcpy(at, &values[row], 12); });
}

// Big-endian with the sign bit flipped.
template <typename T>
void PutOrderedInt(T value, char* to) {
  if constexpr (sizeof(T) == 16) {
    const auto bits =
        static_cast<unsigned __int128>(value) ^ (static_cast<unsigned __int128>(1) << 127);
    const uint64_t high = __builtin_bswap64(static_cast<uint64_t>(bits >> 64));
    const uint64_t low = __builtin_bswap64(static_cast<uint64_t>(bits));
    std::memcpy(to, &high, 8);
    std::memcpy(to + 8, &low, 8);
  } else if constexpr (sizeof(T) == 8) {
    const uint64_t bits = __builtin_bswap64(static_cast<uint64_t>(value) ^ 0x8000000000000000u);
    std::memcpy(to, &bits, 8);
  } else if constexpr (sizeof(T) == 4) {
    const uint32_t bits = __builtin_bswap32(static_cast<uint32_t>(value) ^ 0x80000000u);
    std::memcpy(to, &bits, 4);
  } else if constexpr (sizeof(T) == 2) {
    const uint16_t bits =
        __builtin_bswap16(static_cast<uint16_t>(static_cast<uint16_t>(value) ^ 0x8000u));
    std::memcpy(to, &bits, 2);
  } else {
    *to = static_cast<char>(static_cast<uint8_t>(value) ^ 0x80u);
  }
}

void PutBigEndian(uint64_t value, char* to) {
  value = __builtin_bswap64(value);
  std::memcpy(to, &value, 8);
}

void PutOrderedValue(const Column& column, Layout layout, int row, char* to) {
  switch (layout) {
    case Layout::kBool: *to = static_cast<char>(column.values<uint8_t>()[row]); return;
    case Layout::kInt8: return PutOrderedInt(column.values<int8_t>()[row], to);
    case Layout::kInt16: return PutOrderedInt(column.values<int16_t>()[row], to);
    case Layout::kInt32: return PutOrderedInt(column.values<int32_t>()[row], to);
    case Layout::kInt64: return PutOrderedInt(column.values<int64_t>()[row], to);
    case Layout::kInt128: return PutOrderedInt(column.values<int128>()[row], to);
    case Layout::kFloat: {
      const uint32_t bits = __builtin_bswap32(OrderedBits(column.values<float>()[row]));
      std::memcpy(to, &bits, 4);
      return;
    }
    case Layout::kDouble: return PutBigEndian(OrderedBits(column.values<double>()[row]), to);
    case Layout::kWideTime: {
      const WideTime& time = column.values<WideTime>()[row];
      PutOrderedInt(time.millis, to);
      return PutOrderedInt(time.nanos, to + 8);
    }
    case Layout::kBytes: return;
  }
}

void Invert(char* bytes, size_t size) {
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(~bytes[i]);
}

// 00 -> 00 FF, then 00 00. Returns the number of bytes written.
size_t PutEscaped(std::string_view text, char* to) {
  char* const begin = to;
  for (const char c : text) {
    *to++ = c;
    if (c == 0) *to++ = static_cast<char>(0xff);
  }
  to[0] = 0;
  to[1] = 0;
  return static_cast<size_t>(to + 2 - begin);
}

bool AnyNulls(const RowBatch& batch, const std::vector<int>& columns) {
  for (const int column : columns) {
    if (batch.columns[static_cast<size_t>(column)].may_have_nulls()) return true;
  }
  return false;
}

}  // namespace

uint64_t HashBytes(std::string_view bytes) {
  if (bytes.size() == 16) return XXH3_64bits(bytes.data(), 16);
  if (bytes.size() == 8) return XXH3_64bits(bytes.data(), 8);
  return XXH3_64bits(bytes.data(), bytes.size());
}

void KeyBatch::Add(std::string_view key, uint64_t hash) {
  const size_t used = begins_.back();
  char* bytes = bytes_.Grow(used, used + key.size());
  if (!key.empty()) std::memcpy(bytes + used, key.data(), key.size());
  begins_.push_back(static_cast<uint32_t>(used + key.size()));
  hashes_.push_back(hash);
  ++rows_;
}

KeyCodec::KeyCodec(const Schema& schema, std::vector<int> columns, bool separate_zeros)
    : columns_(std::move(columns)), separate_zeros_(separate_zeros) {
  for (const int column : columns_) {
    const Layout layout = LayoutOf(schema.type(column));
    const uint32_t width = PackedWidth(layout);
    parts_.push_back({column, layout, width, schema.type(column)});
    fixed_width_ += width;
    has_strings_ |= width == 0;
  }
  null_bytes_ = static_cast<uint32_t>((columns_.size() + 7) / 8);
}

Status KeyCodec::Encode(const RowBatch& batch, KeyBatch* keys) const {
  const size_t rows = static_cast<size_t>(batch.rows);
  keys->rows_ = batch.rows;
  keys->begins_.resize(rows + 1);
  keys->hashes_.resize(rows);
  if (has_strings_) {
    RT_TRY(EncodeWithStrings(batch, keys));
  } else if (AnyNulls(batch, columns_)) {
    EncodeWithNulls(batch, keys);
  } else {
    EncodeFixed(batch, keys);
  }
  uint64_t* const hashes = keys->hashes_.data();
  if (!has_strings_ && fixed_width_ == 16 && keys->begins_.back() == 16 * rows) {
    for (size_t row = 0; row < rows; ++row)
      hashes[row] = XXH3_64bits(keys->bytes_.data() + 16 * row, 16);
    return Status::Ok();
  }
  for (int row = 0; row < batch.rows; ++row) hashes[row] = HashBytes(keys->key(row));
  return Status::Ok();
}

void KeyCodec::EncodeFixed(const RowBatch& batch, KeyBatch* keys) const {
  const size_t stride = fixed_width_;
  char* to = keys->bytes_.Reset(stride * static_cast<size_t>(batch.rows));
  uint32_t* const begins = keys->begins_.data();
  for (int row = 0; row <= batch.rows; ++row)
    begins[row] = static_cast<uint32_t>(stride * static_cast<size_t>(row));
  for (const Part& part : parts_) {
    const Column& column = batch.columns[static_cast<size_t>(part.column)];
    switch (part.layout) {
      case Layout::kBool:
      case Layout::kInt8: CopyColumn<int8_t>(column, batch.rows, to, stride); break;
      case Layout::kInt16: CopyColumn<int16_t>(column, batch.rows, to, stride); break;
      case Layout::kInt32: CopyColumn<int32_t>(column, batch.rows, to, stride); break;
      case Layout::kInt64: CopyColumn<int64_t>(column, batch.rows, to, stride); break;
      case Layout::kInt128: CopyColumn<int128>(column, batch.rows, to, stride); break;
      case Layout::kFloat:
        CopyFloats<float>(column, batch.rows, separate_zeros_, to, stride);
        break;
      case Layout::kDouble:
        CopyFloats<double>(column, batch.rows, separate_zeros_, to, stride);
        break;
      case Layout::kWideTime: CopyWideTimes(column, batch.rows, to, stride); break;
      case Layout::kBytes: break;
    }
    to += part.width;
  }
}

void KeyCodec::PutValue(const Column& column, int row, const Part& part, char* to) const {
  if (part.layout == Layout::kFloat || part.layout == Layout::kDouble) {
    if (part.layout == Layout::kFloat) {
      const float from = column.values<float>()[row];
      const float value = separate_zeros_ && from == 0 ? from : CanonicalFloat(from);
      std::memcpy(to, &value, 4);
    } else {
      const double from = column.values<double>()[row];
      const double value = separate_zeros_ && from == 0 ? from : CanonicalFloat(from);
      std::memcpy(to, &value, 8);
    }
    return;
  }
  std::memcpy(to,
              column.data() + static_cast<size_t>(row) * static_cast<size_t>(WidthOf(part.layout)),
              part.width);
}

void KeyCodec::EncodeWithNulls(const RowBatch& batch, KeyBatch* keys) const {
  char* const begin =
      keys->bytes_.Reset((fixed_width_ + null_bytes_) * static_cast<size_t>(batch.rows));
  char* to = begin;
  for (int row = 0; row < batch.rows; ++row) {
    keys->begins_[static_cast<size_t>(row)] = static_cast<uint32_t>(to - begin);
    char* const nulls = to + fixed_width_;
    std::memset(nulls, 0, null_bytes_);
    bool has_null = false;
    for (size_t i = 0; i < parts_.size(); ++i) {
      const Part& part = parts_[i];
      const Column& column = batch.columns[static_cast<size_t>(part.column)];
      if (column.IsNull(row)) {
        has_null = true;
        std::memset(to, 0, part.width);
        nulls[i >> 3] = static_cast<char>(nulls[i >> 3] | (1 << (i & 7)));
      } else {
        PutValue(column, row, part, to);
      }
      to += part.width;
    }
    if (has_null) to += null_bytes_;
  }
  keys->begins_[static_cast<size_t>(batch.rows)] = static_cast<uint32_t>(to - begin);
}

Status KeyCodec::EncodeWithStrings(const RowBatch& batch, KeyBatch* keys) const {
  size_t bytes = (fixed_width_ + null_bytes_) * static_cast<size_t>(batch.rows);
  for (const Part& part : parts_) {
    if (part.width != 0) continue;
    const StringView* values = batch.columns[static_cast<size_t>(part.column)].values<StringView>();
    for (int row = 0; row < batch.rows; ++row) {
      if (values[row].size() > kKeyBytesMax / 2) {
        return Status::DataError("a key value has {} bytes; keys hold at most {}",
                                 values[row].size(), kKeyBytesMax);
      }
      bytes += values[row].size() + 4;
    }
  }
  if (bytes > 0xffffffffu)
    return Status::DataError("the keys of one batch have {} bytes; at most 4 GiB", bytes);
  char* const begin = keys->bytes_.Reset(bytes);
  char* to = begin;
  for (int row = 0; row < batch.rows; ++row) {
    char* const key = to;
    keys->begins_[static_cast<size_t>(row)] = static_cast<uint32_t>(to - begin);
    std::memset(to, 0, null_bytes_);
    to += null_bytes_;
    for (size_t i = 0; i < parts_.size(); ++i) {
      const Part& part = parts_[i];
      const Column& column = batch.columns[static_cast<size_t>(part.column)];
      const bool is_null = column.IsNull(row);
      if (is_null) key[i >> 3] = static_cast<char>(key[i >> 3] | (1 << (i & 7)));
      if (part.width != 0) {
        if (is_null) {
          std::memset(to, 0, part.width);
        } else {
          PutValue(column, row, part, to);
        }
        to += part.width;
        continue;
      }
      const StringView value = is_null ? StringView() : column.values<StringView>()[row];
      const uint32_t size = value.size();
      std::memcpy(to, &size, 4);
      std::memcpy(to + 4, value.data(), size);
      to += 4 + size;
    }
    if (to - key > static_cast<ptrdiff_t>(kKeyBytesMax)) {
      return Status::DataError("a key has {} bytes; at most {}", to - key, kKeyBytesMax);
    }
  }
  keys->begins_[static_cast<size_t>(batch.rows)] = static_cast<uint32_t>(to - begin);
  return Status::Ok();
}

SortPrefix SortPrefixOf(std::string_view key) {
  uint64_t words[2] = {0, 0};
  std::memcpy(words, key.data(), key.size() < 16 ? key.size() : 16);
  return (SortPrefix{__builtin_bswap64(words[0])} << 64) | __builtin_bswap64(words[1]);
}

SortKeyCodec::SortKeyCodec(const Schema& schema, std::vector<SortField> fields)
    : fields_(std::move(fields)) {
  for (const SortField& field : fields_) {
    const Type& type = schema.type(field.column);
    Part part{field, field.arrival ? Layout::kInt64 : LayoutOf(type),
              type.nullable && !field.arrival, 0, type};
    part.width = PackedWidth(part.layout);
    parts_.push_back(part);
    fixed_width_ += part.width + (part.may_be_null ? 1 : 0);
    has_strings_ |= part.width == 0;
  }
}

void SortKeyCodec::Encode(const RowBatch& batch, uint64_t first_arrival, SortKeyBatch* keys) const {
  const size_t rows = static_cast<size_t>(batch.rows);
  keys->begins_.resize(rows + 1);
  keys->prefixes_.resize(rows);
  if (has_strings_) {
    EncodeWithStrings(batch, first_arrival, keys);
  } else {
    EncodeFixed(batch, first_arrival, keys);
  }
  SortPrefix* const prefixes = keys->prefixes_.data();
  if (has_strings_) {
    for (size_t row = 0; row < rows; ++row)
      prefixes[row] = SortPrefixOf(keys->key(static_cast<int>(row)));
    return;
  }
  // As SortPrefixOf: the buffer has room behind the last key.
  const size_t width = fixed_width_;
  const SortPrefix keep = width == 0    ? 0
                          : width >= 16 ? ~SortPrefix{0}
                                        : ~SortPrefix{0} << (128 - 8 * width);
  const char* from = keys->bytes_.data();
  for (size_t row = 0; row < rows; ++row, from += width) {
    uint64_t words[2];
    std::memcpy(words, from, 16);
    prefixes[row] =
        ((SortPrefix{__builtin_bswap64(words[0])} << 64) | __builtin_bswap64(words[1])) & keep;
  }
}

namespace {

// Writes marker and value of one field; returns the bytes written. Strings excepted.
size_t PutField(const Column* column, Layout layout, const SortField& field, bool may_be_null,
                uint32_t width, int row, uint64_t arrival, char* to) {
  char* value = to;
  if (may_be_null) {
    const bool is_null = column->IsNull(row);
    *value++ = static_cast<char>(is_null != field.nulls_first);
    if (is_null) {
      std::memset(value, 0, width);
      return width + 1;
    }
  }
  if (field.arrival) {
    PutBigEndian(arrival, value);
  } else {
    PutOrderedValue(*column, layout, row, value);
  }
  if (field.descending) Invert(value, width);
  return static_cast<size_t>(value - to) + width;
}

}  // namespace

void SortKeyCodec::EncodeFixed(const RowBatch& batch, uint64_t first_arrival,
                               SortKeyBatch* keys) const {
  const size_t stride = fixed_width_;
  char* to = keys->bytes_.Reset(stride * static_cast<size_t>(batch.rows));
  uint32_t* const begins = keys->begins_.data();
  for (int row = 0; row <= batch.rows; ++row)
    begins[row] = static_cast<uint32_t>(stride * static_cast<size_t>(row));
  for (const Part& part : parts_) {
    const Column& column = batch.columns[static_cast<size_t>(part.field.column)];
    const bool plain =
        part.layout == Layout::kInt64 && !part.field.arrival && !column.may_have_nulls();
    if (plain) {
      // The usual sort key: no NULL in sight, the value in one go.
      const int64_t* values = column.values<int64_t>();
      const uint64_t flip = part.field.descending ? 0x7fffffffffffffffu : 0x8000000000000000u;
      const char marker = part.field.nulls_first ? 1 : 0;
      const size_t skip = part.may_be_null ? 1 : 0;
      EachRow(batch.rows, to, stride, [&](int row, char* at) {
        *at = marker;
        PutBigEndian(static_cast<uint64_t>(values[row]) ^ flip, at + skip);
      });
    } else {
      EachRow(batch.rows, to, stride, [&](int row, char* at) {
        PutField(&column, part.layout, part.field, part.may_be_null, part.width, row,
                 first_arrival + static_cast<uint64_t>(row), at);
      });
    }
    to += part.width + (part.may_be_null ? 1 : 0);
  }
}

void SortKeyCodec::EncodeWithStrings(const RowBatch& batch, uint64_t first_arrival,
                                     SortKeyBatch* keys) const {
  size_t bytes = fixed_width_ * static_cast<size_t>(batch.rows);
  for (const Part& part : parts_) {
    if (part.width != 0) continue;
    const StringView* values =
        batch.columns[static_cast<size_t>(part.field.column)].values<StringView>();
    for (int row = 0; row < batch.rows; ++row) bytes += 2 * size_t{values[row].size()} + 2;
  }
  char* const begin = keys->bytes_.Reset(bytes + parts_.size() * static_cast<size_t>(batch.rows));
  char* to = begin;
  for (int row = 0; row < batch.rows; ++row) {
    keys->begins_[static_cast<size_t>(row)] = static_cast<uint32_t>(to - begin);
    for (const Part& part : parts_) {
      const Column& column = batch.columns[static_cast<size_t>(part.field.column)];
      if (part.width != 0) {
        to += PutField(&column, part.layout, part.field, part.may_be_null, part.width, row,
                       first_arrival + static_cast<uint64_t>(row), to);
        continue;
      }
      const bool is_null = column.IsNull(row);
      if (part.may_be_null) *to++ = static_cast<char>(is_null != part.field.nulls_first);
      if (is_null && part.may_be_null) continue;
      const size_t size = PutEscaped(column.values<StringView>()[row].view(), to);
      if (part.field.descending) Invert(to, size);
      to += size;
    }
  }
  keys->begins_[static_cast<size_t>(batch.rows)] = static_cast<uint32_t>(to - begin);
}

}  // namespace rowtide
