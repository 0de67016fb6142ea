#include "connectors/files/write.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <limits>
#include <random>

#include "connectors/files/list.h"
#include "connectors/files/pack.h"
#include "connectors/formats/formats.h"
#include "connectors/formats/update_pairs.h"
#include "connectors/options.h"
#include "engine/durable_files.h"
#include "engine/gauges.h"
#include "engine/secrets.h"
#include "engine/snapshot.h"

namespace rowtide {
namespace {

constexpr size_t kBufferBytes = 1 << 20;
constexpr int64_t kRollBytes = 128 << 20;

// The same for the same seed; new each time without one.
std::string UuidOf(const std::string& seed) {
  uint32_t words[4];
  if (seed.empty()) {
    std::random_device random;
    for (uint32_t& word : words) word = random();
  } else {
    const XXH128_hash_t hash = XXH3_128bits(seed.data(), seed.size());
    std::memcpy(words, &hash, sizeof(words));
  }
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:04x}{:08x}", words[0], words[1] >> 16,
                     0x4000 | (words[1] & 0xfff), 0x8000 | (words[2] >> 18), words[2] & 0xffff,
                     words[3]);
}

Status WriteAll(int file, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Status::External("cannot write {}: {}", path, std::strerror(errno));
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return Status::Ok();
}

class StreamSink final : public Sink {
 public:
  StreamSink(std::unique_ptr<Encoder> encoder, const ConnectorContext& context, std::FILE* file)
      : encoder_(std::move(encoder)),
        packer_(CreatePacker(context.settings.compression)),
        file_(file),
        meter_(context.bytes_written) {}

  Status Write(const RowBatch& batch) override {
    buffer_.clear();
    if (!std::exchange(has_begun_, true)) RT_TRY(encoder_->Begin(&buffer_));
    RT_TRY(encoder_->Encode(batch, &buffer_));
    return PutBuffer();
  }
  Status Flush() override {
    RT_TRY(PutHeldBack());
    return FlushFile();
  }
  Status Finish() override {
    buffer_.clear();
    if (!std::exchange(has_begun_, true)) RT_TRY(encoder_->Begin(&buffer_));
    RT_TRY(PutBuffer());
    RT_TRY(PutHeldBack());
    if (packer_ != nullptr) {
      packed_.clear();
      RT_TRY(packer_->Finish(&packed_));
      RT_TRY(Put(packed_));
    }
    return FlushFile();
  }

 private:
  Status PutHeldBack() {
    buffer_.clear();
    RT_TRY(encoder_->Finish(&buffer_));
    return PutBuffer();
  }
  Status PutBuffer() {
    if (packer_ == nullptr || buffer_.empty()) return Put(buffer_);
    packed_.clear();
    RT_TRY(packer_->Pack(buffer_, &packed_));
    return Put(packed_);
  }
  Status Put(std::string_view bytes) {
    if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size())
      return Status::External("cannot write to standard output: {}", std::strerror(errno));
    if (meter_ != nullptr) meter_->Add(bytes.size());
    return Status::Ok();
  }
  Status FlushFile() {
    if (std::fflush(file_) == 0) return Status::Ok();
    return Status::External("cannot write to standard output: {}", std::strerror(errno));
  }
  std::unique_ptr<Encoder> encoder_;
  std::unique_ptr<Packer> packer_;  // null: not packed
  std::FILE* file_;
  ByteMeter* meter_;  // null: nobody looks
  bool has_begun_ = false;
  std::string buffer_;
  std::string packed_;
};

class FileSink final : public Sink {
 public:
  FileSink(std::unique_ptr<Encoder> encoder, const ConnectorContext& context, std::string folder,
           int64_t roll_bytes)
      : encoder_(std::move(encoder)),
        packer_(CreatePacker(context.settings.compression)),
        suffix_(SuffixOf(context.settings.compression)),
        overwrites_(context.settings.overwrite),
        has_checkpoints_(!context.sink_seed.empty()),
        lane_(context.lane),
        lanes_(context.lanes),
        tidies_(has_checkpoints_ && lane_ == 0),
        folder_(std::move(folder)),
        uuid_(UuidOf(context.sink_seed)),
        earlier_uuid_(UuidOf(context.earlier_sink_seed)),
        roll_bytes_(roll_bytes),
        error_(context.error),
        meter_(context.bytes_written) {}

