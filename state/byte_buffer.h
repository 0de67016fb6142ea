// Bytes that grow and are used again without being zeroed: the scratch space of the codecs.
//
// There is always room for 32 bytes behind what was asked for, so copies may run over.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>

namespace rowtide {

class ByteBuffer {
 public:
  static constexpr size_t kSlack = 32;

  char* data() { return bytes_.get(); }
  const char* data() const { return bytes_.get(); }
  // Room for `bytes`; what was there may be lost.
  char* Reset(size_t bytes) {
    if (bytes + kSlack > capacity_) {
      capacity_ = std::max(bytes + kSlack, capacity_ * 2);
      bytes_.reset(new char[capacity_]);
    }
    return bytes_.get();
  }
  // Room for `bytes`, of which the first `used` are kept.
  char* Grow(size_t used, size_t bytes) {
    if (bytes + kSlack > capacity_) {
      capacity_ = std::max(bytes + kSlack, capacity_ * 2);
      std::unique_ptr<char[]> more(new char[capacity_]);
      if (used > 0) std::memcpy(more.get(), bytes_.get(), used);
      bytes_ = std::move(more);
    }
    return bytes_.get();
  }

 private:
  std::unique_ptr<char[]> bytes_;
  size_t capacity_ = 0;
};

}  // namespace rowtide
