// Value state, ordered state and timers against std::map, with random changes.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <thread>

#include "state/ordered_state.h"
#include "state/page_supply.h"
#include "state/row_log.h"
#include "state/timers.h"
#include "state/value_state.h"
#include "tests/state/state_context.h"

namespace rowtide {
namespace {

TEST(ArenaTest, ClassesCoverTheirSizes) {
  size_t last_class = 0;
  for (size_t bytes = 0; bytes < 5'000'000; bytes += 1 + bytes / 50) {
    const uint8_t size_class = Arena::ClassOf(bytes);
    EXPECT_GE(Arena::BytesOf(size_class), bytes);
    EXPECT_GE(size_class, last_class);
    if (bytes > 128) {
      EXPECT_LE(Arena::BytesOf(size_class), bytes + bytes / 8 + 8) << bytes;
    }
    last_class = size_class;
  }
  EXPECT_GE(Arena::BytesOf(Arena::ClassOf(size_t{1} << 30)), size_t{1} << 30);
}

std::string ValueOf(std::mt19937& random) {
  return std::string(random() % 300, static_cast<char>('a' + random() % 26));
}

TEST(ValueStateTest, DoesWhatAMapDoes) {
  StateContext context;
  {
    ValueState state(context.context);
    std::map<std::string, std::string> model;
    std::mt19937 random(7);
    KeyBatch keys;
    std::vector<Entry> entries;
    for (int round = 0; round < 600; ++round) {
      keys.Clear();
      const int rows = 1 + static_cast<int>(random() % 200);
      const unsigned universe = round < 300 ? 40'000 : 500;
      for (int i = 0; i < rows; ++i) {
        const unsigned number = random() % universe;
        keys.Add("key" + std::to_string(number) + std::string(number % 40, 'k'));
      }
      if (round % 3 == 0) {
        ASSERT_TRUE(state.Find(keys, &entries).ok());
        for (int i = 0; i < rows; ++i) {
          const auto at = model.find(std::string(keys.key(i)));
          ASSERT_EQ(static_cast<bool>(entries[static_cast<size_t>(i)]), at != model.end());
          if (at != model.end()) {
            ASSERT_EQ(state.Value(entries[static_cast<size_t>(i)]), at->second);
          }
        }
        continue;
      }
      ASSERT_TRUE(state.FindOrCreate(keys, &entries).ok());
      for (int i = 0; i < rows; ++i) {
        const Entry entry = entries[static_cast<size_t>(i)];
        const std::string key(keys.key(i));
        ASSERT_EQ(state.Key(entry), key);
        ASSERT_EQ(state.Has(entry), model.count(key) == 1);
        if (state.Has(entry)) {
          ASSERT_EQ(state.Value(entry), model[key]);
        }
        switch (random() % 4) {
          case 0:
            if (state.Has(entry)) state.Erase(entry);
            model.erase(key);
            break;
          case 1:
            if (state.Has(entry)) {
              const size_t size = random() % 300;
              const std::string old = model[key];
              char* value = state.Resize(entry, size);
              model[key].resize(size, 'z');
              if (size > old.size()) std::memset(value + old.size(), 'z', size - old.size());
            }
            break;
          case 2: break;
          default: model[key] = ValueOf(random); state.Assign(entry, model[key]);
        }
      }
      ASSERT_EQ(state.entries(), static_cast<int64_t>(model.size()));
      if (round % 50 != 49) continue;
      SnapshotWriter writer;
      state.Snapshot(writer);
      StateContext other;
      ValueState restored(other.context);
      SnapshotReader reader(writer.bytes());
      ASSERT_TRUE(restored.Restore(reader).ok());
      SnapshotWriter again;
      restored.Snapshot(again);
      ASSERT_EQ(writer.bytes(), again.bytes());
      ASSERT_EQ(restored.entries(), static_cast<int64_t>(model.size()));
    }
    size_t visited = 0;
    state.ForEach([&](Entry entry) {
      ++visited;
      ASSERT_EQ(state.Value(entry), model[std::string(state.Key(entry))]);
    });
    EXPECT_EQ(visited, model.size());
    keys.Clear();
    for (const auto& [key, value] : model) keys.Add(key);
    ASSERT_TRUE(state.FindOrCreate(keys, &entries).ok());
    for (const Entry entry : entries) state.Erase(entry);
    state.Settle();
    EXPECT_EQ(context.size.entries, 0);
    EXPECT_EQ(context.size.bytes, 0);
  }
  EXPECT_EQ(context.size.bytes, 0);
}

TEST(ValueStateTest, AMillionKeysTakeLittleRoom) {
  StateContext context;
  ValueState state(context.context);
  KeyBatch keys;
  std::vector<Entry> entries;
  for (uint64_t i = 0; i < 300'000;) {
    keys.Clear();
    for (int row = 0; row < 1000; ++row, ++i) {
      const uint64_t key[2] = {i, i * 31};
      keys.Add({reinterpret_cast<const char*>(key), 16});
    }
    ASSERT_TRUE(state.FindOrCreate(keys, &entries).ok());
    for (const Entry entry : entries) state.Assign(entry, 0);
  }
  EXPECT_EQ(state.entries(), 300'000);
  EXPECT_EQ(context.size.bytes, 300'000 * 40);
}

TEST(ValueStateTest, OldEntriesExpireUnseenToo) {
  StateContext context(1000);
  ValueState state(context.context);
  KeyBatch keys;
  std::vector<Entry> entries;
  for (int i = 0; i < 500; ++i) keys.Add("k" + std::to_string(i));
  ASSERT_TRUE(state.FindOrCreate(keys, &entries).ok());
  for (const Entry entry : entries) state.Assign(entry, "v");
  context.clock.Advance(1000);
  keys.Clear();
  keys.Add("k7");
  ASSERT_TRUE(state.Find(keys, &entries).ok());
  EXPECT_FALSE(entries[0]);
  EXPECT_EQ(*context.counters.Find("expired"), 1);
  for (int i = 0; i < 2000; ++i) ASSERT_TRUE(state.Find(keys, &entries).ok());
  EXPECT_EQ(context.size.entries, 0);
  EXPECT_EQ(*context.counters.Find("expired"), 500);
}

// One key; sort keys of 1 to 40 bytes, few of them, so that many tie.
TEST(OrderedStateTest, DoesWhatASortedVectorDoes) {
  for (const int rows_max : {6, 40, 700, 4000}) {
    StateContext context;
    OrderedState state(context.context);
    struct Row {
      std::string sort;
      std::string row;
      uint64_t tag;
    };
    std::vector<Row> model;
    std::mt19937 random(static_cast<unsigned>(rows_max));
    KeyBatch keys;
    keys.Add("only");
    std::vector<Entry> entries;
    const auto view = [](const std::string& sort) { return SortKeyView{SortPrefixOf(sort), sort}; };
    for (int step = 0; step < rows_max * 6; ++step) {
      if (step % 50 == 0 || entries.empty()) {
        ASSERT_TRUE(state.FindOrCreate(keys, &entries).ok());
      }
      const Entry key = entries[0];
      const bool grows = (step / (rows_max * 2)) % 2 == 0;
      const unsigned choice = random() % 10;
      if (model.empty() || (grows ? choice < 7 : choice < 3)) {
        const unsigned number = random() % 50;
        const std::string sort =
            std::string(number % 3 == 0 ? 20 : 2, static_cast<char>('A' + number / 5)) +
            static_cast<char>('a' + number % 5) + std::string("\0\0", 2);
        const Row row{sort, "row" + std::to_string(random() % 30) + std::string(random() % 40, 'r'),
                      uint64_t{random()} << 32};
        const auto at =
            std::upper_bound(model.begin(), model.end(), row,
                             [](const Row& a, const Row& b) { return a.sort < b.sort; });
        ASSERT_EQ(state.Insert(key, view(row.sort), row.row, row.tag), at - model.begin());
        model.insert(at, row);
      } else if (choice < 9) {
        const size_t at = random() % model.size();
        const Row row = model[at];
        const OrderedState::Range range = state.EqualRange(key, view(row.sort));
        ASSERT_LE(range.first, static_cast<int64_t>(at));
        ASSERT_GT(range.last, static_cast<int64_t>(at));
        if (range.first > 0) {
          ASSERT_LT(model[static_cast<size_t>(range.first) - 1].sort, row.sort);
        }
        const int64_t found = state.FindTagged(
            key, range, row.tag, [&](std::string_view bytes) { return bytes == row.row; });
        ASSERT_GE(found, 0);
        ASSERT_EQ(model[static_cast<size_t>(found)].row, row.row);
        state.Erase(key, found);
        model.erase(model.begin() + found);
      } else {
        const size_t at = random() % model.size();
        model[at].row = std::string(random() % 80, 'n');
        state.Replace(key, static_cast<int64_t>(at), model[at].row);
      }
      ASSERT_EQ(state.rows(key), static_cast<int64_t>(model.size()));
      if (!model.empty()) {
        ASSERT_EQ(state.last_prefix(key), SortPrefixOf(model.back().sort));
      }
      if (step % 37 != 0) continue;
      size_t at = 0;
      for (OrderedState::Cursor cursor = state.Begin(key); cursor.valid(); cursor.Next(), ++at) {
        ASSERT_EQ(cursor.row(), model[at].row);
        ASSERT_EQ(cursor.sort_key(), model[at].sort);
      }
      ASSERT_EQ(at, model.size());
      SnapshotWriter writer;
      state.Snapshot(writer);
      if (step % 74 == 0) {
        SnapshotReader reader(writer.bytes());
        ASSERT_TRUE(state.Restore(reader).ok());
        SnapshotWriter again;
        state.Snapshot(again);
        ASSERT_EQ(writer.bytes(), again.bytes());
        entries.clear();
      }
    }
    ASSERT_TRUE(state.FindOrCreate(keys, &entries).ok());
    state.Truncate(entries[0], 3);
    ASSERT_EQ(state.rows(entries[0]), std::min<int64_t>(3, static_cast<int64_t>(model.size())));
    state.EraseAll(entries[0]);
    state.Settle();
    EXPECT_EQ(context.size.bytes, 0);
    EXPECT_EQ(context.size.entries, 0);
  }
}

TEST(PageSupplyTest, GivesZeroedMemoryToAllWhoAsk) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([] {
      for (int round = 0; round < 20; ++round) {
        char* const memory = PageSupply::OfProcess().Take();
        for (size_t at = 0; at < PageSupply::kBytes; at += 512) ASSERT_EQ(memory[at], 0);
        std::memset(memory, 1, PageSupply::kBytes);
        FreePages(memory, PageSupply::kBytes);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(RowLogTest, KeepsRowsAndGivesBlocksBack) {
  StateSize size;
  std::mt19937 random(5);
  {
    RowLog log(&size);
    std::vector<std::pair<RowLog::Row, char>> rows;
    int64_t bytes = 0;
    for (int step = 0; step < 100000; ++step) {
      const size_t row_bytes = random() % 50 == 0 ? random() % 200000 : random() % 300;
      const char fill = static_cast<char>('a' + step % 26);
      rows.emplace_back(log.Append(row_bytes), fill);
      std::memset(rows.back().first.bytes, fill, row_bytes);
      bytes += static_cast<int64_t>(row_bytes);
      while (rows.size() > random() % 500) {  // mostly the oldest ones leave
        const size_t at = random() % std::min<size_t>(rows.size(), 20);
        const RowLog::Row row = rows[at].first;
        ASSERT_EQ(row.view(), std::string(row.size, rows[at].second));
        const BlockPointer block = log.BlockOf(row);
        log.Release(row);
        ASSERT_EQ(row.view(), std::string(row.size, rows[at].second));
        bytes -= row.size;
        rows.erase(rows.begin() + static_cast<ptrdiff_t>(at));
      }
      ASSERT_EQ(size.bytes, bytes);
      ASSERT_FALSE(rows.empty() && log.wasteful() && bytes > 0);
    }
  }
  EXPECT_EQ(size.bytes, 0);
}

TEST(TimersTest, ComeInOrderOfTimeThenSequence) {
  TimerQueue timers;
  std::mt19937 random(3);
  std::vector<std::pair<int64_t, uint64_t>> model;
  uint64_t sequence = 0;
  for (int64_t now = 0; now < 3000; ++now) {
    for (int i = 0; i < 20; ++i) {
      const int64_t millis =
          now + 5 - (random() % 10 == 0 ? static_cast<int64_t>(random() % 5) : 0);
      timers.Add({millis, sequence, sequence});
      model.emplace_back(millis, sequence++);
    }
    std::sort(model.begin(), model.end());
    size_t due = 0;
    while (timers.HasDue(now)) {
      const TimerQueue::Timer timer = timers.PopFirst();
      ASSERT_EQ(std::make_pair(timer.millis, timer.sequence), model[due]);
      ASSERT_EQ(timer.payload, timer.sequence);
      ++due;
    }
    ASSERT_TRUE(due == model.size() || model[due].first > now);
    model.erase(model.begin(), model.begin() + static_cast<ptrdiff_t>(due));
  }
}

}  // namespace
}  // namespace rowtide
