// Functions that look for something in a string: POSITION, SPLIT_INDEX, LIKE.
#include <algorithm>

#include "operators/expressions/decimals.h"
#include "operators/expressions/kernels.h"
#include "operators/expressions/utf8.h"

namespace rowtide {
namespace {

// 1-based character position at or after character `from` (1-based), 0 when there is none. The
// empty string is found at 1, wherever the search begins.
int32_t PositionOf(std::string_view part, std::string_view text, int64_t from) {
  if (part.empty()) return 1;
  const size_t start = Utf8Offset(text, std::max<int64_t>(from, 1) - 1);
  const size_t at = text.find(part, start);
  if (at == std::string_view::npos) return 0;
  return CountCharacters(text.substr(0, at)) + 1;
}

// A LIKE pattern: literal pieces between %, where _ inside a piece stands for one character.
class LikePattern {
 public:
  // False when the escape is not followed by something that can be escaped.
  bool Parse(std::string_view pattern, std::string_view escape) {
    pieces_.assign(1, {});
    bool escaped = false;
    while (!pattern.empty()) {
      const std::string_view one = FirstCharacter(pattern);
      pattern.remove_prefix(one.size());
      const bool special = one == "%" || one == "_";
      if (!escaped && !escape.empty() && one == escape) {
        escaped = true;
        continue;
      }
      if (escaped && !special && one != escape) return false;
      if (!escaped && one == "%") {
        pieces_.emplace_back();
      } else if (!escaped && one == "_") {
        pieces_.back().wild = true;
        pieces_.back().parts.push_back({true, {}});
      } else {
        Append(one);
      }
      escaped = false;
    }
    return !escaped;
  }

  bool Matches(std::string_view text) const {
    const Piece& first = pieces_.front();
    size_t used;
    if (!MatchAt(first, text, &used)) return false;
    if (pieces_.size() == 1) return used == text.size();
    text.remove_prefix(used);
    for (size_t i = 1; i + 1 < pieces_.size(); ++i) {
      if (!Find(pieces_[i], &text)) return false;
    }
    return MatchEnd(pieces_.back(), text);
  }

 private:
  struct Part {
    bool any = false;  // _
    std::string text;
  };
  struct Piece {
    std::vector<Part> parts;
    bool wild = false;
  };

  void Append(std::string_view character) {
    std::vector<Part>& parts = pieces_.back().parts;
    if (parts.empty() || parts.back().any) parts.push_back({});
    parts.back().text += character;
  }

  static bool MatchAt(const Piece& piece, std::string_view text, size_t* used) {
    const size_t size = text.size();
    for (const Part& part : piece.parts) {
      if (part.any) {
        if (text.empty()) return false;
        text.remove_prefix(FirstCharacter(text).size());
      } else {
        if (!text.starts_with(part.text)) return false;
        text.remove_prefix(part.text.size());
      }
    }
    *used = size - text.size();
    return true;
  }

  // Takes the leftmost match away, with what stands before it.
  static bool Find(const Piece& piece, std::string_view* text) {
    if (!piece.wild) {
      if (piece.parts.empty()) return true;
      const size_t at = text->find(piece.parts[0].text);
      if (at == std::string_view::npos) return false;
      text->remove_prefix(at + piece.parts[0].text.size());
      return true;
    }
    while (true) {
      size_t used;
      if (MatchAt(piece, *text, &used)) {
        text->remove_prefix(used);
        return true;
      }
      if (text->empty()) return false;
      text->remove_prefix(FirstCharacter(*text).size());
    }
  }

  static bool MatchEnd(const Piece& piece, std::string_view text) {
    if (!piece.wild) return piece.parts.empty() || text.ends_with(piece.parts[0].text);
    // The piece has a fixed number of characters: only one place can end with the text.
    int64_t characters = 0;
    for (const Part& part : piece.parts) characters += part.any ? 1 : CountCharacters(part.text);
    const int64_t skipped = CountCharacters(text) - characters;
    if (skipped < 0) return false;
    text.remove_prefix(Utf8Offset(text, skipped));
    size_t used;
    return MatchAt(piece, text, &used) && used == text.size();
  }

