#include "connectors/script_encoder.h"

#include <immintrin.h>

#include <algorithm>
#include <cstring>

#include "engine/value_text.h"

namespace rowtide {
namespace {

constexpr uint32_t kEightDigits = 100000000;
constexpr size_t kSecondBytes = 21;  // `"yyyy-MM-dd HH:mm:ss.`

// The decimal digits of a number below 10^8, one a byte, the first one lowest (Khuong and Lemire).
inline uint64_t DigitsOf(uint32_t value) {
  const uint64_t halves = value / 10000 | static_cast<uint64_t>(value % 10000) << 32;
  const uint64_t top = (halves * 10486 >> 20) & 0x0000007f0000007f;
  const uint64_t hundreds = (halves - 100 * top) << 16 | top;
  const uint64_t tens = (hundreds * 103 >> 10) & 0x000f000f000f000f;
  return tens + ((hundreds - 10 * tens) << 8);
}

inline char* StoreDigits(uint64_t digits, char* out) {
  digits |= 0x3030303030303030;
  std::memcpy(out, &digits, 8);
  return out + 8;
}

inline char* AppendUnsigned(uint64_t value, char* out) {
  if (value >= kEightDigits) {
    out = AppendUnsigned(value / kEightDigits, out);
    return StoreDigits(DigitsOf(static_cast<uint32_t>(value % kEightDigits)), out);
  }
  const uint64_t digits = DigitsOf(static_cast<uint32_t>(value));
  const int zeros = __builtin_ctzll(digits | 1ull << 56) / 8;  // a zero keeps one digit
  StoreDigits(digits >> (8 * zeros), out);
  return out + 8 - zeros;
}

inline char* AppendInteger(int64_t value, char* out) {
  *out = '-';
  out += value < 0;
  return AppendUnsigned(value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value),
                        out);
}

#define RT_AVX2 __attribute__((target("avx2,bmi,bmi2")))

// Sixteen or 32 bytes at once: loaded, stored, and which of them JSON escapes: below 0x20, the
// quote, the backslash. With a bit turned the quote comes right behind what is below 0x20.
struct SsePiece {
  static constexpr size_t kBytes = 16;
  __m128i bytes;

  explicit SsePiece(const char* from)
      : bytes(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))) {}
  void StoreTo(char* to) const { _mm_storeu_si128(reinterpret_cast<__m128i*>(to), bytes); }
  // 0xff for each byte that is one of them; Add: those of another piece too.
  void TurnToSpecials() {
    const __m128i turned = _mm_xor_si128(bytes, _mm_set1_epi8(0x02));
    bytes = _mm_or_si128(_mm_cmpeq_epi8(_mm_min_epu8(turned, _mm_set1_epi8(0x20)), turned),
                         _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
  }
  void AddSpecials(SsePiece other) {
    other.TurnToSpecials();
    bytes = _mm_or_si128(bytes, other.bytes);
  }
  uint32_t Bits() const { return static_cast<uint32_t>(_mm_movemask_epi8(bytes)); }
};

struct Avx2Piece {
  static constexpr size_t kBytes = 32;
  __m256i bytes;

  RT_AVX2 explicit Avx2Piece(const char* from)
      : bytes(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))) {}
  RT_AVX2 void StoreTo(char* to) const {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), bytes);
  }
  RT_AVX2 void TurnToSpecials() {
    const __m256i turned = _mm256_xor_si256(bytes, _mm256_set1_epi8(0x02));
    bytes =
        _mm256_or_si256(_mm256_cmpeq_epi8(_mm256_min_epu8(turned, _mm256_set1_epi8(0x20)), turned),
                        _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('\\')));
  }
  RT_AVX2 void AddSpecials(const Avx2Piece& piece) {
    Avx2Piece other = piece;
    other.TurnToSpecials();
    bytes = _mm256_or_si256(bytes, other.bytes);
  }
  RT_AVX2 uint32_t Bits() const { return static_cast<uint32_t>(_mm256_movemask_epi8(bytes)); }
};

