// The port beneath the hot tier of keyed state: where entries live that are not in memory, and what
// a checkpoint is made of.
//
// Operators never see it. They work on the concrete classes of state/ (ValueState, OrderedState,
// CountedNumbers), which hold hot keys in memory; the tier of a lane (state/state_tier.h) asks the
// backend for many keys at a time:
//
//   FindOrCreate(keys of a batch) -> hits stay in memory, all misses go down as one MultiGet
//   checkpoint, eviction          -> dirty entries come down as one sorted run
//   warming up after a restore    -> Scan, in key order
//
//   key   | table: u32, big-endian | key group: u8 | canonical key |     one table a state
//
// So entries are self-contained bytes: no pointers inside. A backend belongs to one lane. MultiGet
// and Scan are called by the lane's thread, WriteRun and Checkpoint by one thread at a time, which
// may be another one. A job without a state folder has no backend: everything is in the hot tier.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/checkpoint.h"
#include "engine/status.h"

namespace rowtide {

// A node has a number, and its states have the tables from `number << kNodeTableBits` on.
inline constexpr int kNodeTableBits = 16;

// One entry on its way down; no value = the entry is gone.
struct StateChange {
  std::string_view key;
  std::optional<std::string_view> value;
};

class KeyedStateBackend {
 public:
  virtual ~KeyedStateBackend() = default;
  // Calls `found(i, value)` for every key that is there. Requires: `sorted` is in key order.
  using Found = std::function<Status(size_t index, std::string_view value)>;
  virtual Status MultiGet(std::span<const std::string_view> sorted, const Found& found) = 0;
  // Every entry with a key in [from, end), in key order, until `visit` returns false.
  using Visit = std::function<Result<bool>(std::string_view key, std::string_view value)>;
  virtual Status Scan(std::string_view from, std::string_view end, const Visit& visit) = 0;
  // Atomically: after an error nothing of the run is there. Requires: `sorted` is in key order,
  // each key once.
  virtual Status WriteRun(std::span<const StateChange> sorted) = 0;
  // All that was written, as files in a folder that is made by this call and shares what it can
  // with earlier ones.
  virtual Result<std::vector<CheckpointFile>> Checkpoint(const std::string& folder) = 0;

  // Values of the table begin with the moment of their writing (i64, milliseconds): whenever the
  // backend rewrites its files, it may leave out those of `deadline()` and before. None: no longer.
  // `deadline` is called by threads of the backend, one at a time, and not after it was replaced.
  using Deadline = std::function<int64_t()>;
  virtual void SetExpiry(uint32_t /*table*/, Deadline /*deadline*/) {}
  // How many it has left out since it was last asked; outdated values of a key count as well.
  virtual int64_t TakeExpired(uint32_t /*table*/) { return 0; }
};

}  // namespace rowtide
