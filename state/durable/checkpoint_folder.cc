#include "state/durable/checkpoint_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <limits>
#include <random>

#include "engine/key_group.h"
#include "engine/snapshot.h"
#include "engine/durable_files.h"

namespace rowtide {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "chk-";
constexpr std::string_view kPrepared = ".prepared";
constexpr const char* kWork = ".work-";
constexpr const char* kManifest = "MANIFEST";
constexpr size_t kIdLetters = 32;
constexpr size_t kRunIdLetters = 8;

std::string NewId() {
  std::random_device random;
  std::string id;
  for (int i = 0; i < 4; ++i) id += fmt::format("{:08x}", random());
  return id;
}

// `chk-7-5f3a` or `chk-7-5f3a.prepared`; none: it is something else.
std::optional<CheckpointEntry> ReadName(const fs::path& path) {
  std::string name = path.filename().string();
  CheckpointEntry entry;
  entry.path = path.string();
  entry.is_decided = !name.ends_with(kPrepared);
  if (!entry.is_decided) name.resize(name.size() - kPrepared.size());
  if (!name.starts_with(kPrefix)) return std::nullopt;
  const char* const first = name.data() + kPrefix.size();
  const char* const last = name.data() + name.size();
  const auto [end, error] = std::from_chars(first, last, entry.epoch);
  if (error != std::errc() || end == last || *end != '-' || entry.epoch < 1) return std::nullopt;
  entry.run_id = std::string(end + 1, last);
  return entry;
}

Result<int> Lock(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return Status::External("cannot open {}: {}", path, std::strerror(errno));
  if (::flock(file, LOCK_EX | LOCK_NB) == 0) {
    const std::string pid = fmt::format("{}\n", ::getpid());
    const bool written = ::ftruncate(file, 0) == 0 && ::pwrite(file, pid.data(), pid.size(), 0) ==
                                                          static_cast<ssize_t>(pid.size());
    if (written) return file;
    const int fault = errno;
    ::close(file);
    return Status::External("cannot write {}: {}", path, std::strerror(fault));
  }
  char holder[32] = {};
  const ssize_t count = ::pread(file, holder, sizeof(holder) - 1, 0);
  ::close(file);
  const std::string pid(holder, count > 0 ? static_cast<size_t>(count) : 0);
  return Status::External("process {} runs this job already: it holds {}",
                          pid.substr(0, pid.find('\n')), path)
      .WithErrorCode("RT6001");
}

Status Check(const std::string& path, const ManifestFile& want) {
  if (!fs::exists(path)) return Status::Corruption("{} is missing", path);
  RT_ASSIGN(const FileDigest is, DigestOf(path));
  if (is.bytes != want.bytes)
    return Status::Corruption("{} has {} bytes, the manifest says {}", path, is.bytes, want.bytes);
  if (is.xxh3 != want.xxh3)
    return Status::Corruption("the bytes of {} are not those that were written (checksum)", path);
  return Status::Ok();
}

// Of all that it names, since the manifest has their checksums.
Result<std::string> DigestOfManifest(const std::string& checkpoint) {
  RT_ASSIGN(const FileDigest digest, DigestOf(checkpoint + "/" + kManifest));
  return fmt::format("{:016x}", digest.xxh3);
}

Status LoadLane(const std::string& folder, const Manifest& manifest, const ManifestLane& from,
                bool checks_files, LaneState* lane) {
  const std::string nodes = folder + "/" + from.nodes.name;
  RT_TRY(Check(nodes, from.nodes));
  RT_ASSIGN(const std::string bytes, ReadWholeFile(nodes));
  if (bytes.size() != from.nodes.bytes)
    return Status::Corruption("{} has changed while it was read", nodes);
  for (size_t i = 0; i < manifest.nodes.size(); ++i) {
    SnapshotReader reader(
        std::string_view(bytes).substr(from.node_bytes[i].begin, from.node_bytes[i].bytes));
    NodeState state{manifest.nodes[i], {}, {}, manifest.tables[i]};
    RT_ASSIGN(state.times, reader.Bytes("times of a node"));
    RT_ASSIGN(state.bytes, reader.Bytes("state of a node"));
    if (!reader.AtEnd()) {  // the first checkpoints had no counts
      RT_ASSIGN(state.counts, reader.Bytes("counts of a node"));
    }
    lane->nodes.push_back(std::move(state));
  }
  // `lane-0.000012.sst`
  const std::string prefix = from.nodes.name.substr(0, from.nodes.name.find('.') + 1);
  for (const ManifestFile& file : from.files) {
    const std::string path = folder + "/" + file.name;
    if (!file.name.starts_with(prefix))
      return Status::Corruption("{} is a file of another lane", path);
    if (checks_files) RT_TRY(Check(path, file));
    lane->files.push_back({file.name.substr(prefix.size()), path, file.bytes, file.xxh3, true});
  }
  return Status::Ok();
}

}  // namespace

