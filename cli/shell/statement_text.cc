#include "cli/shell/statement_text.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "planner/sql/lexer.h"

namespace rowtide {

namespace {

bool IsWordCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80;
}

// Passes over text piece by piece: a word, a quoted piece, a comment, one character.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  enum class Piece : uint8_t { kEnd, kBlank, kComment, kQuoted, kWord, kCharacter };

  Piece Next() {
    begin_ = at_;
    open_ = Typed::kNothing;
    if (at_ == text_.size()) return Piece::kEnd;
    if (text_.substr(at_).starts_with("--")) {
      at_ = std::min(text_.find('\n', at_), text_.size());
      return Piece::kComment;
    }
    const bool is_hint = text_.substr(at_).starts_with("/*+");
    if (text_.substr(at_).starts_with("/*")) {
      Close(at_ + 2, "*/", Typed::kComment);
      return is_hint ? Piece::kQuoted : Piece::kComment;
    }
    const char c = text_[at_];
    if (c == '\'' || c == '`' || c == '"') {
      Close(at_ + 1, std::string_view(&text_[at_], 1), c == '\'' ? Typed::kString : Typed::kName);
      return Piece::kQuoted;
    }
    if (IsWordCharacter(c)) {
      while (at_ < text_.size() && IsWordCharacter(text_[at_])) ++at_;
      return Piece::kWord;
    }
    ++at_;
    return std::isspace(static_cast<unsigned char>(c)) != 0 ? Piece::kBlank : Piece::kCharacter;
  }

  std::string_view piece() const { return text_.substr(begin_, at_ - begin_); }
  Typed open() const { return open_; }  // of the last piece, when it does not end

 private:
  // A doubled quote is two quoted pieces in a row, which is as good.
  void Close(size_t from, std::string_view end, Typed kind) {
    const size_t found = text_.find(end, from);
    open_ = found == std::string_view::npos ? kind : Typed::kNothing;
    at_ = found == std::string_view::npos ? text_.size() : found + end.size();
  }

  std::string_view text_;
  size_t begin_ = 0;
  size_t at_ = 0;
  Typed open_ = Typed::kNothing;
};

// The words of one statement so far, as far as its end depends on them.
struct Words {
  int count = 0;
  int cases = 0;  // CASE without its END
  bool is_set = false;
  std::string last;

  void Add(std::string word) {
    if (++count <= 5 && word == "SET" && last == "STATEMENT") is_set = true;
    if (word == "CASE") ++cases;
    ends_set = word == "END" && cases == 0;
    if (word == "END" && cases > 0) --cases;
    last = std::move(word);
  }
  bool ends_set = false;
};

}  // namespace

Typed LookAt(std::string_view text) {
  Scanner scanner(text);
  Words words;
  Typed typed = Typed::kNothing;
  while (true) {
    const Scanner::Piece piece = scanner.Next();
    if (scanner.open() != Typed::kNothing) return scanner.open();
    switch (piece) {
      case Scanner::Piece::kEnd: return typed;
      case Scanner::Piece::kBlank:
      case Scanner::Piece::kComment: break;
      case Scanner::Piece::kWord:
        words.Add(UpperCase(scanner.piece()));
        typed = Typed::kStatement;
        break;
      case Scanner::Piece::kQuoted: typed = Typed::kStatement; break;
      case Scanner::Piece::kCharacter:
        typed = Typed::kStatement;
        if (scanner.piece() == ";" && (!words.is_set || words.ends_set)) {
          words = Words();
          typed = Typed::kComplete;
        }
        words.ends_set = false;
        break;
    }
  }
}

std::string OnOneLine(std::string_view text) {
  Scanner scanner(text);
  std::string line;
  for (Scanner::Piece piece = scanner.Next(); piece != Scanner::Piece::kEnd;
       piece = scanner.Next()) {
    const bool blank = piece == Scanner::Piece::kBlank || piece == Scanner::Piece::kComment;
    if (!blank) {
      line += scanner.piece();
    } else if (!line.empty() && line.back() != ' ') {
      line.push_back(' ');
    }
  }
  while (line.ends_with(' ')) line.pop_back();
  return line;
}

}  // namespace rowtide
