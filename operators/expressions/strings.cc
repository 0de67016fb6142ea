// Functions that make strings of strings. Lengths and positions count characters, not bytes.
#include <unicode/locid.h>
#include <unicode/unistr.h>

#include <algorithm>
#include <cctype>

#include "operators/expressions/decimals.h"
#include "operators/expressions/kernels.h"
#include "operators/expressions/utf8.h"

namespace rowtide {
namespace {

bool IsAscii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

void AppendCased(std::string_view text, bool upper, std::string* out) {
  if (IsAscii(text)) {
    for (const char c : text) {
      const bool changes = upper ? c >= 'a' && c <= 'z' : c >= 'A' && c <= 'Z';
      *out += changes ? static_cast<char>(c ^ 0x20) : c;
    }
    return;
  }
  icu::UnicodeString unicode = icu::UnicodeString::fromUTF8(
      icu::StringPiece(text.data(), static_cast<int32_t>(text.size())));
  upper ? unicode.toUpper(icu::Locale::getRoot()) : unicode.toLower(icu::Locale::getRoot());
  unicode.toUTF8String(*out);
}

// Letters and digits of ASCII make words, as in Calcite.
void AppendInitialCaps(std::string_view text, std::string* out) {
  bool in_word = false;
  for (const char c : text) {
    const unsigned char byte = static_cast<unsigned char>(c);
    const bool letter_or_digit = byte < 0x80 && std::isalnum(byte);
    *out +=
        !letter_or_digit ? c : static_cast<char>(in_word ? std::tolower(byte) : std::toupper(byte));
    in_word = letter_or_digit;
  }
}

// f(value, &text) of one string.
template <typename F>
NodePointer TextToText(CallSite& site, F f) {
  return PerRow<StringView, StringView>(
      site, [f](RowCall& call, const StringView& value, StringView* out) {
        call.text.clear();
        f(value.view(), &call.text);
        *out = call.Keep(call.text);
        return Outcome::kValue;
      });
}

bool Contains(std::string_view set, std::string_view character) {
  for (size_t at = 0; at < set.size();) {
    const std::string_view one = FirstCharacter(set.substr(at));
    if (one == character) return true;
    at += one.size();
  }
  return false;
}

std::string_view TrimmedLeft(std::string_view text, std::string_view set) {
  while (!text.empty()) {
    const std::string_view first = FirstCharacter(text);
    if (!Contains(set, first)) break;
    text.remove_prefix(first.size());
  }
  return text;
}

std::string_view TrimmedRight(std::string_view text, std::string_view set) {
  while (!text.empty()) {
    size_t at = text.size() - 1;
    while (at > 0 && !StartsCharacter(text[at])) --at;
    if (!Contains(set, text.substr(at))) break;
    text = text.substr(0, at);
  }
  return text;
}

enum class Sides : uint8_t { kBoth, kLeft, kRight };

Result<NodePointer> Trim(CallSite& site, Sides sides) {
  return PerRow<StringView, StringView, StringView>(
      site, [sides](RowCall&, const StringView& text, const StringView& set, StringView* out) {
        std::string_view trimmed = text.view();
        if (sides != Sides::kRight) trimmed = TrimmedLeft(trimmed, set.view());
        if (sides != Sides::kLeft) trimmed = TrimmedRight(trimmed, set.view());
        *out = RowCall::Part(trimmed);
        return Outcome::kValue;
      });
}

// Java's substring rules of Flink: from 1, negative from the end, 0 as 1.
std::string_view Substring(std::string_view text, int64_t start, int64_t length) {
  if (length <= 0) return {};
  const int64_t characters = CountCharacters(text);
  const int64_t from = start > 0 ? start - 1 : start < 0 ? characters + start : 0;
  if (from < 0 || from >= characters) return {};
  const int64_t to = length > characters - from ? characters : from + length;
  const size_t begin = Utf8Offset(text, from);
  return text.substr(begin, Utf8Offset(text.substr(begin), to - from));
}

std::string_view SubBytes(std::string_view text, int64_t start, int64_t length) {
  if (length <= 0) return {};
  const int64_t size = static_cast<int64_t>(text.size());
  const int64_t from = start > 0 ? start - 1 : start < 0 ? size + start : 0;
  if (from < 0 || from >= size) return {};
  const int64_t to = length > size - from ? size : from + length;
  return text.substr(static_cast<size_t>(from), static_cast<size_t>(to - from));
}

// All arguments are strings: joins them, `Skips` decides what a NULL does.
class JoinNode final : public Node {
 public:
  // `separated`: the first argument is CONCAT_WS's separator, and NULLs among the others are
  // skipped.
  JoinNode(Type type, Nodes arguments, bool separated)
      : Node(type),
        arguments_(std::move(arguments)),
        views_(arguments_.size()),
        separated_(separated) {}

