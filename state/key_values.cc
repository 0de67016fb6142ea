// Keys back to values, for people who look at state: the inverse of key_codec.cc.
#include <algorithm>
#include <numeric>

#include "state/key_codec.h"
#include "state/value_bytes.h"

namespace rowtide {
namespace {

bool HasBit(std::string_view bits, size_t i) {
  return ((static_cast<uint8_t>(bits[i >> 3]) >> (i & 7)) & 1) != 0;
}

Status NoKey(std::string_view key) {
  return Status::Corruption("a key of {} bytes does not have the columns of its operator",
                            key.size());
}

// Undoes what PutOrderedValue does to the bytes of a number.
void FromOrdered(Layout layout, std::string* bytes) {
  const auto reverse = [&](size_t first, size_t count) {
    std::reverse(bytes->begin() + static_cast<ptrdiff_t>(first),
                 bytes->begin() + static_cast<ptrdiff_t>(first + count));
  };
  const auto flip_sign = [&](size_t at) { (*bytes)[at] = static_cast<char>((*bytes)[at] ^ 0x80); };
  switch (layout) {
    case Layout::kBool:
    case Layout::kBytes: return;
    case Layout::kFloat:
    case Layout::kDouble:
      if (((*bytes)[0] & 0x80) != 0) {
        flip_sign(0);
      } else {
        for (char& c : *bytes) c = static_cast<char>(~c);
      }
      return reverse(0, bytes->size());
    case Layout::kWideTime:
      flip_sign(0);
      flip_sign(8);
      reverse(0, 8);
      return reverse(8, 4);
    default: flip_sign(0); return reverse(0, bytes->size());
  }
}

// Takes `… 00 00`, where 00 FF stands for 00, off the front. False: it has no end.
bool TakeEscaped(bool descending, std::string_view* from, std::string* text) {
  const char turn = descending ? '\xff' : '\0';
  for (size_t i = 0; i + 1 < from->size(); ++i) {
    const char c = static_cast<char>((*from)[i] ^ turn);
    if (c == 0 && static_cast<char>((*from)[i + 1] ^ turn) == 0) {
      from->remove_prefix(i + 2);
      return true;
    }
    text->push_back(c);
    if (c == 0) ++i;  // its FF
  }
  return false;
}

}  // namespace

KeyCodec KeyCodec::Alone(const Schema& keys) const {
  std::vector<int> all(columns_.size());
  std::iota(all.begin(), all.end(), 0);
  return KeyCodec(keys, std::move(all), separate_zeros_);
}

Result<std::vector<Value>> KeyCodec::Decode(std::string_view key) const {
  std::vector<Value> values;
  const bool has_bits = has_strings_ || key.size() == fixed_width_ + null_bytes_;
  const size_t fixed = fixed_width_ + (has_bits ? null_bytes_ : 0);
  if (has_strings_ ? key.size() < fixed : key.size() != fixed) return NoKey(key);
  std::string_view bits;
  std::string_view left = key;
  if (has_strings_) {
    bits = left.substr(0, null_bytes_);
    left.remove_prefix(null_bytes_);
  } else if (has_bits) {
    bits = left.substr(fixed_width_);
  }
  for (size_t i = 0; i < parts_.size(); ++i) {
    size_t width = parts_[i].width;
    if (width == 0) {
      uint32_t size;
      if (left.size() < sizeof(size)) return NoKey(key);
      std::memcpy(&size, left.data(), sizeof(size));
      left.remove_prefix(sizeof(size));
      width = size;
    }
    if (left.size() < width) return NoKey(key);
    const bool is_null = has_bits && HasBit(bits, i);
    values.push_back(is_null ? Value() : ValueOfBytes(left.substr(0, width), parts_[i].type));
    left.remove_prefix(width);
  }
  if (has_strings_ && !left.empty()) return NoKey(key);
  return values;
}

Result<std::vector<Value>> SortKeyCodec::Decode(std::string_view key) const {
  std::vector<Value> values;
  std::string_view left = key;
  for (const Part& part : parts_) {
    if (part.may_be_null) {
      if (left.empty()) return NoKey(key);
      const bool is_null = (left[0] != 0) != part.field.nulls_first;
      left.remove_prefix(1);
      if (is_null) {
        if (left.size() < part.width) return NoKey(key);
        left.remove_prefix(part.width);
        values.emplace_back();
        continue;
      }
    }
    std::string bytes;
    if (part.width == 0) {
      if (!TakeEscaped(part.field.descending, &left, &bytes)) return NoKey(key);
    } else {
      if (left.size() < part.width) return NoKey(key);
      bytes = left.substr(0, part.width);
      left.remove_prefix(part.width);
      if (part.field.descending) {
        for (char& c : bytes) c = static_cast<char>(~c);
      }
      FromOrdered(part.layout, &bytes);
    }
    values.push_back(ValueOfBytes(bytes, part.type));
  }
  if (!left.empty()) return NoKey(key);
  return values;
}

}  // namespace rowtide
