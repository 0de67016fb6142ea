// What a row does to the result, and which kinds a stream may hold.
//
// +I and +U add a row, -U and -D take one away. Each row stands alone: nobody may rely on the two
// halves of an update being adjacent or in one batch (Flink's contract).
#pragma once

#include <cstdint>
#include <string>

namespace rowtide {

enum class RowKind : uint8_t { kInsert = 0, kUpdateBefore = 1, kUpdateAfter = 2, kDelete = 3 };

inline bool Adds(RowKind kind) { return kind == RowKind::kInsert || kind == RowKind::kUpdateAfter; }
inline const char* Text(RowKind kind) {
  constexpr const char* kTexts[] = {"+I", "-U", "+U", "-D"};
  return kTexts[static_cast<int>(kind)];
}

// The set of kinds of a stream. `key_only_deletes`: -D rows hold the key alone (Flink's PD, delete
// by key).
struct ChangelogMode {
  bool insert = true;
  bool update_before = false;
  bool update_after = false;
  bool deletes = false;
  bool key_only_deletes = false;

  static ChangelogMode InsertOnly() { return {}; }
  static ChangelogMode All() { return {true, true, true, true, false}; }
  static ChangelogMode Upsert() { return {true, false, true, true, false}; }

  bool insert_only() const { return insert && !update_before && !update_after && !deletes; }
  bool has_updates() const { return update_before || update_after; }
  bool Holds(RowKind kind) const {
    switch (kind) {
      case RowKind::kInsert: return insert;
      case RowKind::kUpdateBefore: return update_before;
      case RowKind::kUpdateAfter: return update_after;
      case RowKind::kDelete: return deletes;
    }
    return false;
  }
  // `I,UB,UA,D` in that order; PD instead of D for key-only deletes; NONE when empty.
  std::string ToString() const;
  friend bool operator==(const ChangelogMode& a, const ChangelogMode& b) = default;
};

}  // namespace rowtide
