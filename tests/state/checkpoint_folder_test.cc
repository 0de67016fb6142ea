#include "state/durable/checkpoint_folder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "engine/durable_files.h"

namespace rowtide {
namespace {

namespace fs = std::filesystem;

Checkpoint Sample(int64_t epoch) {
  Checkpoint checkpoint;
  checkpoint.epoch = epoch;
  checkpoint.job_name = "insert-into_s";
  checkpoint.plan = "Sink\n+- Rank\n";
  checkpoint.next_source = 1;
  for (int lane = 0; lane < 2; ++lane) {
    LaneState& state = checkpoint.lanes.emplace_back();
    state.nodes.push_back({{"Scan(t)", "", {}}, "times", "position " + std::to_string(lane), 1});
    state.nodes.push_back(
        {{"Rank", "Rank(range=[1, 3])", {"a BIGINT"}}, "", std::string(5000, 'x')});
    state.nodes.push_back({{"Calc", "Calc()", {}}, "", ""});
  }
  return checkpoint;
}

class CheckpointFolderTest : public testing::Test {
 protected:
  void SetUp() override {
    dir_ = fs::temp_directory_path() / ("rowtide-folder-" + std::to_string(::getpid()));
    fs::remove_all(dir_);
  }
  void TearDown() override { fs::remove_all(dir_); }

  std::unique_ptr<CheckpointFolder> Open() {
    Result<std::unique_ptr<CheckpointFolder>> folder =
        CheckpointFolder::Open(dir_.string(), "job", "0.1.0");
    EXPECT_TRUE(folder.ok()) << folder.status().message();
    return std::move(*folder);
  }
  std::vector<CheckpointEntry> List() { return *ListCheckpoints((dir_ / "job").string()); }

  fs::path dir_;
};

TEST_F(CheckpointFolderTest, GivesBackWhatWasWritten) {
  const Checkpoint sample = Sample(7);
  {
    const std::unique_ptr<CheckpointFolder> folder = Open();
    ASSERT_TRUE(folder->Write(sample).ok());
    ASSERT_FALSE(List()[0].is_decided);
    ASSERT_TRUE(folder->Commit(7).ok());
  }
  ASSERT_TRUE(List()[0].is_decided);
  const Result<LoadedCheckpoint> loaded = LoadCheckpoint(List()[0].path);
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  EXPECT_EQ(loaded->checkpoint.epoch, 7);
  EXPECT_EQ(loaded->checkpoint.job_name, sample.job_name);
  EXPECT_EQ(loaded->checkpoint.plan, sample.plan);
  EXPECT_EQ(loaded->checkpoint.next_source, 1u);
  EXPECT_EQ(loaded->checkpoint.lanes, sample.lanes);
}

TEST_F(CheckpointFolderTest, FilesOfABackendAreLinkedAndASavepointHasCopies) {
  fs::create_directories(dir_);
  const std::string sst = (dir_ / "7.sst").string();
  std::ofstream(sst) << "sorted";
  Checkpoint sample = Sample(1);
  sample.lanes[0].files.push_back({"7.sst", sst});
  const std::unique_ptr<CheckpointFolder> folder = Open();
  ASSERT_TRUE(folder->Write(sample).ok() && folder->Commit(1).ok());
  EXPECT_EQ(fs::hard_link_count(sst), 2u);
  const std::string target = (dir_ / "mine" / "first").string();
  ASSERT_TRUE(folder->WriteSavepoint(sample, target).ok());
  EXPECT_EQ(fs::hard_link_count(sst), 2u);
  ASSERT_TRUE(LoadCheckpoint(target).ok());
  EXPECT_EQ(folder->WriteSavepoint(sample, target).message(), target + " exists already");
}

TEST_F(CheckpointFolderTest, ASecondProcessIsRefusedByName) {
  const std::unique_ptr<CheckpointFolder> folder = Open();
  const auto second = CheckpointFolder::Open(dir_.string(), "job", "0.1.0");
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.status().message(), "process " + std::to_string(::getpid()) +
                                           " runs this job already: it holds " +
                                           (dir_ / "job" / "LOCK").string());
  EXPECT_EQ(second.status().error_code(), "RT6001");
}

TEST_F(CheckpointFolderTest, KeepsTheNewestAndRemovesWhatWasLeft) {
  std::unique_ptr<CheckpointFolder> folder = Open();
  for (int64_t epoch = 1; epoch <= 4; ++epoch)
    ASSERT_TRUE(folder->Write(Sample(epoch)).ok() && folder->Commit(epoch).ok());
  ASSERT_TRUE(folder->Write(Sample(5)).ok());  // not decided
  fs::create_directories(dir_ / "job" / ".chk-6-0000");
  ASSERT_TRUE(folder->Retire(2).ok());
  ASSERT_EQ(List().size(), 3u);
  const std::string id = folder->job_id();
  folder = nullptr;
  folder = Open();
  EXPECT_EQ(folder->job_id(), id);
  ASSERT_TRUE(folder->RemoveLeftovers().ok());
  ASSERT_EQ(List().size(), 2u);
  EXPECT_EQ(List()[0].epoch, 4);
  EXPECT_FALSE(fs::exists(dir_ / "job" / ".chk-6-0000"));
  folder->ChooseNewLife();
  EXPECT_EQ(List().size(), 2u);
  ASSERT_TRUE(folder->BeginAfresh().ok());
  EXPECT_EQ(List().size(), 0u);
  EXPECT_EQ(folder->earlier_job_id(), id);
  EXPECT_NE(folder->job_id(), id);
}

// Each byte of each file: a flip and a cut.
// Decides, or leaves in doubt whether it has.
class LogOfOne final : public DecisionLog {
 public:
  Result<std::optional<Decision>> Begin(const std::string& /*run_id*/) override { return decided; }
  Status Decide(const Decision& decision) override {
    if (!is_silent) decided = decision;
    return answer;
  }
  std::string Place() const override { return "a log"; }

