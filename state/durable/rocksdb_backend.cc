#include "state/durable/rocksdb_backend.h"

#include <rocksdb/cache.h>
#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/listener.h>
#include <rocksdb/options.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/checkpoint.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <mutex>

#include "engine/durable_files.h"
#include "state/durable/rocksdb_environment.h"
#include "state/durable/rocksdb_expiry.h"
#include "state/durable/table_hash.h"
#include "state/state_run.h"

namespace rowtide {
namespace {

namespace fs = std::filesystem;

// Blocks with what was found stay where they are until all of these keys were handed on.
constexpr size_t kKeysAtOnce = 128;
constexpr size_t kRewrittenAtOnce = 4;  // files
constexpr size_t kImportedAtOnce = size_t{16} << 20;
constexpr size_t kLargeFile = size_t{64} << 20;  // there is memory for larger ones

rocksdb::Slice SliceOf(std::string_view bytes) { return {bytes.data(), bytes.size()}; }
std::string_view ViewOf(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

// `doing`: "write state to", "read state of".
Status From(const rocksdb::Status& status, const char* doing, const std::string& path) {
  if (status.ok()) return Status::Ok();
  const std::string reason = status.ToString();
  if (status.IsCorruption())
    return Status::Corruption("cannot {} {}: {}", doing, path, reason)
        .WithHint("the files are damaged: restore an older checkpoint");
  if (status.IsNoSpace())
    return Status::External("cannot {} {}: no space left on the disk ({})", doing, path, reason)
        .WithHint("make room on the disk of the state folder");
  if (status.IsIOError() || status.IsBusy() || status.IsTryAgain() || status.IsTimedOut() ||
      status.IsAborted())
    return Status::External("cannot {} {}: {}", doing, path, reason);
  return Status::Internal("cannot {} {}: {}", doing, path, reason);
}

Status From(const std::error_code& error, const char* doing, const std::string& path) {
  if (!error) return Status::Ok();
  return Status::External("cannot {} {}: {}", doing, path, error.message());
}

// RocksDB's own log is for people who work on RocksDB.
class NoLog final : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char* /*format*/, va_list /*arguments*/) override {}
};

// The first error that RocksDB met by itself: it wants no more writes then. Its `Resume`, which it
// would also call by itself, may leave it in a state in which taking in a file ends the process
// (7.8); what has failed so is given up instead, and the job goes on from its checkpoint.
class FirstError final : public rocksdb::EventListener {
 public:
  void OnBackgroundError(rocksdb::BackgroundErrorReason /*reason*/,
                         rocksdb::Status* error) override {
    const std::lock_guard lock(mutex_);
    if (first_.ok()) first_ = *error;
  }
  void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason /*reason*/, rocksdb::Status /*error*/,
                            bool* recovers) override {
    *recovers = false;
  }
  rocksdb::Status Get() const {
    const std::lock_guard lock(mutex_);
    return first_;
  }

 private:
  mutable std::mutex mutex_;
  rocksdb::Status first_;
};

int OpenFilesMax() {
  constexpr rlim_t kMost = 100000;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 256;
  return static_cast<int>(std::max<rlim_t>(std::min(limit.rlim_cur, kMost) / 4, 32));
}