// Copies a text to `out`; returns not 0 when something in it has to be escaped. Stores up to 32
// bytes beyond the end.
template <typename Piece>
inline uint32_t CopyText(const StringView& view, char* out) {
  const size_t size = view.size();
  if (view.is_inline()) {
    // The view holds a short text in its last 12 bytes.
    SsePiece piece(reinterpret_cast<const char*>(&view));
    piece.bytes = _mm_srli_si128(piece.bytes, 4);
    piece.StoreTo(out);
    piece.TurnToSpecials();
    return piece.Bits() & ((1u << size) - 1);
  }
  const char* from = view.data();
  if (size >= Piece::kBytes) {
    // Three pieces, of which the middle one may overlap the others: no branch on lengths that vary
    // from row to row.
    const char* const last = from + size - Piece::kBytes;
    char* const last_out = out + size - Piece::kBytes;
    Piece found(last);
    found.StoreTo(last_out);
    found.TurnToSpecials();
    for (; last - from > static_cast<ptrdiff_t>(2 * Piece::kBytes);
         from += Piece::kBytes, out += Piece::kBytes) {
      const Piece piece(from);
      found.AddSpecials(piece);
      piece.StoreTo(out);
    }
    const Piece first(from), middle(std::min(from + Piece::kBytes, last));
    found.AddSpecials(first);
    found.AddSpecials(middle);
    first.StoreTo(out);
    middle.StoreTo(std::min(out + Piece::kBytes, last_out));
    return found.Bits();
  }
  if (size >= SsePiece::kBytes) {
    SsePiece first(from);
    const SsePiece last(from + size - SsePiece::kBytes);
    first.StoreTo(out);
    last.StoreTo(out + size - SsePiece::kBytes);
    first.TurnToSpecials();
    first.AddSpecials(last);
    return first.Bits();
  }
  char text[SsePiece::kBytes] = {};
  std::memcpy(text, from, size);
  SsePiece piece(text);
  piece.StoreTo(out);
  piece.TurnToSpecials();
  return piece.Bits() & ((1u << size) - 1);
}

// As DigitsOf, of four numbers.
RT_AVX2 inline __m256i DigitsOfFour(__m256i values) {
  const __m256i top = _mm256_srli_epi64(_mm256_mul_epu32(values, _mm256_set1_epi64x(3518437209)),
                                        45);  // a division by 10000
  const __m256i rest = _mm256_sub_epi64(values, _mm256_mul_epu32(top, _mm256_set1_epi64x(10000)));
  const __m256i halves = _mm256_or_si256(top, _mm256_slli_epi64(rest, 32));
  const __m256i hundreds =
      _mm256_srli_epi16(_mm256_mulhi_epu16(halves, _mm256_set1_epi16(5243)), 3);
  const __m256i below =
      _mm256_sub_epi16(halves, _mm256_mullo_epi16(hundreds, _mm256_set1_epi16(100)));
  const __m256i pairs = _mm256_or_si256(hundreds, _mm256_slli_epi32(below, 16));
  const __m256i tens = _mm256_mulhi_epu16(pairs, _mm256_set1_epi16(6554));
  const __m256i ones = _mm256_sub_epi16(pairs, _mm256_mullo_epi16(tens, _mm256_set1_epi16(10)));
  return _mm256_or_si256(tens, _mm256_slli_epi16(ones, 8));
}

}  // namespace

