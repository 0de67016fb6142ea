// Sources that never end by themselves, destroyed and restored at every batch: they go on with
// exactly the next row.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "engine/clock.h"
#include "tests/connectors/table_reader.h"

namespace rowtide {
namespace {

const Schema kIntString({{"id", Type::Int()}, {"v", Type::String()}});

// One source's life; `Again` is the next one, from bytes.
class Lives {
 public:
  Lives(TableSpec table, ConnectorContext context)
      : table_(std::move(table)), context_(std::move(context)) {
    Begin();
  }

  // Polls until nothing comes for now or `rows` are there.
  void PollFor(size_t rows) {
    for (int polls = 0; polls < 100 && out_->rows.size() < rows; ++polls) {
      const Result<SourceState> state = source_->Poll(*out_);
      ASSERT_TRUE(state.ok()) << state.status().ToString();
      if (*state == SourceState::kEnd) return;
    }
  }

  void Again() {
    SnapshotWriter writer;
    ASSERT_TRUE(source_->Snapshot(writer).ok());
    const std::string bytes = writer.Take();
    for (std::string& row : out_->rows) before_.push_back(std::move(row));
    Begin();
    SnapshotReader reader(bytes);
    const Status restored = source_->Restore(reader);
    ASSERT_TRUE(restored.ok()) << restored.ToString();
    ASSERT_TRUE(reader.AtEnd());
    SnapshotWriter again;
    ASSERT_TRUE(source_->Snapshot(again).ok());
    ASSERT_EQ(again.Take(), bytes) << "a restored source has another snapshot";
  }

  std::vector<std::string> rows() const {
    std::vector<std::string> all = before_;
    all.insert(all.end(), out_->rows.begin(), out_->rows.end());
    return all;
  }

 private:
  void Begin() {
    Result<std::unique_ptr<Source>> source = CreateSource(table_, AllColumns(table_), context_);
    ASSERT_TRUE(source.ok()) << source.status().ToString();
    source_ = std::move(*source);
    out_ = std::make_unique<RowCollector>(source_->output_schema());
  }