  Status Compute(const Frame& frame, Rows rows, View* out) override {
    for (size_t i = 0; i < arguments_.size(); ++i)
      RT_TRY(arguments_[i]->Compute(frame, rows, &views_[i]));
    StringView* const slots = buffer_.Slots<StringView>(frame.rows);
    uint8_t* const nulls = buffer_.Nulls(frame.rows);
    std::string fault;
    ForEach(rows, [&](int row) {
      nulls[row] = Join(row) ? 0 : 1;
      if (nulls[row] || !fault.empty()) return;
      fault = TextFault(text_.size(), *frame.strings);
      if (fault.empty()) slots[row] = frame.strings->Copy(text_);
    });
    if (!fault.empty())
      return Status::DataError("{}: {}", separated_ ? "CONCAT_WS" : "CONCAT", fault)
          .WithErrorCode("RT4002");
    *out = {reinterpret_cast<const char*>(slots), nulls};
    return Status::Ok();
  }

 private:
  bool Join(int row) {
    text_.clear();
    bool first = true;
    for (size_t i = 0; i < views_.size(); ++i) {
      const bool is_separator = separated_ && i == 0;
      if (views_[i].IsNull(row)) {
        if (is_separator || !separated_) return false;
        continue;
      }
      if (is_separator) continue;
      if (separated_ && !first) text_ += views_[0].slots<StringView>()[row].view();
      text_ += views_[i].slots<StringView>()[row].view();
      first = false;
      if (text_.size() > kTextBytesMax) return true;  // longer is not better
    }
    return true;
  }

  Nodes arguments_;
  std::vector<View> views_;
  bool separated_;
  std::string text_;
};

}  // namespace

Result<NodePointer> BuildConcatenation(CallSite& site) {
  return NodePointer(std::make_unique<JoinNode>(site.type(), std::move(site.arguments), false));
}
Result<NodePointer> BuildConcat(CallSite& site) { return BuildConcatenation(site); }
Result<NodePointer> BuildConcatWs(CallSite& site) {
  return NodePointer(std::make_unique<JoinNode>(site.type(), std::move(site.arguments), true));
}

Result<NodePointer> BuildChangeCase(CallSite& site) {
  if (site.call.function == "INITCAP") return TextToText(site, AppendInitialCaps);
  const bool upper = site.call.function == "UPPER";
  return TextToText(
      site, [upper](std::string_view text, std::string* out) { AppendCased(text, upper, out); });
}

Result<NodePointer> BuildReverse(CallSite& site) {
  return TextToText(site, [](std::string_view text, std::string* out) {
    for (size_t end = text.size(); end > 0;) {
      size_t at = end - 1;
      while (at > 0 && !StartsCharacter(text[at])) --at;
      out->append(text.substr(at, end - at));
      end = at;
    }
  });
}

Result<NodePointer> BuildRepeat(CallSite& site) {
  RT_TRY(CastArgument(&site, 1, Type::BigInt()));
  return PerRow<StringView, StringView, int64_t>(site, [](RowCall& call, const StringView& text,
                                                          int64_t times, StringView* out) {
    if (times > 0 && text.size() > 0 && static_cast<size_t>(times) > kTextBytesMax / text.size()) {
      return call.FailTooLong();
    }
    call.text.clear();
    for (int64_t i = 0; i < times && text.size() > 0; ++i) call.text += text.view();
    *out = call.Keep(call.text);
    return Outcome::kValue;
  });
}

Result<NodePointer> BuildCharacter(CallSite& site) {
  if (site.call.function == "ASCII") {
    return PerRow<int32_t, StringView>(site, [](RowCall&, const StringView& text, int32_t* out) {
      *out = text.size() == 0 ? 0 : static_cast<signed char>(text.data()[0]);
      return Outcome::kValue;
    });
  }
  RT_TRY(CastArgument(&site, 0, Type::BigInt()));
  return PerRow<StringView, int64_t>(site, [](RowCall& call, int64_t code, StringView* out) {
    if (code < 0) {
      *out = StringView();
      return Outcome::kValue;
    }
    const unsigned char byte = static_cast<unsigned char>(code & 0xFF);
    call.text.clear();
    if (byte < 0x80) {
      call.text += static_cast<char>(byte);
    } else {
      call.text += static_cast<char>(0xC0 | (byte >> 6));
      call.text += static_cast<char>(0x80 | (byte & 0x3F));
    }
    *out = call.Keep(call.text);
    return Outcome::kValue;
  });
}

Result<NodePointer> BuildLength(CallSite& site) {
  return PerRow<int32_t, StringView>(site, [](RowCall&, const StringView& text, int32_t* out) {
    *out = CountCharacters(text.view());
    return Outcome::kValue;
  });
}

// TRIM(FLAG(BOTH), set, text)
Result<NodePointer> BuildTrim(CallSite& site) {
  const std::string* word = site.LiteralText(0);
  if (!word) return Status::Internal("TRIM without a side");
  const Sides sides = *word == "LEADING"    ? Sides::kLeft
                      : *word == "TRAILING" ? Sides::kRight
                                            : Sides::kBoth;
  Nodes arguments;
  arguments.push_back(std::move(site.arguments[2]));
  arguments.push_back(std::move(site.arguments[1]));
  site.arguments = std::move(arguments);
  return Trim(site, sides);
}

Result<NodePointer> BuildTrimSide(CallSite& site) {
  if (site.size() == 1)
    site.arguments.push_back(LiteralNode(std::string(" "), Type::Char(1).NotNull()));
  const char side = site.call.function[0];
  return Trim(site, side == 'L' ? Sides::kLeft : side == 'R' ? Sides::kRight : Sides::kBoth);
}

Result<NodePointer> BuildSubstring(CallSite& site) {
  const bool bytes = IsBinary(site.argument_type(0));
  if (site.size() == 2)
    site.arguments.push_back(LiteralNode(int64_t{kMaxLength}, Type::Int().NotNull()));
  for (size_t i = 1; i < 3; ++i) RT_TRY(CastArgument(&site, i, Type::BigInt()));
  return PerRow<StringView, StringView, int64_t, int64_t>(
      site,
      [bytes](RowCall&, const StringView& text, int64_t start, int64_t length, StringView* out) {
        if (length < 0) return Outcome::kNull;
        *out = RowCall::Part(bytes ? SubBytes(text.view(), start, length)
                                   : Substring(text.view(), start, length));
        return Outcome::kValue;
      });
}

Result<NodePointer> BuildLeft(CallSite& site) {
  RT_TRY(CastArgument(&site, 1, Type::BigInt()));
  return PerRow<StringView, StringView, int64_t>(
      site, [](RowCall&, const StringView& text, int64_t length, StringView* out) {
        *out = RowCall::Part(Substring(text.view(), 1, length));
        return Outcome::kValue;
      });
}

Result<NodePointer> BuildRight(CallSite& site) {
  RT_TRY(CastArgument(&site, 1, Type::BigInt()));
  return PerRow<StringView, StringView, int64_t>(site, [](RowCall&, const StringView& text,
                                                          int64_t length, StringView* out) {
    const int64_t characters = CountCharacters(text.view());
    const int64_t skipped = length <= 0 ? characters : std::max<int64_t>(characters - length, 0);
    *out = RowCall::Part(text.view().substr(Utf8Offset(text.view(), skipped)));
    return Outcome::kValue;
  });
}

namespace {

bool IsBeyondBmp(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) >= 0xF0; });
}

