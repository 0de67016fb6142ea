// All keys of a state in one order, whether they lie in memory or below: (key group, key bytes).
//
//   in memory   sorted once, at the first step      below   scanned, a slice at a step
//
// So two checkpoints can be gone through side by side, and lanes one after the other, since each
// holds a range of groups. The state must not change but by lookups until the walk is over.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "state/value_state.h"

namespace rowtide {

// The place of a key in that order.
std::string WalkPlace(std::string_view key);

// Keys that are at hand, to be sorted and given out.
class KeyList {
 public:
  void Add(std::string_view key) { places_.push_back(WalkPlace(key)); }
  void Sort();
  bool empty() const { return at_ == places_.size(); }
  const std::string& first() const { return places_[at_]; }
  void TakeFirst(KeyBatch* keys);

 private:
  std::vector<std::string> places_;
  size_t at_ = 0;
};

class KeyWalk {
 public:
  explicit KeyWalk(const ValueState* state) : state_(state) {}
  // The next keys, up to so many; none: that was all.
  Status Next(int keys_max, KeyBatch* keys);

 private:
  void Begin();
  Status ReadBelow(int keys_max);

  const ValueState* state_;
  bool has_begun_ = false;
  KeyList memory_;
  KeyList below_;  // that were read and not given out yet
  bool below_is_over_ = true;
  std::string last_below_;  // key, with its table
};

}  // namespace rowtide
