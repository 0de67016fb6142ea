// Regular expressions on RE2: linear time, no back-references and no look-around, which are
// refused.
#include <re2/re2.h>

#include "engine/value_text.h"
#include "operators/expressions/decimals.h"
#include "operators/expressions/kernels.h"
#include "operators/expressions/utf8.h"

namespace rowtide {
namespace {

using RegexPointer = std::shared_ptr<const re2::RE2>;

// Java's (?<name>…) is (?P<name>…) here.
std::string WithNamedGroups(std::string_view pattern) {
  std::string regex;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '\\' && i + 1 < pattern.size()) {
      regex += pattern.substr(i, 2);
      ++i;
      continue;
    }
    const std::string_view rest = pattern.substr(i);
    const bool named =
        rest.starts_with("(?<") && rest.size() > 3 && rest[3] != '=' && rest[3] != '!';
    regex += named ? "(?P" : std::string(1, pattern[i]);
    if (named) i += 1;
  }
  return regex;
}

// What Java refuses, too. Anything else that RE2 cannot read is Java's alone.
bool IsMalformed(re2::RE2::ErrorCode code) {
  return code == re2::RE2::ErrorMissingBracket || code == re2::RE2::ErrorMissingParen ||
         code == re2::RE2::ErrorUnexpectedParen || code == re2::RE2::ErrorTrailingBackslash ||
         code == re2::RE2::ErrorBadCharRange || code == re2::RE2::ErrorRepeatArgument;
}

// RE2 gives up on longer ones in ways of its own.
constexpr size_t kPatternBytesMax = 64 << 10;

// Null for a malformed pattern: Flink's functions then find nothing.
Result<RegexPointer> Parse(std::string_view pattern) {
  if (pattern.size() > kPatternBytesMax)
    return Status::InvalidArgument("a regular expression of {} bytes; {} is the most",
                                   pattern.size(), kPatternBytesMax);
  re2::RE2::Options options;
  options.set_log_errors(false);
  auto regex = std::make_shared<const re2::RE2>(WithNamedGroups(pattern), options);
  if (regex->ok()) return RegexPointer(regex);
  if (IsMalformed(regex->error_code())) return RegexPointer();
  return Status::InvalidArgument("the regular expression '{}' is not supported: {}",
                                 Shortened(pattern), Shortened(regex->error()))
      .WithErrorCode("RT2025");
}

// The regex of a row: compiled once for a literal, else again whenever the pattern changes.
class RegexOf {
 public:
  static Result<RegexOf> Make(const CallSite& site, size_t argument) {
    RegexOf of;
    if (const std::string* literal = site.LiteralText(argument)) RT_TRY(of.Use(*literal));
    return of;
  }

  // Null for a malformed pattern.
  Result<const re2::RE2*> For(const StringView& pattern) {
    if (!used_ || pattern.view() != pattern_) RT_TRY(Use(pattern.view()));
    return regex_.get();
  }

 private:
  Status Use(std::string_view pattern) {
    used_ = false;
    RT_ASSIGN(regex_, Parse(pattern));
    pattern_.assign(pattern);
    used_ = true;
    return Status::Ok();
  }

  bool used_ = false;
  std::string pattern_;
  RegexPointer regex_;
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

// f(call, regex, text, &out) of (text, pattern).
template <typename R, typename F>
Result<NodePointer> WithRegex(CallSite& site, F f) {
  RT_ASSIGN(RegexOf regexes, RegexOf::Make(site, 1));
  return PerRow<R, StringView, StringView>(
      site, [regexes, f](RowCall& call, const StringView& text, const StringView& pattern,
                         R* out) mutable {
        const Result<const re2::RE2*> regex = regexes.For(pattern);
        if (!regex.ok()) return call.Fail(regex.status().message());
        return *regex == nullptr ? Outcome::kNull : f(call, **regex, text.view(), out);
      });
}

}  // namespace

// False for an empty or malformed pattern.
Result<NodePointer> BuildRegexp(CallSite& site) {
  RT_ASSIGN(RegexOf regexes, RegexOf::Make(site, 1));
  return PerRow<uint8_t, StringView, StringView>(
      site, [regexes](RowCall& call, const StringView& text, const StringView& pattern,
                      uint8_t* out) mutable {
        const Result<const re2::RE2*> regex = regexes.For(pattern);
        if (!regex.ok()) return call.Fail(regex.status().message());
        const bool searches = *regex != nullptr && pattern.size() > 0;
        *out = searches && re2::RE2::PartialMatch(Piece(text.view()), **regex) ? 1 : 0;
        return Outcome::kValue;
      });
}

// REGEXP_EXTRACT(text, regex [, group])
Result<NodePointer> BuildRegexpExtract(CallSite& site) {
  if (site.size() == 2) site.arguments.push_back(LiteralNode(int64_t{0}, Type::Int().NotNull()));
  RT_TRY(CastArgument(&site, 2, Type::BigInt()));
  RT_ASSIGN(RegexOf regexes, RegexOf::Make(site, 1));
  return PerRow<StringView, StringView, StringView, int64_t>(
      site, [regexes](RowCall& call, const StringView& text, const StringView& pattern,
                      int64_t group, StringView* out) mutable {
        const Result<const re2::RE2*> parsed = regexes.For(pattern);
        if (!parsed.ok()) return call.Fail(parsed.status().message());
        const re2::RE2* regex = *parsed;
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
        const Result<const re2::RE2*> parsed = regexes.For(pattern);
        if (!parsed.ok()) return call.Fail(parsed.status().message());
        const re2::RE2* regex = *parsed;
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
          if (call.is_text_too_long()) return call.FailTooLong();
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
