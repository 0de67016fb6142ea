// SIMILAR TO: SQL's own regular expressions, translated as Calcite does and run by RE2.
#include <re2/re2.h>

#include "operators/expressions/kernels.h"
#include "operators/expressions/utf8.h"

namespace rowtide {
namespace {

constexpr std::string_view kSqlSpecials = "[]()|^-+*_%?{}";
constexpr std::string_view kRegexSpecials = "[]()|^-+*?{}$\\.";

struct CharacterClass {
  std::string_view sql;
  std::string_view regex;
};
constexpr CharacterClass kClasses[] = {
    {"[:ALPHA:]", "[:alpha:]"}, {"[:alpha:]", "[:alpha:]"}, {"[:UPPER:]", "[:upper:]"},
    {"[:upper:]", "[:upper:]"}, {"[:LOWER:]", "[:lower:]"}, {"[:lower:]", "[:lower:]"},
    {"[:DIGIT:]", "\\d"},       {"[:digit:]", "\\d"},       {"[:SPACE:]", " "},
    {"[:space:]", " "},         {"[:WHITESPACE:]", "\\s"},  {"[:whitespace:]", "\\s"},
    {"[:ALNUM:]", "[:alnum:]"}, {"[:alnum:]", "[:alnum:]"}};

bool Holds(std::string_view set, std::string_view character) {
  return character.size() == 1 && set.find(character[0]) != std::string_view::npos;
}

// One pattern on its way to a regular expression.
class Translation {
 public:
  Translation(std::string_view pattern, std::string_view escape)
      : pattern_(pattern), rest_(pattern), escape_(escape) {}

  Result<std::string> Run() {
    while (!rest_.empty()) {
      if (!escape_.empty() && rest_.starts_with(escape_)) {
        RT_TRY(Escaped());
      } else if (rest_[0] == '[') {
        RT_TRY(Set());
      } else {
        RT_TRY(Plain(Take()));
      }
    }
    return "^(?:" + regex_ + ")$";
  }

 private:
  std::string_view Take() {
    const std::string_view one = FirstCharacter(rest_);
    rest_.remove_prefix(one.size());
    return one;
  }

  Status Wrong() const {
    return Status::InvalidArgument("the SIMILAR TO pattern '{}' is not well formed", pattern_)
        .WithErrorCode("RT2025")
        .WithKind(ErrorKind::kRun);
  }

  Status Plain(std::string_view one) {
    if (one == "]") return Wrong();
    if (one == "_") {
      regex_ += '.';
    } else if (one == "%") {
      regex_ += "(?s:.*)";
    } else {
      if (one == "\\" || one == "$") regex_ += '\\';
      regex_ += one;
    }
    return Status::Ok();
  }

  // The escape character and the one that it makes plain.
  Status Escaped() {
    rest_.remove_prefix(escape_.size());
    const std::string_view one = rest_.empty() ? rest_ : Take();
    if (!Holds(kSqlSpecials, one) && one != escape_) {
      return Status::InvalidArgument(
                 "the SIMILAR TO pattern '{}' escapes neither a special character nor the escape "
                 "character",
                 pattern_)
          .WithErrorCode("RT2025");
    }
    if (Holds(kRegexSpecials, one)) regex_ += '\\';
    regex_ += one;
    return Status::Ok();
  }

  // [a-z], [^[:DIGIT:]_]
  Status Set() {
    regex_ += Take();
    while (!rest_.empty() && rest_[0] != ']') {
      if (!escape_.empty() && rest_.starts_with(escape_)) {
        RT_TRY(Escaped());
      } else if (rest_.starts_with("[:")) {
        RT_TRY(Class());
      } else {
        const std::string_view one = Take();
        if (one != "-" && one != "^" && Holds(kSqlSpecials, one)) return Wrong();
        if (one == "\\") regex_ += '\\';
        regex_ += one;
      }
    }
    if (rest_.empty()) return Wrong();
    regex_ += Take();
    return Status::Ok();
  }

  Status Class() {
    for (const CharacterClass& known : kClasses) {
      if (!rest_.starts_with(known.sql)) continue;
      regex_ += known.regex;
      rest_.remove_prefix(known.sql.size());
      return Status::Ok();
    }
    return Wrong();
  }

  std::string_view pattern_;
  std::string_view rest_;
  std::string_view escape_;
  std::string regex_;
};

// The pattern of a row, compiled again only when it changes.
class SimilarPattern {
 public:
  Result<const re2::RE2*> For(std::string_view pattern, std::string_view escape) {
    if (regex_ && pattern == pattern_ && escape == escape_) return regex_.get();
    regex_ = nullptr;
    if (escape.size() != FirstCharacter(escape).size()) {
      return Status::InvalidArgument("ESCAPE takes one character, and '{}' is more", escape)
          .WithErrorCode("RT2025");
    }
    RT_ASSIGN(const std::string regex, Translation(pattern, escape).Run());
    re2::RE2::Options options;
    options.set_log_errors(false);
    auto parsed = std::make_shared<const re2::RE2>(regex, options);
    if (!parsed->ok()) {
      return Status::InvalidArgument("the SIMILAR TO pattern '{}' is not well formed: {}", pattern,
                                     parsed->error())
          .WithErrorCode("RT2025")
          .WithKind(ErrorKind::kRun);
    }
    pattern_.assign(pattern);
    escape_.assign(escape);
    regex_ = std::move(parsed);
    return regex_.get();
  }

 private:
  std::string pattern_;
  std::string escape_;
  std::shared_ptr<const re2::RE2> regex_;
};

}  // namespace

Result<NodePointer> BuildSimilar(CallSite& site) {
  SimilarPattern patterns;
  const std::string* pattern = site.LiteralText(1);
  const std::string* escape = site.size() == 3 ? site.LiteralText(2) : nullptr;
  if (pattern && (escape || site.size() == 2))
    RT_TRY(patterns.For(*pattern, escape ? *escape : std::string()).status());
  if (site.size() == 2)
    site.arguments.push_back(LiteralNode(std::string(), Type::Char(1).NotNull()));
  return PerRow<uint8_t, StringView, StringView, StringView>(
      site, [patterns](RowCall& call, const StringView& text, const StringView& like,
                       const StringView& escape_character, uint8_t* out) mutable {
        const Result<const re2::RE2*> regex = patterns.For(like.view(), escape_character.view());
        if (!regex.ok()) return call.Fail(regex.status().message());
        const std::string_view view = text.view();
        *out = (*regex)->Match({view.data(), view.size()}, 0, view.size(), re2::RE2::ANCHOR_BOTH,
                               nullptr, 0)
                   ? 1
                   : 0;
        return Outcome::kValue;
      });
}

}  // namespace rowtide