icu::UnicodeString ToUtf16(std::string_view text) {
  return icu::UnicodeString::fromUTF8(
      icu::StringPiece(text.data(), static_cast<int32_t>(text.size())));
}

// Java counts UTF-16 units, so a character beyond the BMP can be cut in two: half of one is a `?`.
std::string PaddedUtf16(std::string_view text, std::string_view pad, int32_t length, bool left) {
  icu::UnicodeString kept = ToUtf16(text);
  kept.truncate(length);
  const icu::UnicodeString pads = ToUtf16(pad);
  icu::UnicodeString padding;
  for (int32_t i = 0; i < length - kept.length(); ++i) padding.append(pads[i % pads.length()]);
  icu::UnicodeString padded = left ? padding + kept : kept + padding;
  for (int32_t i = 0; i < padded.length(); ++i) {
    const UChar32 character = padded.char32At(i);
    if (U_IS_SURROGATE(character)) padded.setCharAt(i, u'?');
    if (character > 0xFFFF) ++i;
  }
  std::string out;
  return padded.toUTF8String(out);
}

std::string Padded(std::string_view text, std::string_view pad, int64_t length, bool left) {
  if (IsBeyondBmp(text) || IsBeyondBmp(pad))
    return PaddedUtf16(text, pad, static_cast<int32_t>(length), left);
  const std::string kept(Substring(text, 1, length));
  std::string padding;
  std::string_view rest;
  for (int64_t missing = length - CountCharacters(kept); missing > 0; --missing) {
    if (rest.empty()) rest = pad;
    const std::string_view one = FirstCharacter(rest);
    padding += one;
    rest.remove_prefix(one.size());
  }
  return left ? padding + kept : kept + padding;
}

}  // namespace

