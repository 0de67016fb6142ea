// What lies beneath the state of a job that a script runs: nothing, a map, or RocksDB in a folder
// of its own. The tier may hold nothing, so that after every step each entry goes below and comes
// back when it is asked for.
//
//   Open -> job built over tier() -> Work after each step -> Keep at a snapshot -> Close
//   Open -> job built anew, restored -> ...
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "cli/script/map_backend.h"
#include "state/state_tier.h"

namespace rowtide {

class StateBelow {
 public:
  enum class Kind : uint8_t { kNone, kMap, kRocksDb };

  explicit StateBelow(Kind kind) : kind_(kind) {}
  ~StateBelow();
  StateBelow(const StateBelow&) = delete;
  StateBelow& operator=(const StateBelow&) = delete;

  // Empty, or with what was kept. Requires: Close, if there was an Open.
  Status Open();
  StateTier* tier() { return tier_.get(); }  // null: all state is in memory
  Status Work() { return tier_ ? tier_->Work() : Status::Ok(); }
  // All that is there now is what the next Open has.
  Status Keep();
  void Close();

 private:
  Result<std::unique_ptr<KeyedStateBackend>> MakeBackend();
  std::string KeptFolder() const { return folder_ + "/kept-" + std::to_string(kept_); }

  const Kind kind_;
  std::string folder_;          // RocksDB's; empty: not made yet
  int kept_ = 0;                // how often
  MapBackend::Table kept_map_;  // the last time
  std::unique_ptr<KeyedStateBackend> backend_;
  std::unique_ptr<StateTier> tier_;
};

}  // namespace rowtide