rocksdb::Options OptionsOf(const RocksDbOptions& settings) {
  rocksdb::Options options;
  if (settings.environment != nullptr) options.env = settings.environment->env;
  options.create_if_missing = true;
  options.paranoid_checks = true;
  options.force_consistency_checks = true;
  options.track_and_verify_wals_in_manifest = false;
  options.max_background_jobs = 2;
  (void)options.env->LowerThreadPoolCPUPriority(rocksdb::Env::LOW, rocksdb::CpuPriority::kLow).ok();
  options.max_open_files = OpenFilesMax();
  options.file_checksum_gen_factory = std::make_shared<TableHashes>();
  options.info_log = std::make_shared<NoLog>();
  options.stats_dump_period_sec = 0;
  options.stats_persist_period_sec = 0;
  // Nothing is put, the manifest is short, and files are opened when they are read: a store opens
  // in a few milliseconds.
  options.write_buffer_size = size_t{64} << 10;
  options.manifest_preallocation_size = size_t{64} << 10;
  options.max_file_opening_threads = 1;
  options.target_file_size_base = settings.file_bytes;
  // A level for each factor of ten above a few runs: where runs are small, each compaction would
  // rewrite the whole of a large last level otherwise.
  options.max_bytes_for_level_base =
      settings.file_bytes >= kLargeFile ? settings.file_bytes * 32 : settings.file_bytes * 8;
  options.writable_file_max_buffer_size =
      std::clamp(settings.file_bytes / 32, size_t{64} << 10, size_t{1} << 20);
  options.level_compaction_dynamic_level_bytes = true;
  // Files of a checkpoint do not overlap, and where memory is plenty hardly anything is asked of
  // them: a few checkpoints may lie there before they are merged, for which all that is below them
  // is written anew.
  options.level0_file_num_compaction_trigger = settings.file_bytes >= kLargeFile ? 32 : 4;
  options.compression = rocksdb::kNoCompression;
  options.compression_per_level.assign(7, rocksdb::kLZ4Compression);
  options.compression_per_level[0] = options.compression_per_level[1] = rocksdb::kNoCompression;
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(settings.cache_bytes, -1, false, 0.5);
  table.cache_index_and_filter_blocks = true;
  table.cache_index_and_filter_blocks_with_high_priority = true;
  table.pin_l0_filter_and_index_blocks_in_cache = true;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  table.data_block_index_type = rocksdb::BlockBasedTableOptions::kDataBlockBinaryAndHash;
  table.block_size = 4 << 10;
  table.format_version = 5;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

Status Empty(const std::string& folder) {
  std::error_code error;
  fs::remove_all(folder, error);
  RT_TRY(From(error, "empty the folder", folder));
  fs::create_directories(folder, error);
  return From(error, "make the folder", folder);
}

// What the next changes say lies anywhere, as they were gathered.
void PrefetchChange(std::span<const StateChange> sorted, size_t at) {
  constexpr size_t kAhead = 8;
  constexpr size_t kLine = 64;
  constexpr size_t kLinesMax = 8;
  if (at + kAhead >= sorted.size()) return;
  const StateChange& change = sorted[at + kAhead];
  const size_t bytes = change.key.size() + (change.value ? change.value->size() : 0);
  const char* const begin = change.key.data();
  for (size_t line = 0; line < std::min(bytes, kLinesMax * kLine); line += kLine)
    __builtin_prefetch(begin + line);
}

bool IsTable(const fs::path& path) { return path.extension() == ".sst"; }

// Tables never change, so they are shared; the other files RocksDB writes on.
Status LinkFiles(const std::string& from, const std::string& to) {
  std::error_code error;
  fs::directory_iterator files(from, error);
  RT_TRY(From(error, "read the checkpoint", from));
  for (const fs::directory_entry& entry : files) {
    const fs::path& source = entry.path();
    const fs::path target = fs::path(to) / source.filename();
    if (IsTable(source)) {
      fs::create_hard_link(source, target, error);
      if (!error) continue;
    }
    fs::copy_file(source, target, error);
    RT_TRY(From(error, "copy", source.string()));
  }
  return Status::Ok();
}

}  // namespace

struct RocksDbBackend::Store {
  explicit Store(const RocksDbOptions& settings) : options(OptionsOf(settings)) {
    options.compaction_filter_factory = expiry;
    options.listeners.push_back(error);
  }
  std::shared_ptr<RocksDbExpiry> expiry = std::make_shared<RocksDbExpiry>();
  std::shared_ptr<FirstError> error = std::make_shared<FirstError>();
  rocksdb::Options options;
  std::unique_ptr<rocksdb::DB> db;
};

// Tables on their way in, with their hashes.
struct RocksDbBackend::NewFiles {
  std::vector<std::string> names;
  std::vector<std::string> hashes;
};

RocksDbBackend::RocksDbBackend(std::string folder, const RocksDbOptions& options)
    : folder_(std::move(folder)),
      file_bytes_(static_cast<int64_t>(options.file_bytes)),
      store_(std::make_unique<Store>(options)) {}

RocksDbBackend::~RocksDbBackend() {
  // What it would write on closing is worth nothing.
  if (store_->db != nullptr) rocksdb::CancelAllBackgroundWork(store_->db.get(), true);
}

Result<std::unique_ptr<RocksDbBackend>> RocksDbBackend::Create(const std::string& folder,
                                                               const RocksDbOptions& options) {
  RT_TRY(Empty(folder));
  std::unique_ptr<RocksDbBackend> made(new RocksDbBackend(folder, options));
  RT_TRY(made->OpenFolder());
  return made;
}

