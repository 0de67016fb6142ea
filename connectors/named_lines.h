// Script lines of rows that come by name (engine/named_rows.h): the values of a row become text
// once, then only the kind changes, and the number if rows have one.
//
//   name 7, -U, 2    ->   -U [1007,"Apple",2]\n        asked for its values, encoded, remembered
//   name 7, +U, 3    ->   +U [1007,"Apple",3]\n        patched in front and behind
//
// 2,048 texts are remembered, each in a place of its own that the lowest bits of the name tell. One
// that is too long for its place is forgotten after the rows that are at hand. One thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "connectors/script_encoder.h"
#include "connectors/text_in_bulk.h"
#include "engine/named_rows.h"
#include "engine/schema.h"

namespace rowtide {

class NamedLines {
 public:
  // `schema` is that of whole rows, the number included.
  NamedLines(const Schema& schema, bool numbered);

  // Calls take(kind, line) for every row in order. A line is valid during its call.
  template <typename Take>
  void ForEach(const NamedRows& rows, const Take& take) {
    const uint64_t* const names = rows.names.data();
    const RowKind* const kinds = rows.kinds.data();
    const int64_t* const numbers = rows.numbers.data();
    RT_DCHECK(rows.numbers.empty() != numbered_ || rows.names.empty());
    for (size_t first = 0; first < rows.names.size();) {
      const size_t end = MakeReady(rows, first);
      for (size_t row = first; row < end; ++row)
        take(kinds[row], LineOf(kinds[row], names[row], numbered_ ? numbers[row] : 0));
      first = end;
    }
  }

 private:
  static constexpr size_t kTexts = 2048;
  // Seven lines of the cache: an odd number, so that beginnings do not fall together in it. The
  // encoder wants 64 bytes of room where a value begins, so a row of 340 bytes still fits.
  static constexpr size_t kLineBytes = 448;
  static constexpr size_t kEndBytes = 40;  // the number, what closes the line, stores beyond it
  static constexpr uint32_t kIsLong = uint32_t{1} << 31;

  struct Text {
    uint64_t name;   // 0: none
    uint32_t turn;   // the last one that used it
    uint32_t bytes;  // as far as the number, if there is one; or kIsLong + which long line
  };
  static size_t PlaceOf(uint64_t name) { return name % kTexts; }
  char* LineAt(size_t place) const { return lines_.get() + place * kLineBytes; }

  // Makes the texts of rows from `first` on ready, as long as none takes the place of another that
  // is used in the same turn. Returns where these rows end.
  size_t MakeReady(const NamedRows& rows, size_t first);
  void Encode(const NamedRows& rows);
  void RememberLong(uint64_t name, std::string_view line, size_t commas);

  std::string_view LineOf(RowKind kind, uint64_t name, int64_t number) {
    const size_t bytes = texts_.get()[PlaceOf(name)].bytes;
    if (bytes >= kIsLong) [[unlikely]]
      return LongLineOf(kind, bytes - kIsLong, number);
    char* const line = LineAt(PlaceOf(name));
    std::memcpy(line, ScriptEncoder::HeadOf(kind), ScriptEncoder::kHeadBytes);
    if (!numbered_) return {line, bytes};
    char* const end = PutNumber(number, line + bytes);
    std::memcpy(end, "]\n", 2);
    return {line, static_cast<size_t>(end + 2 - line)};
  }
  static char* PutNumber(int64_t number, char* out) {
    if (static_cast<uint64_t>(number) >= 10) return PutInteger(number, out);
    *out = static_cast<char>('0' + number);
    return out + 1;
  }
  std::string_view LongLineOf(RowKind kind, size_t number_of_line, int64_t number);

  ScriptEncoder encoder_;  // of all columns but the number
  bool numbered_;
  bool has_values_;
  std::unique_ptr<Text[]> texts_;  // by place
  std::unique_ptr<char[]> lines_;  // likewise
  uint32_t turn_ = 0;
  std::vector<int32_t> wanted_;             // rows whose values are asked for in this turn
  char* places_[ScriptEncoder::kStepRows];  // scratch: where lines of a step go
  std::vector<uint64_t> long_names_;
  std::vector<std::string> long_lines_;  // as far as the number, if there is one
  std::string long_line_;
};

}  // namespace rowtide
