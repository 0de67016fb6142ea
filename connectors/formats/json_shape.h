// The shape of a record: its names in their order, with every byte around them. Most records look
// like one of the last few, so a guess replaces the parser.
//
//   learned     {"id":7,"name":"Ann"}      heads  {"id":   ,"name":      tail  }
//   the next    {"id":8,"name":"B\u0062"}  head, 8, head, B\u0062, tail: the same shape
//               {"name":"Bob","id":8}      begins with another head: not this shape
//
// A record has the shape when its bytes are head, value, head, value, …, tail, line end. A value is
// a string, a number, true, false or null by the grammar of json_syntax.h; values in values,
// control characters and whatever is no JSON are not taken. A head holds a whole name in quotes
// with its colon, and every value is checked to its end, so what has a shape is an object of JSON
// and nothing but that. Two things are left to the caller: whether its bytes are UTF-8, and whether
// the escapes of a string are any.
#pragma once

#include <emmintrin.h>

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "connectors/formats/json_scan.h"
#include "connectors/formats/json_values.h"

namespace rowtide {

class JsonShape {
 public:
  // The shape of the record that begins at `at`; false: it has none. Of the walks too: Requires:
  // the scan has looked at the line, and 64 bytes behind it are readable.
  bool Learn(const char* at, const JsonScan& scan, const JsonNames& names);

  // Calls `take(wanted, scalar)` for each value, where `wanted` is -1 when nobody reads it. Returns
  // where the line ends; null: the record has another shape, or `take` returned false.
  template <typename Take>
  __attribute__((always_inline)) const char* Walk(const char* at, const JsonScan& scan,
                                                  const Take& take) const;

  // Wanted columns that such a record does not have.
  std::span<const int> missing() const { return missing_; }
  bool SameAs(const JsonShape& other) const;

 private:
  struct Text {
    static constexpr size_t kBytesMax = 64;
    alignas(16) char data[kBytesMax] = {};
    uint32_t bytes = 0;
    uint32_t first = 0;  // a bit for each of the first 16 bytes
    bool Keep(const char* begin, const char* end);
    bool Stands(const char* at) const;
    bool operator==(const Text&) const = default;
  };
  struct Field {
    Text head;
    int wanted = -1;
  };

  // What ends a value, if it is one: the byte behind it, else null.
  static const char* StringEnd(const char* at, const JsonScan& scan, bool* has_escapes);
  static const char* DigitsEnd(const char* at);
  static const char* TokenEnd(const char* at, JsonScalar* scalar);
  template <typename Take>
  static const char* TakeValue(const char* at, const JsonScan& scan, const Take& take);

  std::vector<Field> fields_;
  std::vector<int> missing_;
  Text tail_;  // closes the object
};

// The shapes of late: events of a few kinds in one stream, fields left out now and then.
class JsonShapes {
 public:
  // As Walk, with the shape that fits; null: none does.
  template <typename Take>
  __attribute__((always_inline)) const char* Walk(const char* at, const JsonScan& scan,
                                                  const Take& take);
  // Of the last record that was walked.
  std::span<const int> missing() const { return shapes_.data()[last_].missing(); }
  // The record was good, yet no shape fitted. Learns its shape, but seldom where that has been of
  // little use.
  void Missed(const char* at, const JsonScan& scan, const JsonNames& names);

 private:
  static constexpr size_t kShapes = 8;
  static constexpr int64_t kUsefulHits = 16;
  static constexpr int kPauseMax = 63;

  std::vector<JsonShape> shapes_;
  size_t last_ = 0;
  size_t oldest_ = 0;
  JsonShape scratch_;
  int64_t hits_ = 0;  // since the last lesson
  int pause_ = 0;     // how many misses go by between two lessons
  int misses_ = 0;
};

// --- the walk, inlined into what is done with the values -----------------------------------------

__attribute__((always_inline)) inline bool JsonShape::Text::Stands(const char* at) const {
  const auto equal = [&](size_t i) {
    return static_cast<uint32_t>(_mm_movemask_epi8(
        _mm_cmpeq_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at + i)),
                       _mm_load_si128(reinterpret_cast<const __m128i*>(data + i)))));
  };
  if ((equal(0) & first) != first) return false;
  for (uint32_t i = 16; i < bytes; i += 16) {
    if ((~equal(i) & 0xffff & ((1u << std::min(bytes - i, 16u)) - 1)) != 0) return false;
  }
  return true;
}

// The quote that closes a string; a control character may not come before it.
__attribute__((always_inline)) inline const char* JsonShape::StringEnd(const char* at,
                                                                       const JsonScan& scan,
                                                                       bool* has_escapes) {
  while (true) {
    at = scan.Next(at);
    if (*at == '"') [[likely]]
      return at;
    if (*at != '\\' || static_cast<unsigned char>(at[1]) < ' ') return nullptr;
    *has_escapes = true;
    at += 2;
  }
}

// Behind plain digits: no sign, no point, no zero before them.
__attribute__((always_inline)) inline const char* JsonShape::DigitsEnd(const char* at) {
  const char* end = at;
  size_t digits;
  do {
    digits = LeadingDigits(LoadEight(end));
    end += digits;
  } while (digits == 8);
  if (*end != ',' && *end != '}' && *end != ' ') return nullptr;
  return end > at && (*at != '0' || end == at + 1) ? end : nullptr;
}

template <typename Take>
__attribute__((always_inline)) inline const char* JsonShape::TakeValue(const char* at,
                                                                       const JsonScan& scan,
                                                                       const Take& take) {
  if (*at == '"') {
    bool has_escapes = false;
    const char* const end = StringEnd(at + 1, scan, &has_escapes);
    if (end == nullptr) return nullptr;
    const std::string_view text(at + 1, static_cast<size_t>(end - at - 1));
    return take({.kind = JsonScalar::Kind::kString, .has_escapes = has_escapes, .text = text})
               ? end + 1
               : nullptr;
  }
  const char* end = DigitsEnd(at);
  if (end != nullptr) [[likely]] {
    const std::string_view text(at, static_cast<size_t>(end - at));
    return take({.kind = JsonScalar::Kind::kNumber, .text = text}) ? end : nullptr;
  }
  JsonScalar scalar;
  end = TokenEnd(at, &scalar);
  return end != nullptr && take(scalar) ? end : nullptr;
}

template <typename Take>
inline const char* JsonShape::Walk(const char* at, const JsonScan& scan, const Take& take) const {
  for (const Field& field : fields_) {
    if (!field.head.Stands(at)) return nullptr;
    at = TakeValue(at + field.head.bytes, scan,
                   [&](JsonScalar scalar)
                       __attribute__((always_inline)) { return take(field.wanted, scalar); });
    if (at == nullptr) return nullptr;
  }
  if (!tail_.Stands(at)) return nullptr;
  at += tail_.bytes;
  at += *at == '\r';
  return *at == '\n' ? at : nullptr;
}

template <typename Take>
inline const char* JsonShapes::Walk(const char* at, const JsonScan& scan, const Take& take) {
  const JsonShape* const shapes = shapes_.data();
  const size_t count = shapes_.size();
  for (size_t i = 0; i < count; ++i) {
    const char* const line_end = shapes[last_].Walk(at, scan, take);
    if (line_end != nullptr) [[likely]] {
      ++hits_;
      return line_end;
    }
    last_ = last_ + 1 < count ? last_ + 1 : 0;
  }
  return nullptr;
}

}  // namespace rowtide
