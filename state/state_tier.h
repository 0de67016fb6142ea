// The states of a lane above their backend: what is hot lies in memory, as without one; everything
// is below after a checkpoint; what memory has no room for is below alone.
//
//   between two batches   BeginCheckpoint(folder)   what has changed is frozen: this is the pause
//                         Work()                    copies a slice of it out; evicts; warms up
//   on a thread           runs are sorted, written, ingested; then the backend's checkpoint is made
//   between two batches   WaitWritten()             the files; all that was frozen is below
//
// A checkpoint holds exactly what was there at BeginCheckpoint: an entry that changes before its
// slice is copied out first. The lane's operators are snapshotted between the same two batches;
// their bytes hold what is no keyed entry. Where they come to a barrier one after the other, each
// is frozen when it is there (OpenCheckpoint, Freeze, EndBarrier), and until all are nothing is
// evicted: what has changed behind the barrier must not come down before the checkpoint is made.
//
// The runtime makes a backend, a tier over it, then operators with `tier` in their context, and
// destroys them in the opposite order. It calls Work between batches as often as it likes, and as
// long as `busy` is true when no rows come. Nothing is lost by an error of Work: it is tried again
// by the next call, so a lane may wait for room on a full disk. One lane; not thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "engine/keyed_state.h"
#include "state/state_run.h"

namespace rowtide {

// What a tier drives: a state with its entries.
class TieredState {
 public:
  virtual ~TieredState() = default;
  virtual void Freeze() = 0;
  // Copies out frozen entries of about so many bytes, key group by key group.
  enum class Copied : uint8_t {
    kSome,
    kRun,  // the run has `run_bytes` by now, and its last key group is complete
    kAll,  // none is left
  };
  virtual Copied CopyFrozen(int64_t bytes_max, StateRun* run, int64_t run_bytes) = 0;
  // All that was copied out is below now.
  virtual void FrozenIsBelow() = 0;
  // Chooses entries of about so many bytes that were not used of late, and copies out what is dirty
  // of them; then, when that is below, forgets them.
  virtual void ChooseVictims(int64_t bytes, StateRun* run) = 0;
  virtual void DropVictims() = 0;
  // Reads up to so many entries from below; true when all of them are in memory.
  virtual Result<bool> WarmUp(int entries_max) = 0;
  // Asks what the backend has let expire by itself.
  virtual void CountExpiredBelow() = 0;
  virtual int64_t bytes() const = 0;
};

class StateTier {
 public:
  struct Options {
    int64_t bytes_max = int64_t{1} << 30;  // of entries in memory, and of those on their way down
    bool restored = false;                 // the backend holds entries already
    bool warms_up = true;
  };
  // Borrows the backend.
  StateTier(KeyedStateBackend* backend, Options options);
  ~StateTier();
  StateTier(const StateTier&) = delete;
  StateTier& operator=(const StateTier&) = delete;

  // --- for the runtime ---
  Status BeginCheckpoint(std::string folder);
  // The same in steps. Gives up a checkpoint that nobody has waited for. `outdated`: a folder that
  // is removed before the new one is made; empty: none.
  Status OpenCheckpoint(std::string folder, std::string outdated = "");
  void Freeze(uint32_t node);  // the states of one operator
  void EndBarrier();
  Status Work();
  // There is something to copy, write or read.
  bool busy() const;
  // All of that is done by a thread, for now.
  bool waits() const;
  // WaitWritten would not wait.
  bool written() const;
  // Requires: EndBarrier. After an error the checkpoint is not made; what it was to hold is
  // part of the next one.
  Result<std::vector<CheckpointFile>> WaitWritten();
  int64_t bytes() const;
  bool has_states() const { return !states_.empty(); }

  // --- for states ---
  // The number of the state's table: they count from the first one of their operator.
  uint32_t Register(TieredState* state, uint32_t first_table);
  void Unregister(TieredState* state);
  KeyedStateBackend& backend() { return *backend_; }
  // Memory is taken in pieces of at most so many bytes; smaller ones where there is one for each
  // key group.
  size_t region_bytes() const;
  size_t small_block_bytes() const;
  bool restored() const { return options_.restored; }

 private:
  struct Writer;
  struct Member {
    TieredState* state;
    uint32_t first_table;
    uint32_t node() const { return first_table >> kNodeTableBits; }
  };
  int64_t RunBytes() const;  // of a run that is large enough
  Status CopySlice();
  Status CollectWriter(bool waits);
  Status StartWriter();
  Status WriteAll();
  Status EvictIfOver();
  Status WarmUp();

  KeyedStateBackend* backend_;
  Options options_;
  std::vector<Member> states_;
  bool copies_ = false;     // some state has frozen entries
  bool unsettled_ = false;  // something was copied out that is not below yet
  bool warms_up_ = false;
  std::unique_ptr<StateRun> NewRun();

  std::vector<std::unique_ptr<StateRun>> spare_;  // empty ones, with their memory
  std::unique_ptr<StateRun> run_;                 // being gathered
  std::deque<std::unique_ptr<StateRun>> runs_;    // to be written, in this order
  std::unique_ptr<Writer> writer_;
  std::thread last_writer_;            // done, and joined later: it may be slow to leave
  bool is_open_ = false;               // not all operators have come to the barrier
  std::string folder_;                 // of the checkpoint that is to be made; empty: none
  std::vector<std::string> outdated_;  // to be removed before it is made
  std::vector<CheckpointFile> files_;
  bool has_files_ = false;
};

}  // namespace rowtide