  std::optional<Decision> decided;
  bool is_silent = false;
  Status answer = Status::Ok();
};

TEST_F(CheckpointFolderTest, TheDecisionLogDecidesAndTheNameFollows) {
  LogOfOne log;
  std::string first_run;
  {
    const std::unique_ptr<CheckpointFolder> folder = Open();
    first_run = folder->run_id();
    folder->SetDecisionLog(&log);
    ASSERT_TRUE(folder->Write(Sample(1)).ok() && folder->Commit(1).ok());
    EXPECT_EQ(log.decided->epoch, 1);
    EXPECT_EQ(log.decided->run_id, first_run);
    // It was decided, but the answer was lost: the next start takes it.
    log.answer = Status::External("no answer");
    ASSERT_TRUE(folder->Write(Sample(2)).ok());
    EXPECT_FALSE(folder->Commit(2).ok());
    EXPECT_FALSE(List()[0].is_decided);
  }
  const std::unique_ptr<CheckpointFolder> folder = Open();
  folder->SetDecisionLog(&log);
  const Result<std::string> path = folder->Adopt(*log.decided);
  ASSERT_TRUE(path.ok()) << path.status().message();
  EXPECT_EQ(*path, (dir_ / "job" / ("chk-2-" + first_run)).string());
  ASSERT_TRUE(folder->RemoveLeftovers().ok());
  ASSERT_TRUE(LoadCheckpoint(*path).ok());
  ASSERT_TRUE(folder->Adopt(*log.decided).ok());  // again
  // One that was not decided goes, and the name of another run's is not taken for it.
  log.is_silent = true;
  ASSERT_TRUE(folder->Write(Sample(3)).ok());
  EXPECT_FALSE(folder->Commit(3).ok());
  EXPECT_EQ(folder->Adopt({3, "00000000", "0"}).status().code(), StatusCode::kCorruption);
  ASSERT_TRUE(folder->RemoveLeftovers().ok());
  EXPECT_EQ(List().size(), 2u);
}

TEST_F(CheckpointFolderTest, AnotherCheckpointThanTheOneThatWasDecidedIsNone) {
  LogOfOne log;
  const std::unique_ptr<CheckpointFolder> folder = Open();
  folder->SetDecisionLog(&log);
  ASSERT_TRUE(folder->Write(Sample(1)).ok() && folder->Commit(1).ok());
  Decision other = *log.decided;
  other.digest = "0123456789abcdef";
  const Status refused = folder->Adopt(other).status();
  EXPECT_EQ(refused.error_code(), "RT6012");
  EXPECT_NE(refused.message().find(other.digest), std::string::npos) << refused.message();
  EXPECT_NE(refused.message().find(log.decided->digest), std::string::npos) << refused.message();
}

TEST_F(CheckpointFolderTest, FindsEveryDamage) {
  Checkpoint sample = Sample(1);
  for (LaneState& lane : sample.lanes) lane.nodes[1].bytes.resize(40);
  const std::unique_ptr<CheckpointFolder> folder = Open();
  ASSERT_TRUE(folder->Write(sample).ok() && folder->Commit(1).ok());
  const std::string path = List()[0].path;
  int files = 0;
  for (const auto& entry : fs::directory_iterator(path)) {
    ++files;
    const std::string bytes = *ReadWholeFile(entry.path());
    const auto is_noticed = [&](const std::string& damaged) {
      std::ofstream(entry.path(), std::ios::binary | std::ios::trunc) << damaged;
      const Result<LoadedCheckpoint> loaded = LoadCheckpoint(path);
      return !loaded.ok() && (loaded.status().code() == StatusCode::kCorruption ||
                              loaded.status().code() == StatusCode::kUnsupported);
    };
    for (size_t i = 0; i < bytes.size(); ++i) {
      std::string flipped = bytes;
      flipped[i] = static_cast<char>(flipped[i] ^ (1 << (i % 8)));
      ASSERT_TRUE(is_noticed(flipped)) << entry.path() << " byte " << i;
      if (i % 7 != 0) continue;
      ASSERT_TRUE(is_noticed(bytes.substr(0, i))) << entry.path() << " cut " << i;
    }
    ASSERT_TRUE(is_noticed(bytes + "x"));
    std::ofstream(entry.path(), std::ios::binary | std::ios::trunc) << bytes;
  }
  EXPECT_EQ(files, 3);
  EXPECT_TRUE(LoadCheckpoint(path).ok());
}

TEST(Manifest, RefusesANewerFormatWithBothNumbers) {
  Manifest manifest;
  manifest.lanes.emplace_back().nodes.name = "lane-0.nodes";
  std::string bytes = manifest.ToBytes();
  bytes[8] = 9;
  const Result<Manifest> read = Manifest::FromBytes(bytes);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.status().message(),
            "the checkpoint has format version 9; this program reads 1 alone");
}

TEST(Manifest, RefusesNamesThatLeadOutOfTheFolder) {
  for (const char* name : {"../x", "/etc/passwd", ".hidden", "a/b", ""}) {
    Manifest manifest;
    manifest.lanes.emplace_back().nodes.name = name;
    EXPECT_EQ(Manifest::FromBytes(manifest.ToBytes()).status().code(), StatusCode::kCorruption);
  }
}

}  // namespace
}  // namespace rowtide
