// A job of several lanes over real stores, with checkpoints as fast as they can be written: each
// one holds what the sources had given up to its barrier, also behind a second exchange.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <mutex>

#include "engine/runtime/job.h"
#include "engine/durable_files.h"
#include "state/durable/rocksdb_lane.h"
#include "state/value_state.h"
#include "tests/engine/numbered_rows.h"
#include "tests/state/state_context.h"
#include "tests/state/temporary_folder.h"

namespace rowtide {
namespace {

constexpr int64_t kKeys = 3000;
constexpr int64_t kRowsOfLane = 60'000;
constexpr int64_t kBatchRows = 64;

std::string_view BytesOf(const int64_t& key) {
  return {reinterpret_cast<const char*>(&key), sizeof(key)};
}
int64_t FirstKey(int64_t number) { return number % kKeys; }
int64_t SecondKey(int64_t number) { return number / 7 % kKeys; }

class ByKeyGroup final : public Partitioner {
 public:
  explicit ByKeyGroup(int lanes) : lanes_(lanes) {}
  Status LanesOf(const RowBatch& batch, std::vector<uint8_t>* lanes) override {
    lanes->clear();
    for (int row = 0; row < batch.rows; ++row) {
      const int group = KeyGroupOf(BytesOf(batch.columns[0].values<int64_t>()[row]));
      lanes->push_back(static_cast<uint8_t>(LaneOfKeyGroup(group, lanes_)));
    }
    return Status::Ok();
  }

 private:
  int lanes_;
};

// How many rows of each key came, and their sum; the rows go on under their second key.
class Sums final : public Operator {
 public:
  explicit Sums(const OperatorContext& context) : state_(context) {}
  const Schema& output_schema() const override { return schema_; }
  Status Process(int /*input*/, const RowBatch& batch, Collector& out) override {
    keys_.Clear();
    for (int row = 0; row < batch.rows; ++row)
      keys_.Add(BytesOf(batch.columns[0].values<int64_t>()[row]));
    RT_TRY(state_.FindOrCreate(keys_, &entries_));
    std::vector<KeyedNumber> rows;
    for (int row = 0; row < batch.rows; ++row) {
      const int64_t number = batch.columns[1].values<int64_t>()[row];
      const Entry entry = entries_[static_cast<size_t>(row)];
      std::array<int64_t, 2> sums{};
      if (state_.Has(entry)) std::memcpy(sums.data(), state_.Value(entry).data(), sizeof(sums));
      ++sums[0];
      sums[1] += number;
      std::memcpy(state_.Assign(entry, sizeof(sums)), sums.data(), sizeof(sums));
      rows.emplace_back(SecondKey(number), number);
    }
    return out.Emit(BatchOf(rows));
  }

 private:
  ValueState state_;
  KeyBatch keys_;
  std::vector<Entry> entries_;
  Schema schema_ = KeyAndNumber();
};

class Nowhere final : public Sink {
 public:
  Status Write(const RowBatch& /*batch*/) override { return Status::Ok(); }
};

// Table and key -> count and sum.
using Content = std::map<std::string, std::pair<int64_t, int64_t>>;

void AddContent(KeyedStateBackend* backend, Content* content) {
  const Status status =
      backend->Scan("", std::string(8, '\xff'), [&](std::string_view key, std::string_view value) {
        std::array<int64_t, 2> sums{};
        EXPECT_EQ(value.size(), sizeof(sums));
        std::memcpy(sums.data(), value.data(), sizeof(sums));
        EXPECT_TRUE(content->emplace(key, std::pair(sums[0], sums[1])).second);
        return Result<bool>(true);
      });
  EXPECT_TRUE(status.ok()) << status.ToString();
}

Content WantedOf(const Checkpoint& checkpoint) {
  Content want;
  for (const LaneState& lane : checkpoint.lanes) {
    SnapshotReader position(lane.nodes[0].bytes);
    const int64_t next = *position.I64("next");
    for (int64_t number = 0; number < next; ++number) {
      for (const uint32_t node : {1u, 2u}) {
        std::string key;
        AppendBelowKey(node << kNodeTableBits,
                       BytesOf(node == 1 ? FirstKey(number) : SecondKey(number)), &key);
        auto& [count, sum] = want[key];
        ++count;
        sum += number;
      }
    }
  }
  return want;
}

// Looks at each checkpoint when it comes; keeps links to the files of the last one.
class Looking final : public CheckpointStore {
 public:
  explicit Looking(std::string folder) : folder_(std::move(folder)) {}
  Status Write(const Checkpoint& checkpoint) override {
    Content content;
    last = checkpoint;
    for (size_t i = 0; i < last.lanes.size(); ++i) {
      const std::string links = fmt::format("{}/{}-{}", folder_, checkpoint.epoch, i);
      RT_TRY(MakeFolders(links));
      for (CheckpointFile& file : last.lanes[i].files) {
        RT_TRY(LinkOrCopy(file.path, links + "/" + file.name, false));
        file.path = links + "/" + file.name;
      }
      RT_ASSIGN(const auto backend, RocksDbBackend::OpenReadOnly(links, {}));
      AddContent(backend.get(), &content);
    }
    EXPECT_EQ(content, WantedOf(checkpoint)) << "epoch " << checkpoint.epoch;
    ++count;
    return Status::Ok();
  }
  Status Commit(int64_t /*epoch*/) override { return Status::Ok(); }
  Status Retire(int /*kept*/) override { return Status::Ok(); }
  Status WriteSavepoint(const Checkpoint&, const std::string&) override { return Status::Ok(); }
  int64_t FreeBytes() const override { return int64_t{1} << 40; }
  std::string Place() const override { return folder_; }

