// The paths of the SQL/JSON functions, as Flink reads them (Jayway's JsonPath).
//
//   lax $.a.b[0]      strict $['a'].*     $..name      $.a[0,2]     $.a[1:-1]     $['a','b']
//   $.items[?(@.price > 3 && @.name == 'x')].id        $.a.length()
//
// A path that can reach many values gives a list of them, else it gives one value or none.
// Invariant: what Find returns points into the root or into the path itself, until the next call.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "operators/expressions/json_text.h"

namespace rowtide {

class JsonFilter;

class JsonPath {
 public:
  // Without a mode a path is strict, as in Flink. False: it is no path.
  bool Parse(std::string_view text);
  bool is_lax() const { return is_lax_; }

  struct Found {
    bool is_missing = false;  // a step leads nowhere
    const Json* value = nullptr;
  };
  Found Find(const Json& root);

 private:
  friend class JsonFilter;

  struct Step {
    enum class Kind : uint8_t {
      kMember,    // .a
      kMembers,   // ['a','b']: at the end an object of these
      kElement,   // [0]
      kElements,  // [0,2]
      kSlice,     // [1:3]
      kAny,       // * or [*]
      kAnywhere,  // ..a
      kFilter,    // [?(…)]
      kFunction,  // .length(), at the end
    };
    Kind kind = Kind::kMember;
    std::string name;
    std::vector<std::string> names = {};
    std::vector<int64_t> indexes = {};
    bool has_from = false, has_to = false;  // of a slice: indexes[0] and indexes[1]
    std::shared_ptr<const JsonFilter> filter = nullptr;
  };
  using Reached = std::vector<const Json*>;

  bool ParseSteps(std::string_view* text, std::string_view end);
  bool ParseBracket(std::string_view* text);
  bool ParseNames(std::string_view* text);
  bool ParseIndexes(std::string_view inside);
  bool IsDefinite(size_t step) const;
  // Whether the step leads on from `json` at all, be it to nothing.
  static bool Applies(const Step& step, const Json& json);
  static void Follow(const Step& step, const Json& root, const Json& json, Reached* next);
  static void FollowSlice(const Step& step, const Json& array, Reached* next);
  // The one value that a definite path of members and elements reaches; null: none.
  const Json* First(const Json& root, const Json& start) const;
  bool Applied(const std::string& function, const Json& json);
  Found Missing();

  bool is_lax_ = false;
  std::vector<Step> steps_;
  std::deque<Json> made_;
};

}  // namespace rowtide
