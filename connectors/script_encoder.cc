#include "connectors/script_encoder.h"

#include <emmintrin.h>

#include <cstring>

#include "engine/value_text.h"

namespace rowtide {
namespace {

// What a value of fixed width and the comma behind it write at most, stores of 16 bytes included.
constexpr size_t kValueBytesMax = 48;
constexpr uint32_t kEightDigits = 100000000;

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
  return AppendUnsigned(value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value), out);
}

// Bytes that JSON escapes: below 0x20, the quote, the backslash.
inline __m128i Specials(__m128i block) {
  const __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(block, _mm_set1_epi8(0x1f)), block);
  return _mm_or_si128(control, _mm_or_si128(_mm_cmpeq_epi8(block, _mm_set1_epi8('"')),
                                            _mm_cmpeq_epi8(block, _mm_set1_epi8('\\'))));
}

inline __m128i Load(const char* from) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)); }
inline void Store(__m128i block, char* to) { _mm_storeu_si128(reinterpret_cast<__m128i*>(to), block); }

}  // namespace

ScriptEncoder::ScriptEncoder(Schema schema) : schema_(std::move(schema)) {
  for (const Field& field : schema_.fields()) columns_.push_back({WayOf(field.type), nullptr, nullptr, INT64_MIN, {}});
  slack_ = (columns_.size() + 2) * kValueBytesMax;
  Reserve(buffer_.data(), 4096);
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

void ScriptEncoder::Begin(const RowBatch& batch) {
  batch_ = &batch;
  for (size_t i = 0; i < columns_.size(); ++i) {
    columns_[i].values = batch.columns[i].data();
    columns_[i].validity = batch.columns[i].validity();
  }
}

std::string_view ScriptEncoder::Line(int row) {
  char* out = buffer_.data();
  std::memcpy(out, Text(batch_->kind(row)), 2);
  out[2] = ' ';
  out[3] = '[';
  out += 4;
  for (size_t i = 0; i < columns_.size(); ++i) {
    ColumnWay& column = columns_[i];
    if (column.validity && !((column.validity[row >> 3] >> (row & 7)) & 1)) {
      std::memcpy(out, "null", 4);
      out += 4;
    } else {
      const auto value = [&]<typename T>(T) { return reinterpret_cast<const T*>(column.values)[row]; };
      switch (column.way) {
        case Way::kInt8: out = AppendInteger(value(int8_t{}), out); break;
        case Way::kInt16: out = AppendInteger(value(int16_t{}), out); break;
        case Way::kInt32: out = AppendInteger(value(int32_t{}), out); break;
        case Way::kInt64: out = AppendInteger(value(int64_t{}), out); break;
        case Way::kString: out = AppendString(reinterpret_cast<const StringView*>(column.values)[row], out); break;
        case Way::kMillis: out = AppendMillis(column, value(int64_t{}), out); break;
        case Way::kOther: out = AppendOther(i, row, out); break;
      }
    }
    *out++ = ',';
  }
  out -= columns_.empty() ? 0 : 1;
  out[0] = ']';
  out[1] = '\n';
  return {buffer_.data(), static_cast<size_t>(out + 2 - buffer_.data())};
}

// Copies 16 bytes at a step and looks for what has to be escaped on the way.
inline char* ScriptEncoder::AppendString(const StringView& view, char* out) {
  const std::string_view text = view.view();
  if (text.size() >= static_cast<size_t>(full_ - out)) [[unlikely]] out = Reserve(out, text.size());
  const char* from = text.data();
  char* const begin = out;
  *out++ = '"';
  char* const end = out + text.size();
  __m128i found = _mm_setzero_si128();
  if (text.size() >= 16) {
    for (; end - out > 16; from += 16, out += 16) {
      const __m128i block = Load(from);
      found = _mm_or_si128(found, Specials(block));
      Store(block, out);
    }
    const __m128i block = Load(text.data() + text.size() - 16);  // the last 16, some of them again
    found = _mm_or_si128(found, Specials(block));
    Store(block, end - 16);
    if (_mm_movemask_epi8(found) != 0) [[unlikely]] return AppendEscaped(text, begin);
  } else {
    __m128i block = _mm_setzero_si128();
    if (view.is_inline()) {
      std::memcpy(&block, from, StringView::kInlineBytes);
    } else {
      std::memcpy(&block, from, text.size());
    }
    Store(block, out);
    const auto mask = static_cast<uint32_t>(_mm_movemask_epi8(Specials(block))) & ((1u << text.size()) - 1);
    if (mask != 0) [[unlikely]] return AppendEscaped(text, begin);
  }
  *end = '"';
  return end + 1;
}

char* ScriptEncoder::AppendEscaped(std::string_view text, char* out) {
  scratch_.clear();
  AppendJsonString(text, &scratch_);
  return AppendScratch(out);
}

inline char* ScriptEncoder::AppendMillis(ColumnWay& column, int64_t millis, char* out) {
  const int64_t second = (millis >= 0 ? millis : millis - 999) / 1000;
  constexpr size_t kBytes = 21;  // the quote, 19 of the second, the point
  if (second != column.second) {
    scratch_ = "\"";
    AppendTimestamp(second * 1000, 0, 3, &scratch_);
    if (scratch_.size() != kBytes + 3) {  // a year of more than four digits
      scratch_ = "\"";
      AppendTimestamp(millis, 0, 3, &scratch_);
      scratch_ += '"';
      return AppendScratch(out);
    }
    std::memcpy(column.second_text, scratch_.data(), kBytes);
    column.second = second;
  }
  std::memcpy(out, column.second_text, sizeof(column.second_text));
  const auto milli = static_cast<uint32_t>(millis - second * 1000);
  out[kBytes] = static_cast<char>('0' + milli / 100);
  out[kBytes + 1] = static_cast<char>('0' + milli / 10 % 10);
  out[kBytes + 2] = static_cast<char>('0' + milli % 10);
  out[kBytes + 3] = '"';
  return out + kBytes + 4;
}

char* ScriptEncoder::AppendOther(size_t column, int row, char* out) {
  scratch_.clear();
  AppendScriptText(batch_->columns[column], row, schema_.type(static_cast<int>(column)), &scratch_);
  return AppendScratch(out);
}

char* ScriptEncoder::AppendScratch(char* out) {
  if (scratch_.size() >= static_cast<size_t>(full_ - out)) out = Reserve(out, scratch_.size());
  std::memcpy(out, scratch_.data(), scratch_.size());
  return out + scratch_.size();
}

char* ScriptEncoder::Reserve(char* out, size_t bytes) {
  const auto used = static_cast<size_t>(out - buffer_.data());
  buffer_.resize(2 * (used + bytes + slack_));
  full_ = buffer_.data() + buffer_.size() - slack_;
  return buffer_.data() + used;
}

}  // namespace rowtide
