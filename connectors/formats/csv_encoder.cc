#include "connectors/formats/csv_encoder.h"

#include <algorithm>
#include <string_view>

#include "connectors/java_text.h"
#include "engine/base64.h"
#include "engine/batch_builder.h"
#include "engine/value_text.h"
#include "engine/value_text_digits.h"

namespace rowtide {
namespace {

// Above this many UTF-16 units a text is quoted without a look at it.
constexpr size_t kLookedAtMax = 24;

// The first UTF-16 unit of a text in UTF-8 that begins with a whole character.
uint32_t FirstUnit(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return lead;
  const size_t bytes = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  uint32_t point = lead & (0xffu >> (bytes + 1));
  for (const char c : text.substr(1, bytes - 1)) point = point << 6 | (c & 0x3f);
  return point < 0x10000 ? point : 0xd7c0 + (point >> 10);
}

// A short text with one of these is quoted: up to the last one of all, the backslash, the escape.
// Vectors that are made once, of the width of `Piece`.
template <typename Piece>
struct QuotedLook {
  Piece last, backslash, escape;

  __m128i Specials(__m128i bytes) const {
    const __m128i low = _mm_cmpeq_epi8(_mm_min_epu8(bytes, last.low()), bytes);
    return _mm_or_si128(low, _mm_or_si128(_mm_cmpeq_epi8(bytes, backslash.low()),
                                          _mm_cmpeq_epi8(bytes, escape.low())));
  }
  RT_AVX2 void TurnToSpecials(__m256i* bytes) const {
    const __m256i low = _mm256_cmpeq_epi8(_mm256_min_epu8(*bytes, last.bytes), *bytes);
    *bytes = _mm256_or_si256(low, _mm256_or_si256(_mm256_cmpeq_epi8(*bytes, backslash.bytes),
                                                  _mm256_cmpeq_epi8(*bytes, escape.bytes)));
  }
};

// In a quoted text quote and escape are doubled. What is beyond ASCII counts too: of it Java may
// count fewer characters than there are bytes.
template <typename Piece>
struct DoubledLook {
  Piece quote, escape;

