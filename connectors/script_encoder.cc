#include "connectors/script_encoder.h"

#include "connectors/text_in_bulk.h"
#include "engine/value_text.h"

namespace rowtide {
namespace {

// What JSON escapes: below 0x20, the quote, the backslash. With a bit turned the quote comes right
// behind what is below 0x20.
struct JsonLook {
  static __m128i Specials(__m128i bytes) {
    const __m128i turned = _mm_xor_si128(bytes, _mm_set1_epi8(0x02));
    return _mm_or_si128(_mm_cmpeq_epi8(_mm_min_epu8(turned, _mm_set1_epi8(0x20)), turned),
                        _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
  }
  RT_AVX2 static void TurnToSpecials(__m256i* bytes) {
    const __m256i turned = _mm256_xor_si256(*bytes, _mm256_set1_epi8(0x02));
    *bytes =
        _mm256_or_si256(_mm256_cmpeq_epi8(_mm256_min_epu8(turned, _mm256_set1_epi8(0x20)), turned),
                        _mm256_cmpeq_epi8(*bytes, _mm256_set1_epi8('\\')));
  }
};

}  // namespace

ScriptEncoder::ScriptEncoder(Schema schema)
    : schema_(std::move(schema)),
      seconds_(static_cast<size_t>(schema_.size())),
      has_avx2_(HasAvx2()),
      rows_(std::make_unique_for_overwrite<char[]>(kStepRows * kRowBytes)) {
  for (const Field& field : schema_.fields()) ways_.push_back(WayOf(field.type));
  for (size_t row = 0; row < kStepRows; ++row) own_places_[row] = rows_.get() + row * kRowBytes;
}

ScriptEncoder::Way ScriptEncoder::WayOf(const Type& type) {
  switch (type.kind) {
    case TypeKind::kTinyInt: return Way::kInt8;
    case TypeKind::kSmallInt: return Way::kInt16;
    case TypeKind::kInt: return Way::kInt32;
    case TypeKind::kBigInt: return Way::kInt64;
    case TypeKind::kChar:
    case TypeKind::kVarChar: return Way::kString;
    case TypeKind::kTimestamp: return type.precision == 3 ? Way::kMillis : Way::kOther;
    default: return Way::kOther;
  }
}

void ScriptEncoder::Encode(const RowBatch& batch, int first, int rows) {
  EncodeInto(batch, first, rows, own_places_, kRowBytes);
}

void ScriptEncoder::EncodeInto(const RowBatch& batch, int first, int count, char* const* places,
                               size_t room) {
  RT_DCHECK(room >= kHeadBytes + kValueBytesMax);
  const auto rows = static_cast<size_t>(count);
  const RowKind* const kinds = batch.kinds_or_null();
  for (size_t row = 0; row < rows; ++row) {
    const RowKind kind =
        kinds != nullptr ? kinds[static_cast<size_t>(first) + row] : RowKind::kInsert;
    char* const out = places[row];
    std::memcpy(out, HeadOf(kind), kHeadBytes);
    begins_[row] = out;
    ends_[row] = out + kHeadBytes;
    limits_[row] = out + room - kValueBytesMax;
    is_long_[row] = false;
  }
  for (int column = 0; column < schema_.size(); ++column) AppendColumn(batch, column, first, rows);
  for (size_t row = 0; row < rows; ++row) {
    if (is_long_[row]) {
      long_lines_[row].clear();
      AppendScriptRow(batch, first + static_cast<int>(row), schema_, &long_lines_[row]);
      long_lines_[row] += '\n';
    } else {
      char* const end = ends_[row] - (schema_.size() > 0 ? 1 : 0);  // over the last comma
      end[0] = ']';
      end[1] = '\n';
      ends_[row] = end + 2;
    }
  }
}

void ScriptEncoder::AppendColumn(const RowBatch& batch, int number, int first, size_t rows) {
  const Column& column = batch.columns[static_cast<size_t>(number)];
  if (column.may_have_nulls()) return AppendOthers(batch, number, first, rows);
  switch (ways_[static_cast<size_t>(number)]) {
    case Way::kInt8: return AppendIntegers(column.values<int8_t>() + first, 0, rows);
    case Way::kInt16: return AppendIntegers(column.values<int16_t>() + first, 0, rows);
    case Way::kInt32: return AppendIntegers(column.values<int32_t>() + first, 0, rows);
    case Way::kInt64:
      return has_avx2_ ? AppendLongsAvx2(column.values<int64_t>() + first, rows)
                       : AppendIntegers(column.values<int64_t>() + first, 0, rows);
    case Way::kString:
      return has_avx2_ ? AppendStringsAvx2(column.values<StringView>() + first, rows)
                       : AppendStrings(column.values<StringView>() + first, rows);
    case Way::kMillis:
      return AppendMillis(column.values<int64_t>() + first, rows,
                          &seconds_[static_cast<size_t>(number)]);
    case Way::kOther: return AppendOthers(batch, number, first, rows);
  }
}

inline bool ScriptEncoder::HasRoom(size_t row) {
  if (ends_[row] <= limits_[row]) [[likely]]
    return true;
  is_long_[row] = true;
  return false;
}

template <typename T>
void ScriptEncoder::AppendIntegers(const T* values, size_t row, size_t rows) {
  for (; row < rows; ++row) {
    if (!HasRoom(row)) continue;
    char* const out = PutInteger(values[row], ends_[row]);
    *out = ',';
    ends_[row] = out + 1;
  }
}

// Four at a time where all four have up to eight digits and no sign.
RT_AVX2 void ScriptEncoder::AppendLongsAvx2(const int64_t* values, size_t rows) {
  size_t row = 0;
  for (; row + 4 <= rows; row += 4) {
    const bool has_room =
        HasRoom(row) + HasRoom(row + 1) + HasRoom(row + 2) + HasRoom(row + 3) == 4;
    uint64_t digits[4];
    if (!has_room || !DigitsOfFour(values + row, digits)) {
      AppendIntegers(values, row, row + 4);
      continue;
    }
    for (size_t i = 0; i < 4; ++i) {
      char* const end = PutDigits(digits[i], ends_[row + i]);
      *end = ',';
      ends_[row + i] = end + 1;
    }
  }
  AppendIntegers(values, row, rows);
}

template <typename Piece>
inline void ScriptEncoder::AppendStringsBy(const StringView* values, size_t rows) {
  for (size_t row = 0; row < rows; ++row) {
    const size_t size = values[row].size();
    char* const out = ends_[row];
    if (static_cast<ptrdiff_t>(size) > limits_[row] - out) [[unlikely]] {
      is_long_[row] = true;
      continue;
    }
    if (CopyText<Piece>(values[row], out + 1, JsonLook()) != 0) [[unlikely]] {
      AppendEscaped(row, values[row].view());
      continue;
    }
    out[0] = '"';
    out[size + 1] = '"';
    out[size + 2] = ',';
    ends_[row] = out + size + 3;
  }
}

// Flattened, so that what is above becomes part of a function that may use these instructions.
RT_AVX2 [[gnu::flatten]] void ScriptEncoder::AppendStringsAvx2(const StringView* values,
                                                               size_t rows) {
  AppendStringsBy<Avx2Piece>(values, rows);
}

void ScriptEncoder::AppendStrings(const StringView* values, size_t rows) {
  AppendStringsBy<SsePiece>(values, rows);
}

[[gnu::noinline]] void ScriptEncoder::AppendEscaped(size_t row, std::string_view text) {
  scratch_.clear();
  AppendJsonString(text, &scratch_);
  AppendScratch(row);
}

void ScriptEncoder::AppendMillis(const int64_t* values, size_t rows, LastSecond* last) {
  for (size_t row = 0; row < rows; ++row) {
    if (!HasRoom(row)) continue;
    uint64_t within = last->Within(values[row]);
    if (within >= 1000) {
      if (!last->MoveTo(values[row], 1000)) {
        is_long_[row] = true;
        continue;
      }
      within = last->Within(values[row]);
    }
    char* out = ends_[row];
    *out++ = '"';
    std::memcpy(out, last->text, sizeof(last->text));
    out += LastSecond::kTextBytes;
    const auto milli = static_cast<uint32_t>(within);
    out[0] = static_cast<char>('0' + milli / 100);
    out[1] = static_cast<char>('0' + milli / 10 % 10);
    out[2] = static_cast<char>('0' + milli % 10);
    out[3] = '"';
    out[4] = ',';
    ends_[row] = out + 5;
  }
}

// Types that are rare in bulk, and columns with NULLs among their values.
void ScriptEncoder::AppendOthers(const RowBatch& batch, int column, int first, size_t rows) {
  for (size_t row = 0; row < rows; ++row) {
    if (is_long_[row]) continue;
    scratch_.clear();
    AppendScriptText(batch.columns[static_cast<size_t>(column)], first + static_cast<int>(row),
                     schema_.type(column), &scratch_);
    AppendScratch(row);
  }
}

void ScriptEncoder::AppendScratch(size_t row) {
  char* const out = ends_[row];
  if (static_cast<ptrdiff_t>(scratch_.size()) > limits_[row] - out) {
    is_long_[row] = true;
    return;
  }
  std::memcpy(out, scratch_.data(), scratch_.size());
  out[scratch_.size()] = ',';
  ends_[row] = out + scratch_.size() + 1;
}

}  // namespace rowtide
