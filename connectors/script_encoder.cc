#include "connectors/script_encoder.h"

#include <emmintrin.h>

#include <array>
#include <cstring>

#include "engine/value_text.h"

namespace rowtide {
namespace {

// What a value of fixed width, quotes, brackets and a 16-byte store may write at most.
constexpr size_t kSlackBytes = 96;

// "00" to "99", one after the other.
constexpr auto kPairs = [] {
  std::array<char, 200> pairs{};
  for (size_t i = 0; i < 100; ++i) {
    pairs[2 * i] = static_cast<char>('0' + i / 10);
    pairs[2 * i + 1] = static_cast<char>('0' + i % 10);
  }
  return pairs;
}();

char* AppendUnsigned(uint64_t value, char* out) {
  char digits[20];
  char* const end = digits + sizeof(digits);
  char* at = end;
  while (value >= 100) {
    at -= 2;
    std::memcpy(at, &kPairs[2 * (value % 100)], 2);
    value /= 100;
  }
  if (value >= 10) {
    at -= 2;
    std::memcpy(at, &kPairs[2 * value], 2);
  } else {
    *--at = static_cast<char>('0' + value);
  }
  const auto count = static_cast<size_t>(end - at);
  std::memcpy(out, at, count);
  return out + count;
}

char* AppendInteger(int64_t value, char* out) {
  if (value >= 0) [[likely]] return AppendUnsigned(static_cast<uint64_t>(value), out);
  *out++ = '-';
  return AppendUnsigned(0 - static_cast<uint64_t>(value), out);
}

}  // namespace

ScriptEncoder::ScriptEncoder(Schema schema) : schema_(std::move(schema)) {
  for (const Field& field : schema_.fields()) ways_.push_back(WayOf(field.type));
  last_times_.resize(ways_.size());
  buffer_.resize(4096);
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

std::string_view ScriptEncoder::Line(const RowBatch& batch, int row) {
  char* out = buffer_.data();
  std::memcpy(out, Text(batch.kind(row)), 2);
  out[2] = ' ';
  out[3] = '[';
  out += 4;
  for (size_t column = 0; column < ways_.size(); ++column) {
    out = Append(batch, column, row, out);
    *out++ = ',';
  }
  out -= ways_.empty() ? 0 : 1;
  out[0] = ']';
  out[1] = '\n';
  return {buffer_.data(), static_cast<size_t>(out + 2 - buffer_.data())};
}

char* ScriptEncoder::Append(const RowBatch& batch, size_t number, int row, char* out) {
  const Column& column = batch.columns[number];
  if (static_cast<size_t>(out - buffer_.data()) + kSlackBytes > buffer_.size()) out = Reserve(out, kSlackBytes);
  if (column.IsNull(row)) {
    std::memcpy(out, "null", 4);
    return out + 4;
  }
  switch (ways_[number]) {
    case Way::kInt8: return AppendInteger(column.values<int8_t>()[row], out);
    case Way::kInt16: return AppendInteger(column.values<int16_t>()[row], out);
    case Way::kInt32: return AppendInteger(column.values<int32_t>()[row], out);
    case Way::kInt64: return AppendInteger(column.values<int64_t>()[row], out);
    case Way::kString: return AppendString(column.values<StringView>()[row], out);
    case Way::kMillis: return AppendMillis(number, column.values<int64_t>()[row], out);
    case Way::kOther: return AppendOther(column, number, row, out);
  }
  return out;
}

// Copies 16 bytes at a step while nothing among them has to be escaped.
char* ScriptEncoder::AppendString(const StringView& view, char* out) {
  const std::string_view text = view.view();
  if (static_cast<size_t>(out - buffer_.data()) + text.size() + kSlackBytes > buffer_.size()) {
    out = Reserve(out, text.size() + kSlackBytes);
  }
  *out++ = '"';
  const __m128i control = _mm_set1_epi8(0x1f), quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\');
  const auto specials = [&](__m128i block) {
    const __m128i hits = _mm_or_si128(_mm_cmpeq_epi8(_mm_min_epu8(block, control), block),
                                      _mm_or_si128(_mm_cmpeq_epi8(block, quote), _mm_cmpeq_epi8(block, backslash)));
    return static_cast<uint32_t>(_mm_movemask_epi8(hits));
  };
  const char* from = text.data();
  size_t left = text.size();
  uint32_t found = 0;
  for (; left >= 16; left -= 16, from += 16, out += 16) {
    const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    found |= specials(block);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out), block);
  }
  if (left > 0) {
    __m128i block = _mm_setzero_si128();
    if (text.size() >= 16) {  // the last 16 bytes, some of them again
      block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + left - 16));
      found |= specials(block);
      _mm_storeu_si128(reinterpret_cast<__m128i*>(out + left - 16), block);
    } else if (view.is_inline()) {  // the 12 bytes inside the view
      std::memcpy(&block, from, StringView::kInlineBytes);
      found |= specials(block) & ((1u << left) - 1);
      _mm_storeu_si128(reinterpret_cast<__m128i*>(out), block);
    } else {
      std::memcpy(&block, from, left);
      found |= specials(block) & ((1u << left) - 1);
      _mm_storeu_si128(reinterpret_cast<__m128i*>(out), block);
    }
    out += left;
  }
  if (found != 0) [[unlikely]] return AppendEscaped(text, out - text.size() - 1);
  *out++ = '"';
  return out;
}

char* ScriptEncoder::AppendEscaped(std::string_view text, char* out) {
  scratch_.clear();
  AppendJsonString(text, &scratch_);
  out = Reserve(out, scratch_.size() + kSlackBytes);
  std::memcpy(out, scratch_.data(), scratch_.size());
  return out + scratch_.size();
}

char* ScriptEncoder::AppendMillis(size_t number, int64_t millis, char* out) {
  LastTime& last = last_times_[number];
  const int64_t second = (millis >= 0 ? millis : millis - 999) / 1000;
  constexpr size_t kBytes = 21;  // the quote, 19 of the second, the point
  if (second != last.second) {
    scratch_ = "\"";
    AppendTimestamp(second * 1000, 0, 3, &scratch_);
    if (scratch_.size() != kBytes + 3) {  // a year of more or fewer than four digits
      scratch_ = "\"";
      AppendTimestamp(millis, 0, 3, &scratch_);
      scratch_ += '"';
      out = Reserve(out, scratch_.size() + kSlackBytes);
      std::memcpy(out, scratch_.data(), scratch_.size());
      return out + scratch_.size();
    }
    std::memcpy(last.text, scratch_.data(), kBytes);
    last.second = second;
  }
  std::memcpy(out, last.text, sizeof(last.text));
  const auto milli = static_cast<uint32_t>(millis - second * 1000);
  out[kBytes] = static_cast<char>('0' + milli / 100);
  std::memcpy(out + kBytes + 1, &kPairs[2 * (milli % 100)], 2);
  out[kBytes + 3] = '"';
  return out + kBytes + 4;
}

char* ScriptEncoder::AppendOther(const Column& column, size_t number, int row, char* out) {
  scratch_.clear();
  AppendScriptText(column, row, schema_.type(static_cast<int>(number)), &scratch_);
  out = Reserve(out, scratch_.size() + kSlackBytes);
  std::memcpy(out, scratch_.data(), scratch_.size());
  return out + scratch_.size();
}

char* ScriptEncoder::Reserve(char* out, size_t bytes) {
  const auto used = static_cast<size_t>(out - buffer_.data());
  if (used + bytes > buffer_.size()) buffer_.resize(2 * (used + bytes));
  return buffer_.data() + used;
}

}  // namespace rowtide
