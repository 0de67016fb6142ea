#include "cli/script/script.h"

#include <algorithm>
#include <array>

namespace rowtide {

namespace {

constexpr std::array<const char*, 8> kBlockNames = {"sql",    "input", "rows",    "query",
                                                    "insert", "write", "explain", "error"};
constexpr std::array<const char*, 6> kExpectNames = {"changelog", "table", "counts",
                                                     "files",     "plan",  "message"};

template <typename Kind, size_t kSize>
std::optional<Kind> Lookup(const std::array<const char*, kSize>& names, std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Kind>(found - names.begin());
}

std::string_view Strip(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// Takes the first word off `text`.
std::string_view TakeWord(std::string_view* text) {
  const size_t end = std::min(text->find_first_of(" \t"), text->size());
  const std::string_view word = text->substr(0, end);
  *text = Strip(text->substr(end));
  return word;
}

void DropBlankEnd(std::vector<std::string>* lines) {
  while (!lines->empty() && Strip(lines->back()).empty()) lines->pop_back();
}

class Parser {
 public:
  explicit Parser(std::string path) { script_.path = std::move(path); }

  Result<Script> Parse(std::string_view text) {
    target_ = &script_.head;
    for (const std::string& line : SplitLines(text)) {
      ++line_;
      if (line.starts_with("--- ")) {
        RT_TRY(Begin(Strip(std::string_view(line).substr(4))));
      } else {
        target_->push_back(line);
      }
    }
    for (ScriptBlock& block : script_.blocks) {
      DropBlankEnd(&block.lines);
      for (Expectation& expectation : block.expected) DropBlankEnd(&expectation.lines);
    }
    return std::move(script_);
  }

 private:
  Status Begin(std::string_view header) {
    std::string_view rest = header;
    const std::string_view word = TakeWord(&rest);
    if (const auto kind = Lookup<BlockKind>(kBlockNames, word)) {
      ScriptBlock block;
      block.kind = *kind;
      block.arguments = rest;
      block.line = line_;
      script_.blocks.push_back(std::move(block));
      target_ = &script_.blocks.back().lines;
      return Status::Ok();
    }
    if (script_.blocks.empty() || !script_.blocks.back().is_unit()) {
      return Refuse("'{}' needs a query, insert, write, explain or error block before it", word);
    }
    if (word == "flink-differs") return Differs(rest);
    const bool rowtide = word == "rowtide";
    return Expect(rowtide ? TakeWord(&rest) : word, rest, rowtide);
  }

  Status Differs(std::string_view rest) {
    const std::string_view row = TakeWord(&rest);
    if (!row.starts_with("15.")) return Refuse("flink-differs needs a row 15.N, not '{}'", row);
    script_.blocks.back().differs = FlinkDiffers{std::string(row.substr(3)), std::string(rest)};
    target_ = &ignored_;
    return Status::Ok();
  }

  Status Expect(std::string_view word, std::string_view arguments, bool rowtide) {
    const auto kind = Lookup<ExpectKind>(kExpectNames, word);
    if (!kind) return Refuse("unknown block '{}'", word);
    if (!arguments.empty() && (arguments != "unordered" || *kind != ExpectKind::kChangelog)) {
      return Refuse("unknown argument '{}'", arguments);
    }
    Expectation expectation;
    expectation.kind = *kind;
    expectation.unordered = !arguments.empty();
    expectation.rowtide = rowtide;
    expectation.line = line_;
    script_.blocks.back().expected.push_back(std::move(expectation));
    target_ = &script_.blocks.back().expected.back().lines;
    return Status::Ok();
  }

  Status Refuse(const char* text, std::string_view word) const {
    return Status::InvalidArgument("{}:{}: {}", script_.path, line_,
                                   fmt::format(fmt::runtime(text), word));
  }

  Script script_;
  int line_ = 0;
  std::vector<std::string>* target_ = nullptr;
  std::vector<std::string> ignored_;
};

void AppendBlock(std::string_view header, const std::vector<std::string>& lines, std::string* out) {
  out->append("--- ").append(header).append("\n");
  for (const std::string& line : lines) out->append(line).append("\n");
  out->append("\n");
}

}  // namespace

const char* Name(BlockKind kind) { return kBlockNames[static_cast<size_t>(kind)]; }
const char* Name(ExpectKind kind) { return kExpectNames[static_cast<size_t>(kind)]; }

std::string ScriptBlock::text() const {
  std::string text;
  for (const std::string& line : lines) text.append(line).append("\n");
  return text;
}

const Expectation* ScriptBlock::Find(ExpectKind wanted, bool rowtide) const {
  for (const Expectation& expectation : expected) {
    if (expectation.kind == wanted && expectation.rowtide == rowtide) return &expectation;
  }
  return nullptr;
}

int Script::units() const {
  return static_cast<int>(std::count_if(blocks.begin(), blocks.end(),
                                        [](const ScriptBlock& block) { return block.is_unit(); }));
}

Result<Script> ParseTestScript(std::string path, std::string_view text) {
  return Parser(std::move(path)).Parse(text);
}

std::string ToText(const Script& script) {
  std::string out;
  for (const std::string& line : script.head) out.append(line).append("\n");
  for (const ScriptBlock& block : script.blocks) {
    const std::string gap = block.arguments.empty() ? "" : " ";
    AppendBlock(Name(block.kind) + gap + block.arguments, block.lines, &out);
    if (block.differs) {
      const std::string space = block.differs->reason.empty() ? "" : " ";
      AppendBlock("flink-differs 15." + block.differs->row + space + block.differs->reason, {},
                  &out);
    }
    for (const Expectation& expectation : block.expected) {
      AppendBlock(std::string(expectation.rowtide ? "rowtide " : "") + Name(expectation.kind) +
                      (expectation.unordered ? " unordered" : ""),
                  expectation.lines, &out);
    }
  }
  if (out.ends_with("\n\n")) out.pop_back();
  return out;
}

std::vector<std::string> SplitLines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace rowtide