Result<std::unique_ptr<RocksDbBackend>> RocksDbBackend::Open(const std::string& folder,
                                                             const std::string& checkpoint,
                                                             const RocksDbOptions& options) {
  RT_TRY(Empty(folder));
  RT_TRY(LinkFiles(checkpoint, folder));
  std::unique_ptr<RocksDbBackend> made(new RocksDbBackend(folder, options));
  made->store_->options.create_if_missing = false;
  RT_TRY(made->OpenFolder());
  return made;
}

Result<std::unique_ptr<RocksDbBackend>> RocksDbBackend::OpenReadOnly(
    const std::string& folder, const RocksDbOptions& options) {
  std::unique_ptr<RocksDbBackend> made(new RocksDbBackend(folder, options));
  made->store_->options.create_if_missing = false;
  made->store_->options.max_open_files = -1;
  rocksdb::DB* db = nullptr;
  const rocksdb::Status status = rocksdb::DB::OpenForReadOnly(made->store_->options, folder, &db);
  made->store_->db.reset(db);
  if (status.IsInvalidArgument() || status.IsNotFound())
    return Status::Corruption("cannot open the state in {}: {}", folder, status.ToString());
  RT_TRY(From(status, "open the state in", folder));
  return made;
}

Status RocksDbBackend::OpenFolder() {
  rocksdb::DB* db = nullptr;
  const rocksdb::Status status = rocksdb::DB::Open(store_->options, folder_, &db);
  store_->db.reset(db);
  // With an existing folder, what is missing or does not fit is damage.
  if (status.IsInvalidArgument() || status.IsNotFound())
    return Status::Corruption("cannot open the state in {}: {}", folder_, status.ToString());
  return From(status, "open the state in", folder_);
}

// --- reading ---

Status RocksDbBackend::MultiGet(std::span<const std::string_view> sorted, const Found& found) {
  std::array<rocksdb::Slice, kKeysAtOnce> keys;
  std::array<rocksdb::PinnableSlice, kKeysAtOnce> values;
  std::array<rocksdb::Status, kKeysAtOnce> statuses;
  for (size_t first = 0; first < sorted.size(); first += kKeysAtOnce) {
    const size_t count = std::min(kKeysAtOnce, sorted.size() - first);
    for (size_t i = 0; i < count; ++i) keys[i] = SliceOf(sorted[first + i]);
    store_->db->MultiGet(rocksdb::ReadOptions(), store_->db->DefaultColumnFamily(), count,
                         keys.data(), values.data(), statuses.data(), true);
    for (size_t i = 0; i < count; ++i) {
      if (!statuses[i].IsNotFound()) {
        RT_TRY(From(statuses[i], "read the state in", folder_));
        RT_TRY(found(first + i, ViewOf(values[i])));
      }
      values[i].Reset();
    }
  }
  return Status::Ok();
}

Status RocksDbBackend::Scan(std::string_view from, std::string_view end, const Visit& visit) {
  rocksdb::ReadOptions read;
  read.fill_cache = false;
  const rocksdb::Slice bound = SliceOf(end);
  read.iterate_upper_bound = &bound;
  const std::unique_ptr<rocksdb::Iterator> iterator(store_->db->NewIterator(read));
  for (iterator->Seek(SliceOf(from)); iterator->Valid(); iterator->Next()) {
    RT_ASSIGN(const bool goes_on, visit(ViewOf(iterator->key()), ViewOf(iterator->value())));
    if (!goes_on) return Status::Ok();
  }
  return From(iterator->status(), "read the state in", folder_);
}

// --- writing ---

Status RocksDbBackend::WriteRun(std::span<const StateChange> sorted) {
  if (sorted.empty()) return Status::Ok();
  RT_TRY(From(store_->error->Get(), "take state into", folder_));
  NewFiles files;
  Status status = WriteFiles(sorted, &files);
  if (status.ok()) status = Ingest(files);
  if (!status.ok()) {
    for (const std::string& name : files.names) {
      std::error_code ignored;
      fs::remove(name, ignored);
    }
  }
  return status;
}

