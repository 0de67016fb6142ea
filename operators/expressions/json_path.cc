#include "operators/expressions/json_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <set>

#include "engine/value_text.h"
#include "operators/expressions/json_filter.h"

namespace rowtide {
namespace {

constexpr int64_t kFiltersMax = 64;
constexpr size_t kReachedMax = size_t{1} << 20;  // [0,0] doubles what is reached at every step

void SkipBlanks(std::string_view* text) {
  while (!text->empty() && std::isspace(static_cast<unsigned char>(text->front())))
    text->remove_prefix(1);
}

bool Take(std::string_view* text, char c) {
  SkipBlanks(text);
  if (!text->starts_with(c)) return false;
  text->remove_prefix(1);
  return true;
}

std::string_view TakeUntil(std::string_view* text, std::string_view ends) {
  const std::string_view taken = text->substr(0, text->find_first_of(ends));
  text->remove_prefix(taken.size());
  return taken;
}

Json Number(std::string text) {
  Json json;
  json.kind = Json::Kind::kNumber;
  json.text = std::move(text);
  return json;
}

bool IsContainer(const Json& json) { return !json.is_scalar(); }

// The functions of many numbers.
bool Folded(const std::string& function, const Json& array, Json* made) {
  double sum = 0, least = 0, most = 0;
  int count = 0;
  for (const Json& item : array.items) {
    if (item.kind != Json::Kind::kNumber) continue;
    const double value = std::strtod(item.text.c_str(), nullptr);
    sum += value;
    least = count == 0 ? value : std::min(least, value);
    most = count == 0 ? value : std::max(most, value);
    ++count;
  }
  if (count == 0) return false;
  const double value = function == "min"   ? least
                       : function == "max" ? most
                       : function == "sum" ? sum
                                           : sum / count;
  std::string text;
  AppendJavaDouble(value, &text);
  *made = Number(std::move(text));
  return true;
}

}  // namespace

bool JsonPath::ParseNames(std::string_view* text) {
  Step step;
  do {
    SkipBlanks(text);
    if (text->empty()) return false;
    const char quote = text->front();
    if (quote != '\'' && quote != '"') return false;
    text->remove_prefix(1);
    std::string name;
    while (!text->empty() && text->front() != quote) {
      if (text->front() == '\\' && text->size() > 1) text->remove_prefix(1);
      name += text->front();
      text->remove_prefix(1);
    }
    if (!Take(text, quote)) return false;
    step.names.push_back(std::move(name));
  } while (Take(text, ','));
  step.kind = step.names.size() == 1 ? Step::Kind::kMember : Step::Kind::kMembers;
  step.name = step.names[0];
  steps_.push_back(std::move(step));
  return Take(text, ']');
}

bool JsonPath::ParseIndexes(std::string_view inside) {
  Step step;
  const bool slices = inside.find(':') != std::string_view::npos;
  const char between = slices ? ':' : ',';
  std::vector<std::string_view> parts;
  while (true) {
    parts.push_back(TakeUntil(&inside, std::string_view(&between, 1)));
    if (inside.empty()) break;
    inside.remove_prefix(1);
  }
  if (slices && parts.size() != 2) return false;
  for (size_t i = 0; i < parts.size(); ++i) {
    std::string_view part = parts[i];
    SkipBlanks(&part);
    while (part.ends_with(' ')) part.remove_suffix(1);
    int64_t index = 0;
    const bool absent = slices && part.empty();
    if (!absent && !ParseInt64(part, &index)) return false;
    if (slices) (i == 0 ? step.has_from : step.has_to) = !absent;
    step.indexes.push_back(index);
  }
  if (slices && !step.has_from && !step.has_to) return false;
  step.kind = slices                     ? Step::Kind::kSlice
              : step.indexes.size() == 1 ? Step::Kind::kElement
                                         : Step::Kind::kElements;
  steps_.push_back(std::move(step));
  return true;
}

bool JsonPath::ParseBracket(std::string_view* text) {
  text->remove_prefix(1);
  SkipBlanks(text);
  if (text->empty()) return false;
  if (text->front() == '\'' || text->front() == '"') return ParseNames(text);
  if (Take(text, '?')) {
    Step step;
    step.kind = Step::Kind::kFilter;
    step.filter = JsonFilter::Parse(text);
    if (!step.filter) return false;
    steps_.push_back(std::move(step));
    return Take(text, ']');
  }
  const std::string_view inside = TakeUntil(text, "]");
  if (inside == "*") {
    steps_.push_back({Step::Kind::kAny, {}});
  } else if (!ParseIndexes(inside)) {
    return false;
  }
  return Take(text, ']');
}

// Up to the end, or to one of `ends`.
bool JsonPath::ParseSteps(std::string_view* text, std::string_view ends) {
  while (!text->empty() && ends.find(text->front()) == std::string_view::npos) {
    if (text->front() == '[') {
      if (!ParseBracket(text)) return false;
      continue;
    }
    if (text->front() != '.') return false;
    text->remove_prefix(1);
    const bool anywhere = text->starts_with('.');
    if (anywhere) text->remove_prefix(1);
    std::string_view name =
        TakeUntil(text, ends.empty() ? std::string(".[") : ".[" + std::string(ends));
    if (name.empty() || (anywhere && name == "*")) return false;
    Step::Kind kind = name == "*" ? Step::Kind::kAny
                      : anywhere  ? Step::Kind::kAnywhere
                                  : Step::Kind::kMember;
    static const std::set<std::string_view> kFunctions = {"length()", "keys()", "min()",
                                                          "max()",    "sum()",  "avg()"};
    if (kFunctions.count(name) > 0 && text->empty()) {
      kind = Step::Kind::kFunction;
      name.remove_suffix(2);
    }
    steps_.push_back({kind, std::string(name)});
  }
  return true;
}

bool JsonPath::Parse(std::string_view text) {
  // Filters may stand in the paths of filters; so many are no path that somebody means.
  if (std::count(text.begin(), text.end(), '?') > kFiltersMax) return false;
  SkipBlanks(&text);
  is_lax_ = text.starts_with("lax ");
  if (is_lax_ || text.starts_with("strict ")) text.remove_prefix(text.find(' '));
  return Take(&text, '$') && ParseSteps(&text, "");
}

bool JsonPath::IsDefinite(size_t step) const {
  switch (steps_[step].kind) {
    case Step::Kind::kMember:
    case Step::Kind::kElement:
    case Step::Kind::kFunction: return true;
    case Step::Kind::kMembers: return step + 1 == steps_.size();
    case Step::Kind::kElements:
    case Step::Kind::kSlice:
    case Step::Kind::kAny:
    case Step::Kind::kAnywhere:
    case Step::Kind::kFilter: break;
  }
  return false;
}

bool JsonPath::Applies(const Step& step, const Json& json) {
  switch (step.kind) {
    case Step::Kind::kElements:
    case Step::Kind::kSlice: return json.kind == Json::Kind::kArray;
    case Step::Kind::kMembers: return json.kind == Json::Kind::kObject;
    case Step::Kind::kFilter: return IsContainer(json);
    default: return true;
  }
}

// As Jayway does it: [a:b] counts from a to b, and each number below 0 is one from the end.
void JsonPath::FollowSlice(const Step& step, const Json& array, Reached* next) {
  const int64_t size = static_cast<int64_t>(array.items.size());
  int64_t from = step.indexes[0], to = step.indexes[1];
  if (!step.has_to) {
    from = std::max<int64_t>(from < 0 ? size + from : from, 0);
    to = size;
  } else if (!step.has_from) {
    from = 0;
    to = std::min(to < 0 ? size + to : to, size);
  } else {
    from = std::max(from, -size);
    to = std::min(to, size);
  }
  for (int64_t i = from; i < to; ++i) {
    const int64_t index = i < 0 ? size + i : i;
    if (index >= 0 && index < size) next->push_back(&array.items[static_cast<size_t>(index)]);
  }
}

void JsonPath::Follow(const Step& step, const Json& root, const Json& json, Reached* next) {
  const bool is_object = json.kind == Json::Kind::kObject;
  const auto add_member = [&](const std::string& name) {
    if (const Json* member = is_object ? json.Find(name) : nullptr) next->push_back(member);
  };
  switch (step.kind) {
    case Step::Kind::kMember: add_member(step.name); break;
    case Step::Kind::kMembers:
      for (const std::string& name : step.names) add_member(name);
      break;
    case Step::Kind::kAny: {
      std::set<std::string_view> met;  // of a name said twice the last value, at the first place
      for (size_t i = 0; i < json.items.size(); ++i) {
        if (is_object && !met.insert(json.names[i]).second) continue;
        next->push_back(is_object ? json.Find(json.names[i]) : &json.items[i]);
      }
      break;
    }
    case Step::Kind::kElement:
    case Step::Kind::kElements:
      if (json.kind != Json::Kind::kArray) break;
      for (const int64_t given : step.indexes) {
        const int64_t size = static_cast<int64_t>(json.items.size());
        const int64_t index = given < 0 ? size + given : given;
        if (index >= 0 && index < size) next->push_back(&json.items[static_cast<size_t>(index)]);
      }
      break;
    case Step::Kind::kSlice:
      if (json.kind == Json::Kind::kArray) FollowSlice(step, json, next);
      break;
    case Step::Kind::kAnywhere:
      add_member(step.name);
      for (const Json& item : json.items) Follow(step, root, item, next);
      break;
    case Step::Kind::kFilter:
      if (is_object) {
        if (step.filter->Holds(root, json)) next->push_back(&json);
      } else {
        for (const Json& item : json.items) {
          if (step.filter->Holds(root, item)) next->push_back(&item);
        }
      }
      break;
    case Step::Kind::kFunction: next->push_back(&json); break;
  }
}

const Json* JsonPath::First(const Json& root, const Json& start) const {
  Reached reached{&start};
  for (const Step& step : steps_) {
    Reached next;
    for (const Json* json : reached) Follow(step, root, *json, &next);
    if (next.size() > kReachedMax) return nullptr;
    reached = std::move(next);
  }
  return reached.empty() ? nullptr : reached[0];
}

// False: the function has no value here.
bool JsonPath::Applied(const std::string& function, const Json& json) {
  Json& made = made_.emplace_back();
  if (function == "length") {
    made = Number(std::to_string(json.items.size()));
    return IsContainer(json);
  }
  if (function != "keys") return Folded(function, json, &made);
  made.kind = Json::Kind::kArray;
  for (const std::string& name : json.names) {
    Json& text = made.items.emplace_back();
    text.kind = Json::Kind::kString;
    text.text = name;
  }
  return json.kind == Json::Kind::kObject;
}

// A lax path to many values gives no values then.
JsonPath::Found JsonPath::Missing() {
  bool definite = true;
  for (size_t i = 0; i < steps_.size(); ++i) definite = definite && IsDefinite(i);
  if (definite || !is_lax_) return {true, nullptr};
  Json& list = made_.emplace_back();
  list.kind = Json::Kind::kArray;
  return {false, &list};
}

JsonPath::Found JsonPath::Find(const Json& root) {
  made_.clear();
  Reached reached{&root};
  bool definite = true;
  for (size_t i = 0; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    if (definite && !reached.empty() && !Applies(step, *reached[0])) return Missing();
    if (step.kind == Step::Kind::kFunction) {
      if (!definite || !Applied(step.name, *reached[0])) return {};
      return {false, &made_.back()};
    }
    Reached next;
    if (step.kind == Step::Kind::kMembers && i + 1 == steps_.size()) {
      for (const Json* json : reached) {
        if (!Applies(step, *json)) continue;
        Json& made = made_.emplace_back();
        made.kind = Json::Kind::kObject;
        for (const std::string& name : step.names) {
          const Json* member = json->Find(name);
          if (!member) continue;
          made.names.push_back(name);
          made.items.push_back(*member);
        }
        next.push_back(&made);
      }
    } else {
      for (const Json* json : reached) Follow(step, root, *json, &next);
    }
    if (next.size() > kReachedMax) return Missing();
    reached = std::move(next);
    if (definite && IsDefinite(i) && reached.empty()) return Missing();
    definite = definite && IsDefinite(i);
  }
  if (definite) return {false, reached[0]};
  Json& list = made_.emplace_back();
  list.kind = Json::Kind::kArray;
  for (const Json* json : reached) list.items.push_back(*json);
  return {false, &list};
}

}  // namespace rowtide