Result<std::vector<CheckpointEntry>> ListCheckpoints(const std::string& job_folder) {
  std::vector<CheckpointEntry> entries;
  std::error_code error;
  if (!fs::exists(job_folder, error)) return entries;
  for (const auto& one : fs::directory_iterator(job_folder, error)) {
    if (std::optional<CheckpointEntry> entry = ReadName(one.path()))
      entries.push_back(std::move(*entry));
  }
  if (error) return Status::External("cannot list {}: {}", job_folder, error.message());
  std::sort(entries.begin(), entries.end(), [](const CheckpointEntry& a, const CheckpointEntry& b) {
    return a.epoch != b.epoch ? a.epoch > b.epoch : a.path < b.path;
  });
  return entries;
}

Result<std::vector<std::string>> ListJobFolders(const std::string& dir) {
  std::vector<std::string> folders;
  std::error_code error;
  for (const auto& one : fs::directory_iterator(dir, error)) {
    if (fs::exists(one.path() / "ID", error)) folders.push_back(one.path().string());
  }
  if (error) return Status::External("cannot list {}: {}", dir, error.message());
  std::sort(folders.begin(), folders.end());
  return folders;
}

Result<Manifest> LoadManifest(const std::string& path) {
  const std::string file = path + "/" + kManifest;
  std::error_code error;
  const std::uintmax_t size = fs::file_size(file, error);
  if (!error && size > Manifest::kBytesMax)  // it is read whole
    return Status::Corruption("{} has {} bytes; a manifest has at most {}", file, size,
                              Manifest::kBytesMax);
  RT_ASSIGN(const std::string bytes, ReadWholeFile(file));
  Result<Manifest> manifest = Manifest::FromBytes(bytes);
  if (!manifest.ok()) return Status(manifest.status()).WithContext(file);
  return manifest;
}

Result<LoadedCheckpoint> LoadCheckpoint(const std::string& path, bool checks_files) {
  RT_ASSIGN(const Manifest manifest, LoadManifest(path));
  if (manifest.key_groups != kKeyGroups)
    return Status::Unsupported("{} has {} key groups, this program has {}", path,
                               manifest.key_groups, kKeyGroups);
  LoadedCheckpoint loaded;
  loaded.job_id = manifest.job_id;
  loaded.path = path;
  Checkpoint& checkpoint = loaded.checkpoint;
  checkpoint.epoch = manifest.epoch;
  checkpoint.kind = manifest.kind;
  checkpoint.millis = manifest.millis;
  checkpoint.job_name = manifest.job_name;
  checkpoint.plan = manifest.plan;
  checkpoint.script = manifest.script;
  checkpoint.state_ttl_millis = manifest.state_ttl_millis;
  checkpoint.next_source = manifest.next_source;
  for (const ManifestLane& from : manifest.lanes) {
    checkpoint.lanes.emplace_back();
    RT_TRY(LoadLane(path, manifest, from, checks_files, &checkpoint.lanes.back()));
  }
  return loaded;
}

CheckpointFolder::CheckpointFolder(std::string path, std::string version, int lock)
    : path_(std::move(path)),
      version_(std::move(version)),
      lock_(lock),
      run_id_(NewId().substr(0, kRunIdLetters)) {}

CheckpointFolder::~CheckpointFolder() { ::close(lock_); }

