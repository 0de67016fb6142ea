// Finds the bytes that matter in CSV text: delimiters, line ends, quotes, escapes. 32 bytes at a
// step with AVX2, 16 otherwise, chosen when the scanner is made.
//
//   1,"a,b",c\n   ->   1 2 4 6 7 9       offsets of `,` `"` `,` `"` `,` `\n`, ascending
//
// A byte is found by comparing it with what a table has for its low four bits, so all characters
// cost one shuffle; where two share these bits (`,` and `\`), a second table is asked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace rowtide {

// What one scan has found. Reused between scans.
struct CsvMarks {
  // Before the first mark stands one at -1, so that a field begins behind the mark before it
  // wherever it is.
  uint32_t* offsets = nullptr;
  std::unique_ptr<uint32_t[]> memory;
  size_t capacity = 0;
  size_t count = 0;
  bool beyond_ascii = false;  // some byte is 0x80 or above
};

class CsvScanner {
 public:
  // `characters`: the bytes to find, each below 0x80; at most two of them share their low four
  // bits.
  explicit CsvScanner(std::string_view characters);

  // Requires: fewer than 2^32 bytes, and 63 readable ones behind the text.
  void Find(const char* text, size_t bytes, CsvMarks* marks) const;

 private:
  // Room for one mark a byte and 64 more.
  using Scan = size_t (*)(const CsvScanner&, const char* text, size_t bytes, uint32_t* marks,
                          bool* beyond_ascii);
  static size_t ScanAvx2(const CsvScanner&, const char* text, size_t bytes, uint32_t* marks,
                         bool* beyond_ascii);
  static size_t ScanSse(const CsvScanner&, const char* text, size_t bytes, uint32_t* marks,
                        bool* beyond_ascii);

  alignas(16) uint8_t tables_[2][16];
  bool two_tables_ = false;
  Scan scan_;
};

}  // namespace rowtide
