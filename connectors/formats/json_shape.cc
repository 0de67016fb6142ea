#include "connectors/formats/json_shape.h"

#include <algorithm>
#include <cstring>

#include "connectors/formats/json_syntax.h"

namespace rowtide {
namespace {

constexpr size_t kFieldsMax = 256;

const char* SkipBlanks(const char* at) {
  while (*at == ' ') ++at;
  return at;
}

bool IsTokenByte(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
         c == '+' || c == '.';
}

}  // namespace

bool JsonShape::Text::Keep(const char* begin, const char* end) {
  *this = {};
  if (end - begin > static_cast<ptrdiff_t>(kBytesMax)) return false;
  bytes = static_cast<uint32_t>(end - begin);
  first = (1u << std::min(bytes, 16u)) - 1;
  std::memcpy(data, begin, bytes);
  return true;
}

const char* JsonShape::TokenEnd(const char* at, JsonScalar* scalar) {
  const char* end = at;
  while (IsTokenByte(*end)) ++end;
  scalar->text = {at, static_cast<size_t>(end - at)};
  if (IsJsonNumber(scalar->text)) {
    scalar->kind = JsonScalar::Kind::kNumber;
  } else if (scalar->text == "true" || scalar->text == "false") {
    scalar->kind = JsonScalar::Kind::kWord;
  } else if (scalar->text == "null") {
    scalar->kind = JsonScalar::Kind::kNull;
  } else {
    return nullptr;
  }
  return end;
}

bool JsonShape::Learn(const char* at, const JsonScan& scan, const JsonNames& names) {
  fields_.clear();
  missing_.clear();
  std::vector<bool> found(names.size());
  const char* head = at;
  at = SkipBlanks(at);
  if (*at != '{') return false;
  do {
    at = SkipBlanks(at + 1);
    bool has_escapes = false;
    const char* const name = at + 1;
    const char* const name_end = *at == '"' ? StringEnd(name, scan, &has_escapes) : nullptr;
    if (name_end == nullptr || has_escapes || fields_.size() == kFieldsMax) return false;
    at = SkipBlanks(name_end + 1);
    if (*at != ':') return false;
    at = SkipBlanks(at + 1);
    Field field;
    if (!field.head.Keep(head, at)) return false;
    const auto wanted = names.find(std::string_view(name, static_cast<size_t>(name_end - name)));
    if (wanted != names.end()) {
      field.wanted = wanted->second;
      const auto column = static_cast<size_t>(field.wanted);
      if (found[column]) return false;  // of two of one name the last counts
      found[column] = true;
    }
    at = TakeValue(at, scan, [](const JsonScalar&) { return true; });
    if (at == nullptr) return false;
    fields_.push_back(field);
    head = at;
    at = SkipBlanks(at);
  } while (*at == ',');
  if (*at != '}') return false;
  at = SkipBlanks(at + 1);
  for (size_t i = 0; i < found.size(); ++i) {
    if (!found[i]) missing_.push_back(static_cast<int>(i));
  }
  return tail_.Keep(head, at) && (*at == '\n' || (*at == '\r' && at[1] == '\n'));
}

bool JsonShape::SameAs(const JsonShape& other) const {
  return tail_ == other.tail_ &&
         std::equal(fields_.begin(), fields_.end(), other.fields_.begin(), other.fields_.end(),
                    [](const Field& a, const Field& b) { return a.head == b.head; });
}

void JsonShapes::Missed(const char* at, const JsonScan& scan, const JsonNames& names) {
  if (misses_++ < pause_) return;
  misses_ = 0;
  pause_ = hits_ >= kUsefulHits ? 0 : std::min(2 * pause_ + 1, kPauseMax);
  hits_ = 0;
  if (!scratch_.Learn(at, scan, names)) return;
  const bool is_known = std::any_of(shapes_.begin(), shapes_.end(),
                                    [&](const JsonShape& shape) { return shape.SameAs(scratch_); });
  if (is_known) return;
  last_ = shapes_.size() < kShapes ? shapes_.size() : oldest_++ % kShapes;
  if (last_ == shapes_.size()) shapes_.emplace_back();
  std::swap(shapes_[last_], scratch_);
}

}  // namespace rowtide
