#include "connectors/script_encoder.h"

#include <immintrin.h>

#include <algorithm>
#include <cstring>

#include "engine/value_text.h"

namespace rowtide {
namespace {

// What a value of fixed width and the comma behind it write at most, stores of 32 bytes included.
constexpr size_t kValueBytesMax = 64;
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

// Sixteen or 32 bytes at once: loaded, stored, and which of them JSON escapes: below 0x20, the quote, the backslash.
struct SseBlock {
  static constexpr size_t kBytes = 16;
  __m128i bytes;

  explicit SseBlock(const char* from) : bytes(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))) {}
  void StoreTo(char* to) const { _mm_storeu_si128(reinterpret_cast<__m128i*>(to), bytes); }
  uint32_t Specials() const {
    const __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1f)), bytes);
    const __m128i marks = _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
    return static_cast<uint32_t>(_mm_movemask_epi8(_mm_or_si128(control, marks)));
  }
};

#define RT_AVX2 __attribute__((target("avx2,bmi")))
struct Avx2Block {
  static constexpr size_t kBytes = 32;
  __m256i bytes;

  RT_AVX2 explicit Avx2Block(const char* from) : bytes(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))) {}
  RT_AVX2 void StoreTo(char* to) const { _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), bytes); }
  RT_AVX2 uint32_t Specials() const {
    const __m256i control = _mm256_cmpeq_epi8(_mm256_min_epu8(bytes, _mm256_set1_epi8(0x1f)), bytes);
    const __m256i marks = _mm256_or_si256(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('"')), _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('\\')));
    return static_cast<uint32_t>(_mm256_movemask_epi8(_mm256_or_si256(control, marks)));
  }
};
#undef RT_AVX2

}  // namespace

ScriptEncoder::ScriptEncoder(Schema schema) : schema_(std::move(schema)) {
  for (const Field& field : schema_.fields()) columns_.push_back({WayOf(field.type), nullptr, nullptr, INT64_MIN, {}});
  line_ = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") ? &ScriptEncoder::LineAvx2 : &ScriptEncoder::LineSse;
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

// Flattened, so that what is below becomes part of a function that may use these instructions.
__attribute__((target("avx2,bmi"), flatten)) std::string_view ScriptEncoder::LineAvx2(int row) { return LineWith<Avx2Block>(row); }
__attribute__((flatten)) std::string_view ScriptEncoder::LineSse(int row) { return LineWith<SseBlock>(row); }

template <typename Block>
inline std::string_view ScriptEncoder::LineWith(int row) {
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
        case Way::kString: out = AppendString<Block>(reinterpret_cast<const StringView*>(column.values)[row], out); break;
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

// Copies a block at a step and looks for what has to be escaped on the way.
template <typename Block>
inline char* ScriptEncoder::AppendString(const StringView& view, char* out) {
  const std::string_view text = view.view();
  if (text.size() >= static_cast<size_t>(full_ - out)) [[unlikely]] out = Reserve(out, text.size());
  char* const begin = out;
  *out++ = '"';
  char* const end = out + text.size();
  uint32_t found = 0;
  if (text.size() >= Block::kBytes) {
    // Three blocks, of which the middle one may overlap the others: no branch on lengths that vary from row to row.
    const char* const last = text.data() + text.size() - Block::kBytes;
    const char* from = text.data();
    for (; last - from > static_cast<ptrdiff_t>(2 * Block::kBytes); from += Block::kBytes, out += Block::kBytes) {
      const Block block(from);
      found |= block.Specials();
      block.StoreTo(out);
    }
    const Block first(from), middle(std::min(from + Block::kBytes, last)), final(last);
    found |= first.Specials() | middle.Specials() | final.Specials();
    first.StoreTo(out);
    middle.StoreTo(std::min(out + Block::kBytes, end - Block::kBytes));
    final.StoreTo(end - Block::kBytes);
  } else if (text.size() >= SseBlock::kBytes) {
    const SseBlock first(text.data()), last(text.data() + text.size() - SseBlock::kBytes);
    found = first.Specials() | last.Specials();
    first.StoreTo(out);
    last.StoreTo(end - SseBlock::kBytes);
  } else {
    // A view holds a short text in its last 12 bytes, and reading them one by one would wait for the stores.
    SseBlock block(reinterpret_cast<const char*>(&view));
    block.bytes = _mm_srli_si128(block.bytes, 4);
    if (!view.is_inline()) {
      const __m128i head = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(text.data()));
      uint64_t tail;
      std::memcpy(&tail, text.data() + text.size() - 8, 8);
      block.bytes = _mm_unpacklo_epi64(head, _mm_cvtsi64_si128(static_cast<int64_t>(tail >> (8 * (16 - text.size())))));
    }
    found = block.Specials() & ((1u << text.size()) - 1);
    block.StoreTo(out);
  }
  if (found != 0) [[unlikely]] return AppendEscaped(text, begin);
  *end = '"';
  return end + 1;
}

[[gnu::noinline]] char* ScriptEncoder::AppendEscaped(std::string_view text, char* out) {
  scratch_.clear();
  AppendJsonString(text, &scratch_);
  return AppendScratch(out);
}

// `"yyyy-MM-dd HH:mm:ss.`
constexpr size_t kSecondBytes = 21;

inline char* ScriptEncoder::AppendMillis(ColumnWay& column, int64_t millis, char* out) {
  const int64_t second = (millis >= 0 ? millis : millis - 999) / 1000;
  if (second != column.second && !TakeSecond(column, second)) {
    scratch_ = "\"";
    AppendTimestamp(millis, 0, 3, &scratch_);
    scratch_ += '"';
    return AppendScratch(out);
  }
  std::memcpy(out, column.second_text, sizeof(column.second_text));
  const auto milli = static_cast<uint32_t>(millis - second * 1000);
  out[kSecondBytes] = static_cast<char>('0' + milli / 100);
  out[kSecondBytes + 1] = static_cast<char>('0' + milli / 10 % 10);
  out[kSecondBytes + 2] = static_cast<char>('0' + milli % 10);
  out[kSecondBytes + 3] = '"';
  return out + kSecondBytes + 4;
}

// False for a year of more than four digits: such a second has no text of that length.
[[gnu::noinline]] bool ScriptEncoder::TakeSecond(ColumnWay& column, int64_t second) {
  scratch_ = "\"";
  AppendTimestamp(second * 1000, 0, 3, &scratch_);
  if (scratch_.size() != kSecondBytes + 3) return false;
  std::memcpy(column.second_text, scratch_.data(), kSecondBytes);
  column.second = second;
  return true;
}

[[gnu::noinline]] char* ScriptEncoder::AppendOther(size_t column, int row, char* out) {
  scratch_.clear();
  AppendScriptText(batch_->columns[column], row, schema_.type(static_cast<int>(column)), &scratch_);
  return AppendScratch(out);
}

[[gnu::noinline]] char* ScriptEncoder::AppendScratch(char* out) {
  if (scratch_.size() >= static_cast<size_t>(full_ - out)) out = Reserve(out, scratch_.size());
  std::memcpy(out, scratch_.data(), scratch_.size());
  return out + scratch_.size();
}

[[gnu::noinline]] char* ScriptEncoder::Reserve(char* out, size_t bytes) {
  const auto used = static_cast<size_t>(out - buffer_.data());
  buffer_.resize(2 * (used + bytes + slack_));
  full_ = buffer_.data() + buffer_.size() - slack_;
  return buffer_.data() + used;
}

}  // namespace rowtide