  ~FileSink() override {
    if (file_ >= 0) ::close(file_);
  }

  Status Write(const RowBatch& batch) override {
    if (batch.rows == 0) return Status::Ok();
    if (file_ < 0) RT_TRY(OpenPart());
    RT_TRY(encoder_->Encode(batch, &buffer_));
    if (buffer_.size() >= kBufferBytes) RT_TRY(WriteBuffer());
    return written_ + static_cast<int64_t>(buffer_.size()) >= roll_bytes_ ? ClosePart()
                                                                          : Status::Ok();
  }

  // | uuid | first and last part that are staged but may not have their names: two u64 | lane |
  Result<std::string> Prepare(int64_t /*epoch*/) override {
    if (std::exchange(tidies_, false)) RT_TRY(RemoveLanes(uuid_, lanes_));
    if (file_ >= 0) RT_TRY(ClosePart());
    if (prepared_ != closed_) RT_TRY(SyncFolder(folder_));
    prepared_ = closed_;
    SnapshotWriter staged;
    staged.PutBytes(uuid_);
    staged.PutU64(static_cast<uint64_t>(published_));
    staged.PutU64(static_cast<uint64_t>(prepared_));
    staged.PutU32(static_cast<uint32_t>(lane_));
    return staged.Take();
  }

  Status Commit(int64_t /*epoch*/) override {
    if (published_ == prepared_) return Status::Ok();
    for (; published_ < prepared_; ++published_) {
      const std::string from = PartPath(published_, true), to = PartPath(published_, false);
      if (::rename(from.c_str(), to.c_str()) != 0) {
        return Status::External("cannot rename {} to {}: {}", from, to, std::strerror(errno));
      }
    }
    return SyncFolder(folder_);
  }