ScriptEncoder::ScriptEncoder(Schema schema)
    : schema_(std::move(schema)),
      seconds_(static_cast<size_t>(schema_.size())),
      has_avx2_(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                __builtin_cpu_supports("bmi2")),
      rows_(std::make_unique_for_overwrite<char[]>(kStepRows * kRowBytes)) {
  for (const Field& field : schema_.fields()) ways_.push_back(WayOf(field.type));
  for (Second& second : seconds_) TakeSecond(0, &second);
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

void ScriptEncoder::Encode(const RowBatch& batch, int first, int count) {
  static constexpr char kHeads[4][5] = {"+I [", "-U [", "+U [", "-D ["};
  const auto rows = static_cast<size_t>(count);
  const RowKind* const kinds = batch.kinds_or_null();
  char* out = rows_.get();
  for (size_t row = 0; row < rows; ++row, out += kRowBytes) {
    const RowKind kind =
        kinds != nullptr ? kinds[static_cast<size_t>(first) + row] : RowKind::kInsert;
    std::memcpy(out, kHeads[static_cast<size_t>(kind)], 4);
    ends_[row] = out + 4;
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
  if (static_cast<size_t>(ends_[row] - RowAt(row)) + kValueBytesMax <= kRowBytes) [[likely]]
    return true;
  is_long_[row] = true;
  return false;
}

template <typename T>
void ScriptEncoder::AppendIntegers(const T* values, size_t row, size_t rows) {
  for (; row < rows; ++row) {
    if (!HasRoom(row)) continue;
    char* const out = AppendInteger(values[row], ends_[row]);
    *out = ',';
    ends_[row] = out + 1;
  }
}

// Four at a time where all four have up to eight digits and no sign.
RT_AVX2 void ScriptEncoder::AppendLongsAvx2(const int64_t* values, size_t rows) {
  size_t row = 0;
  for (; row + 4 <= rows; row += 4) {
    const __m256i four = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(values + row));
    const __m256i above = _mm256_cmpgt_epi64(four, _mm256_set1_epi64x(kEightDigits - 1));
    const bool has_room =
        HasRoom(row) + HasRoom(row + 1) + HasRoom(row + 2) + HasRoom(row + 3) == 4;
    if (_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_or_si256(above, four))) != 0 || !has_room) {
      AppendIntegers(values, row, row + 4);
      continue;
    }
    alignas(32) uint64_t digits[4];
    _mm256_store_si256(reinterpret_cast<__m256i*>(digits), DigitsOfFour(four));
    for (size_t i = 0; i < 4; ++i) {
      const uint64_t zeros = _tzcnt_u64(digits[i] | 1ull << 56) & ~7ull;  // in bits
      char* const out = ends_[row + i];
      StoreDigits(digits[i] >> zeros, out);
      char* const end = out + 8 - zeros / 8;
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
    if (static_cast<size_t>(out - RowAt(row)) + size + kValueBytesMax > kRowBytes) [[unlikely]] {
      is_long_[row] = true;
      continue;
    }
    if (CopyText<Piece>(values[row], out + 1) != 0) [[unlikely]] {
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
__attribute__((target("avx2,bmi,bmi2"), flatten)) void ScriptEncoder::AppendStringsAvx2(
    const StringView* values, size_t rows) {
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

void ScriptEncoder::AppendMillis(const int64_t* values, size_t rows, Second* last) {
  for (size_t row = 0; row < rows; ++row) {
    if (!HasRoom(row)) continue;
    const int64_t millis = values[row];
    // A moment before the last second wraps, and is more than a second too.
    uint64_t within = static_cast<uint64_t>(millis) - static_cast<uint64_t>(last->begin);
    if (within >= 1000) {
      if (!TakeSecond(millis, last)) {
        is_long_[row] = true;
        continue;
      }
      within = static_cast<uint64_t>(millis) - static_cast<uint64_t>(last->begin);
    }
    char* const out = ends_[row];
    std::memcpy(out, last->text, sizeof(last->text));
    const auto milli = static_cast<uint32_t>(within);
    out[kSecondBytes] = static_cast<char>('0' + milli / 100);
    out[kSecondBytes + 1] = static_cast<char>('0' + milli / 10 % 10);
    out[kSecondBytes + 2] = static_cast<char>('0' + milli % 10);
    out[kSecondBytes + 3] = '"';
    out[kSecondBytes + 4] = ',';
    ends_[row] = out + kSecondBytes + 5;
  }
}

// False for a year of more than four digits, whose text is longer.
[[gnu::noinline]] bool ScriptEncoder::TakeSecond(int64_t millis, Second* last) {
  const int64_t begin = millis - (millis % 1000 + 1000) % 1000;
  scratch_ = "\"";
  AppendTimestamp(begin, 0, 3, &scratch_);
  if (scratch_.size() != kSecondBytes + 3) return false;
  std::memcpy(last->text, scratch_.data(), sizeof(last->text));
  last->begin = begin;
  return true;
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
  if (static_cast<size_t>(out - RowAt(row)) + scratch_.size() + kValueBytesMax > kRowBytes) {
    is_long_[row] = true;
    return;
  }
  std::memcpy(out, scratch_.data(), scratch_.size());
  out[scratch_.size()] = ',';
  ends_[row] = out + scratch_.size() + 1;
}

}  // namespace rowtide
