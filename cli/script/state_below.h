// What lies beneath the state of a job that a script runs, a lane each: nothing, a map, or RocksDB
// in a folder of its own. The tier may hold nothing, so that after every step each entry goes below
// and comes back when it is asked for.
//
//   Open(2) -> job built over tiers() -> Work after each step -> Keep at a snapshot -> Close
//   Open(3) -> job built anew over tiers() -> TakeIn -> restored -> ...
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/script/map_backend.h"
#include "engine/key_group.h"
#include "state/state_tier.h"

namespace rowtide {

class StateBelow {
 public:
  enum class Kind : uint8_t { kNone, kMap, kRocksDb };

  explicit StateBelow(Kind kind) : kind_(kind) {}
  ~StateBelow();
  StateBelow(const StateBelow&) = delete;
  StateBelow& operator=(const StateBelow&) = delete;

  // Empty, or with what was kept of as many lanes. Requires: Close, if there was an Open.
  Status Open(int lanes);
  // What was kept of another number of lanes: of each table the key groups that a lane shall have.
  using Share = std::function<std::optional<KeyGroupRange>(int lane, uint32_t table)>;
  Status TakeIn(const Share& share);
  std::vector<StateTier*> tiers() const;  // none: all state is in memory
  bool has_states() const;
  Status Work();
  // All that is there now is what the next Open has.
  Status Keep();
  void Close();

 private:
  struct Lane {
    std::unique_ptr<KeyedStateBackend> backend;
    std::unique_ptr<StateTier> tier;
  };
  Result<std::unique_ptr<KeyedStateBackend>> MakeBackend(size_t lane, bool has_kept);
  Status TakeInFrom(size_t old_lane, size_t lane, const Share& share);
  std::string KeptFolder(size_t lane) const;

  const Kind kind_;
  std::string folder_;                       // RocksDB's; empty: not made yet
  int kept_ = 0;                             // how often
  size_t kept_lanes_ = 0;                    // the last time
  std::vector<MapBackend::Table> kept_map_;  // of each of them
  std::vector<Lane> lanes_;
};

}  // namespace rowtide