  std::vector<Piece> pieces_;
};

Status CheckEscape(std::string_view escape) {
  if (escape.size() == FirstCharacter(escape).size()) return Status::Ok();
  return Status::InvalidArgument("ESCAPE takes one character, and not '{}'", escape)
      .WithErrorCode("RT2025");
}

Status WrongPattern(std::string_view pattern) {
  return Status::InvalidArgument(
             "the LIKE pattern '{}' escapes neither %, _ nor the escape character", pattern)
      .WithErrorCode("RT2025");
}

}  // namespace

// POSITION(part, text), LOCATE(part, text [, from])
Result<NodePointer> BuildPosition(CallSite& site) {
  if (site.size() == 2) site.arguments.push_back(LiteralNode(int64_t{1}, Type::Int().NotNull()));
  RT_TRY(CastArgument(&site, 2, Type::BigInt()));
  return PerRow<int32_t, StringView, StringView, int64_t>(
      site,
      [](RowCall&, const StringView& part, const StringView& text, int64_t from, int32_t* out) {
        *out = PositionOf(part.view(), text.view(), from);
        return Outcome::kValue;
      });
}

Result<NodePointer> BuildInstr(CallSite& site) {
  return PerRow<int32_t, StringView, StringView>(
      site, [](RowCall&, const StringView& text, const StringView& part, int32_t* out) {
        *out = PositionOf(part.view(), text.view(), 1);
        return Outcome::kValue;
      });
}

// SPLIT_INDEX(text, separator, index): the separator may be the code of a character.
Result<NodePointer> BuildSplitIndex(CallSite& site) {
  if (IsInteger(site.argument_type(1))) {
    Expression chr = Expression::Call("CHR", {site.call.operands[1]}, Type::String());
    CallSite inner{chr, {}, site.context, site.label};
    inner.arguments.push_back(std::move(site.arguments[1]));
    RT_ASSIGN(site.arguments[1], BuildCharacter(inner));
  }
  RT_TRY(CastArgument(&site, 2, Type::BigInt()));
  return PerRow<StringView, StringView, StringView, int64_t>(
      site, [](RowCall&, const StringView& text, const StringView& separator, int64_t index,
               StringView* out) {
        if (index < 0 || text.size() == 0) return Outcome::kNull;
        std::string_view rest = text.view();
        const std::string_view between = separator.view();
        for (; index > 0; --index) {
          const size_t at = between.empty() ? std::string_view::npos : rest.find(between);
          if (at == std::string_view::npos) return Outcome::kNull;
          rest.remove_prefix(at + between.size());
        }
        *out = RowCall::Part(between.empty() ? rest : rest.substr(0, rest.find(between)));
        return Outcome::kValue;
      });
}

Result<NodePointer> BuildStartsOrEnds(CallSite& site) {
  const bool starts = site.call.function == "STARTSWITH";
  return PerRow<uint8_t, StringView, StringView>(
      site, [starts](RowCall&, const StringView& text, const StringView& part, uint8_t* out) {
        *out = starts ? text.view().starts_with(part.view()) : text.view().ends_with(part.view());
        return Outcome::kValue;
      });
}

Result<NodePointer> BuildLike(CallSite& site) {
  const bool has_escape = site.size() == 3;
  const std::string* pattern = site.LiteralText(1);
  const std::string* escape = has_escape ? site.LiteralText(2) : nullptr;
  if (escape) RT_TRY(CheckEscape(*escape));
  if (pattern && (escape || !has_escape)) {
    LikePattern parsed;
    if (!parsed.Parse(*pattern, escape ? *escape : std::string_view()))
      return WrongPattern(*pattern);
    site.arguments.resize(1);
    return PerRow<uint8_t, StringView>(site,
                                       [parsed](RowCall&, const StringView& text, uint8_t* out) {
                                         *out = parsed.Matches(text.view()) ? 1 : 0;
                                         return Outcome::kValue;
                                       });
  }
  if (!has_escape) site.arguments.push_back(LiteralNode(std::string(), Type::Char(1).NotNull()));
  return PerRow<uint8_t, StringView, StringView, StringView>(
      site, [has_escape](RowCall& call, const StringView& text, const StringView& like,
                         const StringView& escape_character, uint8_t* out) {
        if (has_escape) {
          const Status status = CheckEscape(escape_character.view());
          if (!status.ok()) return call.Fail(status.message());
        }
        LikePattern parsed;
        if (!parsed.Parse(like.view(), escape_character.view()))
          return call.Fail(WrongPattern(like.view()).message());
        *out = parsed.Matches(text.view()) ? 1 : 0;
        return Outcome::kValue;
      });
}

}  // namespace rowtide
