// Keyed state in RocksDB: one instance a lane, in a working folder of its own that is worth nothing
// without the process; what lasts are checkpoints, which share its files by hard links.
//
//   WriteRun     sorted entries -> files of at most 64 MiB -> ingested at once, no log, no memtable
//   Checkpoint   hard links of all tables, and copies of what RocksDB needs to open them; a few
//                files in which all that may expire has expired are rewritten before
//   Open         the files of a checkpoint, linked (or copied) into a new working folder
//   Import       the entries of some key groups out of another lane's checkpoint, one scan
//
// Memory is a block cache, in which indexes and filters lie, and what writing takes: a file at a
// time on either of two threads, of a size that goes with the memory there is. Errors are kExternal
// for the world (no space, a failing disk), naming the folder, and kCorruption for bytes that do
// not match their checksum. RocksDB 7.8; the rules it is run by are in state/README.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/key_group.h"
#include "engine/keyed_state.h"

namespace rowtide {

struct RocksDbEnvironment;  // state/durable/rocksdb_environment.h

struct RocksDbOptions {
  size_t cache_bytes = size_t{32} << 20;
  const RocksDbEnvironment* environment = nullptr;  // null: the machine
  size_t file_bytes = size_t{64} << 20;             // of a table
};

class RocksDbBackend final : public KeyedStateBackend {
 public:
  // An empty one. `folder` is emptied first.
  static Result<std::unique_ptr<RocksDbBackend>> Create(const std::string& folder,
                                                        const RocksDbOptions& options);
  // With the content of a checkpoint. `folder` is emptied first; `checkpoint` stays as it is.
  static Result<std::unique_ptr<RocksDbBackend>> Open(const std::string& folder,
                                                      const std::string& checkpoint,
                                                      const RocksDbOptions& options);
  // Of a folder with the files of a checkpoint, which may be links: to be read alone. All of them
  // are open when this returns, so the folder is of no use any more. Requires: neither WriteRun nor
  // Checkpoint is called.
  static Result<std::unique_ptr<RocksDbBackend>> OpenReadOnly(const std::string& folder,
                                                              const RocksDbOptions& options);
  ~RocksDbBackend() override;

  Status MultiGet(std::span<const std::string_view> sorted, const Found& found) override;
  Status Scan(std::string_view from, std::string_view end, const Visit& visit) override;
  Status WriteRun(std::span<const StateChange> sorted) override;
  Result<std::vector<CheckpointFile>> Checkpoint(const std::string& folder) override;
  // Files are rewritten without what has outlived its time: state/durable/rocksdb_expiry.h.
  void SetExpiry(uint32_t table, Deadline deadline) override;
  int64_t TakeExpired(uint32_t table) override;
  // Rewrites all files now; in time that happens by itself.
  Status Compact();

  // Of each table the key groups that are wanted; none: nothing of it.
  using Share = std::function<std::optional<KeyGroupRange>(uint32_t table)>;
  // Adds the entries of these key groups out of a checkpoint: for another number of lanes.
  // Requires: none of their keys is here.
  Status Import(const std::string& checkpoint, const Share& share);

  // Bytes of all tables.
  int64_t file_bytes() const;

 private:
  RocksDbBackend(std::string folder, const RocksDbOptions& options);
  Status OpenFolder();
  struct NewFiles;
  Status WriteFiles(std::span<const StateChange> sorted, NewFiles* files);
  Status Ingest(const NewFiles& files);
  void NoteHashes();
  Status RewriteExpired();
  Result<std::vector<CheckpointFile>> FilesOf(const std::string& folder);

  struct Store;
  std::string folder_;
  int64_t file_bytes_;
  std::unique_ptr<Store> store_;
  uint64_t next_run_ = 0;
  std::map<std::string, CheckpointFile>
      hashed_;  // tables of the last checkpoint; they never change
};

}  // namespace rowtide
