#include "cli/script/expected.h"

#include <algorithm>
#include <array>

namespace rowtide {

namespace {

constexpr int kShownDifferences = 8;

// The elements of a row's text: `["a,b",1]` to `"a,b"` and `1`.
std::vector<std::string> ElementsOf(std::string_view row) {
  std::vector<std::string> elements(1);
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < row.size(); ++i) {
    const char c = row[i];
    if (quoted && c == '\\') {
      elements.back().append(row.substr(i, 2));
      ++i;
      continue;
    }
    if (c == '"') quoted = !quoted;
    if (!quoted && (c == ']' || c == '}')) --depth;
    if (!quoted && c == ',' && depth == 1) {
      elements.emplace_back();
    } else if (depth > 0) {
      elements.back().push_back(c);
    }
    if (!quoted && (c == '[' || c == '{')) ++depth;
  }
  return elements;
}

std::string KeyOf(const std::string& row, const std::vector<int>& columns) {
  const std::vector<std::string> elements = ElementsOf(row);
  std::string key;
  for (const int column : columns) {
    if (static_cast<size_t>(column) < elements.size()) key += elements[static_cast<size_t>(column)];
    key += '\n';
  }
  return key;
}

void FoldByKey(const SinkChangelog& sink, std::vector<std::string>* table) {
  std::map<std::string, std::string> by_key;
  for (const CollectedRow& row : sink.rows) {
    const std::string key = KeyOf(row.text, sink.upsert_key);
    if (Adds(row.kind)) {
      by_key[key] = row.text;
    } else {
      by_key.erase(key);
    }
  }
  for (auto& [key, text] : by_key) table->push_back(std::move(text));
}

void FoldToBag(const SinkChangelog& sink, std::vector<std::string>* table) {
  std::map<std::string, int> bag;
  for (const CollectedRow& row : sink.rows) bag[row.text] += Adds(row.kind) ? 1 : -1;
  for (const auto& [text, count] : bag) {
    for (int i = 0; i < std::abs(count); ++i)
      table->push_back((count < 0 ? "missing " : "") + text);
  }
}

struct JavaClass {
  const char* name;
  ErrorKind kind;
};
// Classes that are not listed fail while the job runs.
constexpr JavaClass kJavaClasses[] = {
    {"ParseException", ErrorKind::kParse},
    {"SqlParserException", ErrorKind::kParse},
    {"CalciteException", ErrorKind::kParse},
    {"SqlValidatorException", ErrorKind::kValidate},
    {"SqlValidateException", ErrorKind::kValidate},
    {"ValidationException", ErrorKind::kValidate},
    {"TableAlreadyExistException", ErrorKind::kValidate},
    {"TableException", ErrorKind::kPlan},
    {"UnsupportedOperationException", ErrorKind::kPlan},
};
struct JavaText {
  const char* begin;
  ErrorKind kind;
};
// Classes whose text decides.
constexpr JavaText kJavaTexts[] = {
    {"IllegalArgumentException: Unrecognized option", ErrorKind::kValidate},
    {"IllegalArgumentException: Unsupported type", ErrorKind::kPlan},
    {"IllegalArgumentException: Only simple types", ErrorKind::kPlan},
    {"IllegalStateException: Streaming mode not support overwrite.", ErrorKind::kPlan},
};

struct Section {
  const char* title;
  bool PlanStages::* wanted;
};
constexpr Section kSections[] = {
    {"== Abstract Syntax Tree ==", &PlanStages::ast},
    {"== Optimized Physical Plan ==", &PlanStages::physical},
    {"== Optimized Execution Plan ==", &PlanStages::exec},
};

// The lines of the wanted sections, without blank ones at a section's end.
std::vector<std::string> WantedSections(const std::vector<std::string>& plan,
                                        const PlanStages& stages) {
  std::vector<std::string> lines;
  bool wanted = false;
  for (const std::string& line : plan) {
    if (line.starts_with("== ")) {
      while (!lines.empty() && lines.back().empty()) lines.pop_back();
      const auto* section = std::find_if(std::begin(kSections), std::end(kSections),
                                         [&](const Section& s) { return line == s.title; });
      wanted = section != std::end(kSections) && stages.*section->wanted;
    }
    if (wanted) lines.push_back(line);
  }
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

// The lines that differ around the first difference, want before got.
std::string Difference(const std::vector<std::string>& want, const std::vector<std::string>& got) {
  const auto [w, g] = std::mismatch(want.begin(), want.end(), got.begin(), got.end());
  std::string text = fmt::format("    first difference in line {}\n", w - want.begin() + 1);
  if (w != want.begin()) text += fmt::format("      same {}\n", *(w - 1));
  int shown = 0;
  for (auto line = w; line != want.end() && shown < kShownDifferences; ++line, ++shown) {
    text += fmt::format("      want {}\n", *line);
  }
  shown = 0;
  for (auto line = g; line != got.end() && shown < kShownDifferences; ++line, ++shown) {
    text += fmt::format("      got  {}\n", *line);
  }
  return text;
}

std::optional<std::string> CompareMessage(const Expectation& expected, const UnitAnswer& answer) {
  const std::string message = expected.lines.empty() ? "" : expected.lines[0];
  const ErrorKind want = KindOfMessage(message);
  if (!answer.failure)
    return fmt::format("      want a {} error: {}\n      got  no error\n", Name(want), message);
  if (answer.failure->kind() == want) return std::nullopt;
  return fmt::format("      want a {} error: {}\n      got  a {} error: {}\n", Name(want), message,
                     Name(answer.failure->kind()), answer.failure->message());
}

}  // namespace

std::vector<std::string> UnitAnswer::Lines(ExpectKind kind) const {
  if (failure) return {"error: " + std::string(Name(failure->kind())) + ": " + failure->message()};
  const auto found = lines.find(kind);
  return found == lines.end() ? std::vector<std::string>() : found->second;
}

// UTF-8 sorts by code point; a surrogate, the lead of a four-byte character, is below U+E000.
bool Utf16Less(const std::string& a, const std::string& b) {
  const auto [at, other] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  if (at == a.end() || other == b.end()) return at == a.end() && other != b.end();
  const auto rank = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    const bool above_surrogates = byte == 0xee || byte == 0xef;
    return above_surrogates ? byte + 0x100 : byte;
  };
  return rank(*at) < rank(*other);
}

