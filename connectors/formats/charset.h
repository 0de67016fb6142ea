// Text in any character set that ICU knows, from and to UTF-8.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "engine/status.h"

namespace rowtide {

class Charset {
 public:
  virtual ~Charset() = default;
  // What is no text becomes U+FFFD.
  virtual void ToUtf8(std::string_view bytes, std::string* text) const = 0;
  // What the set does not have becomes `?`.
  virtual void FromUtf8(std::string_view text, std::string* bytes) const = 0;
};

// `ISO-8859-1`, `UTF-16LE`, … An unknown name is an error.
Result<std::unique_ptr<Charset>> OpenCharset(const std::string& name);

}  // namespace rowtide
