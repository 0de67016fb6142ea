// The port beneath the hot tier of keyed state: where entries live that are not in memory.
//
// Operators never see it. They work on the concrete classes of state/ (ValueState, OrderedState),
// which hold hot keys in memory and ask the backend for a batch at a time:
//
//   FindOrCreate(keys of a batch) -> hits stay in memory, all misses go down as one MultiGet
//   checkpoint, eviction          -> dirty entries come down as one sorted run
//   rows of one ordered key       -> one ScanPrefix, in key order
//
// So entries are self-contained bytes: no pointers inside, and the key of an ordered row is group
// key + sort key + arrival number, which sorts as bytes. A job without a state folder has no
// backend: everything is in the hot tier.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/status.h"

namespace rowtide {

// One entry on its way down; no value = the entry is gone.
struct StateChange {
  std::string_view key;
  std::optional<std::string_view> value;
};

class KeyedStateBackend {
 public:
  virtual ~KeyedStateBackend() = default;
  // The values of all keys of one table at once; `values[i]` is empty when key i is not there.
  virtual Status MultiGet(uint32_t table, std::span<const std::string_view> keys,
                          std::vector<std::optional<std::string>>* values) = 0;
  // Every entry whose key begins with `prefix`, in key order, until `visit` returns false.
  virtual Status ScanPrefix(
      uint32_t table, std::string_view prefix,
      const std::function<bool(std::string_view key, std::string_view value)>& visit) = 0;
  // Requires: `sorted` is in key order, each key once.
  virtual Status WriteRun(uint32_t table, std::span<const StateChange> sorted) = 0;
};

}  // namespace rowtide