  __m128i Specials(__m128i bytes) const {
    return _mm_or_si128(bytes, _mm_or_si128(_mm_cmpeq_epi8(bytes, quote.low()),
                                            _mm_cmpeq_epi8(bytes, escape.low())));
  }
  RT_AVX2 void TurnToSpecials(__m256i* bytes) const {
    *bytes = _mm256_or_si256(*bytes, _mm256_or_si256(_mm256_cmpeq_epi8(*bytes, quote.bytes),
                                                     _mm256_cmpeq_epi8(*bytes, escape.bytes)));
  }
};

}  // namespace

Result<std::unique_ptr<CsvEncoder>> CsvEncoder::Create(Schema schema, CsvOptions options) {
  for (const Field& field : schema.fields()) {
    if (field.type.kind == TypeKind::kNull || field.type.kind == TypeKind::kSymbol ||
        IsInterval(field.type)) {
      return Status::Plan("csv cannot hold column {} of type {}", Quote(field.name),
                          ToString(field.type));
    }
  }
  return std::unique_ptr<CsvEncoder>(new CsvEncoder(std::move(schema), std::move(options)));
}

CsvEncoder::CsvEncoder(Schema schema, CsvOptions options)
    : schema_(std::move(schema)),
      options_(std::move(options)),
      null_literal_(options_.null_literal.value_or("")),
      has_quick_values_(options_.delimiter.size() == 1),
      has_avx2_(HasAvx2()),
      row_bytes_(static_cast<size_t>(schema_.size()) * kPieceBytes + 64) {
  // Jackson quotes whatever is not above both the delimiter and the quote.
  last_quoted_ = std::max(FirstUnit(options_.delimiter),
                          static_cast<uint32_t>(static_cast<unsigned char>(options_.quote)));
  for (uint32_t c = 0; c <= std::min(last_quoted_, 0x7fu); ++c) needs_quotes_[c] = 1;
  needs_quotes_['\\'] = 1;
  if (options_.escape != '\0') needs_quotes_[static_cast<unsigned char>(options_.escape)] = 1;
  // Times have a blank, which is quoted nearly always; what stands beside it must not be doubled.
  constexpr std::string_view kInTimes = "0123456789-: .Z";
  has_quick_times_ = needs_quotes_[' '] && kInTimes.find(options_.quote) == kInTimes.npos &&
                     kInTimes.find(options_.escape) == kInTimes.npos;
  for (int column = 0; column < schema_.size(); ++column)
    cells_.push_back(std::make_unique<Cells>());
  room_bytes_ = kStepRows * row_bytes_;
  room_ = std::make_unique_for_overwrite<char[]>(room_bytes_);
}

Status CsvEncoder::Encode(const RowBatch& batch, std::string* out, std::vector<size_t>* ends) {
  const auto all = static_cast<size_t>(batch.rows);
  for (size_t first = 0; first < all; first += kStepRows) {
    const size_t rows = std::min(kStepRows, all - first);
    for (int column = 0; column < schema_.size(); ++column)
      TakeColumn(batch, column, static_cast<int>(first), rows);
    char* const end = has_avx2_ ? WriteRowsAvx2(rows) : WriteRows(rows);
    for (size_t row = 0; ends != nullptr && row < rows; ++row)
      ends->push_back(out->size() + row_ends_[row]);
    out->append(room_.get(), static_cast<size_t>(end - room_.get()));
  }
  return Status::Ok();
}

// --- columns -------------------------------------------------------------------------------------

void CsvEncoder::TakeColumn(const RowBatch& batch, int number, int first, size_t rows) {
  const Column& column = batch.columns[static_cast<size_t>(number)];
  const Type& type = schema_.type(number);
  Cells* const cells = cells_[static_cast<size_t>(number)].get();
  if (IsCharacter(type) && has_quick_values_ && options_.quote != '\0') {
    cells->way = Way::kText;
    cells->texts = column.values<StringView>() + first;
    cells->validity = column.validity();
    cells->first = first;
    return;
  }
  cells->way = Way::kPieces;
  if (!has_quick_values_ || !TakePieces(column, type, first, rows, cells) ||
      !TakeNulls(column, first, rows, cells)) {
    cells->way = Way::kOther;
    TakeOthers(batch, number, first, rows);
  }
}

// False: not as pieces.
bool CsvEncoder::TakePieces(const Column& column, const Type& type, int first, size_t rows,
                            Cells* cells) {
  switch (type.kind) {
    case TypeKind::kTinyInt: TakeIntegers(column.values<int8_t>() + first, rows, cells); break;
    case TypeKind::kSmallInt: TakeIntegers(column.values<int16_t>() + first, rows, cells); break;
    case TypeKind::kInt: TakeIntegers(column.values<int32_t>() + first, rows, cells); break;
    case TypeKind::kBigInt: TakeIntegers(column.values<int64_t>() + first, rows, cells); break;
    case TypeKind::kDecimal:
      return column.layout() == Layout::kInt64
                 ? TakeDecimals(column.values<int64_t>() + first, type.scale, rows, cells)
                 : TakeDecimals(column.values<int128>() + first, type.scale, rows, cells);
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz:
      return column.layout() == Layout::kInt64 && has_quick_times_ &&
             TakeTimes(column.values<int64_t>() + first, type, rows, cells);
    default: return false;
  }
  return true;
}

inline void CsvEncoder::EndPiece(size_t row, char* end, char delimiter, Cells* cells) {
  *end = delimiter;
  cells->bytes[row] = static_cast<uint8_t>(end + 1 - cells->pieces[row]);
}

template <typename T>
void CsvEncoder::TakeIntegers(const T* values, size_t rows, Cells* cells) const {
  if constexpr (sizeof(T) == 8) {
    has_avx2_ ? TakeLongsAvx2(values, rows, cells) : TakeLongs(values, 0, rows, cells);
  } else {
    int64_t longs[kStepRows];
    std::copy(values, values + rows, longs);
    TakeIntegers(longs, rows, cells);
  }
}

void CsvEncoder::TakeLongs(const int64_t* values, size_t row, size_t rows, Cells* cells) const {
  const char delimiter = options_.delimiter.front();
  for (; row < rows; ++row)
    EndPiece(row, PutInteger(values[row], cells->pieces[row]), delimiter, cells);
}

RT_AVX2 void CsvEncoder::TakeLongsAvx2(const int64_t* values, size_t rows, Cells* cells) const {
  const char delimiter = options_.delimiter.front();
  size_t row = 0;
  for (; row + 4 <= rows; row += 4) {
    uint64_t digits[4];
    if (!DigitsOfFour(values + row, digits)) {
      TakeLongs(values, row, row + 4, cells);
      continue;
    }
    for (size_t i = 0; i < 4; ++i)
      EndPiece(row + i, PutDigits(digits[i], cells->pieces[row + i]), delimiter, cells);
  }
  TakeLongs(values, row, rows, cells);
}

// False: one of them does not fit 64 bits. First all digits, then the points: what was just stored
// in several pieces cannot be loaded as one right away.
template <typename T>
bool CsvEncoder::TakeDecimals(const T* values, int scale, size_t rows, Cells* cells) const {
  char texts[kStepRows][64];
  BareDigits digits[kStepRows];
  for (size_t row = 0; row < rows; ++row) {
    const auto value = static_cast<int64_t>(values[row]);
    if (value != values[row]) return false;
    digits[row] = PutBareDigits(Magnitude(value), texts[row]);
  }
  const char delimiter = options_.delimiter.front();
  for (size_t row = 0; row < rows; ++row) {
    char* const end =
        PutJavaDecimalStripped(digits[row], values[row] < 0, scale, cells->pieces[row]);
    EndPiece(row, end, delimiter, cells);
  }
  return true;
}

// `"2026-01-02 03:04:05.12"`, and Z behind it for an instant. False: a year of five digits.
bool CsvEncoder::TakeTimes(const int64_t* values, const Type& type, size_t rows,
                           Cells* cells) const {
  const bool in_millis = type.precision <= 3;
  const int64_t second = in_millis ? 1000 : 1000000;
  const int cut = in_millis ? 40 : 16;  // bits of the digits that a fraction does not have
  const char delimiter = options_.delimiter.front(), quote = options_.quote;
  const bool is_quoted = quote != '\0';
  const bool has_zone = type.kind == TypeKind::kTimestampLtz;
  LastSecond& last = cells->second;
  for (size_t row = 0; row < rows; ++row) {
    if (row > 0 && values[row] == values[row - 1]) {
      std::memcpy(cells->pieces[row], cells->pieces[row - 1], kPieceBytes);
      cells->bytes[row] = cells->bytes[row - 1];
      continue;
    }
    uint64_t within = last.Within(values[row]);
    if (within >= static_cast<uint64_t>(second)) {
      if (!last.MoveTo(values[row], second)) return false;
      within = last.Within(values[row]);
    }
    char* out = cells->pieces[row];
    *out = quote;
    out += is_quoted;
    std::memcpy(out, last.text, sizeof(last.text));
    // Without the zeros at its end, which are the highest bytes.
    const uint64_t fraction = DigitsOf(static_cast<uint32_t>(within)) >> cut;
    StoreDigits(fraction, out + LastSecond::kTextBytes);
    out += LastSecond::kTextBytes +
           (fraction == 0 ? -1 : 8 - __builtin_clzll(fraction) / 8);  // … and no point then
    *out = 'Z';
    out += has_zone;
    *out = quote;
    EndPiece(row, out + is_quoted, delimiter, cells);
  }
  return true;
}

// False: the text for NULL is too long.
bool CsvEncoder::TakeNulls(const Column& column, int first, size_t rows, Cells* cells) const {
  if (!column.may_have_nulls()) return true;
  if (null_literal_.size() >= kPieceBytes) return false;
  for (size_t row = 0; row < rows; ++row) {
    if (!column.IsNull(first + static_cast<int>(row))) continue;
    char* const piece = cells->pieces[row];
    EndPiece(row, std::copy(null_literal_.begin(), null_literal_.end(), piece),
             options_.delimiter.front(), cells);
  }
  return true;
}

void CsvEncoder::TakeOthers(const RowBatch& batch, int column, int first, size_t rows) {
  Cells& cells = *cells_[static_cast<size_t>(column)];
  cells.others.clear();
  cells.ends[0] = 0;
  for (size_t row = 0; row < rows; ++row) {
    AppendValue(batch, column, first + static_cast<int>(row), &cells.others);
    cells.others += options_.delimiter;
    cells.ends[row + 1] = cells.others.size();
  }
}

// --- rows ----------------------------------------------------------------------------------------

template <typename Piece>
inline char* CsvEncoder::WriteRowsBy(size_t rows) {
  // All in locals: the compiler cannot know that rows are not written over members.
  const char delimiter = options_.delimiter.front(), quote = options_.quote;
  const char escape = options_.escape != '\0' ? options_.escape : quote;
  const QuotedLook<Piece> quoted{Piece::Of(static_cast<char>(last_quoted_)), Piece::Of('\\'),
                                 Piece::Of(escape)};
  const DoubledLook<Piece> doubled{Piece::Of(quote), Piece::Of(escape)};
  const size_t delimiter_bytes = options_.delimiter.size();
  const std::unique_ptr<Cells>* const columns = cells_.data();
  const size_t column_count = cells_.size();
  char* out = room_.get();
  for (size_t row = 0; row < rows; ++row) {
    out = RoomFor(0, out);
    const char* limit = Limit();
    for (size_t column = 0; column < column_count; ++column) {
      const Cells& cells = *columns[column].get();
      if (cells.way == Way::kPieces) {
        std::memcpy(out, cells.pieces[row], kPieceBytes);
        out += cells.bytes[row];
        continue;
      }
      if (cells.way == Way::kOther) {
        out = WriteBytes(std::string_view(cells.others)
                             .substr(cells.ends[row], cells.ends[row + 1] - cells.ends[row]),
                         out);
        limit = Limit();
        continue;
      }
      const StringView& text = cells.texts[row];
      const size_t size = text.size();
      if (out + size > limit || (cells.validity != nullptr && IsNull(cells, row))) [[unlikely]] {
        out = IsNull(cells, row) ? WriteBytes(null_literal_, out) : WriteText(text.view(), out);
        limit = Limit();
      } else if (size <= kLookedAtMax && CopyText<Piece>(text, out, quoted) == 0) {
        out += size;
      } else if (CopyText<Piece>(text, out + 1, doubled) == 0) {
        *out = quote;
        out[size + 1] = quote;
        out += size + 2;
      } else {
        out = WriteText(text.view(), out);
        limit = Limit();
      }
      *out++ = delimiter;
    }
    out -= delimiter_bytes;  // over the last one
    *out++ = '\n';
    row_ends_[row] = static_cast<size_t>(out - room_.get());
  }
  return out;
}

inline bool CsvEncoder::IsNull(const Cells& cells, size_t row) {
  const size_t at = static_cast<size_t>(cells.first) + row;
  return cells.validity != nullptr && !((cells.validity[at >> 3] >> (at & 7)) & 1);
}

// Flattened, so that what is above becomes part of a function that may use these instructions.
RT_AVX2 [[gnu::flatten]] char* CsvEncoder::WriteRowsAvx2(size_t rows) {
  return WriteRowsBy<Avx2Piece>(rows);
}

char* CsvEncoder::WriteRows(size_t rows) { return WriteRowsBy<SsePiece>(rows); }

// With a look at every character, where the first look was not enough.
[[gnu::noinline]] char* CsvEncoder::WriteText(std::string_view text, char* out) {
  scratch_.clear();
  AppendText(text, &scratch_);
  return WriteBytes(scratch_, out);
}

inline char* CsvEncoder::WriteBytes(std::string_view bytes, char* out) {
  out = RoomFor(bytes.size(), out);
  std::memcpy(out, bytes.data(), bytes.size());
  return out + bytes.size();
}

// Where a text may end, at most: pieces of the row follow, and stores beyond the end.
inline const char* CsvEncoder::Limit() const { return room_.get() + room_bytes_ - row_bytes_; }

// Moves what was written, if need be, so that a text of so many bytes ends before the limit.
inline char* CsvEncoder::RoomFor(size_t bytes, char* out) {
  if (out + bytes <= Limit()) [[likely]]
    return out;
  const auto written = static_cast<size_t>(out - room_.get());
  room_bytes_ = 2 * (written + bytes + row_bytes_);
  auto larger = std::make_unique_for_overwrite<char[]>(room_bytes_);
  std::memcpy(larger.get(), room_.get(), written);
  room_ = std::move(larger);
  return room_.get() + written;
}

// --- values one by one ---------------------------------------------------------------------------

void CsvEncoder::AppendValue(const RowBatch& batch, int number, int row, std::string* out) {
  const Column& column = batch.columns[static_cast<size_t>(number)];
  const Type& type = schema_.type(number);
  if (column.IsNull(row)) {
    *out += null_literal_;
    return;
  }
  if (IsCharacter(type)) return AppendText(column.values<StringView>()[row].view(), out);
  const Value value = ValueAt(batch, number, row, type);
  scratch_.clear();
  switch (type.kind) {
    case TypeKind::kBoolean: *out += std::get<bool>(value) ? "true" : "false"; return;
    case TypeKind::kTinyInt:
    case TypeKind::kSmallInt:
    case TypeKind::kInt:
    case TypeKind::kBigInt: return AppendInteger(std::get<int64_t>(value), out);
    case TypeKind::kFloat: return AppendJavaFloat(static_cast<float>(std::get<double>(value)), out);
    case TypeKind::kDouble: return AppendJavaDouble(std::get<double>(value), out);
    case TypeKind::kDecimal:
      return AppendJavaDecimalStripped(std::get<int128>(value), type.scale, out);
    case TypeKind::kBinary:
    case TypeKind::kVarBinary: AppendBase64(std::get<std::string>(value), &scratch_); break;
    case TypeKind::kDate:
    case TypeKind::kTime:
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz: AppendStrippedTime(value, type, ' ', &scratch_); break;
    case TypeKind::kChar:
    case TypeKind::kVarChar:
    case TypeKind::kNull:
    case TypeKind::kIntervalMonths:
    case TypeKind::kIntervalMillis:
    case TypeKind::kSymbol: break;
  }
  AppendText(scratch_, out);
}

void CsvEncoder::AppendText(std::string_view text, std::string* out) const {
  if (NeedsQuotes(text)) return AppendQuoted(text, out);
  *out += text;
}

void CsvEncoder::AppendQuoted(std::string_view text, std::string* out) const {
  *out += options_.quote;
  if (options_.escape == '\0') {
    for (size_t at = text.find(options_.quote); at != text.npos; at = text.find(options_.quote)) {
      *out += text.substr(0, at + 1);
      *out += options_.quote;
      text.remove_prefix(at + 1);
    }
    *out += text;
  } else {
    for (const char c : text) {
      if (c == options_.quote || c == options_.escape) *out += c;
      *out += c;
    }
  }
  *out += options_.quote;
}

bool CsvEncoder::NeedsQuotes(std::string_view text) const {
  if (options_.quote == '\0') return false;
  if (text.size() > 3 * kLookedAtMax) return true;  // no unit has more than three bytes
  size_t units = 0;                                 // that Java would count
  uint8_t needs = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    needs |= needs_quotes_[byte];
    units += (byte & 0xc0) != 0x80;
    units += byte >= 0xf0;
  }
  if (needs != 0 || units > kLookedAtMax) return true;
  if (last_quoted_ < 0x80) return false;
  for (size_t at = 0; at < text.size(); ++at) {
    if ((text[at] & 0xc0) == 0xc0 && FirstUnit(text.substr(at)) <= last_quoted_) return true;
  }
  return false;
}

}  // namespace rowtide