Result<NodePointer> BuildPad(CallSite& site) {
  const bool left = site.call.function == "LPAD";
  RT_TRY(CastArgument(&site, 1, Type::BigInt()));
  return PerRow<StringView, StringView, int64_t, StringView>(
      site, [left](RowCall& call, const StringView& text, int64_t length, const StringView& pad,
                   StringView* out) {
        if (length < 0 || pad.size() == 0) return Outcome::kNull;
        if (static_cast<size_t>(length) > kTextBytesMax)
          return call.Fail("the length is too large");
        call.text = Padded(text.view(), pad.view(), length, left);
        *out = call.Keep(call.text);
        return Outcome::kValue;
      });
}

// OVERLAY(text, other, start [, length]): start outside of the text leaves it alone.
Result<NodePointer> BuildOverlay(CallSite& site) {
  const bool has_length = site.size() == 4;
  if (!has_length) site.arguments.push_back(LiteralNode(int64_t{0}, Type::Int().NotNull()));
  for (size_t i = 2; i < 4; ++i) RT_TRY(CastArgument(&site, i, Type::BigInt()));
  return PerRow<StringView, StringView, StringView, int64_t, int64_t>(
      site, [has_length](RowCall& call, const StringView& text, const StringView& other,
                         int64_t start, int64_t length, StringView* out) {
        const std::string_view view = text.view();
        const int64_t characters = CountCharacters(view);
        if (!has_length) length = CountCharacters(other.view());
        if (start <= 0 || start > characters) {
          *out = RowCall::Part(view);
          return Outcome::kValue;
        }
        call.text.assign(view.substr(0, Utf8Offset(view, start - 1)));
        call.text += other.view();
        if (length > 0 && start + length <= characters)
          call.text += view.substr(Utf8Offset(view, start - 1 + length));
        *out = call.Keep(call.text);
        return Outcome::kValue;
      });
}

Result<NodePointer> BuildReplace(CallSite& site) {
  return PerRow<StringView, StringView, StringView, StringView>(
      site, [](RowCall& call, const StringView& text, const StringView& search,
               const StringView& with, StringView* out) {
        std::string_view rest = text.view();
        call.text.clear();
        if (search.size() == 0) {
          // Java puts the replacement around every character.
          call.text += with.view();
          while (!rest.empty()) {
            const std::string_view one = FirstCharacter(rest);
            call.text += one;
            call.text += with.view();
            rest.remove_prefix(one.size());
            if (call.is_text_too_long()) return call.FailTooLong();
          }
        } else {
          for (size_t at = rest.find(search.view()); at != std::string_view::npos;
               at = rest.find(search.view())) {
            call.text += rest.substr(0, at);
            call.text += with.view();
            rest.remove_prefix(at + search.size());
            if (call.is_text_too_long()) return call.FailTooLong();
          }
          call.text += rest;
        }
        *out = call.Keep(call.text);
        return Outcome::kValue;
      });
}

namespace {

// A string, and the empty one for NULL.
class OrEmptyNode final : public Node {
 public:
  explicit OrEmptyNode(NodePointer operand)
      : Node(operand->type().NotNull()), operand_(std::move(operand)) {}

  Status Compute(const Frame& frame, Rows rows, View* out) override {
    View view;
    RT_TRY(operand_->Compute(frame, rows, &view));
    StringView* const slots = buffer_.Slots<StringView>(frame.rows);
    ForEach(rows, [&](int row) {
      slots[row] = view.IsNull(row) ? StringView() : view.slots<StringView>()[row];
    });
    *out = {reinterpret_cast<const char*>(slots), nullptr};
    return Status::Ok();
  }

 private:
  NodePointer operand_;
};

}  // namespace

// Character i of `from` becomes character i of `to`; what `to` has no character for goes.
Result<NodePointer> BuildTranslate(CallSite& site) {
  for (size_t i = 1; i < 3; ++i)
    site.arguments[i] = std::make_unique<OrEmptyNode>(std::move(site.arguments[i]));
  return PerRow<StringView, StringView, StringView, StringView>(
      site, [](RowCall& call, const StringView& text, const StringView& from, const StringView& to,
               StringView* out) {
        call.text.clear();
        for (std::string_view rest = text.view(); !rest.empty();) {
          const std::string_view one = FirstCharacter(rest);
          rest.remove_prefix(one.size());
          std::string_view targets = to.view();
          bool found = false;
          for (std::string_view sources = from.view(); !sources.empty() && !found;) {
            const std::string_view source = FirstCharacter(sources);
            const std::string_view target = targets.empty() ? targets : FirstCharacter(targets);
            found = source == one;
            if (found) call.text += target;
            sources.remove_prefix(source.size());
            targets.remove_prefix(target.size());
          }
          if (!found) call.text += one;
        }
        *out = call.Keep(call.text);
        return Outcome::kValue;
      });
}

}  // namespace rowtide
