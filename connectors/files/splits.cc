#include "connectors/files/splits.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace rowtide {

void FileSplits::Add(const std::vector<FileEntry>& found) {
  const bool is_first = !std::exchange(has_listed_, true);
  for (size_t i = 0; i < found.size(); ++i) {
    if (!listed_.emplace(found[i].path, found[i]).second) continue;
    const size_t share = is_first ? i : std::hash<std::string>()(found[i].path);
    if (share % static_cast<size_t>(lanes_) == static_cast<size_t>(lane_))
      files_.push_back(found[i]);
  }
}

FileSplits::Begun FileSplits::TakeBegun() {
  const auto at = begun_.find(current().path);
  if (at == begun_.end()) return {};
  Begun begun = std::move(at->second);
  begun_.erase(at);
  return begun;
}

namespace {

void PutBegun(const std::string& path, const FileSplits::Begun& begun, SnapshotWriter& writer) {
  writer.PutBytes(path);
  writer.PutI64(begun.place.byte);
  writer.PutI64(begun.place.line);
  writer.PutI64(begun.place.record);
  writer.PutI64(begun.place.rows);
  writer.PutBytes(begun.header);
}

}  // namespace

// | done: count, paths | begun: count, each with its place and header | left: count, paths |
void FileSplits::Snapshot(const Begun* current, SnapshotWriter& writer) const {
  writer.PutU64(number_);
  for (size_t i = 0; i < number_; ++i) writer.PutBytes(files_[i].path);
  writer.PutU64(begun_.size() + (current != nullptr ? 1 : 0));
  if (current != nullptr) PutBegun(files_[number_].path, *current, writer);
  for (const auto& [path, begun] : begun_) PutBegun(path, begun, writer);
  std::vector<const std::string*> left;
  for (size_t i = number_ + (current != nullptr ? 1 : 0); i < files_.size() && !grows_; ++i) {
    if (!begun_.contains(files_[i].path)) left.push_back(&files_[i].path);
  }
  writer.PutU64(left.size());
  for (const std::string* path : left) writer.PutBytes(*path);
}

Status FileSplits::Restore(SnapshotReader& reader) {
  all_done_.clear();
  all_begun_.clear();
  all_left_.clear();
  return Merge(reader);
}

Status FileSplits::Merge(SnapshotReader& reader) {
  RT_TRY(Read(reader));
  return DealOut();
}

Status FileSplits::Read(SnapshotReader& reader) {
  RT_ASSIGN(const uint64_t done, reader.U64("number of files that are done"));
  for (uint64_t i = 0; i < done; ++i) {
    RT_ASSIGN(const std::string_view path, reader.Bytes("file that is done"));
    all_done_.emplace_back(path);
  }
  RT_ASSIGN(const uint64_t begun, reader.U64("number of files that are begun"));
  for (uint64_t i = 0; i < begun; ++i) {
    RT_ASSIGN(const std::string_view path, reader.Bytes("file path"));
    Begun one;
    RT_ASSIGN(one.place.byte, reader.I64("byte"));
    RT_ASSIGN(one.place.line, reader.I64("line"));
    RT_ASSIGN(one.place.record, reader.I64("record"));
    RT_ASSIGN(one.place.rows, reader.I64("rows of the record"));
    RT_ASSIGN(const std::string_view header, reader.Bytes("header"));
    one.header = header;
    all_begun_.emplace_back(path, std::move(one));
  }
  RT_ASSIGN(const uint64_t left, reader.U64("number of files that are left"));
  for (uint64_t i = 0; i < left; ++i) {
    RT_ASSIGN(const std::string_view path, reader.Bytes("file that is left"));
    all_left_.emplace(path);
  }
  return Status::Ok();
}

bool FileSplits::IsRead(const std::string& path, int64_t byte) const {
  if (std::find(all_done_.begin(), all_done_.end(), path) != all_done_.end()) return true;
  return std::any_of(all_begun_.begin(), all_begun_.end(), [&](const auto& begun) {
    return begun.first == path && byte < begun.second.place.byte;
  });
}

// What is done stands in the first lane's list alone.
Status FileSplits::DealOut() {
  files_.clear();
  begun_.clear();
  std::set<std::string> is_out;
  for (const std::string& path : all_done_) {
    is_out.insert(path);
    if (lane_ == 0) files_.push_back(EntryOf(path));
  }
  number_ = files_.size();
  int next = 0;
  const auto take = [&](const std::string& path) {
    const bool is_mine = next++ % lanes_ == lane_;
    if (is_mine) files_.push_back(EntryOf(path));
    return is_mine;
  };
  for (const auto& [path, begun] : all_begun_) {
    if (!listed_.contains(path)) {
      return Status::InvalidArgument(
          "file {}, of which the snapshot has read a part, is no longer among those of the path",
          path);
    }
    is_out.insert(path);
    if (take(path)) begun_[path] = begun;
  }
  if (!grows_) {
    for (const std::string& path : all_left_) take(path);
  } else {
    for (const auto& [path, entry] : listed_) {
      if (!is_out.contains(path)) take(path);
    }
  }
  return Status::Ok();
}

FileEntry FileSplits::EntryOf(const std::string& path) const {
  const auto at = listed_.find(path);
  return at != listed_.end() ? at->second : FileEntry{path};
}

}  // namespace rowtide
