// Regular expressions on RE2: linear time, no back-references and no look-around, which are
// refused.
#include <re2/re2.h>

#include "operators/expressions/decimals.h"
#include "operators/expressions/kernels.h"
#include "operators/expressions/utf8.h"

namespace rowtide {
namespace {

using RegexPointer = std::shared_ptr<const re2::RE2>;

Result<RegexPointer> Parse(std::string_view pattern, bool dot_matches_newline = false) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_dot_nl(dot_matches_newline);
  auto regex =
      std::make_shared<const re2::RE2>(re2::StringPiece(pattern.data(), pattern.size()), options);
  if (!regex->ok()) {
    return Status::InvalidArgument("the regular expression '{}' is not supported: {}", pattern,
                                   regex->error());
  }
  return RegexPointer(regex);
}

// The regex of a row: compiled once for a literal, else again whenever the pattern changes.
class RegexOf {
 public:
  // `translate` turns the SQL pattern into a regular expression.
  using Translate = std::string (*)(std::string_view pattern);
  static Result<RegexOf> Make(const CallSite& site, size_t argument,
                              Translate translate = nullptr) {
    RegexOf of;
    of.translate_ = translate;
    if (const std::string* literal = site.LiteralText(argument)) {
      if (!of.Use(*literal)) return Status::InvalidArgument("{}", of.error_);
    }
    return of;
  }

  const re2::RE2* For(const StringView& pattern) {
    if (regex_ != nullptr && pattern.view() == pattern_) return regex_.get();
    return Use(pattern.view()) ? regex_.get() : nullptr;
  }
  const std::string& error() const { return error_; }

 private:
  bool Use(std::string_view pattern) {
    pattern_.assign(pattern);
    Result<RegexPointer> parsed =
        Parse(translate_ ? translate_(pattern) : pattern_, translate_ != nullptr);
    regex_ = parsed.ok() ? *parsed : nullptr;
    if (!parsed.ok()) error_ = parsed.status().message();
    return parsed.ok();
  }

  Translate translate_ = nullptr;
  std::string pattern_;
  RegexPointer regex_;
  std::string error_;
};

re2::StringPiece Piece(std::string_view text) { return {text.data(), text.size()}; }

// The first match at or after `from`.
bool FindFrom(const re2::RE2& regex, std::string_view text, size_t from, re2::StringPiece* match,
              int groups = 1) {
  return regex.Match(Piece(text), from, text.size(), re2::RE2::UNANCHORED, match, groups);
}

// Where a search goes on after a match: an empty one moves a character ahead.
size_t NextStart(std::string_view text, const re2::StringPiece& match) {
  const size_t end = static_cast<size_t>(match.data() - text.data()) + match.size();
  if (!match.empty() || end >= text.size()) return match.empty() ? end + 1 : end;
  return end + FirstCharacter(text.substr(end)).size();
}

// SQL's SIMILAR TO: % and _ beside | * + ? {} () [].
std::string FromSimilar(std::string_view pattern) {
  std::string regex = "^(?:";
  bool in_set = false;
  for (const char c : pattern) {
    if (in_set) {
      regex += c;
      in_set = c != ']';
    } else if (c == '%') {
      regex += ".*";
    } else if (c == '_') {
      regex += '.';
    } else if (std::string_view(".^$\\").find(c) != std::string_view::npos) {
      regex += '\\';
      regex += c;
    } else {
      regex += c;
      in_set = c == '[';
    }
  }
  return regex + ")$";
}

// f(call, regex, text, &out) of (text, pattern).
template <typename R, typename F>
Result<NodePointer> WithRegex(CallSite& site, F f) {
  RT_ASSIGN(RegexOf regexes, RegexOf::Make(site, 1));
  return PerRow<R, StringView, StringView>(
      site, [regexes, f](RowCall& call, const StringView& text, const StringView& pattern,
                         R* out) mutable {
        const re2::RE2* regex = regexes.For(pattern);
        if (!regex) return call.Fail(regexes.error());
        return f(call, *regex, text.view(), out);
      });
}

}  // namespace

