// The bytes of one file from its beginning, unpacked: `.gz` and `.zst` by name, text in UTF-16 as
// UTF-8, a byte order mark taken off.
#pragma once

#include <memory>
#include <string>

#include "engine/status.h"

namespace rowtide {

class ByteStream {
 public:
  virtual ~ByteStream() = default;
  // Up to `bytes` bytes, 0 only at the end.
  virtual Result<size_t> Read(char* to, size_t bytes) = 0;
};

// `path` may be `-`: standard input.
Result<std::unique_ptr<ByteStream>> OpenText(const std::string& path);

}  // namespace rowtide
