// Packs what a file sink writes: gzip and zstd as streams, so a file is packed while it grows.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "connectors/registry.h"

namespace rowtide {

class Packer {
 public:
  virtual ~Packer() = default;
  // Appends what the bytes become; the end of a file goes out with Finish, and a new one begins.
  virtual Status Pack(std::string_view bytes, std::string* out) = 0;
  virtual Status Finish(std::string* out) = 0;
};

// Null for no compression.
std::unique_ptr<Packer> CreatePacker(Compression compression);
// What the names of packed files end with, so that they are unpacked when they are read.
const char* SuffixOf(Compression compression);

}  // namespace rowtide
