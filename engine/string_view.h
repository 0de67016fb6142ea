// A string or byte value in a column: 16 bytes, short values inside, long ones pointing into a byte
// block.
//
//   | length: u32 | 12 bytes of the value, zero padded             |   length <= 12
//   | length: u32 | first 4 bytes | pointer to all bytes: 8 bytes  |   length >  12
//
// The layout is Arrow's string view but for the last word, a pointer where Arrow has block and
// offset: a pointer is read without knowing the column. The batch keeps the block alive. Two short
// values are equal iff their 16 bytes are.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace rowtide {

class StringView {
 public:
  static constexpr uint32_t kInlineBytes = 12;

  StringView() : length_(0), inlined_{} {}
  // Points at `data` when longer than 12 bytes: the caller keeps it alive.
  StringView(const char* data, uint32_t length) : length_(length), inlined_{} {
    if (length <= kInlineBytes) {
      std::memcpy(inlined_, data, length);
    } else {
      std::memcpy(inlined_, data, 4);
      std::memcpy(inlined_ + 4, &data, sizeof(data));
    }
  }
  explicit StringView(std::string_view text)
      : StringView(text.data(), static_cast<uint32_t>(text.size())) {}

  uint32_t size() const { return length_; }
  bool is_inline() const { return length_ <= kInlineBytes; }
  const char* data() const {
    if (is_inline()) return inlined_;
    const char* pointer;
    std::memcpy(&pointer, inlined_ + 4, sizeof(pointer));
    return pointer;
  }
  // Valid while this object (short values) or its block (long ones) lives.
  std::string_view view() const { return {data(), length_}; }

  // As StringView(data, length), without a copy of variable length. Requires: 16 readable bytes
  // from `data` on.
  static StringView WithSlack(const char* data, uint32_t length) {
    if (length > kInlineBytes) return StringView(data, length);
    uint64_t low, high;
    std::memcpy(&low, data, 8);
    std::memcpy(&high, data + 8, 8);
    const uint64_t keep_low = length >= 8 ? ~uint64_t{0} : (uint64_t{1} << (8 * length)) - 1;
    const uint64_t keep_high = length > 8 ? (uint64_t{1} << (8 * (length - 8))) - 1 : 0;
    low &= keep_low;
    const auto tail = static_cast<uint32_t>(high & keep_high);
    StringView view;
    view.length_ = length;
    std::memcpy(view.inlined_, &low, 8);
    std::memcpy(view.inlined_ + 8, &tail, 4);
    return view;
  }

  friend bool operator==(const StringView& a, const StringView& b) {
    uint64_t head_a, head_b;
    std::memcpy(&head_a, &a, 8);
    std::memcpy(&head_b, &b, 8);
    if (head_a != head_b) return false;  // length and first four bytes
    if (a.is_inline()) return std::memcmp(a.inlined_ + 4, b.inlined_ + 4, 8) == 0;
    return std::memcmp(a.data(), b.data(), a.length_) == 0;
  }

 private:
  uint32_t length_;
  char inlined_[kInlineBytes];
};
static_assert(sizeof(StringView) == 16, "the drawing above");

}  // namespace rowtide