  TableSpec table_;
  ConnectorContext context_;
  std::unique_ptr<Source> source_;
  std::unique_ptr<RowCollector> out_;
  std::vector<std::string> before_;
};

TEST(Restore, DatagenGoesOnWithTheNextRow) {
  const TableSpec endless{
      "t",
      {{"connector", "datagen"}, {"rows-per-second", "1000"}, {"fields.v.null-rate", "0.3"}},
      kIntString};
  TableSpec bounded = endless;
  bounded.options["number-of-rows"] = "2500";
  bounded.options["fields.id.kind"] = "sequence";
  bounded.options["fields.id.start"] = "1";
  bounded.options["fields.id.end"] = "100000";
  for (const TableSpec& table : {endless, bounded}) {
    for (const bool has_seed : {true, false}) {  // one that was drawn is in the snapshot
      ManualClock clock(1000);
      ConnectorContext context;
      context.clock = &clock;
      if (has_seed) context.settings.datagen_seed = 7;
      Lives whole(table, context);
      whole.PollFor(1);  // from then on rows are due
      clock.Advance(10000);
      whole.PollFor(2500);
      Lives cut(table, context);
      for (int life = 0; life < 200 && cut.rows().size() < 2500; ++life) {
        cut.PollFor(1);
        clock.Advance(1 + life * 7 % 90);
        cut.PollFor(1000);
        cut.Again();
      }
      std::vector<std::string> wanted = whole.rows(), got = cut.rows();
      wanted.resize(2500);
      got.resize(2500);
      if (has_seed) {
        EXPECT_EQ(got, wanted);
      } else {  // two seeds: but no row comes twice, unless it is NULL or a digit
        EXPECT_NE(got, wanted);
        EXPECT_GT(std::set<std::string>(got.begin(), got.end()).size(), 2490u);
      }
    }
  }
}

// Without a seed the row after a restore is the one that would have come without it.
TEST(Restore, DatagenKeepsTheSeedItDrew) {
  const TableSpec table{"t", {{"connector", "datagen"}, {"rows-per-second", "1000"}}, kIntString};
  ManualClock clock(1000);
  ConnectorContext context;
  context.clock = &clock;
  Result<std::unique_ptr<Source>> first = CreateSource(table, AllColumns(table), context);
  ASSERT_TRUE(first.ok());
  RowCollector out((*first)->output_schema());
  ASSERT_TRUE((*first)->Poll(out).ok());
  SnapshotWriter writer;
  ASSERT_TRUE((*first)->Snapshot(writer).ok());
  const std::string bytes = writer.Take();
  Result<std::unique_ptr<Source>> second = CreateSource(table, AllColumns(table), context);
  SnapshotReader reader(bytes);
  ASSERT_TRUE((*second)->Restore(reader).ok());
  RowCollector after((*second)->output_schema());
  ASSERT_TRUE((*second)->Poll(after).ok());
  clock.Advance(50);
  ASSERT_TRUE((*first)->Poll(out).ok());
  ASSERT_TRUE((*second)->Poll(after).ok());
  out.rows.erase(out.rows.begin());
  ASSERT_EQ(after.rows.size(), out.rows.size() + 1);  // each source begins with a row at once
  after.rows.pop_back();
  EXPECT_EQ(out.rows, after.rows);
}

std::string Lines(int from, int to) {
  std::string text;
  for (int i = from; i < to; ++i) text += std::to_string(i) + ",some text\n";
  return text;
}

// Files come while the folder is watched, before and after names that are known, and while no
// source lives.
TEST(Restore, AWatchedFolderGoesOnWithTheNextRow) {
  const TemporaryFolder folder;
  folder.Write("d/m.csv", Lines(0, 3000));
  const TableSpec table =
      CsvTable(folder.path() + "/d", kIntString, {{"source.monitor-interval", "1 s"}});
  ManualClock clock(1000);
  ConnectorContext context;
  context.clock = &clock;
  Lives lives(table, context);
  lives.PollFor(1);
  folder.Write("d/a.csv", Lines(3000, 4500));  // sorts first, but comes second
  lives.Again();
  lives.PollFor(1);
  lives.Again();
  folder.Write("d/z.csv", Lines(4500, 4501));
  for (int life = 0; life < 5; ++life) {
    clock.Advance(1000);
    lives.PollFor(1);
    lives.Again();
  }
  ASSERT_EQ(lives.rows().size(), 4501u);
  folder.Write("d/b.csv", Lines(4501, 4503));  // nothing was being read
  clock.Advance(1000);
  lives.PollFor(2);
  lives.Again();
  std::filesystem::remove(folder.path() + "/d/m.csv");  // it was read and is not missed
  lives.Again();
  folder.Write("d/c.csv", Lines(4503, 4504));
  clock.Advance(1000);
  lives.PollFor(1);
  std::vector<std::string> wanted;
  for (int i = 0; i < 4504; ++i) wanted.push_back("+I [" + std::to_string(i) + ",\"some text\"]");
  EXPECT_EQ(lives.rows(), wanted);
}

// Lanes share a source; after some polls each, others go on from the snapshots of all of them.
std::vector<std::string> ReadOnManyLanes(const TableSpec& table, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::string> rows, snapshots;
  int lanes = 2;
  for (bool is_over = false; !is_over; lanes = static_cast<int>(random() % 4) + 1) {
    std::vector<std::string> next;
    is_over = true;
    for (int lane = 0; lane < lanes; ++lane) {
      ConnectorContext context;
      context.lane = lane;
      context.lanes = lanes;
      const Result<std::unique_ptr<Source>> source =
          CreateSource(table, AllColumns(table), context);
      EXPECT_TRUE(source.ok()) << source.status().ToString();
      for (size_t i = 0; i < snapshots.size(); ++i) {
        SnapshotReader reader(snapshots[i]);
        const Status taken = i == 0 ? (*source)->Restore(reader) : (*source)->Merge(reader);
        EXPECT_TRUE(taken.ok()) << taken.ToString();
        EXPECT_TRUE(reader.AtEnd());
      }
      RowCollector out((*source)->output_schema());
      SourceState state = SourceState::kMore;
      for (uint64_t polls = random() % 4; polls > 0 && state != SourceState::kEnd; --polls)
        state = *(*source)->Poll(out);
      is_over &= state == SourceState::kEnd;
      rows.insert(rows.end(), out.rows.begin(), out.rows.end());
      SnapshotWriter writer;
      EXPECT_TRUE((*source)->Snapshot(writer).ok());
      next.push_back(writer.Take());
    }
    snapshots = std::move(next);
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

TEST(Restore, FilesAreSharedOutAnewOnOtherLanes) {
  const TemporaryFolder folder;
  std::vector<std::string> want;
  for (int file = 0; file < 7; ++file) {
    std::string text;
    for (int i = 0; i < 700 * file; ++i) {
      text += fmt::format("{},v{}\n", i, file);
      want.push_back(fmt::format("+I [{},\"v{}\"]", i, file));
    }
    folder.Write(fmt::format("d/{}.csv", file), text);
  }
  std::sort(want.begin(), want.end());
  const TableSpec table{
      "t",
      {{"connector", "filesystem"}, {"path", folder.path() + "/d"}, {"format", "csv"}},
      kIntString};
  for (uint64_t seed = 1; seed <= 20; ++seed)
    ASSERT_EQ(ReadOnManyLanes(table, seed), want) << "seed " << seed;
}

TEST(Restore, EventsAreSharedOutAnewOnOtherLanes) {
  const TableSpec table{"t",
                        {{"connector", "nexmark"},
                         {"nexmark.kind", "bid"},
                         {"events.num", "25300"},
                         {"nexmark.first-event", "70"}},
                        Schema({{"price", Type::BigInt()}, {"auction", Type::BigInt()}})};
  const Result<std::unique_ptr<Source>> source = CreateSource(table, AllColumns(table), {});
  ASSERT_TRUE(source.ok());
  RowCollector out((*source)->output_schema());
  while (*(*source)->Poll(out) != SourceState::kEnd) {
  }
  std::sort(out.rows.begin(), out.rows.end());
  for (uint64_t seed = 1; seed <= 20; ++seed)
    ASSERT_EQ(ReadOnManyLanes(table, seed), out.rows) << "seed " << seed;
}

}  // namespace
}  // namespace rowtide
