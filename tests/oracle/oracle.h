// The recomputation oracle: random streams through an operator; after every row the folded
// changelog is the table that a naive recomputation from all rows so far gives.
//
//   one OracleCase = how to make the operator, how to make a stream for it, and a Model that
//   recomputes
//
// Each stream runs several times: row by row, compared after every row; in random cuts; restored
// through bytes after every row; and with most of the state below. All changelogs are equal. A case
// joins the oracle by a line in oracle_test.cc. What failed is repeated with
// ROWTIDE_ORACLE_SEED=<seed>;
// ROWTIDE_ORACLE_SECONDS says how long to look (default 5, over all cases).
#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <set>
#include <string_view>

#include "tests/oracle/harness.h"

namespace rowtide {

// Where a stream takes its choices from: a seed, or bytes, one a choice, of a fuzzer.
class Random {
 public:
  using result_type = uint64_t;
  explicit Random(uint64_t seed) : engine_(seed) {}
  explicit Random(std::string_view bytes) : engine_(0), bytes_(bytes) {}
  static constexpr uint64_t min() { return 0; }
  static constexpr uint64_t max() { return UINT64_MAX; }
  uint64_t operator()() {
    if (bytes_.empty()) return engine_();
    const auto choice = static_cast<uint8_t>(bytes_.front());
    bytes_.remove_prefix(1);
    return choice;
  }

 private:
  std::mt19937_64 engine_;
  std::string_view bytes_;
};
using TableText = std::multiset<std::string>;

// A row, or with `is_watermark` a watermark.
struct Event {
  bool is_watermark = false;
  int64_t watermark = 0;
  TestRow row;
  int input = 0;
};

class Model {
 public:
  virtual ~Model() = default;
  virtual void Row(const TestRow& row, int input) = 0;
  virtual void Watermark(int64_t /*millis*/) {}
  // The result of all rows so far, one text a row (ValuesText with the operator's output schema).
  virtual TableText Table(const Schema& output) const = 0;
};

struct OracleCase {
  std::string name;
  Schema input;
  Harness::Factory factory;
  std::function<std::vector<Event>(Random&)> stream;
  std::function<std::unique_ptr<Model>()> model;
  std::vector<int> key;  // columns of input and output by which lanes share the rows
  // not empty: no -U comes, a row replaces the one with the same values here
  std::vector<int> upsert_key;
  bool compares_after_each_row = true;  // false: after watermarks and at the end only (bundles)
  bool leaves_no_state = false;         // the stream takes every row back in the end
  OperatorContext settings;
  std::vector<Schema> more_inputs;  // inputs 1, 2, ... of joins and unions
};

// The table that a changelog stands for; without -U, by key.
class OracleTable {
 public:
  explicit OracleTable(const OracleCase& oracle) : key_(oracle.upsert_key) {}
  void Apply(const TestRow& row, const Schema& schema) {
    const std::string text = ValuesText(row.values, schema);
    if (key_.empty()) {
      EXPECT_TRUE(folded_.Apply(row.kind, text)) << "takes back a row that is not there: " << text;
      return;
    }
    std::string key;
    for (const int column : key_)
      AppendScriptText(row.values[static_cast<size_t>(column)], schema.type(column), &key),
          key += "|";
    EXPECT_NE(row.kind, RowKind::kUpdateBefore) << text;
    if (Adds(row.kind)) {
      by_key_[key] = text;
    } else {
      EXPECT_EQ(by_key_.erase(key), 1u) << "deletes a key that is not there: " << text;
    }
  }
  TableText Text() const {
    TableText text;
    for (const auto& [key, row] : by_key_) text.insert(row);
    for (const auto& [row, count] : folded_.rows()) {
      for (int i = 0; i < count; ++i) text.insert(row);
    }
    return text;
  }

