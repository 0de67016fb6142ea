// The condition of a JSON path's filter: `@.price > 3 && (@.name == 'x' || !@.sold)`.
//
// Numbers and texts compare among themselves; `==` reads a text as a number beside one. What is not
// there equals nothing. `=~ /re/i` matches the whole text (RE2).
#pragma once

#include <re2/re2.h>

#include <memory>
#include <string_view>
#include <vector>

#include "operators/expressions/json_path.h"

namespace rowtide {

class JsonFilter {
 public:
  // From just behind `?` to the bracket that ends the filter; null: it is none.
  static std::shared_ptr<const JsonFilter> Parse(std::string_view* text);
  bool Holds(const Json& root, const Json& item) const;

 private:
  enum class Kind : uint8_t { kAnd, kOr, kNot, kThere, kCompare, kMatches };
  struct Operand {
    std::shared_ptr<const JsonPath> path;  // null: a literal
    bool from_root = false;                // $, else @
    Json literal;
    const Json* Value(const Json& root, const Json& item) const;
  };
  using Pointer = std::shared_ptr<JsonFilter>;

  static Pointer ParseOr(std::string_view* text, int depth);
  static Pointer ParseAnd(std::string_view* text, int depth);
  static Pointer ParseOne(std::string_view* text, int depth);
  static bool ParseOperand(std::string_view* text, Operand* operand);
  bool ParseRegex(std::string_view* text);
  static bool Equal(const Json& a, const Json& b);

  Kind kind_ = Kind::kAnd;
  std::vector<std::shared_ptr<const JsonFilter>> parts_;
  Operand left_, right_;
  std::string comparison_;
  std::shared_ptr<const re2::RE2> regex_;
};

}  // namespace rowtide