Result<std::unique_ptr<CheckpointFolder>> CheckpointFolder::Open(const std::string& dir,
                                                                 const std::string& job,
                                                                 std::string rowtide_version) {
  const std::string path = dir + "/" + job;
  RT_TRY(MakeFolders(path));
  RT_ASSIGN(const int lock, Lock(path + "/LOCK"));
  std::unique_ptr<CheckpointFolder> folder(
      new CheckpointFolder(path, std::move(rowtide_version), lock));
  const std::string id = path + "/ID";
  if (!fs::exists(id)) {
    folder->ChooseNewLife();
    RT_TRY(folder->BeginAfresh());
    return folder;
  }
  RT_ASSIGN(const std::string ids, ReadWholeFile(id));
  const size_t line = ids.find('\n');
  if (line != kIdLetters || !ids.ends_with('\n'))
    return Status::Corruption("{} does not hold the id of a job", id);
  folder->job_id_ = ids.substr(0, line);
  folder->earlier_job_id_ = ids.substr(line + 1, ids.size() - line - 2);
  return folder;
}

void CheckpointFolder::ChooseNewLife() { earlier_job_id_ = std::exchange(job_id_, NewId()); }

Status CheckpointFolder::BeginAfresh() {
  RT_TRY(RemoveLeftovers());
  RT_TRY(RemoveTree(path_ + "/DONE"));
  RT_ASSIGN(const std::vector<CheckpointEntry> old, ListCheckpoints(path_));
  // The newest goes last: a crash in between leaves one that can be restored.
  for (auto entry = old.rbegin(); entry != old.rend(); ++entry) RT_TRY(RemoveTree(entry->path));
  const std::string id = path_ + "/ID";
  RT_TRY(RemoveTree(id + ".new"));
  RT_TRY(WriteFileDurably(id + ".new", job_id_ + "\n" + earlier_job_id_ + "\n"));
  return RenameDurably(id + ".new", id);
}

bool CheckpointFolder::is_done() const { return fs::exists(path_ + "/DONE"); }

Status CheckpointFolder::MarkDone() {
  if (is_done()) return Status::Ok();
  RT_TRY(WriteFileDurably(path_ + "/DONE", ""));
  return SyncFolder(path_);
}

Status CheckpointFolder::RemoveLeftovers() {
  std::vector<std::string> leftovers;
  std::error_code error;
  for (const auto& one : fs::directory_iterator(path_, error)) {
    const std::string name = one.path().filename().string();
    const bool is_of_earlier_run = name.starts_with(kWork) && !name.starts_with(kWork + run_id_);
    if (name.starts_with("." + std::string(kPrefix)) || name.ends_with(kPrepared) ||
        is_of_earlier_run || name == "control")
      leftovers.push_back(one.path().string());
  }
  if (error) return Status::External("cannot list {}: {}", path_, error.message());
  for (const std::string& path : leftovers) RT_TRY(RemoveTree(path));
  return Status::Ok();
}

void CheckpointFolder::BeginRun() { run_id_ = NewId().substr(0, kRunIdLetters); }

std::string CheckpointFolder::WorkFolder(int lane) const {
  return fmt::format("{}/{}{}-{}", path_, kWork, run_id_, lane);
}

std::string CheckpointFolder::NameOf(int64_t epoch, const std::string& run_id) {
  return fmt::format("{}{}-{}", kPrefix, epoch, run_id);
}

Status CheckpointFolder::WriteInto(const Checkpoint& checkpoint, const std::string& folder,
                                   bool copies) {
  if (::mkdir(folder.c_str(), 0700) != 0)
    return Status::External("cannot make the folder {}: {}", folder, std::strerror(errno));
  Manifest manifest;
  manifest.epoch = checkpoint.epoch;
  manifest.kind = checkpoint.kind;
  manifest.job_id = job_id_;
  manifest.job_name = checkpoint.job_name;
  manifest.run_id = run_id_;
  manifest.rowtide_version = version_;
  manifest.millis = checkpoint.millis;
  manifest.plan = checkpoint.plan;
  manifest.script = checkpoint.script;
  manifest.key_groups = kKeyGroups;
  manifest.state_ttl_millis = checkpoint.state_ttl_millis;
  manifest.next_source = checkpoint.next_source;
  for (const NodeState& state : checkpoint.lanes[0].nodes) {
    manifest.nodes.push_back(state.node);
    manifest.tables.push_back(state.table);
  }
  for (size_t i = 0; i < checkpoint.lanes.size(); ++i) {
    const LaneState& lane = checkpoint.lanes[i];
    ManifestLane& to = manifest.lanes.emplace_back();
    SnapshotWriter nodes;
    for (const NodeState& state : lane.nodes) {
      const uint64_t begin = nodes.bytes().size();
      nodes.PutBytes(state.times);
      nodes.PutBytes(state.bytes);
      nodes.PutBytes(state.counts);
      to.node_bytes.push_back({begin, nodes.bytes().size() - begin});
    }
    to.nodes.name = fmt::format("lane-{}.nodes", i);
    to.nodes.bytes = nodes.bytes().size();
    to.nodes.xxh3 = XXH3_64bits(nodes.bytes().data(), nodes.bytes().size());
    RT_TRY(WriteFileDurably(folder + "/" + to.nodes.name, nodes.bytes()));
    for (const CheckpointFile& file : lane.files) {
      const std::string name = fmt::format("lane-{}.{}", i, file.name);
      RT_TRY(LinkOrCopy(file.path, folder + "/" + name, copies));
      FileDigest digest{file.bytes, file.xxh3};
      if (!file.is_digested) {
        RT_ASSIGN(digest, DigestOf(folder + "/" + name));
      }
      to.files.push_back({name, digest.bytes, digest.xxh3});
    }
  }
  RT_TRY(WriteFileDurably(folder + "/" + kManifest, manifest.ToBytes()));
  return SyncFolder(folder);
}

