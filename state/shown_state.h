// Keyed state as people look at it (`rowtide state get`): keys with named columns, and rows.
//
//   "rows" of Deduplicate(key=[id])   NextKeys -> o1, o2, …    Rows(o1) -> [o1, paid, 3]
//
// An operator hands out one of these for each part of its state that has keys
// (operators/keyed_operator.h); how its bytes become rows is known there alone. Looking changes
// nothing that a snapshot would tell. Keys come in the order of state/key_walk.h; what belongs to a
// key, but has nothing to show here, has no rows. One lane's.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/batch_builder.h"
#include "state/key_codec.h"
#include "state/key_walk.h"

namespace rowtide {

// What an operator says of a part: its name, the input that its keys are columns of, the columns
// of its rows.
struct ShownForm {
  std::string name;
  const Schema& input;
  const KeyCodec& key;
  Schema rows;
};

class ShownState {
 public:
  virtual ~ShownState() = default;
  const std::string& name() const { return name_; }
  const Schema& key_schema() const { return key_schema_; }
  const Schema& row_schema() const { return row_schema_; }
  // Of keys given as rows of `key_schema`.
  const KeyCodec& key_codec() const { return key_codec_; }

  // The next keys, up to so many; none: that was all.
  virtual Status NextKeys(int keys_max, KeyBatch* keys) = 0;
  // The rows of these keys, key by key: `of[i]` is the number of the key of the i-th row.
  using Visit = std::function<Status(const RowBatch& rows, std::span<const int32_t> of)>;
  virtual Status Rows(const KeyBatch& keys, const Visit& visit) = 0;

 protected:
  explicit ShownState(const ShownForm& form);

 private:
  std::string name_;
  Schema key_schema_;
  Schema row_schema_;
  KeyCodec key_codec_;
};

using ShownStates = std::vector<std::unique_ptr<ShownState>>;

// Gathers rows, each of the key that was begun last.
class ShownRows {
 public:
  ShownRows(const Schema& schema, const ShownState::Visit& visit)
      : builder_(schema), visit_(visit) {}
  void BeginKey(int32_t key) { key_ = key; }
  // The builder with a new row, whose columns the caller appends.
  Result<BatchBuilder*> BeginRow();
  Status Finish();

 private:
  BatchBuilder builder_;
  const ShownState::Visit& visit_;
  std::vector<int32_t> of_;
  int32_t key_ = 0;
};

// A ValueState, OrderedState or CountedNumbers. `append(entry, rows)` begins rows and appends their
// columns; the entry may have no value.
template <typename State>
class ShownEntries final : public ShownState {
 public:
  using Append = std::function<Status(Entry entry, ShownRows& rows)>;
  ShownEntries(const ShownForm& form, State* state, Append append)
      : ShownState(form), state_(state), append_(std::move(append)), walk_(KeysOf(*state)) {}

  Status NextKeys(int keys_max, KeyBatch* keys) override { return walk_.Next(keys_max, keys); }

  Status Rows(const KeyBatch& keys, const Visit& visit) override {
    RT_TRY(state_->FindOrCreate(keys, &entries_));
    ShownRows rows(row_schema(), visit);
    for (int32_t key = 0; key < keys.rows(); ++key) {
      rows.BeginKey(key);
      RT_TRY(append_(entries_[static_cast<size_t>(key)], rows));
    }
    RT_TRY(rows.Finish());
    state_->Settle();
    return Status::Ok();
  }

 private:
  static const ValueState* KeysOf(const ValueState& state) { return &state; }
  template <typename Other>
  static const ValueState* KeysOf(const Other& state) {
    return &state.keys();
  }

  State* state_;
  Append append_;
  KeyWalk walk_;
  std::vector<Entry> entries_;
};

template <typename State>
std::unique_ptr<ShownState> ShowEntries(const ShownForm& form, State* state,
                                        typename ShownEntries<State>::Append append) {
  return std::make_unique<ShownEntries<State>>(form, state, std::move(append));
}

}  // namespace rowtide
