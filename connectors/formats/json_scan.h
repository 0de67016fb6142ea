// Where the strings of JSON text may end: its quotes, backslashes and control characters, a bit a
// byte. 64 bytes at a step, with AVX2 where the processor has it; once over a block.
//
//   {"id":"a\"b"}\n
//   01001011101011         Next(after `:"`) is the backslash, Next(behind `\"`) the closing quote
//
// A line end is a control character: whoever asks within a line gets an answer within it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace rowtide {

class JsonScan {
 public:
  explicit JsonScan(bool wide = __builtin_cpu_supports("avx2"));

  // Looks at whole lines. Requires: 64 readable bytes behind them.
  void Look(const char* begin, const char* end);

  // The first of these bytes at `at` or behind it. Requires: a line end there.
  const char* Next(const char* at) const {
    const auto offset = static_cast<size_t>(at - begin_);
    const uint64_t* word = stops_.get() + (offset >> 6);
    uint64_t bits = *word >> (offset & 63);
    if (bits != 0) [[likely]]
      return at + __builtin_ctzll(bits);
    at -= offset & 63;
    do {
      bits = *++word;
      at += 64;
    } while (bits == 0);
    return at + __builtin_ctzll(bits);
  }
  bool is_ascii() const { return is_ascii_; }

 private:
  using Scan = bool (*)(const char* begin, const char* end, uint64_t* stops);  // is it ASCII?
  static bool ScanAvx2(const char* begin, const char* end, uint64_t* stops);
  static bool ScanSse(const char* begin, const char* end, uint64_t* stops);

  Scan scan_;
  const char* begin_ = nullptr;
  bool is_ascii_ = true;
  std::unique_ptr<uint64_t[]> stops_;
  size_t words_ = 0;
};

}  // namespace rowtide
