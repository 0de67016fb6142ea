#include "engine/runtime/checkpointer.h"

#include <filesystem>
#include <utility>

namespace rowtide {

using std::chrono::milliseconds;

namespace {
constexpr milliseconds kRoomInterval{500};
constexpr size_t kRecentMax = 12;

int64_t BytesOf(const Checkpoint& checkpoint) {
  uint64_t bytes = 0;
  for (const LaneState& lane : checkpoint.lanes) {
    for (const NodeState& node : lane.nodes)
      bytes += node.times.size() + node.bytes.size() + node.counts.size();
    for (const CheckpointFile& file : lane.files) {
      std::error_code error;
      const uintmax_t size = std::filesystem::file_size(file.path, error);
      if (!error) bytes += size;
    }
  }
  return static_cast<int64_t>(bytes);
}

}  // namespace

Checkpointer::Checkpointer(CheckpointStore* store, CheckpointSettings settings, int64_t last_epoch,
                           std::function<void(const std::string&)> say,
                           std::unique_ptr<CheckpointWriter> writer)
    : writer_(writer != nullptr ? std::move(writer) : std::make_unique<ThreadWriter>()),
      store_(store),
      settings_(settings),
      last_epoch_(last_epoch),
      say_(std::move(say)),
      begun_(Now()),
      ended_(begun_) {}

Checkpointer::~Checkpointer() { writer_->Join(); }

bool Checkpointer::IsDue() const {
  if (settings_.interval_millis == 0 || is_writing() || is_nearly_full_) return false;
  const Moment now = Now();
  return now - begun_ >= milliseconds(settings_.interval_millis) &&
         now - ended_ >= milliseconds(settings_.min_pause_millis);
}

void Checkpointer::Begin(Checkpoint checkpoint) {
  RT_CHECK(!is_writing() && checkpoint.epoch == next_epoch());
  begun_ = Now();
  is_given_up_ = false;
  is_done_ = false;
  begun_record_ = {checkpoint.epoch, checkpoint.kind, checkpoint.millis};
  has_news_ = true;
  // Shared, since a std::function is copied.
  auto shared = std::make_shared<const Checkpoint>(std::move(checkpoint));
  is_writing_ = true;
  writer_->Start([this, shared] { Write(*shared); });
}

void Checkpointer::Write(const Checkpoint& checkpoint) {
  Status status = store_->Write(checkpoint);
  if (status.ok() && is_given_up_) status = Status::External("it took longer than the timeout");
  if (status.ok()) status = store_->Commit(checkpoint.epoch);
  retired_ = status.ok() ? store_->Retire(settings_.kept) : Status::Ok();
  written_bytes_ = BytesOf(checkpoint);
  written_ = std::move(status);
  is_done_ = true;
}

Result<std::optional<int64_t>> Checkpointer::Outcome() {
  if (!is_writing()) return std::optional<int64_t>();
  if (is_done_) return Conclude(std::exchange(written_, Status::Ok()));
  if (Now() - begun_ > milliseconds(settings_.timeout_millis)) is_given_up_ = true;
  return std::optional<int64_t>();
}

Result<std::optional<int64_t>> Checkpointer::Await() {
  RT_CHECK(is_writing());
  writer_->Join();
  return Conclude(std::exchange(written_, Status::Ok()));
}

// An epoch's number is used up even if it failed: nothing of it can be mistaken for a later one.
Result<std::optional<int64_t>> Checkpointer::Conclude(Status status) {
  CheckpointRecord record = std::exchange(begun_record_, {});
  record.epoch = last_epoch_ + 1;
  if (std::exchange(is_writing_, false)) {  // else it could not even be begun
    record.took = Now() - begun_;
    record.bytes = written_bytes_;
  }
  if (!status.ok()) record.failure = status.message();
  recent_.push_back(std::move(record));
  if (recent_.size() > kRecentMax) recent_.erase(recent_.begin());
  has_news_ = true;
  ended_ = Now();
  ++last_epoch_;
  if (status.ok()) {
    decided_ = ended_;
    ++completed_;
    failures_in_row_ = 0;
    // It is decided all the same; the next one tries again.
    if (const Status retired = std::exchange(retired_, Status::Ok()); !retired.ok())
      say_(fmt::format("older checkpoints than {} are still there: {}", last_epoch_,
                       retired.message()));
    return std::optional<int64_t>(last_epoch_);
  }
  ++failed_;
  if (++failures_in_row_ > settings_.tolerable_failures)
    return std::move(status).WithContext(fmt::format("checkpoint {}", last_epoch_));
  say_(fmt::format("checkpoint {} was given up: {}; the next one holds its rows as well",
                   last_epoch_, status.message()));
  return std::optional<int64_t>();
}

CheckpointReport Checkpointer::Report() {
  has_news_ = false;
  CheckpointReport report{completed_, failed_, recent_, std::nullopt, decided_};
  if (is_writing()) report.writes = begun_;
  return report;
}

Status Checkpointer::WriteSavepoint(const Checkpoint& checkpoint, const std::string& target) {
  RT_CHECK(!is_writing());
  return store_->WriteSavepoint(checkpoint, target);
}

bool Checkpointer::WaitsForRoom() {
  if (settings_.disk_reserve_bytes == 0) return false;
  const Moment now = Now();
  if (now - looked_at_room_ < kRoomInterval) return lacks_room_;
  looked_at_room_ = now;
  const int64_t free = store_->FreeBytes();
  const bool lacks = free < settings_.disk_reserve_bytes;
  if (lacks && !lacks_room_) {
    say_(
        fmt::format("the disk of {} has {} MiB left, below the reserve of {} MiB: no input is "
                    "taken until there is room",
                    store_->Place(), free >> 20, settings_.disk_reserve_bytes >> 20));
  } else if (!lacks && lacks_room_) {
    say_("there is room on the disk again: the job goes on");
  }
  lacks_room_ = lacks;
  is_nearly_full_ = free < settings_.disk_reserve_bytes / 2;
  return lacks;
}

}  // namespace rowtide
