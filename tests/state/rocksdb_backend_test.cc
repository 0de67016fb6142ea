#include "state/durable/rocksdb_backend.h"

#include <atomic>
#include <cstring>
#include <fstream>
#include <map>
#include <random>

#include "state/value_state.h"
#include "tests/state/faulty_files.h"
#include "tests/state/state_context.h"
#include "tests/state/temporary_folder.h"

namespace rowtide {
namespace {

namespace fs = std::filesystem;
using Table = std::map<std::string, std::string>;

std::unique_ptr<RocksDbBackend> Made(Result<std::unique_ptr<RocksDbBackend>> made) {
  EXPECT_TRUE(made.ok()) << made.status().ToString();
  return made.ok() ? std::move(*made) : nullptr;
}

std::string KeyOf(uint32_t table, int group, const std::string& key) {
  std::string bytes(4, '\0');
  bytes[3] = static_cast<char>(table);
  return bytes + static_cast<char>(group) + key;
}

// Writes changes given as a map; an empty value is an entry that goes.
Status Write(RocksDbBackend* backend, const Table& changes) {
  std::vector<StateChange> sorted;
  for (const auto& [key, value] : changes) {
    sorted.push_back({key, value.empty() ? std::nullopt : std::optional<std::string_view>(value)});
  }
  return backend->WriteRun(sorted);
}

Result<Table> All(RocksDbBackend* backend) {
  Table table;
  RT_TRY(
      backend->Scan("", std::string(8, '\xff'), [&](std::string_view key, std::string_view value) {
        table.emplace(key, value);
        return Result<bool>(true);
      }));
  return table;
}

Table Content(RocksDbBackend* backend) {
  Result<Table> table = All(backend);
  EXPECT_TRUE(table.ok()) << table.status().ToString();
  return table.ok() ? *table : Table();
}

TEST(RocksDbBackend, HoldsWhatRunsWrote) {
  TemporaryFolder folder;
  const auto backend = Made(RocksDbBackend::Create(folder / "work", {}));
  std::mt19937 random(1);
  Table expected;
  for (int run = 0; run < 12; ++run) {
    Table changes;
    for (int i = 0; i < 300; ++i) {
      const std::string key = KeyOf(random() % 3, 0, "k" + std::to_string(random() % 1000));
      changes[key] = random() % 4 == 0 ? "" : "v" + std::to_string(random());
    }
    ASSERT_TRUE(Write(backend.get(), changes).ok());
    for (const auto& [key, value] : changes) {
      if (value.empty()) {
        expected.erase(key);
      } else {
        expected[key] = value;
      }
    }
    ASSERT_EQ(Content(backend.get()), expected);
  }
  Table asked;
  for (int i = 0; i < 1000; ++i) asked[KeyOf(1, 0, "k" + std::to_string(i))];
  std::vector<std::string_view> keys;
  for (const auto& [key, value] : asked) keys.push_back(key);
  Table found;
  ASSERT_TRUE(backend
                  ->MultiGet(keys,
                             [&](size_t i, std::string_view value) {
                               found.emplace(keys[i], value);
                               return Status::Ok();
                             })
                  .ok());
  std::erase_if(expected, [](const auto& entry) { return entry.first[3] != 1; });
  EXPECT_EQ(found, expected);
}

TEST(RocksDbBackend, ScanEndsWhereItIsTold) {
  TemporaryFolder folder;
  const auto backend = Made(RocksDbBackend::Create(folder / "work", {}));
  ASSERT_TRUE(Write(backend.get(), {{"a", "1"}, {"b", "2"}, {"c", "3"}, {"d", "4"}}).ok());
  std::string seen;
  const auto visit = [&](std::string_view key, std::string_view) {
    seen += key;
    return Result<bool>(seen.size() < 2);
  };
  ASSERT_TRUE(backend->Scan("b", "c", visit).ok());
  EXPECT_EQ(seen, "b");
  seen.clear();
  ASSERT_TRUE(backend->Scan("b", "z", visit).ok());
  EXPECT_EQ(seen, "bc");
}

TEST(RocksDbBackend, CheckpointsShareFilesAndOpenAgain) {
  TemporaryFolder folder;
  auto backend = Made(RocksDbBackend::Create(folder / "work", {}));
  const Table first{{"a", "1"}, {"b", "2"}};
  ASSERT_TRUE(Write(backend.get(), first).ok());
  const auto files = backend->Checkpoint(folder / "chk-1");
  ASSERT_TRUE(files.ok()) << files.status().ToString();
  ASSERT_TRUE(Write(backend.get(), {{"a", ""}, {"c", "3"}}).ok());
  const auto more = backend->Checkpoint(folder / "chk-2");
  ASSERT_TRUE(more.ok()) << more.status().ToString();
  int tables = 0;
  for (const CheckpointFile& file : *files) {
    EXPECT_EQ(file.bytes, fs::file_size(folder / ("chk-1/" + file.name)));
    EXPECT_EQ(file.path, folder / ("chk-1/" + file.name));
    if (!file.name.ends_with(".sst")) continue;
    ++tables;
    EXPECT_GE(fs::hard_link_count(folder / ("chk-1/" + file.name)), 3u);
    EXPECT_NE(file.xxh3, 0u);
  }
  EXPECT_EQ(tables, 1);
  backend.reset();
  fs::remove_all(folder / "work");
  for (int i = 0; i < 2; ++i) {  // a checkpoint can be opened any number of times
    const auto again = Made(RocksDbBackend::Open(folder / "work", folder / "chk-1", {}));
    EXPECT_EQ(Content(again.get()), first);
    ASSERT_TRUE(Write(again.get(), {{"b", "other"}}).ok());
  }
  const auto second = Made(RocksDbBackend::Open(folder / "work", folder / "chk-2", {}));
  EXPECT_EQ(Content(second.get()), (Table{{"b", "2"}, {"c", "3"}}));
}

TEST(RocksDbBackend, ImportTakesTheKeyGroupsOfALane) {
  TemporaryFolder folder;
  Table all;
  for (uint32_t table : {0u, 7u}) {
    for (int group = 0; group < kKeyGroups; ++group) all[KeyOf(table, group, "k")] = "v";
  }
  for (int lane = 0; lane < 2; ++lane) {
    const auto backend = Made(RocksDbBackend::Create(folder / "work", {}));
    Table own = all;
    std::erase_if(own, [&](const auto& entry) {
      return !KeyGroupsOfLane(lane, 2).Has(static_cast<uint8_t>(entry.first[4]));
    });
    ASSERT_TRUE(Write(backend.get(), own).ok());
    ASSERT_TRUE(backend->Checkpoint(folder / ("old-" + std::to_string(lane))).ok());
  }
  Table together;
  for (int lane = 0; lane < 3; ++lane) {
    const auto backend = Made(RocksDbBackend::Create(folder / "work", {}));
    for (int old = 0; old < 2; ++old) {
      const Status status =
          backend->Import(folder / ("old-" + std::to_string(old)), [&](uint32_t /*table*/) {
            return std::optional<KeyGroupRange>(KeyGroupsOfLane(lane, 3));
          });
      ASSERT_TRUE(status.ok()) << status.ToString();
    }
    for (const auto& [key, value] : Content(backend.get())) {
      EXPECT_TRUE(KeyGroupsOfLane(lane, 3).Has(static_cast<uint8_t>(key[4])));
      together[key] = value;
    }
  }
  EXPECT_EQ(together, all);
}

TEST(RocksDbBackend, ImportTakesWholeTablesAndLeavesOthers) {
  TemporaryFolder folder;
  Table all;
  for (uint32_t table : {1u, 2u, 3u, 4u}) {
    for (const int group : {0, 63, 64, 127}) all[KeyOf(table, group, "k")] = "v";
  }
  const auto from = Made(RocksDbBackend::Create(folder / "from", {}));
  ASSERT_TRUE(Write(from.get(), all).ok());
  ASSERT_TRUE(from->Checkpoint(folder / "old").ok());
  const auto backend = Made(RocksDbBackend::Create(folder / "work", {}));
  const Status status = backend->Import(folder / "old", [](uint32_t table) {
    if (table == 2) return std::optional<KeyGroupRange>(KeyGroupRange());
    if (table == 4) return std::optional<KeyGroupRange>(KeyGroupsOfLane(1, 2));
    return std::optional<KeyGroupRange>();
  });
  ASSERT_TRUE(status.ok()) << status.ToString();
  Table want;
  for (const int group : {0, 63, 64, 127}) want[KeyOf(2, group, "k")] = "v";
  for (const int group : {64, 127}) want[KeyOf(4, group, "k")] = "v";
  EXPECT_EQ(Content(backend.get()), want);
}

std::string Written(int64_t millis, const std::string& value) {
  return std::string(reinterpret_cast<const char*>(&millis), sizeof(millis)) + value;
}

TEST(RocksDbBackend, RewrittenFilesLeaveOutWhatHasExpired) {
  TemporaryFolder folder;
  const auto backend = Made(RocksDbBackend::Create(folder / "work", {}));
  std::atomic<int64_t> now = 0;
  Table all;
  for (int i = 0; i < 2000; ++i) {
    const std::string key = "k" + std::to_string(i);
    all[KeyOf(1, i % kKeyGroups, key)] = Written(i, std::string(500, 'v'));
    all[KeyOf(2, i % kKeyGroups, key)] = Written(i, "w");  // without a time-to-live
  }
  ASSERT_TRUE(Write(backend.get(), all).ok());
  ASSERT_TRUE(backend->Compact().ok());
  EXPECT_EQ(Content(backend.get()), all);
  backend->SetExpiry(1, [&] { return now - 1000; });
  now = 2899;
  ASSERT_TRUE(backend->Compact().ok());
  EXPECT_EQ(backend->TakeExpired(1), 1900);
  EXPECT_EQ(backend->TakeExpired(1), 0);
  EXPECT_EQ(backend->TakeExpired(2), 0);
  std::erase_if(all, [](const auto& entry) {
    int64_t written;
    std::memcpy(&written, entry.second.data(), sizeof(written));
    return entry.first[3] == 1 && written <= 1899;
  });
  EXPECT_EQ(Content(backend.get()), all);
  backend->SetExpiry(1, nullptr);
  now = 1'000'000;
  ASSERT_TRUE(backend->Compact().ok());
  EXPECT_EQ(Content(backend.get()), all);
}

// No new file comes upon those that there are: a checkpoint has them rewritten when it is time.
TEST(RocksDbBackend, WhatHasExpiredGoesWithoutNewFiles) {
  TemporaryFolder folder;
  const auto backend = Made(RocksDbBackend::Create(folder / "work", {}));
  std::atomic<int64_t> now = SystemClock().NowMillis();
  Table all, kept;
  for (int i = 0; i < 2000; ++i) {
    all[KeyOf(1, i % kKeyGroups, "k" + std::to_string(i))] = Written(now, std::string(500, 'v'));
    kept[KeyOf(3, i % kKeyGroups, "k" + std::to_string(i))] = Written(now, "w");
  }
  ASSERT_TRUE(Write(backend.get(), all).ok());
  ASSERT_TRUE(Write(backend.get(), kept).ok());
  backend->SetExpiry(1, [&] { return now - 1000; });
  ASSERT_TRUE(backend->Checkpoint(folder / "first").ok());
  EXPECT_EQ(backend->TakeExpired(1), 0);
  now += 10'000;
  ASSERT_TRUE(backend->Checkpoint(folder / "second").ok());
  EXPECT_EQ(backend->TakeExpired(1), 2000);
  EXPECT_EQ(Content(backend.get()), kept);
}

// Keys that never come back, under a tier that has room for none of them.
TEST(RocksDbBackend, FilesShrinkWhenStateHasExpired) {
  TemporaryFolder folder;
  const auto backend = Made(RocksDbBackend::Create(folder / "work", {}));
  StateContext context(1000);
  StateTier tier(backend.get(), {1, false, true});
  context.context.tier = &tier;
  context.context.first_table = 1u << kNodeTableBits;
  ValueState state(context.context);
  std::mt19937 random(1);
  const auto write = [&](const std::string& prefix, int count) {
    KeyBatch keys;
    keys.Clear();
    for (int i = 0; i < count; ++i) keys.Add(prefix + std::to_string(i));
    std::vector<Entry> entries;
    ASSERT_TRUE(state.FindOrCreate(keys, &entries).ok());
    for (const Entry entry : entries) {
      std::string value(300, 'x');
      for (char& c : value) c = static_cast<char>(random());
      state.Assign(entry, value);
    }
    state.Settle();
    ASSERT_TRUE(tier.Work().ok());
  };
  write("old", 3000);
  context.clock.Set(500);
  write("new", 100);
  ASSERT_TRUE(backend->Compact().ok());
  const int64_t before = backend->file_bytes();
  context.clock.Set(1200);
  ASSERT_TRUE(backend->Compact().ok());
  EXPECT_LT(backend->file_bytes(), before / 10);
  ASSERT_TRUE(tier.BeginCheckpoint(folder / "chk").ok());
  ASSERT_TRUE(tier.WaitWritten().ok());
  EXPECT_EQ(*context.counters.Find("expired_below"), 3000);
  EXPECT_EQ(*context.counters.Find("expired"), 0);
  EXPECT_EQ(Content(backend.get()).size(), 100u);
  context.clock.Set(1499);
  KeyBatch keys;
  keys.Clear();
  for (const char* key : {"old7", "new7"}) keys.Add(key);
  std::vector<Entry> entries;
  ASSERT_TRUE(state.Find(keys, &entries).ok());
  EXPECT_FALSE(entries[0]);
  EXPECT_TRUE(entries[1]);
}

TEST(RocksDbBackend, AFullDiskIsSaidAndLeavesNothingBehind) {
  bool was_given_up = false, went_on = false;
  for (int appends = 0; appends < 4; ++appends) {
    TemporaryFolder folder;
    FaultyDisk disk;
    const auto backend =
        Made(RocksDbBackend::Create(folder / "work", {1 << 20, &disk.environment}));
    ASSERT_TRUE(Write(backend.get(), {{"a", "1"}}).ok());
    disk.files->appends_left = appends;
    const Status status = Write(backend.get(), {{"b", "2"}});
    disk.files->appends_left = -1;
    if (status.ok()) continue;
    EXPECT_EQ(status.code(), StatusCode::kExternal) << status.ToString();
    EXPECT_NE(status.message().find("no space left"), std::string::npos) << status.ToString();
    EXPECT_NE(status.message().find(folder / "work"), std::string::npos) << status.ToString();
    for (const fs::directory_entry& entry : fs::directory_iterator(folder / "work"))
      EXPECT_NE(entry.path().extension(), ".tmp");
    // Once there is room, it goes on, unless RocksDB's own files are torn: then it says so again.
    const Status again = Write(backend.get(), {{"b", "2"}});
    (again.ok() ? went_on : was_given_up) = true;
    if (again.ok()) {
      EXPECT_EQ(Content(backend.get()), (Table{{"a", "1"}, {"b", "2"}}));
    } else {
      EXPECT_NE(again.message().find("no space left"), std::string::npos) << again.ToString();
    }
  }
  EXPECT_TRUE(went_on && was_given_up);
}

TEST(RocksDbBackend, AReadErrorIsNoAbsence) {
  TemporaryFolder folder;
  FaultyDisk disk;
  auto backend = Made(RocksDbBackend::Create(folder / "work", {1 << 20, &disk.environment}));
  ASSERT_TRUE(Write(backend.get(), {{"a", "1"}, {"b", "2"}}).ok());
  ASSERT_TRUE(backend->Checkpoint(folder / "chk").ok());
  backend.reset();
  backend =
      Made(RocksDbBackend::Open(folder / "work", folder / "chk", {1 << 20, &disk.environment}));
  disk.files->reads_fail = true;
  const std::string_view keys[] = {"a", "x"};
  const Status status =
      backend->MultiGet(keys, [](size_t, std::string_view) { return Status::Ok(); });
  EXPECT_EQ(status.code(), StatusCode::kExternal) << status.ToString();
  EXPECT_EQ(All(backend.get()).status().code(), StatusCode::kExternal);
  disk.files->reads_fail = false;
  EXPECT_EQ(Content(backend.get()).size(), 2u);
}

TEST(RocksDbBackend, DamageIsFound) {
  TemporaryFolder folder;
  auto backend = Made(RocksDbBackend::Create(folder / "work", {}));
  Table table;
  for (int i = 0; i < 2000; ++i) table["key " + std::to_string(i)] = "value " + std::to_string(i);
  ASSERT_TRUE(Write(backend.get(), table).ok());
  const auto files = backend->Checkpoint(folder / "chk");
  ASSERT_TRUE(files.ok());
  backend.reset();
  for (const CheckpointFile& file : *files) {
    if (!file.name.ends_with(".sst")) continue;
    std::fstream damaged(folder / ("chk/" + file.name),
                         std::ios::in | std::ios::out | std::ios::binary);
    damaged.seekp(static_cast<std::streamoff>(file.bytes / 3));
    damaged.put('\x5a').put('\x5a');
  }
  const auto opened = RocksDbBackend::Open(folder / "work", folder / "chk", {});
  const Status status = opened.ok() ? All(opened->get()).status() : opened.status();
  EXPECT_EQ(status.code(), StatusCode::kCorruption) << status.ToString();
  fs::remove(folder / "chk/CURRENT");
  EXPECT_EQ(RocksDbBackend::Open(folder / "work-2", folder / "chk", {}).status().code(),
            StatusCode::kCorruption);
}

}  // namespace
}  // namespace rowtide
