// What all fuzz targets share: bytes taken as choices, and a way to say that something does not
// hold.
//
// A target is one function, LLVMFuzzerTestOneInput; libFuzzer or driver.cc calls it. It must not
// keep anything between two inputs.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace rowtide::fuzz {

inline std::string_view TextOf(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Ends the process: the fuzzer keeps the input.
[[noreturn]] inline void Fail(std::string_view what, std::string_view first = {},
                              std::string_view second = {}) {
  std::string text = "does not hold: ";
  text.append(what).append("\n--- first\n").append(first).append("\n--- second\n").append(second);
  std::fprintf(stderr, "%s\n", text.c_str());
  std::abort();
}

// The input as a series of choices. Behind its end every choice is the first.
class Choices {
 public:
  Choices(const uint8_t* data, size_t size) : data_(data), size_(size) {}

  uint8_t Byte() {
    if (at_ == size_) return 0;
    return data_[at_++];
  }
  // Below `n`, of 1 to 256.
  size_t Below(size_t n) { return Byte() % n; }
  bool over() const { return at_ == size_; }
  std::string_view Rest() {
    const std::string_view rest = TextOf(data_ + at_, size_ - at_);
    at_ = size_;
    return rest;
  }

 private:
  const uint8_t* data_;
  size_t size_;
  size_t at_ = 0;
};

}  // namespace rowtide::fuzz
