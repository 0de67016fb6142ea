#include "connectors/formats/charset.h"

#include <unicode/ucnv.h>

#include "engine/schema.h"
#include "engine/value_text.h"

namespace rowtide {
namespace {

class Utf8 final : public Charset {
 public:
  void ToUtf8(std::string_view bytes, std::string* text) const override {
    text->clear();
    AppendUtf8(bytes, text);
  }
  void FromUtf8(std::string_view text, std::string* bytes) const override { *bytes = text; }
};

class IcuCharset final : public Charset {
 public:
  IcuCharset(UConverter* utf8, UConverter* other) : utf8_(utf8), other_(other) {}
  ~IcuCharset() override {
    ucnv_close(utf8_);
    ucnv_close(other_);
  }
  void ToUtf8(std::string_view bytes, std::string* text) const override {
    Convert(other_, utf8_, bytes, text);
  }
  void FromUtf8(std::string_view text, std::string* bytes) const override {
    Convert(utf8_, other_, text, bytes);
  }

 private:
  static void Convert(UConverter* from, UConverter* to, std::string_view input, std::string* out) {
    out->resize(4 * input.size() + 16);
    char* target = out->data();
    const char* source = input.data();
    UErrorCode error = U_ZERO_ERROR;
    ucnv_convertEx(to, from, &target, target + out->size(), &source, source + input.size(), nullptr,
                   nullptr, nullptr, nullptr, true, true, &error);
    out->resize(static_cast<size_t>(target - out->data()));
  }

  UConverter* utf8_;
  UConverter* other_;
};

}  // namespace

Result<std::unique_ptr<Charset>> OpenCharset(const std::string& name) {
  if (name == "UTF-8" || name == "utf-8" || name == "UTF8") {
    return std::unique_ptr<Charset>(std::make_unique<Utf8>());
  }
  UErrorCode error = U_ZERO_ERROR;
  UConverter* const other = ucnv_open(name.c_str(), &error);
  if (U_FAILURE(error) || name.empty()) {
    ucnv_close(other);
    return Status::InvalidArgument("there is no character set {}", Quote(name))
        .WithHint("for example 'UTF-8', 'ISO-8859-1', 'UTF-16LE', 'GBK'");
  }
  ucnv_setSubstChars(other, "?", 1, &error);
  error = U_ZERO_ERROR;  // sets of two-byte units have their own
  UConverter* const utf8 = ucnv_open("UTF-8", &error);
  return std::unique_ptr<Charset>(std::make_unique<IcuCharset>(utf8, other));
}

}  // namespace rowtide
