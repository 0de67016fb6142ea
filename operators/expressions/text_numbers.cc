// Texts as numbers and booleans.
#include <algorithm>
#include <cctype>
#include <limits>
#include <optional>
#include <string>

#include "engine/java_numbers.h"
#include "operators/expressions/decimals.h"
#include "operators/expressions/text_values.h"

namespace rowtide {
namespace {

std::string_view TrimmedOf(std::string_view text, std::string_view blanks) {
  const size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// What is read of a DECIMAL that has up to 18 digits and a text of up to 18 bytes. Like Flink's,
// it looks at the byte that ends the digits no more when that is the last one: '1%' is 1.
class ShortDecimal {
 public:
  explicit ShortDecimal(std::string_view text) : text_(text) {}

  std::optional<int64_t> Read(int precision, int scale) {
    SkipBlanks();
    if (AtEnd()) return std::nullopt;
    const bool negative = text_[at_] == '-';
    if (negative || text_[at_] == '+') {
      ++at_;
      if (AtEnd()) return std::nullopt;
    }
    int exponent = 0;
    if (!ReadSignificand() || !ReadExponent(&exponent)) return std::nullopt;
    SkipBlanks();
    if (!AtEnd()) return std::nullopt;
    return Scaled(negative, exponent + scale, precision);
  }

 private:
  bool AtEnd() const { return at_ == text_.size(); }
  void SkipBlanks() {
    while (!AtEnd() && std::string_view(" \n\t").find(text_[at_]) != std::string_view::npos) ++at_;
  }

  // Takes the byte behind the digits, too.
  bool ReadSignificand() {
    int whole = -1;
    while (!AtEnd()) {
      last_ = text_[at_++];
      if (IsDigit(last_)) {
        significand_ = significand_ * 10 + (last_ - '0');
        ++digits_;
      } else if (last_ == '.') {
        if (whole >= 0) return false;
        whole = digits_;
      } else {
        break;
      }
    }
    fraction_ = whole < 0 ? 0 : digits_ - whole;
    return true;
  }

  bool ReadExponent(int* exponent) {
    if ((last_ == 'e' || last_ == 'E') && !AtEnd()) {
      const bool negative = text_[at_] == '-';
      if (negative || text_[at_] == '+') {
        ++at_;
        if (AtEnd()) return false;
      }
      while (!AtEnd()) {
        const char c = text_[at_++];
        if (!IsDigit(c)) break;
        if (*exponent < 40) *exponent = *exponent * 10 + (c - '0');
      }
      if (negative) *exponent = -*exponent;
    }
    *exponent -= fraction_;
    return true;
  }

  // The value times 10^change, rounded half up.
  std::optional<int64_t> Scaled(bool negative, int change, int precision) const {
    if (digits_ + change > precision || change < -18) return std::nullopt;
    int64_t number = significand_;
    if (change >= 0) {
      number *= static_cast<int64_t>(PowerOfTen(change));
    } else {
      const int64_t unit = static_cast<int64_t>(PowerOfTen(-change));
      number = (number + unit / 2) / unit;
    }
    return negative ? -number : number;
  }

  std::string_view text_;
  size_t at_ = 0;
  char last_ = 0;
  int64_t significand_ = 0;
  int digits_ = 0;
  int fraction_ = 0;
};

}  // namespace

bool ReadCastInteger(std::string_view text, int64_t lowest, int64_t highest, int64_t* value) {
  text = TrimmedOf(text, " ");
  const bool negative = !text.empty() && text[0] == '-';
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  if (text.empty()) return false;
  const size_t point = std::min(text.find('.'), text.size());
  int128 number = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (i == point) continue;
    if (!IsDigit(text[i])) return false;
    if (i < point) number = number * 10 + (text[i] - '0');
    if (number > int128{std::numeric_limits<int64_t>::max()} + 1) return false;
  }
  if (negative) number = -number;
  if (number < lowest || number > highest) return false;
  *value = static_cast<int64_t>(number);
  return true;
}

bool ReadCastBoolean(std::string_view text, bool* value) {
  std::string lower;
  for (const char c : text) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  static constexpr const char* kTrue[] = {"t", "true", "y", "yes", "1"};
  static constexpr const char* kFalse[] = {"f", "false", "n", "no", "0"};
  *value = std::find(std::begin(kTrue), std::end(kTrue), lower) != std::end(kTrue);
  return *value || std::find(std::begin(kFalse), std::end(kFalse), lower) != std::end(kFalse);
}

bool ReadCastDecimal(std::string_view text, int precision, int scale, int128* unscaled) {
  constexpr int kLongDigits = 18;
  if (precision <= kLongDigits && text.size() <= kLongDigits) {
    const std::optional<int64_t> number = ShortDecimal(text).Read(precision, scale);
    if (number) *unscaled = *number;
    return number.has_value();
  }
  bool fits = false;
  return ParseJavaDecimal(TrimmedOf(text, " \n\t"), precision, scale, unscaled, &fits) && fits;
}

}  // namespace rowtide