Status RocksDbBackend::WriteFiles(std::span<const StateChange> sorted, NewFiles* files) {
  rocksdb::Options options = store_->options;
  options.compression_per_level.clear();  // it will be compressed further down
  for (size_t at = 0; at < sorted.size();) {
    rocksdb::SstFileWriter writer(rocksdb::EnvOptions(options), options, nullptr, false);
    files->names.push_back(folder_ + "/run-" + std::to_string(next_run_++) + ".tmp");
    const std::string& path = files->names.back();
    RT_TRY(From(writer.Open(path), "write state to", path));
    int64_t bytes = 0;
    for (; at < sorted.size() && bytes < file_bytes_; ++at) {
      const StateChange& change = sorted[at];
      PrefetchChange(sorted, at);
      const rocksdb::Status written = change.value
                                          ? writer.Put(SliceOf(change.key), SliceOf(*change.value))
                                          : writer.Delete(SliceOf(change.key));
      RT_TRY(From(written, "write state to", path));
      bytes += static_cast<int64_t>(change.key.size() + (change.value ? change.value->size() : 0));
    }
    rocksdb::ExternalSstFileInfo info;
    RT_TRY(From(writer.Finish(&info), "write state to", path));
    files->hashes.push_back(info.file_checksum);
  }
  return Status::Ok();
}

// Files are taken as they are: nothing is written into them or read back. So the hash of what was
// written stays good.
Status RocksDbBackend::Ingest(const NewFiles& files) {
  rocksdb::IngestExternalFileArg taken;
  taken.column_family = store_->db->DefaultColumnFamily();
  taken.external_files = files.names;
  taken.files_checksums = files.hashes;
  taken.files_checksum_func_names.assign(files.names.size(), TableHash::kName);
  taken.options.move_files = true;
  taken.options.write_global_seqno = false;
  taken.options.verify_file_checksum = false;
  return From(store_->db->IngestExternalFiles({taken}), "take state into", folder_);
}

Result<std::vector<CheckpointFile>> RocksDbBackend::Checkpoint(const std::string& folder) {
  rocksdb::Checkpoint* made = nullptr;
  RT_TRY(
      From(rocksdb::Checkpoint::Create(store_->db.get(), &made), "make a checkpoint of", folder_));
  const std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
  RT_TRY(RewriteExpired());
  NoteHashes();  // of those that a compaction takes away meanwhile
  rocksdb::Status status = checkpoint->CreateCheckpoint(folder);
  if (!status.ok()) {
    // A compaction may take a file away between listing and linking (fixed in 9.6): once more.
    std::error_code ignored;
    fs::remove_all(folder, ignored);
    status = checkpoint->CreateCheckpoint(folder);
  }
  RT_TRY(From(status, "write the checkpoint", folder));
  return FilesOf(folder);
}

Result<std::vector<CheckpointFile>> RocksDbBackend::FilesOf(const std::string& folder) {
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  RT_TRY(From(error, "read the checkpoint", folder));
  NoteHashes();
  std::vector<CheckpointFile> files;
  std::map<std::string, CheckpointFile> tables;
  for (const fs::directory_entry& entry : entries) {
    CheckpointFile file{entry.path().filename().string(), entry.path().string(),
                        entry.file_size(error), 0, true};
    RT_TRY(From(error, "read", entry.path().string()));
    const auto known = hashed_.find(file.name);
    if (known != hashed_.end() && known->second.bytes == file.bytes) {
      file.xxh3 = known->second.xxh3;
    } else {
      RT_ASSIGN(const FileDigest digest, DigestOf(entry.path()));
      file.xxh3 = digest.xxh3;
    }
    if (IsTable(entry.path())) tables[file.name] = file;
    files.push_back(std::move(file));
  }
  hashed_ = std::move(tables);
  std::sort(files.begin(), files.end(),
            [](const CheckpointFile& a, const CheckpointFile& b) { return a.name < b.name; });
  return files;
}

// Tables that were written here have been hashed on their way.
void RocksDbBackend::NoteHashes() {
  std::vector<rocksdb::LiveFileMetaData> tables;
  store_->db->GetLiveFilesMetaData(&tables);
  for (const rocksdb::LiveFileMetaData& table : tables) {
    if (table.file_checksum_func_name != TableHash::kName) continue;
    const std::string name = fs::path(table.name).filename();
    hashed_[name] = {name, "", table.size, TableHash::Of(table.file_checksum), true};
  }
}

// --- what has expired ---

void RocksDbBackend::SetExpiry(uint32_t table, Deadline deadline) {
  store_->expiry->Set(table, std::move(deadline));
}