  Checkpoint last;
  int count = 0;

 private:
  std::string folder_;
};

int AddNode(std::vector<JobGraph>* graphs, const std::string& name) {
  int node = 0;
  for (JobGraph& graph : *graphs) node = graph.AddNode(name);
  return node;
}

int AddExchange(std::vector<JobGraph>* graphs, int from) {
  const int exchange = AddNode(graphs, "Exchange"), gate = AddNode(graphs, "InputGate");
  const int lanes = static_cast<int>(graphs->size());
  std::vector<std::vector<Channel*>> targets(graphs->size());
  for (JobGraph& graph : *graphs) {
    auto made = std::make_unique<InputGate>(lanes);
    for (int i = 0; i < lanes; ++i) targets[static_cast<size_t>(i)].push_back(made->channel(i));
    graph.SetGate(gate, std::move(made), from);
  }
  for (size_t i = 0; i < graphs->size(); ++i) {
    (*graphs)[i].SetExchange(
        exchange, std::make_unique<Exchange>(std::make_unique<ByKeyGroup>(lanes), targets[i]));
    (*graphs)[i].Connect(from, exchange, 0);
  }
  return gate;
}

// source -> exchange ⇉ gate -> sums -> exchange ⇉ gate -> sums -> sink
void RunLanes(int lanes, int64_t memory_bytes) {
  SCOPED_TRACE(fmt::format("{} lanes, {} bytes", lanes, memory_bytes));
  TemporaryFolder folder;
  std::vector<std::unique_ptr<RocksDbLane>> stores;
  std::vector<std::unique_ptr<StateContext>> contexts;
  std::vector<JobGraph> graphs(static_cast<size_t>(lanes));
  JobOptions options;
  for (int lane = 0; lane < lanes; ++lane) {
    auto store = RocksDbLane::Create(folder / fmt::format("work-{}", lane), memory_bytes);
    ASSERT_TRUE(store.ok()) << store.status().ToString();
    stores.push_back(std::move(*store));
    options.stores.push_back(stores.back().get());
  }
  const int source = AddNode(&graphs, "source");
  for (JobGraph& graph : graphs) {
    graph.SetSource(source, std::make_unique<NumberedSource>(
                                KeyAndNumber(), NumberedSource::Keyed(FirstKey),
                                NumberedSource::Range{0, kRowsOfLane}, kBatchRows));
  }
  int from = source;
  for (const uint32_t number : {1u, 2u}) {
    from = AddExchange(&graphs, from);
    const int sums = AddNode(&graphs, "sums");
    for (size_t lane = 0; lane < graphs.size(); ++lane) {
      contexts.push_back(std::make_unique<StateContext>());
      OperatorContext& context = contexts.back()->context;
      context.tier = stores[lane]->tier();
      context.first_table = number << kNodeTableBits;
      context.key_groups = KeyGroupsOfLane(static_cast<int>(lane), lanes);
      graphs[lane].SetOperator(sums, std::make_unique<Sums>(context), 1);
      graphs[lane].SetTable(sums, number);
      graphs[lane].Connect(from, sums, 0);
    }
    from = sums;
  }
  const int sink = AddNode(&graphs, "sink");
  for (JobGraph& graph : graphs) {
    graph.SetSink(sink, std::make_unique<Nowhere>());
    graph.Connect(from, sink, 0);
  }
  Looking looking(folder / "kept");
  CheckpointSettings settings;
  settings.interval_millis = 1;
  Checkpointer checkpointer(&looking, settings, 0, [](const std::string&) {});
  options.checkpointer = &checkpointer;
  Job job(std::move(graphs), options);
  const Result<JobEnd> end = job.RunToEnd();
  ASSERT_TRUE(end.ok()) << end.status().message();
  EXPECT_GT(looking.count, 0);
  // On other numbers of lanes the entries are the same, each in the lane of its key group.
  for (const int others : {1, 3}) {
    Content content;
    for (int lane = 0; lane < others; ++lane) {
      auto store = RocksDbLane::Create(folder / "other", memory_bytes, true);
      ASSERT_TRUE(store.ok()) << store.status().ToString();
      const Status imported = (*store)->Import(looking.last.lanes, [&](uint32_t /*table*/) {
        return std::optional<KeyGroupRange>(KeyGroupsOfLane(lane, others));
      });
      ASSERT_TRUE(imported.ok()) << imported.ToString();
      AddContent(&(*store)->tier()->backend(), &content);
    }
    EXPECT_EQ(content, WantedOf(looking.last)) << others << " lanes";
  }
}

TEST(RocksDbLanes, CheckpointsHoldWhatCameBeforeTheBarrierAndNothingElse) {
  for (const int lanes : {1, 2, 3}) RunLanes(lanes, int64_t{64} << 20);
}

}  // namespace
}  // namespace rowtide
