#include "operators/expressions/json_filter.h"

#include <cctype>
#include <cstdlib>

namespace rowtide {
namespace {

constexpr int kMaxDepth = 64;
constexpr std::string_view kPathEnds = " \t\n)=!<>&|";

void SkipBlanks(std::string_view* text) {
  while (!text->empty() && std::isspace(static_cast<unsigned char>(text->front())))
    text->remove_prefix(1);
}

bool Take(std::string_view* text, std::string_view word) {
  SkipBlanks(text);
  if (!text->starts_with(word)) return false;
  text->remove_prefix(word.size());
  return true;
}

double NumberOf(const Json& json) { return std::strtod(json.text.c_str(), nullptr); }

}  // namespace

const Json* JsonFilter::Operand::Value(const Json& root, const Json& item) const {
  return path ? path->First(root, from_root ? root : item) : &literal;
}

bool JsonFilter::ParseOperand(std::string_view* text, Operand* operand) {
  SkipBlanks(text);
  if (text->empty()) return false;
  const char first = text->front();
  if (first == '@' || first == '$') {
    text->remove_prefix(1);
    auto path = std::make_shared<JsonPath>();
    if (!path->ParseSteps(text, kPathEnds)) return false;
    operand->path = std::move(path);
    operand->from_root = first == '$';
    return true;
  }
  if (first == '\'' || first == '"') {
    text->remove_prefix(1);
    operand->literal.kind = Json::Kind::kString;
    while (!text->empty() && text->front() != first) {
      if (text->front() == '\\' && text->size() > 1) text->remove_prefix(1);
      operand->literal.text += text->front();
      text->remove_prefix(1);
    }
    return Take(text, std::string_view(&first, 1));
  }
  size_t end = text->find_first_of(kPathEnds);
  if (end == std::string_view::npos) end = text->size();
  if (!ParseJson(text->substr(0, end), &operand->literal)) return false;
  text->remove_prefix(end);
  return true;
}

bool JsonFilter::ParseRegex(std::string_view* text) {
  if (!Take(text, "/")) return false;
  std::string pattern;
  while (!text->empty() && text->front() != '/') {
    if (text->starts_with("\\/")) text->remove_prefix(1);
    pattern += text->front();
    text->remove_prefix(1);
  }
  if (!Take(text, "/")) return false;
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_case_sensitive(!Take(text, "i"));
  regex_ = std::make_shared<const re2::RE2>(pattern, options);
  return regex_->ok();
}

JsonFilter::Pointer JsonFilter::ParseOne(std::string_view* text, int depth) {
  if (depth > kMaxDepth) return nullptr;
  if (Take(text, "(")) {
    Pointer inner = ParseOr(text, depth + 1);
    return inner && Take(text, ")") ? inner : nullptr;
  }
  auto made = std::make_shared<JsonFilter>();
  SkipBlanks(text);
  if (text->starts_with('!') && !text->starts_with("!=")) {
    text->remove_prefix(1);
    Pointer inner = ParseOne(text, depth + 1);
    if (!inner) return nullptr;
    made->kind_ = Kind::kNot;
    made->parts_.push_back(std::move(inner));
    return made;
  }
  if (!ParseOperand(text, &made->left_)) return nullptr;
  if (Take(text, "=~")) {
    made->kind_ = Kind::kMatches;
    return made->ParseRegex(text) ? made : nullptr;
  }
  for (const char* comparison : {"==", "!=", "<=", ">=", "<", ">"}) {
    if (!Take(text, comparison)) continue;
    made->kind_ = Kind::kCompare;
    made->comparison_ = comparison;
    return ParseOperand(text, &made->right_) ? made : nullptr;
  }
  made->kind_ = Kind::kThere;
  return made->left_.path ? made : nullptr;
}

JsonFilter::Pointer JsonFilter::ParseAnd(std::string_view* text, int depth) {
  Pointer first = ParseOne(text, depth);
  while (first && Take(text, "&&")) {
    auto both = std::make_shared<JsonFilter>();
    Pointer second = ParseOne(text, depth);
    if (!second) return nullptr;
    both->kind_ = Kind::kAnd;
    both->parts_ = {std::move(first), std::move(second)};
    first = std::move(both);
  }
  return first;
}

JsonFilter::Pointer JsonFilter::ParseOr(std::string_view* text, int depth) {
  Pointer first = ParseAnd(text, depth);
  while (first && Take(text, "||")) {
    auto either = std::make_shared<JsonFilter>();
    Pointer second = ParseAnd(text, depth);
    if (!second) return nullptr;
    either->kind_ = Kind::kOr;
    either->parts_ = {std::move(first), std::move(second)};
    first = std::move(either);
  }
  return first;
}

std::shared_ptr<const JsonFilter> JsonFilter::Parse(std::string_view* text) {
  if (!Take(text, "(")) return nullptr;
  Pointer filter = ParseOr(text, 0);
  return filter && Take(text, ")") ? filter : nullptr;
}

bool JsonFilter::Equal(const Json& a, const Json& b) {
  const auto number_or_text = [](const Json& json) {
    return json.kind == Json::Kind::kNumber || json.kind == Json::Kind::kString;
  };
  if (a.kind == Json::Kind::kString && b.kind == Json::Kind::kString) return a.text == b.text;
  if (number_or_text(a) && number_or_text(b)) return NumberOf(a) == NumberOf(b);
  if (a.kind != b.kind) return false;
  std::string x, y;
  AppendJson(a, &x);
  AppendJson(b, &y);
  return x == y;
}

bool JsonFilter::Holds(const Json& root, const Json& item) const {
  switch (kind_) {
    case Kind::kAnd: return parts_[0]->Holds(root, item) && parts_[1]->Holds(root, item);
    case Kind::kOr: return parts_[0]->Holds(root, item) || parts_[1]->Holds(root, item);
    case Kind::kNot: return !parts_[0]->Holds(root, item);
    case Kind::kThere: return left_.Value(root, item) != nullptr;
    case Kind::kMatches: {
      const Json* value = left_.Value(root, item);
      return value && value->kind == Json::Kind::kString &&
             re2::RE2::FullMatch(value->text, *regex_);
    }
    case Kind::kCompare: break;
  }
  const Json* a = left_.Value(root, item);
  const Json* b = right_.Value(root, item);
  if (!a || !b) return comparison_ == "!=";
  if (comparison_ == "==") return Equal(*a, *b);
  if (comparison_ == "!=") return !Equal(*a, *b);
  const bool numbers = a->kind == Json::Kind::kNumber && b->kind == Json::Kind::kNumber;
  if (!numbers && !(a->kind == Json::Kind::kString && b->kind == Json::Kind::kString)) return false;
  const double x = numbers ? NumberOf(*a) : a->text.compare(b->text);
  const double y = numbers ? NumberOf(*b) : 0;
  if (comparison_ == "<") return x < y;
  if (comparison_ == "<=") return x <= y;
  return comparison_ == ">" ? x > y : x >= y;
}

}  // namespace rowtide