  // A job without a checkpoint has shown nothing; if it has, its state was taken away.
  Status BeginAnew() override {
    RT_TRY(RemoveLanes(earlier_uuid_, 0));
    RT_TRY(RemoveLanes(uuid_, 0));
    const std::string head = fmt::format("part-{}-", uuid_);
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder_, error)) {
      if (!entry.path().filename().string().starts_with(head)) continue;
      return Status::Corruption("the job has no checkpoint, but rows that it has written are in {}",
                                entry.path().string())
          .WithErrorCode("RT6003")
          .WithHint("bring its state back, or begin anew with --fresh: that writes them again");
    }
    return Status::Ok();
  }

  // Of the lanes that were, each has its files shown by one of those that are.
  Status Restore(std::string_view staged) override {
    if (!earlier_uuid_.empty()) RT_TRY(RemoveLanes(earlier_uuid_, 0));
    if (!staged.empty()) return PublishStaged(staged);
    closed_ = prepared_ = published_ = FirstFreePart();
    // Where the first lane has staged nothing, none has.
    return lane_ == 0 ? RemoveLanes(uuid_, 0) : RemoveParts(HeadOf(uuid_, lane_), 0);
  }

  // Old files go when the new ones have their names: a crash between leaves both, never neither.
  Status Finish() override {
    std::vector<FileEntry> old;
    if (overwrites_ && std::filesystem::exists(folder_)) {
      RT_ASSIGN(old, ListFiles(folder_, std::nullopt));
    }
    RT_ASSIGN(const std::string staged, Prepare(0));
    RT_TRY(Commit(0));
    for (const FileEntry& file : old) {
      if (::unlink(file.path.c_str()) != 0 && errno != ENOENT)
        return Status::External("cannot remove {}, which this INSERT OVERWRITE replaces: {}",
                                file.path, std::strerror(errno));
    }
    return Status::Ok();
  }

  void Abandon() override {
    if (has_checkpoints_) return;  // the rows will be read again
    if (file_ >= 0 && encoder_->Finish(&buffer_).ok() && !buffer_.empty()) (void)WriteBuffer().ok();
    const int parts = closed_ + (file_ >= 0 ? 1 : 0);
    for (int part = published_; part < parts; ++part) {
      std::fprintf(error_, "rows that were not published are in %s\n",
                   Redacted(PartPath(part, true)).c_str());
    }
  }

 private:
  std::string PartPath(int part, bool in_progress) const {
    return PartPath(uuid_, lane_, part, in_progress);
  }
  std::string PartPath(const std::string& uuid, int lane, int part, bool in_progress) const {
    return fmt::format("{}/{}part-{}-{}-{}{}{}", folder_, in_progress ? "." : "", uuid, lane, part,
                       suffix_, in_progress ? ".inprogress" : "");
  }

  static std::string HeadOf(const std::string& uuid, int lane) {
    return fmt::format(".part-{}-{}-", uuid, lane);
  }

  Status PublishStaged(std::string_view staged) {
    SnapshotReader reader(staged);
    RT_ASSIGN(const std::string_view of_staged, reader.Bytes("uuid of the files"));
    const std::string uuid(of_staged);
    RT_ASSIGN(const uint64_t first, reader.U64("first file"));
    RT_ASSIGN(const uint64_t last, reader.U64("last file"));
    RT_ASSIGN(const uint32_t lane_of_staged, reader.U32("lane"));
    if (first > last || last > std::numeric_limits<int32_t>::max() || !reader.AtEnd())
      return Status::Corruption("the checkpoint has files {} to {} of {}", first, last, folder_);
    const auto lane = static_cast<int>(lane_of_staged);
    for (auto part = static_cast<int>(first); part < static_cast<int>(last); ++part) {
      const std::string from = PartPath(uuid, lane, part, true);
      const std::string to = PartPath(uuid, lane, part, false);
      if (::rename(from.c_str(), to.c_str()) == 0) continue;
      const int fault = errno;
      if (fault == ENOENT && ::access(to.c_str(), F_OK) == 0) continue;
      return Status::External("the rows of the checkpoint should be in {}: {}", from,
                              std::strerror(fault))
          .WithHint("they were there when it was taken; is the table's 'path' another one now?");
    }
    if (first < last) RT_TRY(SyncFolder(folder_));
    if (lane == lane_) {
      uuid_ = uuid;
      closed_ = prepared_ = published_ = static_cast<int>(last);
    }
    return RemoveParts(HeadOf(uuid, lane), static_cast<int>(last));
  }

  // The number of a file that is there, whose name begins so.
  static std::optional<int> PartOf(const std::string& name, const std::string& head) {
    if (!name.starts_with(head)) return std::nullopt;
    int part = 0;
    std::from_chars(name.data() + head.size(), name.data() + name.size(), part);
    return part;
  }

  // A lane that was not there at the checkpoint may have been before it.
  int FirstFreePart() const {
    const std::string head = HeadOf(uuid_, lane_).substr(1);
    int first = 0;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder_, error)) {
      if (const auto part = PartOf(entry.path().filename().string(), head))
        first = std::max(first, *part + 1);
    }
    return first;
  }

  // What has been begun by lanes from `first` on.
  Status RemoveLanes(const std::string& uuid, int first) {
    const std::string head = fmt::format(".part-{}-", uuid);
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder_, error)) {
      const std::string name = entry.path().filename().string();
      const std::optional<int> lane = PartOf(name, head);
      if (lane && *lane >= first) RT_TRY(RemoveParts(HeadOf(uuid, *lane), 0));
    }
    return Status::Ok();
  }

  // Those that were begun after the checkpoint: their rows come again.
  Status RemoveParts(const std::string& head, int first) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder_, error)) {
      const std::string name = entry.path().filename().string();
      const std::optional<int> part = PartOf(name, head);
      if (!part || !name.ends_with(".inprogress") || *part < first) continue;
      if (::unlink(entry.path().c_str()) != 0)
        return Status::External("cannot remove {}: {}", entry.path().string(),
                                std::strerror(errno));
    }
    return Status::Ok();
  }

  Status OpenPart() {
    std::error_code error;
    if (std::filesystem::exists(folder_, error) && !std::filesystem::is_directory(folder_, error)) {
      return Status::External("{} is a file; a table that is written is a folder", folder_)
          .WithHint("let 'path' name a folder; the rows come to lie in files named part-… in it");
    }
    if (!std::exchange(has_folder_, true)) RT_TRY(MakeFolders(folder_));
    if (closed_ == 0 && lane_ == 0) NoteEarlierFiles();
    const std::string path = PartPath(closed_, true);
    file_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (file_ < 0) return Status::External("cannot make file {}: {}", path, std::strerror(errno));
    ::flock(file_, LOCK_SH | LOCK_NB);  // says that its job lives; where it cannot, nothing is lost
    written_ = 0;
    return encoder_->Begin(&buffer_);
  }

  // Whether no job is writing to it.
  static bool IsLeft(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const bool is_written = file >= 0 && ::flock(file, LOCK_EX | LOCK_NB) != 0;
    if (file >= 0) ::close(file);
    return !is_written;
  }

  // Whoever runs a job twice has every row twice: worth a word.
  void NoteEarlierFiles() {
    int published = 0, unpublished = 0;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder_, error)) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with(".part-") && name.ends_with(".inprogress") && IsLeft(entry.path()))
        ++unpublished;
      if (name.starts_with("part-")) ++published;
    }
    if (published > 0 && !overwrites_) {
      std::fprintf(error_,
                   "note: %s holds %d file%s of earlier jobs; those rows stay beside the new ones "
                   "(INSERT OVERWRITE, in batch mode, replaces them)\n",
                   Redacted(folder_).c_str(), published, published == 1 ? "" : "s");
    }
    if (unpublished > 0) {
      std::fprintf(error_,
                   "note: %s holds %d file%s of jobs that did not end (.part-….inprogress); no "
                   "table reads them, and they may be deleted\n",
                   Redacted(folder_).c_str(), unpublished, unpublished == 1 ? "" : "s");
    }
  }

  Status WriteBuffer() {
    if (packer_ != nullptr) {
      packed_.clear();
      RT_TRY(packer_->Pack(buffer_, &packed_));
      std::swap(buffer_, packed_);
    }
    return WriteRest();
  }

  Status WriteRest() {
    RT_TRY(WriteAll(file_, buffer_, PartPath(closed_, true)));
    // Off to the disk already: at a barrier rows stand still until all of it is there. Only a hint;
    // whether it has come is what closing the part finds out.
    if (has_checkpoints_)
      (void)::sync_file_range(file_, written_, static_cast<off64_t>(buffer_.size()),
                              SYNC_FILE_RANGE_WRITE);
    written_ += static_cast<int64_t>(buffer_.size());
    if (meter_ != nullptr) meter_->Add(buffer_.size());
    buffer_.clear();
    return Status::Ok();
  }

  Status ClosePart() {
    RT_TRY(encoder_->Finish(&buffer_));
    RT_TRY(WriteBuffer());
    if (packer_ != nullptr) {
      RT_TRY(packer_->Finish(&buffer_));
      RT_TRY(WriteRest());
    }
    const bool synced = ::fsync(file_) == 0;
    const int failed = ::close(file_);
    file_ = -1;
    if (!synced || failed != 0) {
      return Status::External("cannot close {}: {}", PartPath(closed_, true), std::strerror(errno));
    }
    ++closed_;
    return Status::Ok();
  }

  std::unique_ptr<Encoder> encoder_;
  std::unique_ptr<Packer> packer_;  // null: not packed
  const char* suffix_;
  bool overwrites_;
  bool has_checkpoints_;
  int lane_;
  int lanes_;
  bool tidies_;  // what more lanes than there are now have begun
  std::string folder_;
  std::string uuid_;
  std::string earlier_uuid_;
  int64_t roll_bytes_;
  std::FILE* error_;
  ByteMeter* meter_;  // null: nobody looks
  std::string buffer_;
  std::string packed_;
  bool has_folder_ = false;
  int file_ = -1;        // the open part is number `closed_`
  int64_t written_ = 0;  // of it
  int closed_ = 0;       // parts 0 .. closed_ - 1 are whole
  int prepared_ = 0;     // … of which these belong to the epoch
  int published_ = 0;    // … and these have their names
};

}  // namespace

Result<std::unique_ptr<Sink>> CreateFileSink(const TableSpec& table,
                                             const ConnectorContext& context) {
  RT_ASSIGN(std::unique_ptr<Encoder> encoder, CreateEncoder(table));
  if (JoinsUpdates(table, context)) encoder = WithJoinedUpdates(std::move(encoder), RowKey(table));
  std::string folder = LocalPath(table.options.at("path"));
  if (folder == kStandardStream) {
    return std::unique_ptr<Sink>(
        std::make_unique<StreamSink>(std::move(encoder), context, context.output));
  }
  while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
  const int64_t roll_bytes = BytesOption(table, "sink.rolling-policy.file-size", kRollBytes);
  return std::unique_ptr<Sink>(
      std::make_unique<FileSink>(std::move(encoder), context, std::move(folder), roll_bytes));
}

}  // namespace rowtide
