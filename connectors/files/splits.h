// The files of a table that one lane reads, in what order, and which of them it has read.
//
//   listed     a b c d e f            two lanes: a c e | b d f   by number; later ones by name
//   restored   a done, b and c begun  …  b d f | c e             begun ones first, dealt out anew
//
// A snapshot has the files that are done, those begun with the place of the next record, and, where
// no new ones are looked for, those that are left. So the snapshots of all lanes together say what
// is to be read, on any number of lanes: each of them takes in all and keeps its share.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "connectors/files/list.h"
#include "connectors/formats/format.h"
#include "engine/snapshot.h"

namespace rowtide {

class FileSplits {
 public:
  // `grows`: new files are looked for while the job runs.
  FileSplits(int lane, int lanes, bool grows) : lane_(lane), lanes_(lanes), grows_(grows) {}

  // Adds those that are new.
  void Add(const std::vector<FileEntry>& found);

  const std::vector<FileEntry>& files() const { return files_; }
  // Which of them is read; all of them: none is left.
  size_t number() const { return number_; }
  bool at_end() const { return number_ == files_.size(); }
  const FileEntry& current() const { return files_[number_]; }
  void Next() { ++number_; }

  // Where a file begins that an earlier job has begun.
  struct Begun {
    RecordPlace place;
    std::string header;
  };
  // Of the current file; it is asked for once.
  Begun TakeBegun();

  // `current`: how far the current file is; null: it is not open.
  void Snapshot(const Begun* current, SnapshotWriter& writer) const;
  Status Restore(SnapshotReader& reader);
  Status Merge(SnapshotReader& reader);
  // Whether a record of any lane's had been read at the snapshots that were restored.
  bool IsRead(const std::string& path, int64_t byte) const;

 private:
  Status Read(SnapshotReader& reader);
  Status DealOut();
  FileEntry EntryOf(const std::string& path) const;

  const int lane_;
  const int lanes_;
  const bool grows_;
  bool has_listed_ = false;
  std::map<std::string, FileEntry> listed_;
  std::vector<FileEntry> files_;
  size_t number_ = 0;
  std::map<std::string, Begun> begun_;  // by path

  // What was restored, of all lanes.
  std::vector<std::string> all_done_;
  std::vector<std::pair<std::string, Begun>> all_begun_;
  std::set<std::string> all_left_;
};

}  // namespace rowtide