Result<NodePointer> BuildSimilar(CallSite& site) {
  if (site.size() == 3) return Status::Unsupported("SIMILAR TO with ESCAPE");
  RT_ASSIGN(RegexOf regexes, RegexOf::Make(site, 1, FromSimilar));
  return PerRow<uint8_t, StringView, StringView>(
      site, [regexes](RowCall& call, const StringView& text, const StringView& pattern,
                      uint8_t* out) mutable {
        const re2::RE2* regex = regexes.For(pattern);
        if (!regex) return call.Fail(regexes.error());
        *out = re2::RE2::PartialMatch(Piece(text.view()), *regex) ? 1 : 0;
        return Outcome::kValue;
      });
}

Result<NodePointer> BuildRegexp(CallSite& site) {
  return WithRegex<uint8_t>(
      site, [](RowCall&, const re2::RE2& regex, std::string_view text, uint8_t* out) {
        *out = re2::RE2::PartialMatch(Piece(text), regex) ? 1 : 0;
        return Outcome::kValue;
      });
}

// REGEXP_EXTRACT(text, regex [, group])
Result<NodePointer> BuildRegexpExtract(CallSite& site) {
  if (site.size() == 2) site.arguments.push_back(LiteralNode(int64_t{0}, Type::Int().NotNull()));
  RT_TRY(CastArgument(&site, 2, Type::BigInt()));
  RT_ASSIGN(RegexOf regexes, RegexOf::Make(site, 1));
  return PerRow<StringView, StringView, StringView, int64_t>(
      site, [regexes](RowCall&, const StringView& text, const StringView& pattern, int64_t group,
                      StringView* out) mutable {
        const re2::RE2* regex = regexes.For(pattern);
        if (!regex || group < 0 || group > regex->NumberOfCapturingGroups()) return Outcome::kNull;
        std::vector<re2::StringPiece> groups(static_cast<size_t>(group) + 1);
        if (!FindFrom(*regex, text.view(), 0, groups.data(), static_cast<int>(groups.size())))
          return Outcome::kNull;
        const re2::StringPiece& found = groups.back();
        if (found.data() == nullptr) return Outcome::kNull;
        *out = RowCall::Part({found.data(), found.size()});
        return Outcome::kValue;
      });
}

// The replacement stands for itself: $1 is no group, as in Flink.
Result<NodePointer> BuildRegexpReplace(CallSite& site) {
  RT_ASSIGN(RegexOf regexes, RegexOf::Make(site, 1));
  return PerRow<StringView, StringView, StringView, StringView>(
      site, [regexes](RowCall& call, const StringView& text, const StringView& pattern,
                      const StringView& replacement, StringView* out) mutable {
        const re2::RE2* regex = regexes.For(pattern);
        if (!regex) return Outcome::kNull;
        const std::string_view view = text.view();
        re2::StringPiece match;
        call.text.clear();
        size_t copied = 0;
        for (size_t at = 0; at <= view.size() && FindFrom(*regex, view, at, &match);
             at = NextStart(view, match)) {
          const size_t begin = static_cast<size_t>(match.data() - view.data());
          call.text += view.substr(copied, begin - copied);
          call.text += replacement.view();
          copied = begin + match.size();
        }
        if (copied < view.size()) call.text += view.substr(copied);
        *out = call.Keep(call.text);
        return Outcome::kValue;
      });
}

Result<NodePointer> BuildRegexpCount(CallSite& site) {
  return WithRegex<int32_t>(
      site, [](RowCall&, const re2::RE2& regex, std::string_view text, int32_t* out) {
        *out = 0;
        re2::StringPiece match;
        for (size_t at = 0; at <= text.size() && FindFrom(regex, text, at, &match);
             at = NextStart(text, match))
          ++*out;
        return Outcome::kValue;
      });
}

Result<NodePointer> BuildRegexpInstr(CallSite& site) {
  return WithRegex<int32_t>(site, [](RowCall&, const re2::RE2& regex, std::string_view text,
                                     int32_t* out) {
    re2::StringPiece match;
    const bool found = FindFrom(regex, text, 0, &match);
    *out =
        found ? CountCharacters(text.substr(0, static_cast<size_t>(match.data() - text.data()))) + 1
              : 0;
    return Outcome::kValue;
  });
}

Result<NodePointer> BuildRegexpSubstr(CallSite& site) {
  return WithRegex<StringView>(
      site, [](RowCall&, const re2::RE2& regex, std::string_view text, StringView* out) {
        re2::StringPiece match;
        if (!FindFrom(regex, text, 0, &match)) return Outcome::kNull;
        *out = RowCall::Part({match.data(), match.size()});
        return Outcome::kValue;
      });
}

}  // namespace rowtide