void GroupByKey(SinkChangelog* sink) {
  std::vector<std::pair<std::string, CollectedRow>> rows;
  for (CollectedRow& row : sink->rows) {
    std::string key = sink->upsert_key.empty() ? fmt::format("{} {}", row.text, Text(row.kind))
                                               : KeyOf(row.text, sink->upsert_key);
    rows.emplace_back(std::move(key), std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  sink->rows.clear();
  for (auto& [key, row] : rows) sink->rows.push_back(std::move(row));
}

void AddChangelog(const std::vector<SinkChangelog>& sinks, UnitAnswer* answer) {
  std::array<int64_t, 4> counts = {};
  std::vector<std::string> changelog;
  std::vector<std::string> table;
  for (const SinkChangelog& sink : sinks) {
    for (const CollectedRow& row : sink.rows) {
      changelog.push_back(std::string(Text(row.kind)) + " " + row.text);
      ++counts[static_cast<size_t>(row.kind)];
    }
    sink.upsert_key.empty() ? FoldToBag(sink, &table) : FoldByKey(sink, &table);
  }
  std::sort(table.begin(), table.end(), Utf16Less);
  answer->lines[ExpectKind::kChangelog] = std::move(changelog);
  answer->lines[ExpectKind::kTable] = std::move(table);
  std::vector<std::string>& lines = answer->lines[ExpectKind::kCounts];
  lines.clear();
  for (size_t kind = 0; kind < counts.size(); ++kind) {
    lines.push_back(fmt::format("{} {}", Text(static_cast<RowKind>(kind)), counts[kind]));
  }
}

ErrorKind KindOfMessage(const std::string& message) {
  for (const JavaText& text : kJavaTexts) {
    if (message.starts_with(text.begin)) return text.kind;
  }
  const std::string name = message.substr(0, message.find(':'));
  for (const JavaClass& one : kJavaClasses) {
    if (name == one.name) return one.kind;
  }
  return ErrorKind::kRun;
}

const char* ClassOfKind(ErrorKind kind) {
  for (const JavaClass& one : kJavaClasses) {
    if (one.kind == kind) return one.name;
  }
  return "RuntimeException";
}

std::optional<std::string> Compare(const Expectation& expected, const UnitAnswer& answer,
                                   const PlanStages& stages) {
  if (expected.kind == ExpectKind::kMessage) return CompareMessage(expected, answer);
  std::vector<std::string> want = expected.lines;
  std::vector<std::string> got = answer.Lines(expected.kind);
  if (expected.kind == ExpectKind::kPlan && !answer.failure) {
    want = WantedSections(want, stages);
    got = WantedSections(got, stages);
  }
  if (expected.unordered) {
    std::sort(want.begin(), want.end(), Utf16Less);
    std::sort(got.begin(), got.end(), Utf16Less);
  }
  if (want == got) return std::nullopt;
  return Difference(want, got);
}

bool SameAst(const Expectation& expected, const UnitAnswer& answer) {
  const PlanStages ast{true, false, false};
  return !answer.failure && WantedSections(expected.lines, ast) ==
                                WantedSections(answer.Lines(ExpectKind::kPlan), ast);
}

}  // namespace rowtide
