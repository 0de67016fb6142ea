// The bytes of one file from its beginning, unpacked: `.gz` and `.zst` by name; as text, UTF-16
// becomes UTF-8 and a byte order mark is taken off.
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
  // Bytes of the file itself, packed as they are, that have been read.
  virtual int64_t taken() const = 0;
  // Whether Read would have to wait for somebody who writes into a pipe or types; then `descriptor`
  // is readable when it would not any more.
  virtual bool would_wait() const = 0;
  virtual int descriptor() const = 0;
};

// `path` may be `-`: standard input.
Result<std::unique_ptr<ByteStream>> OpenBytes(const std::string& path);
Result<std::unique_ptr<ByteStream>> OpenText(const std::string& path);

}  // namespace rowtide
