// States with a tier against the same states in memory: random changes, with entries that leave
// memory and come back all the time, and checkpoints that are written while changes go on.
#include <gtest/gtest.h>

#include <random>

#include "cli/script/map_backend.h"
#include "state/counted_numbers.h"
#include "state/ordered_state.h"
#include "tests/state/state_context.h"

namespace rowtide {
namespace {

constexpr int kKeys = 60;
using Numbers = std::mt19937;

std::string NameOf(int key) { return "key " + std::to_string(key) + std::string(key % 5, '.'); }

// What is changed about an entry, and how it is told, for each kind of state.
struct Values {
  ValueState state;
  explicit Values(const OperatorContext& context) : state(context) {}
  void Change(Entry entry, Numbers random) {
    const unsigned choice = random() % 10;
    if (choice < 5 || !state.Has(entry)) {
      state.Assign(entry, std::string(random() % 70, static_cast<char>('a' + random() % 26)));
    } else if (choice < 7) {
      state.Erase(entry);
    } else if (choice < 8) {
      const size_t before = state.Value(entry).size();
      const size_t size = random() % 70;
      char* const bytes = state.Resize(entry, size);
      if (size > before) std::memset(bytes + before, 'r', size - before);
    } else if (!state.Value(entry).empty()) {
      ++*state.Data(entry);
    }
  }
  std::string Text(Entry entry) {
    return state.Has(entry) ? "=" + std::string(state.Value(entry)) : "-";
  }
};

struct Ordered {
  OrderedState state;
  explicit Ordered(const OperatorContext& context) : state(context) {}
  void Change(Entry entry, Numbers random) {
    const int64_t rows = state.rows(entry);
    const unsigned choice = random() % 12;
    const int64_t at = rows == 0 ? 0 : static_cast<int64_t>(random() % rows);
    if (choice < 6 || rows == 0) {
      // so many now and then that there is a tree
      const int inserts = random() % 8 == 0 ? 60 : 1;
      for (int i = 0; i < inserts; ++i) {
        std::string sort(1 + random() % 30, 'x');
        for (char& c : sort) c = static_cast<char>('a' + random() % 3);
        state.Insert(entry, {SortPrefixOf(sort), sort}, std::string(random() % 40, 'v'),
                     uint64_t{random()} << 34);
      }
      state.Touch(entry);
    } else if (choice < 8) {
      state.Erase(entry, at);
    } else if (choice < 9) {
      state.Replace(entry, at, std::string(random() % 40, 'w'));
    } else if (choice < 10) {
      const OrderedState::Cursor cursor = state.At(entry, at);
      if (!cursor.row().empty()) *state.MutableRow(entry, cursor) = 'm';
    } else if (choice < 11) {
      state.Truncate(entry, at);
    } else {
      state.EraseAll(entry);
    }
  }
  std::string Text(Entry entry) {
    std::string text = std::to_string(state.rows(entry));
    for (OrderedState::Cursor cursor = state.Begin(entry); cursor.valid(); cursor.Next()) {
      text += " " + std::string(cursor.sort_key()) + ":" + std::string(cursor.row()) + "#" +
              std::to_string(cursor.arrival());
    }
    return text;
  }
};

struct Counted {
  CountedNumbers state;
  explicit Counted(const OperatorContext& context) : state(context, Ttl(context)) {}
  void Change(Entry entry, Numbers random) {
    const unsigned choice = random() % 10;
    const int times = random() % 8 == 0 ? 700 : 1 + static_cast<int>(random() % 5);
    if (choice < 8) {
      for (int i = 0; i < times; ++i)
        state.Note(entry, static_cast<int64_t>(random() % 900), random() % 3 == 0);
      state.Touch(entry);
    } else if (choice < 9) {
      state.Fold(entry);
      state.Change(entry, static_cast<int64_t>(random() % 900), random() % 2 == 0);
    } else {
      state.EraseAll(entry);
    }
  }
  std::string Text(Entry entry) {
    state.Fold(entry);
    const int64_t numbers = state.positives(entry) + state.negatives(entry);
    if (numbers == 0) return "none";
    return std::to_string(state.positives(entry)) + "+" + std::to_string(state.negatives(entry)) +
           " " + std::to_string(state.Lowest(entry).number) + "*" +
           std::to_string(state.Lowest(entry).count) + " " +
           std::to_string(state.Highest(entry).number) + "*" +
           std::to_string(state.Highest(entry).count);
  }
};

template <typename Kind>
void FindAll(Kind* kind, const KeyBatch& keys, std::vector<Entry>* entries) {
  const Status status = kind->state.FindOrCreate(keys, entries);
  ASSERT_TRUE(status.ok()) << status.ToString();
}

template <typename Kind>
std::string TextOfAll(Kind* kind) {
  KeyBatch keys;
  keys.Clear();
  for (int key = 0; key < kKeys; ++key) keys.Add(NameOf(key));
  std::vector<Entry> entries;
  FindAll(kind, keys, &entries);
  std::string text;
  for (int key = 0; key < kKeys; ++key)
    text += NameOf(key) + " " + kind->Text(entries[static_cast<size_t>(key)]) + "\n";
  kind->state.Settle();
  return text;
}

template <typename Kind>
void Run(int64_t bytes_max, int64_t ttl, unsigned seed) {
  SCOPED_TRACE("at most " + std::to_string(bytes_max) + " bytes, TTL " + std::to_string(ttl) +
               ", seed " + std::to_string(seed));
  std::mt19937 random(seed);
  StateContext memory(ttl);
  Kind twin(memory.context);
  MapBackend backend;
  StateTier tier(&backend, {bytes_max, false, true});
  StateContext context(ttl);
  context.context.tier = &tier;
  context.context.first_table = 7;
  Kind kind(context.context);
  std::string expected;  // of the checkpoint that is being written
  int64_t barrier_millis = 0;
  bool pending = false;
  const auto verify = [&] {
    const auto files = tier.WaitWritten();
    ASSERT_TRUE(files.ok()) << files.status().ToString();
    MapBackend again(backend.checkpoint("chk"));
    StateTier other(&again, {bytes_max, true, seed % 2 == 0});
    StateContext restored(ttl);
    restored.clock.Set(barrier_millis);
    restored.context.tier = &other;
    restored.context.first_table = 7;
    Kind copy(restored.context);
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(other.Work().ok());
    ASSERT_EQ(TextOfAll(&copy), expected);
  };
  for (int step = 0; step < 400 && !testing::Test::HasFailure(); ++step) {
    KeyBatch keys;
    keys.Clear();
    const int count = 1 + static_cast<int>(random() % 6);
    for (int i = 0; i < count; ++i) keys.Add(NameOf(static_cast<int>(random() % kKeys)));
    std::vector<Entry> entries, twin_entries;
    FindAll(&kind, keys, &entries);
    FindAll(&twin, keys, &twin_entries);
    for (int i = 0; i < count; ++i) {
      const auto at = static_cast<size_t>(i);
      ASSERT_EQ(kind.Text(entries[at]), twin.Text(twin_entries[at])) << keys.key(i);
      const Numbers choices(static_cast<unsigned>(random()));
      kind.Change(entries[at], choices);
      twin.Change(twin_entries[at], choices);
      ASSERT_EQ(kind.Text(entries[at]), twin.Text(twin_entries[at])) << keys.key(i);
    }
    kind.state.Settle();
    twin.state.Settle();
    if (!pending && random() % 20 == 0) {
      expected = TextOfAll(&twin);
      barrier_millis = memory.clock.NowMillis();
      ASSERT_TRUE(tier.BeginCheckpoint("chk").ok());
      pending = true;
    } else if (pending && random() % 10 == 0) {
      verify();
      pending = false;
    }
    if (random() % 3 == 0) {
      ASSERT_TRUE(tier.Work().ok());
    }
    if (ttl > 0) {
      const int64_t millis = static_cast<int64_t>(random() % 3);
      memory.clock.Set(memory.clock.NowMillis() + millis);
      context.clock.Set(context.clock.NowMillis() + millis);
    }
  }
  ASSERT_EQ(TextOfAll(&kind), TextOfAll(&twin));
}

template <typename Kind>
void RunAll() {
  for (const int64_t bytes_max : {int64_t{1}, int64_t{4000}, int64_t{1} << 30}) {
    for (const int64_t ttl : {0, 100}) {
      for (unsigned seed = 1; seed <= 5; ++seed) {
        Run<Kind>(bytes_max, ttl, seed);
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

TEST(StateTier, Values) { RunAll<Values>(); }
TEST(StateTier, OrderedRows) { RunAll<Ordered>(); }
TEST(StateTier, CountedNumbers) { RunAll<Counted>(); }

// Behind each other in a lane, operators come to a barrier one after the other: each has what was
// there when it came, also where memory has room for nothing.
TEST(StateTier, OperatorsAreFrozenOneAfterTheOther) {
  for (const int64_t bytes_max : {int64_t{1}, int64_t{1} << 30}) {
    MapBackend backend;
    StateTier tier(&backend, {bytes_max, false, true});
    StateContext first, second;
    first.context.tier = second.context.tier = &tier;
    first.context.first_table = 1u << kNodeTableBits;
    second.context.first_table = 2u << kNodeTableBits;
    ValueState before(first.context), behind(second.context);
    const auto assign = [&](ValueState* state, const std::string& value) {
      KeyBatch keys;
      keys.Clear();
      for (int i = 0; i < 10; ++i) keys.Add(NameOf(i));
      std::vector<Entry> entries;
      ASSERT_TRUE(state->FindOrCreate(keys, &entries).ok());
      for (const Entry entry : entries) state->Assign(entry, value);
      state->Settle();
      ASSERT_TRUE(tier.Work().ok());
    };
    for (int round = 0; round < 20; ++round) {
      const std::string number = std::to_string(round);
      const std::string folder = "chk " + number;
      assign(&before, "old " + number);
      assign(&behind, "old " + number);
      ASSERT_TRUE(tier.OpenCheckpoint(folder).ok());
      tier.Freeze(1);
      assign(&before, "behind the barrier");
      assign(&behind, "new " + number);
      EXPECT_FALSE(tier.written());
      tier.Freeze(2);
      assign(&behind, "behind the barrier");
      tier.EndBarrier();
      ASSERT_TRUE(tier.Work().ok());
      ASSERT_TRUE(tier.WaitWritten().ok());
      ASSERT_EQ(backend.checkpoint(folder).size(), 20u);
      for (const auto& [key, value] : backend.checkpoint(folder))
        ASSERT_EQ(value, (key[1] == 1 ? "old " : "new ") + number);
    }
  }
}

// Keeps the first and the last key of every run.
class RunRanges final : public KeyedStateBackend {
 public:
  std::vector<std::pair<std::string, std::string>> ranges;
  size_t changes = 0;

  Status MultiGet(std::span<const std::string_view> /*sorted*/, const Found& /*found*/) override {
    return Status::Ok();
  }
  Status Scan(std::string_view /*from*/, std::string_view /*end*/,
              const Visit& /*visit*/) override {
    return Status::Ok();
  }
  Status WriteRun(std::span<const StateChange> sorted) override {
    ranges.emplace_back(sorted.front().key, sorted.back().key);
    changes += sorted.size();
    return Status::Ok();
  }
  Result<std::vector<CheckpointFile>> Checkpoint(const std::string& /*folder*/) override {
    return std::vector<CheckpointFile>{};
  }
};

// Also those entries that change before their turn has come.
TEST(StateTier, RunsOfACheckpointDoNotOverlap) {
  constexpr int kMany = 60'000;
  RunRanges backend;
  StateTier tier(&backend, {int64_t{128} << 20, false, true});
  StateContext context;
  context.context.tier = &tier;
  ValueState state(context.context);
  const auto assign = [&](int first, int end, size_t size) {
    KeyBatch keys;
    keys.Clear();
    for (int i = first; i < end; ++i) keys.Add(NameOf(i));
    std::vector<Entry> entries;
    ASSERT_TRUE(state.FindOrCreate(keys, &entries).ok());
    for (const Entry entry : entries) state.Assign(entry, std::string(size, 'v'));
  };
  for (int i = 0; i < kMany; i += 1000) assign(i, i + 1000, 700);
  ASSERT_TRUE(tier.BeginCheckpoint("1").ok());
  for (int i = 0; i < kMany; i += 1000) {
    assign(i, i + 500, 300);
    ASSERT_TRUE(tier.Work().ok());
  }
  ASSERT_TRUE(tier.WaitWritten().ok());
  EXPECT_EQ(backend.changes, size_t{kMany});
  EXPECT_GT(backend.ranges.size(), 2u);
  for (size_t i = 1; i < backend.ranges.size(); ++i)
    EXPECT_LT(backend.ranges[i - 1].second, backend.ranges[i].first);
}

TEST(StateTier, WhatIsGoneLeavesTheBackendAndMemory) {
  MapBackend backend;
  StateTier tier(&backend, {int64_t{1} << 30, false, true});
  StateContext context;
  context.context.tier = &tier;
  ValueState state(context.context);
  KeyBatch keys;
  keys.Clear();
  keys.Add("a");
  std::vector<Entry> entries;
  ASSERT_TRUE(state.FindOrCreate(keys, &entries).ok());
  state.Assign(entries[0], "x");
  ASSERT_TRUE(tier.BeginCheckpoint("1").ok());
  ASSERT_TRUE(tier.WaitWritten().ok());
  EXPECT_EQ(backend.table().size(), 1u);
  ASSERT_TRUE(state.FindOrCreate(keys, &entries).ok());
  state.Erase(entries[0]);
  state.Settle();
  EXPECT_GT(context.size.bytes, 0);
  ASSERT_TRUE(tier.BeginCheckpoint("2").ok());
  ASSERT_TRUE(tier.WaitWritten().ok());
  EXPECT_EQ(backend.table().size(), 0u);
  EXPECT_EQ(context.size.bytes, 0);
  EXPECT_EQ(context.size.entries, 0);
}

// The sweep of the rows that come has nobody to go with.
TEST(StateTier, WhatHasExpiredGoesWhileNoRowsCome) {
  MapBackend backend;
  StateTier tier(&backend, {int64_t{1} << 30, false, true});
  StateContext context(1000);
  context.context.tier = &tier;
  ValueState state(context.context);
  KeyBatch keys;
  keys.Clear();
  for (int i = 0; i < 1000; ++i) keys.Add(std::to_string(i));
  std::vector<Entry> entries;
  ASSERT_TRUE(state.FindOrCreate(keys, &entries).ok());
  for (const Entry entry : entries) state.Assign(entry, "x");
  ASSERT_TRUE(tier.BeginCheckpoint("1").ok());
  ASSERT_TRUE(tier.WaitWritten().ok());
  context.Rest();
  EXPECT_EQ(context.size.entries, 1000);
  context.clock.Set(1000);
  context.Rest();
  EXPECT_EQ(context.size.entries, 0);
  ASSERT_TRUE(tier.BeginCheckpoint("2").ok());
  ASSERT_TRUE(tier.WaitWritten().ok());
  EXPECT_EQ(backend.table().size(), 0u);
}

// With a time-to-live entries below begin with a time, so one cannot come or go.
TEST(StateTier, ATimeToLiveNeitherComesNorGoes) {
  for (const int64_t before : {0, 1000}) {
    MapBackend backend;
    std::string bytes;
    {
      StateTier tier(&backend, {int64_t{1} << 30, false, true});
      StateContext context(before);
      context.context.tier = &tier;
      ValueState state(context.context);
      SnapshotWriter writer;
      state.Snapshot(writer);
      bytes = writer.Take();
    }
    for (const int64_t after : {0, 500, 1000}) {
      StateTier tier(&backend, {int64_t{1} << 30, true, true});
      StateContext context(after);
      context.context.tier = &tier;
      ValueState state(context.context);
      SnapshotReader reader(bytes);
      const Status status = state.Restore(reader);
      const bool fits = (before > 0) == (after > 0);
      EXPECT_EQ(status.ok(), fits) << before << " " << after;
      EXPECT_EQ(status.error_code(), fits ? "" : "RT6004");
    }
  }
}

// What cannot be written is not forgotten, and a lookup says that it failed.
TEST(StateTier, GoesOnAfterErrors) {
  MapBackend backend;
  StateTier tier(&backend, {1, false, true});
  StateContext context;
  context.context.tier = &tier;
  ValueState state(context.context);
  KeyBatch keys;
  keys.Clear();
  for (int i = 0; i < 10; ++i) keys.Add(NameOf(i));
  std::vector<Entry> entries;
  ASSERT_TRUE(state.FindOrCreate(keys, &entries).ok());
  for (const Entry entry : entries) state.Assign(entry, "value");
  backend.fails = true;
  EXPECT_EQ(tier.Work().code(), StatusCode::kExternal);
  EXPECT_TRUE(state.FindOrCreate(keys, &entries).ok());  // all of it is in memory still
  EXPECT_EQ(state.Value(entries[3]), "value");
  EXPECT_FALSE(tier.BeginCheckpoint("1").ok());
  backend.fails = false;
  ASSERT_TRUE(tier.Work().ok());
  EXPECT_EQ(backend.table().size(), 10u);
  EXPECT_EQ(state.entries(), 0);
  backend.fails = true;
  EXPECT_EQ(state.FindOrCreate(keys, &entries).code(), StatusCode::kExternal);
  backend.fails = false;
  ASSERT_TRUE(state.FindOrCreate(keys, &entries).ok());
  EXPECT_EQ(state.Value(entries[3]), "value");
  ASSERT_TRUE(tier.BeginCheckpoint("2").ok());
  ASSERT_TRUE(tier.WaitWritten().ok());
  EXPECT_EQ(backend.checkpoint("2").size(), 10u);
}

TEST(StateTier, WarmingUpReadsEverythingOnce) {
  MapBackend backend;
  {
    StateTier tier(&backend, {int64_t{1} << 30, false, true});
    StateContext context;
    context.context.tier = &tier;
    ValueState state(context.context);
    KeyBatch keys;
    keys.Clear();
    for (int i = 0; i < 5000; ++i) keys.Add(NameOf(i));
    std::vector<Entry> entries;
    ASSERT_TRUE(state.FindOrCreate(keys, &entries).ok());
    for (const Entry entry : entries) state.Assign(entry, "value");
    ASSERT_TRUE(tier.BeginCheckpoint("1").ok());
    ASSERT_TRUE(tier.WaitWritten().ok());
  }
  StateTier tier(&backend, {int64_t{1} << 30, true, true});
  StateContext context;
  context.context.tier = &tier;
  ValueState state(context.context);
  for (int i = 0; tier.busy(); ++i) {
    ASSERT_LT(i, 10);
    ASSERT_TRUE(tier.Work().ok());
  }
  EXPECT_EQ(state.entries(), 5000);
  backend.fails = true;  // nothing is asked of it any more
  KeyBatch keys;
  keys.Clear();
  keys.Add(NameOf(4711));
  keys.Add("new");
  std::vector<Entry> entries;
  ASSERT_TRUE(state.FindOrCreate(keys, &entries).ok());
  EXPECT_EQ(state.Value(entries[0]), "value");
  EXPECT_FALSE(state.Has(entries[1]));
}

}  // namespace
}  // namespace rowtide