 private:
  std::vector<int> key_;
  Folded folded_;
  std::map<std::string, std::string> by_key_;
};

inline std::string Lines(const TableText& table) {
  std::string text;
  for (const std::string& row : table) text += "  " + row + "\n";
  return text;
}

// Row by row with the comparison; returns the changelog.
inline std::string RunComparing(const OracleCase& oracle, const std::vector<Event>& events) {
  Harness harness(oracle.factory, oracle.input, oracle.settings, oracle.more_inputs);
  const int64_t floor_bytes = harness.size().bytes;
  const std::unique_ptr<Model> model = oracle.model();
  OracleTable table(oracle);
  std::string changelog;
  const Schema output = harness.output();
  const auto compare = [&](const std::string& after) {
    const TableText expected = model->Table(output);
    const TableText actual = table.Text();
    EXPECT_TRUE(actual == expected) << "after " << after << "\nfolded:\n"
                                    << Lines(actual) << "expected:\n"
                                    << Lines(expected);
  };
  const auto take = [&] {
    for (const TestRow& row : harness.Take()) {
      table.Apply(row, output);
      changelog += RowText(row, output) + "\n";
    }
  };
  for (const Event& event : events) {
    if (event.is_watermark) {
      EXPECT_TRUE(harness.Watermark(event.watermark).ok());
      model->Watermark(event.watermark);
    } else {
      const Status status = harness.Process({event.row}, event.input);
      EXPECT_TRUE(status.ok()) << status.ToString();
      model->Row(event.row, event.input);
    }
    take();
    if (event.is_watermark || oracle.compares_after_each_row) {
      compare(event.is_watermark ? "watermark " + std::to_string(event.watermark)
                                 : RowText(event.row, oracle.input));
    }
    if (testing::Test::HasFailure()) return changelog;
  }
  EXPECT_TRUE(harness.Watermark(Time::kMaxWatermark).ok());
  EXPECT_TRUE(harness.AdvanceTime(Time::End()).ok());
  model->Watermark(Time::kMaxWatermark);
  take();
  compare("the end");
  if (oracle.leaves_no_state) {
    EXPECT_EQ(harness.size().entries, 0) << "entries are left over though every row was taken back";
    EXPECT_EQ(harness.size().bytes, floor_bytes);
  }
  return changelog;
}

// In batches of up to `rows_max` rows, with a restore after each when asked for; `tier_bytes`: what
// a tier may hold in memory, 0 = no tier. Returns the changelog.
inline std::string RunCut(const OracleCase& oracle, const std::vector<Event>& events,
                          Random* random, int rows_max, bool restores, int64_t tier_bytes = 0) {
  Harness harness(oracle.factory, oracle.input, oracle.settings, oracle.more_inputs);
  if (tier_bytes > 0) harness.UseTier(tier_bytes);
  std::string changelog;
  TestRows batch;
  int batch_input = 0;
  size_t wanted = 1;
  const auto flush = [&] {
    EXPECT_TRUE(harness.Process(batch, batch_input).ok());
    batch.clear();
    if (random != nullptr) wanted = 1 + (*random)() % static_cast<uint64_t>(rows_max);
    if (restores) harness.Restore();
    changelog += harness.TakeText();
  };
  for (const Event& event : events) {
    if (event.is_watermark) {
      flush();
      EXPECT_TRUE(harness.Watermark(event.watermark).ok());
      changelog += harness.TakeText();
      continue;
    }
    if (!batch.empty() && event.input != batch_input) flush();
    batch_input = event.input;
    batch.push_back(event.row);
    if (batch.size() >= wanted) flush();
    if (testing::Test::HasFailure()) return changelog;
  }
  flush();
  EXPECT_TRUE(harness.Watermark(Time::kMaxWatermark).ok());
  EXPECT_TRUE(harness.AdvanceTime(Time::End()).ok());
  changelog += harness.TakeText();
  return changelog;
}

// One stream of one case, its batches cut into up to `rows_max` rows. False when something was
// wrong.
inline bool RunOracle(const OracleCase& oracle, Random random, int rows_max) {
  const std::vector<Event> events = oracle.stream(random);
  const std::string changelog = RunComparing(oracle, events);
  if (testing::Test::HasFailure()) return false;
  EXPECT_EQ(RunCut(oracle, events, &random, rows_max, false), changelog) << "in random cuts";
  EXPECT_EQ(RunCut(oracle, events, nullptr, 1, true), changelog) << "restored after every row";
  EXPECT_EQ(RunCut(oracle, events, &random, 9, true), changelog)
      << "in random cuts, restored after each";
  EXPECT_EQ(RunCut(oracle, events, &random, 9, true, 1), changelog)
      << "with everything below, restored after each cut";
  EXPECT_EQ(RunCut(oracle, events, &random, 3, false, 600), changelog) << "with most of it below";
  return !testing::Test::HasFailure();
}

// Streams of all cases in turn, until the time is over; every case has at least one.
inline void RunOracles(const std::vector<OracleCase>& cases) {
  const char* given = std::getenv("ROWTIDE_ORACLE_SEED");
  const char* seconds_text = std::getenv("ROWTIDE_ORACLE_SECONDS");
  const double seconds = seconds_text != nullptr ? std::atof(seconds_text) : 5;
  uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device()();
  const auto begin = std::chrono::steady_clock::now();
  const auto over = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() >
           seconds;
  };
  std::printf("first seed %llu\n", static_cast<unsigned long long>(seed));
  int64_t streams = 0;
  do {
    for (const OracleCase& oracle : cases) {
      SCOPED_TRACE(oracle.name + ", ROWTIDE_ORACLE_SEED=" + std::to_string(seed));
      if (!RunOracle(oracle, Random(seed), 1 + static_cast<int>(seed % 60))) return;
      ++streams;
    }
    ++seed;
  } while (!over() && given == nullptr);
  std::printf("%lld streams\n", static_cast<long long>(streams));
}

}  // namespace rowtide
