#include "engine/schema.h"

#include <algorithm>
#include <cctype>

namespace rowtide {

std::vector<std::string> Schema::names() const {
  std::vector<std::string> names;
  for (const Field& field : fields_) names.push_back(field.name);
  return names;
}

int Schema::Find(std::string_view name) const {
  for (int i = 0; i < size(); ++i) {
    if (this->name(i) == name) return i;
  }
  return -1;
}

namespace {

std::string Folded(std::string_view text) {
  std::string folded(text);
  for (char& c : folded) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return folded;
}

// Letters put in, left out, taken for another, or two of them swapped: each counts one.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    before.swap(above);
    above.swap(row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] =
          std::min({above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1), above[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

// Whether the letters of `name` stand in `candidate` in their order: `csv.delimiter` is what is
// remembered of `csv.field-delimiter`.
bool IsRememberedOf(std::string_view name, std::string_view candidate) {
  constexpr size_t kShortest = 6;
  if (name.size() < kShortest) return false;
  size_t at = 0;
  for (const char c : candidate) at += at < name.size() && name[at] == c;
  return at == name.size();
}

}  // namespace

std::string Nearest(std::string_view name, const std::vector<std::string>& candidates) {
  constexpr size_t kLongestName = 128;  // longer ones are not typing mistakes
  if (name.size() > kLongestName) return "";
  const std::string folded = Folded(name);
  std::string best;
  size_t best_distance = std::max<size_t>(1, name.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kLongestName) continue;
    const size_t distance = EditDistance(folded, Folded(candidate));
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  if (!best.empty()) return best;
  for (const std::string& candidate : candidates) {
    const bool shorter = best.empty() || candidate.size() < best.size();
    if (shorter && IsRememberedOf(folded, Folded(candidate))) best = candidate;
  }
  return best;
}

std::string Quote(std::string_view name) {
  std::string quoted = "'";
  for (char c : name) {
    if (c == '\'') quoted += '\'';
    quoted += c;
  }
  return quoted + "'";
}

}  // namespace rowtide
