#include "state/state_tier.h"

#include <algorithm>
#include <bit>

#include "engine/durable_files.h"
#include "engine/thread_start.h"

namespace rowtide {
namespace {

constexpr int64_t kCopiedAtOnce = int64_t{256} << 10;
constexpr int64_t kRunBytes = int64_t{64} << 20;
constexpr int kReadAtOnce = 1000;
constexpr size_t kWaitingRunsMax = 2;  // more are not gathered while these are not written
constexpr size_t kSpareRunsMax = 3;

}  // namespace

// What a thread writes, and what came of it.
struct StateTier::Writer {
  std::deque<std::unique_ptr<StateRun>> runs;  // those that are left after an error
  std::string folder;
  std::vector<std::string> outdated;
  int64_t bytes = 0;  // of the runs, as they were handed over
  std::vector<std::unique_ptr<StateRun>> spare;
  size_t spare_max = 0;
  int64_t spare_bytes_max = 0;
  std::vector<CheckpointFile> files;
  Status status;
  std::atomic<bool> done{false};
  std::thread thread;

  Status Write(KeyedStateBackend* backend) {
    for (; !runs.empty(); runs.pop_front()) {
      RT_TRY(backend->WriteRun(runs.front()->Sorted()));
      if (spare.size() >= spare_max || runs.front()->bytes() > spare_bytes_max) continue;
      runs.front()->Reset();
      spare.push_back(std::move(runs.front()));
    }
    if (folder.empty()) return Status::Ok();
    for (const std::string& path : outdated) RT_TRY(RemoveTree(path));
    RT_ASSIGN(files, backend->Checkpoint(folder));
    return Status::Ok();
  }
};

StateTier::StateTier(KeyedStateBackend* backend, Options options)
    : backend_(backend),
      options_(options),
      warms_up_(options.restored && options.warms_up),
      run_(NewRun()) {}

// Up to five of them are on their way: one is gathered, two wait, and a thread has two.
int64_t StateTier::RunBytes() const { return std::min(kRunBytes, options_.bytes_max / 32); }

std::unique_ptr<StateRun> StateTier::NewRun() {
  if (spare_.empty()) {
    const size_t block =
        std::clamp(static_cast<size_t>(RunBytes()) / 4, size_t{4} << 10, StateRun::kBlockBytes);
    auto run = std::make_unique<StateRun>(block);
    run->Expect(RunBytes());
    return run;
  }
  std::unique_ptr<StateRun> run = std::move(spare_.back());
  spare_.pop_back();
  return run;
}

size_t StateTier::region_bytes() const {
  const auto part = static_cast<size_t>(std::max<int64_t>(options_.bytes_max / 32, 1));
  return std::clamp(std::bit_floor(part), size_t{64} << 10, size_t{4} << 20);
}

size_t StateTier::small_block_bytes() const {
  const auto part = static_cast<size_t>(options_.bytes_max) / 32 / kKeyGroups;
  return std::clamp(part, size_t{1} << 10, size_t{16} << 10);
}

StateTier::~StateTier() {
  if (writer_) writer_->thread.join();
  if (last_writer_.joinable()) last_writer_.join();
}

uint32_t StateTier::Register(TieredState* state, uint32_t first_table) {
  const auto before = std::count_if(states_.begin(), states_.end(), [&](const Member& member) {
    return member.first_table == first_table;
  });
  states_.push_back({state, first_table});
  return first_table + static_cast<uint32_t>(before);
}

void StateTier::Unregister(TieredState* state) {
  // Numbers of tables are given out in the order of making; nothing is made after this.
  std::erase_if(states_, [&](const Member& member) { return member.state == state; });
}

int64_t StateTier::bytes() const {
  int64_t bytes = run_->bytes();
  for (const Member& member : states_) bytes += member.state->bytes();
  for (const auto& run : runs_) bytes += run->bytes();
  return writer_ ? bytes + writer_->bytes : bytes;
}

// --- checkpoints ---

Status StateTier::BeginCheckpoint(std::string folder) {
  RT_TRY(OpenCheckpoint(std::move(folder)));
  for (const Member& member : states_) member.state->Freeze();
  EndBarrier();
  return Status::Ok();
}

Status StateTier::OpenCheckpoint(std::string folder, std::string outdated) {
  is_open_ = false;
  folder_.clear();
  RT_TRY(WriteAll());
  folder_ = std::move(folder);
  if (!outdated.empty()) outdated_.push_back(std::move(outdated));
  has_files_ = false;
  is_open_ = true;
  return Status::Ok();
}

void StateTier::Freeze(uint32_t node) {
  RT_DCHECK(is_open_);
  for (const Member& member : states_) {
    if (member.node() != node) continue;
    member.state->Freeze();
    copies_ = unsettled_ = true;
  }
}

void StateTier::EndBarrier() {
  copies_ = unsettled_ = true;
  is_open_ = false;
}

bool StateTier::busy() const { return copies_ || writer_ || !runs_.empty() || warms_up_; }

bool StateTier::waits() const {
  const bool copies_now = copies_ && runs_.size() < kWaitingRunsMax;
  return writer_ && !writer_->done && !copies_now && !warms_up_;
}

bool StateTier::written() const {
  if (has_files_) return true;
  return !is_open_ && folder_.empty() && !copies_ && runs_.empty() && writer_ && writer_->done;
}

Result<std::vector<CheckpointFile>> StateTier::WaitWritten() {
  const Status status = WriteAll();
  if (!status.ok()) folder_.clear();
  RT_TRY(status);
  RT_CHECK(has_files_);
  has_files_ = false;
  return std::move(files_);
}

Status StateTier::Work() {
  RT_TRY(CollectWriter(false));
  if (runs_.size() < kWaitingRunsMax) RT_TRY(CopySlice());
  if (!writer_) RT_TRY(StartWriter());
  RT_TRY(EvictIfOver());
  return WarmUp();
}

// A run that is large enough leaves while the next one is gathered.
Status StateTier::CopySlice() {
  if (!copies_) return Status::Ok();
  const int64_t run_bytes = RunBytes();
  auto copied = TieredState::Copied::kAll;
  for (const Member& member : states_) {
    copied = member.state->CopyFrozen(kCopiedAtOnce, run_.get(), run_bytes);
    if (copied != TieredState::Copied::kAll) break;
  }
  copies_ = copied != TieredState::Copied::kAll;
  if (run_->empty() || copied == TieredState::Copied::kSome) return Status::Ok();
  runs_.push_back(std::exchange(run_, NewRun()));
  return Status::Ok();
}

Status StateTier::StartWriter() {
  const bool ends = !copies_ && !is_open_ && !folder_.empty();
  if (runs_.empty() && !ends) return Status::Ok();
  auto writer = std::make_unique<Writer>();
  for (const auto& run : runs_) writer->bytes += run->bytes();
  writer->spare_max = spare_.size() < kSpareRunsMax ? kSpareRunsMax - spare_.size() : 0;
  writer->spare_bytes_max = RunBytes() / 2 * 3;  // what is evicted at once may be far more
  writer->runs = std::move(runs_);
  runs_.clear();
  if (ends) {
    writer->folder = std::exchange(folder_, std::string());
    writer->outdated = outdated_;
  }
  Writer* const own = writer.get();
  Result<std::thread> thread = StartBackgroundThread([own, backend = backend_] {
    own->status = own->Write(backend);
    own->done = true;
  });
  if (!thread.ok()) {
    runs_ = std::move(writer->runs);
    folder_ = writer->folder;
    return thread.status();
  }
  writer->thread = std::move(*thread);
  writer_ = std::move(writer);
  return Status::Ok();
}

// What the thread could not write is written by the next one. A thread that is done is not joined
// at once: rows come before it, and where cores are few it may take milliseconds to leave.
Status StateTier::CollectWriter(bool waits) {
  if (!writer_ || (!waits && !writer_->done)) return Status::Ok();
  if (!writer_->done) writer_->thread.join();
  if (last_writer_.joinable()) last_writer_.join();
  last_writer_ = std::move(writer_->thread);
  const std::unique_ptr<Writer> writer = std::move(writer_);
  for (auto& run : writer->spare) spare_.push_back(std::move(run));
  if (!writer->status.ok()) {
    while (!writer->runs.empty()) {
      runs_.push_front(std::move(writer->runs.back()));
      writer->runs.pop_back();
    }
    folder_ = writer->folder;
    return writer->status;
  }
  if (!writer->folder.empty()) {
    files_ = std::move(writer->files);
    has_files_ = true;
    outdated_.clear();
    for (const Member& member : states_) member.state->CountExpiredBelow();
  }
  if (unsettled_ && !copies_ && runs_.empty()) {
    unsettled_ = false;
    for (const Member& member : states_) member.state->FrozenIsBelow();
  }
  return Status::Ok();
}

// Everything that is frozen, now.
Status StateTier::WriteAll() {
  RT_DCHECK(!is_open_);
  while (copies_ || writer_ || !runs_.empty() || !folder_.empty()) {
    RT_TRY(CollectWriter(!copies_ || runs_.size() >= kWaitingRunsMax));
    if (runs_.size() < kWaitingRunsMax) RT_TRY(CopySlice());
    if (!writer_) RT_TRY(StartWriter());
  }
  return Status::Ok();
}

// --- memory ---

// An eighth of what is allowed goes at once, so that runs are large. What is on its way down cannot
// be forgotten before it has arrived: it is waited for.
Status StateTier::EvictIfOver() {
  if (is_open_ || bytes() <= options_.bytes_max) return Status::Ok();
  RT_TRY(WriteAll());
  warms_up_ = false;
  const int64_t wanted = bytes() - options_.bytes_max / 8 * 7;
  if (wanted <= 0) return Status::Ok();
  std::unique_ptr<StateRun> dirty = NewRun();
  int64_t total = 0;
  for (const Member& member : states_) total += member.state->bytes();
  for (const auto& [state, table] : states_) {
    const double share = static_cast<double>(state->bytes()) / static_cast<double>(total);
    state->ChooseVictims(static_cast<int64_t>(share * static_cast<double>(wanted)) + 1,
                         dirty.get());
  }
  if (dirty->empty()) {
    spare_.push_back(std::move(dirty));
  } else {
    runs_.push_back(std::move(dirty));
    RT_TRY(WriteAll());
  }
  for (const Member& member : states_) member.state->DropVictims();
  return Status::Ok();
}

Status StateTier::WarmUp() {
  if (!warms_up_) return Status::Ok();
  if (bytes() > options_.bytes_max / 8 * 7) {
    warms_up_ = false;
    return Status::Ok();
  }
  for (const Member& member : states_) {
    RT_ASSIGN(const bool all, member.state->WarmUp(kReadAtOnce));
    if (!all) return Status::Ok();
  }
  warms_up_ = false;
  return Status::Ok();
}

}  // namespace rowtide