Status CheckpointFolder::Write(const Checkpoint& checkpoint) {
  const std::string name = NameOf(checkpoint.epoch, run_id_);
  const std::string hidden = path_ + "/." + name;
  Status status = WriteInto(checkpoint, hidden, false);
  if (status.ok()) status = RenameDurably(hidden, path_ + "/" + name + std::string(kPrepared));
  if (!status.ok()) (void)RemoveTree(hidden).ok();
  return status;
}

Status CheckpointFolder::Commit(int64_t epoch) {
  const std::string path = path_ + "/" + NameOf(epoch, run_id_);
  const std::string prepared = path + std::string(kPrepared);
  if (log_ != nullptr) {
    RT_ASSIGN(const std::string digest, DigestOfManifest(prepared));
    RT_TRY(log_->Decide({epoch, run_id_, digest}));
  }
  return RenameDurably(prepared, path);
}

Result<std::string> CheckpointFolder::Adopt(const Decision& decision) {
  const std::string path = path_ + "/" + NameOf(decision.epoch, decision.run_id);
  const std::string prepared = path + std::string(kPrepared);
  const std::string place = fs::exists(path) ? path : prepared;
  if (!fs::exists(place)) {
    return Status::Corruption("checkpoint {} of run {} was decided, and {} is not there",
                              decision.epoch, decision.run_id, path)
        .WithErrorCode("RT6012");
  }
  RT_ASSIGN(const std::string digest, DigestOfManifest(place));
  if (digest != decision.digest) {
    return Status::Corruption(
               "{} is not the checkpoint that was decided: its manifest has digest "
               "{}, not {}",
               place, digest, decision.digest)
        .WithErrorCode("RT6012");
  }
  if (place == prepared) RT_TRY(RenameDurably(prepared, path));
  return path;
}

Status CheckpointFolder::Retire(int kept) {
  RT_ASSIGN(const std::vector<CheckpointEntry> entries, ListCheckpoints(path_));
  int decided = 0;
  for (const CheckpointEntry& entry : entries) {
    decided += entry.is_decided ? 1 : 0;
    // One that was never decided, and is older than one that was, has been given up.
    if (decided > (entry.is_decided ? kept : 0)) RT_TRY(RemoveTree(entry.path));
  }
  return Status::Ok();
}

int64_t CheckpointFolder::FreeBytes() const {
  struct statvfs space;
  if (::statvfs(path_.c_str(), &space) != 0) return std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(space.f_bavail) * static_cast<int64_t>(space.f_frsize);
}

Status CheckpointFolder::WriteSavepoint(const Checkpoint& checkpoint, const std::string& target) {
  std::string parent = fs::path(target).parent_path();
  if (parent.empty()) parent = ".";
  RT_TRY(MakeFolders(parent));
  if (fs::exists(target)) return Status::External("{} exists already", target);
  const std::string hidden = parent + "/." + fs::path(target).filename().string() + "-" + run_id_;
  Status status = WriteInto(checkpoint, hidden, true);
  if (status.ok()) status = RenameDurably(hidden, target);
  if (!status.ok()) (void)RemoveTree(hidden).ok();
  return status;
}

}  // namespace rowtide