int64_t RocksDbBackend::TakeExpired(uint32_t table) { return store_->expiry->TakeExpired(table); }

// RocksDB rewrites what new files come upon, and none come when all keys have come and gone. A file
// of which some table has nothing left that is alive is rewritten by itself: then it is a new one.
Status RocksDbBackend::RewriteExpired() {
  if (!store_->expiry->has_tables()) return Status::Ok();
  std::vector<rocksdb::LiveFileMetaData> files;
  store_->db->GetLiveFilesMetaData(&files);
  size_t rewritten = 0;
  for (const rocksdb::LiveFileMetaData& file : files) {
    const int64_t written = static_cast<int64_t>(file.file_creation_time + 1) * 1000;
    if (file.file_creation_time == 0 || file.smallestkey.size() < kBelowKeyHead ||
        file.largestkey.size() < kBelowKeyHead)
      continue;
    if (!store_->expiry->HasOutlived(TableOf(file.smallestkey), TableOf(file.largestkey), written))
      continue;
    rocksdb::CompactRangeOptions one;
    one.exclusive_manual_compaction = false;
    one.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
    const rocksdb::Slice first(file.smallestkey), last(file.largestkey);
    RT_TRY(From(store_->db->CompactRange(one, &first, &last), "rewrite the state in", folder_));
    if (++rewritten == kRewrittenAtOnce) return Status::Ok();
  }
  return Status::Ok();
}

Status RocksDbBackend::Compact() {
  rocksdb::CompactRangeOptions all;
  all.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
  return From(store_->db->CompactRange(all, nullptr, nullptr), "rewrite the state in", folder_);
}

// --- other lanes' state ---

Status RocksDbBackend::Import(const std::string& checkpoint, const Share& share) {
  rocksdb::DB* opened = nullptr;
  rocksdb::Options options = store_->options;
  options.create_if_missing = false;
  const rocksdb::Status status = rocksdb::DB::OpenForReadOnly(options, checkpoint, &opened);
  if (status.IsInvalidArgument() || status.IsNotFound())
    return Status::Corruption("cannot open the checkpoint {}: {}", checkpoint, status.ToString());
  RT_TRY(From(status, "open the checkpoint", checkpoint));
  const std::unique_ptr<rocksdb::DB> from(opened);
  rocksdb::ReadOptions read;
  read.fill_cache = false;
  const std::unique_ptr<rocksdb::Iterator> iterator(from->NewIterator(read));
  std::string bytes;
  std::vector<std::pair<size_t, size_t>> sizes;  // of key and value
  std::vector<StateChange> changes;
  const auto write = [&] {
    changes.clear();
    const char* at = bytes.data();
    for (const auto& [key, value] : sizes) {
      changes.push_back({{at, key}, std::string_view(at + key, value)});
      at += key + value;
    }
    bytes.clear();
    sizes.clear();
    return WriteRun(changes);
  };
  for (iterator->SeekToFirst(); iterator->Valid();) {
    const std::string_view key = ViewOf(iterator->key());
    if (key.size() < kBelowKeyHead)
      return Status::Corruption("{} holds a key of {} bytes", checkpoint, key.size());
    const int group = KeyGroupIn(key);
    const std::optional<KeyGroupRange> groups = share(TableOf(key));
    if (!groups || !groups->Has(group)) {
      // To the first group of this table, or behind its last one.
      std::string next = TablePrefix(TableOf(key));
      const bool comes = groups && group < groups->first;
      next.push_back(static_cast<char>(comes ? groups->first : 0xff));
      if (!comes) next.push_back(static_cast<char>(0xff));
      iterator->Seek(next);
      continue;
    }
    const std::string_view value = ViewOf(iterator->value());
    bytes.append(key).append(value);
    sizes.emplace_back(key.size(), value.size());
    if (bytes.size() >= kImportedAtOnce) {
      RT_TRY(write());
    }
    iterator->Next();
  }
  RT_TRY(From(iterator->status(), "read the checkpoint", checkpoint));
  return write();
}

int64_t RocksDbBackend::file_bytes() const {
  uint64_t bytes = 0;
  store_->db->GetIntProperty(rocksdb::DB::Properties::kTotalSstFilesSize, &bytes);
  return static_cast<int64_t>(bytes);
}

}  // namespace rowtide
