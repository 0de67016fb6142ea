// Script rows in, script rows out: for tests of single operators.
//
//   Rows(schema, {"+I [\"a\",1]", "-D [\"a\",1]"})      a batch
//   Changelog(make, schema, lines)                     what the operator gives, run in three ways
//
// The text of values is that of `.test` files; arrays and objects are not read.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/batch_builder.h"
#include "engine/operator.h"
#include "engine/snapshot.h"
#include "engine/value_text.h"

namespace rowtide {

// `["a", 1, null]` as values.
inline std::vector<Value> ScriptValues(const Schema& schema, std::string_view text) {
  std::vector<Value> values;
  size_t at = text.find('[') + 1;
  for (int i = 0; i < schema.size(); ++i) {
    at = text.find_first_not_of(" ,", at);
    std::string token;
    const bool quoted = text[at] == '"';
    if (quoted) {
      for (++at; text[at] != '"'; ++at) token.push_back(text[at]);
      ++at;
    } else {
      while (text[at] != ',' && text[at] != ']') token.push_back(text[at++]);
    }
    if (!quoted && token == "null") {
      values.emplace_back();
      continue;
    }
    Result<Value> value = ParseScriptValue(token, quoted, schema.type(i));
    EXPECT_TRUE(value.ok()) << value.status().ToString();
    values.push_back(value.ok() ? *value : Value{});
  }
  return values;
}

inline RowKind KindOf(std::string_view text) {
  if (text.substr(0, 2) == "-U") return RowKind::kUpdateBefore;
  if (text.substr(0, 2) == "+U") return RowKind::kUpdateAfter;
  if (text.substr(0, 2) == "-D") return RowKind::kDelete;
  return RowKind::kInsert;
}

inline RowBatch Rows(const Schema& schema, const std::vector<std::string>& lines) {
  std::vector<std::pair<RowKind, std::vector<Value>>> rows;
  for (const std::string& line : lines) rows.emplace_back(KindOf(line), ScriptValues(schema, line));
  return BatchOf(schema, rows);
}

// Collects the changelog as lines; times as `WM 5`, `TICK 5`, `IDLE`, `END`.
class ScriptCollector final : public Collector {
 public:
  explicit ScriptCollector(const Schema& schema, bool with_times = false)
      : schema_(schema), with_times_(with_times) {}
  Status Emit(RowBatch batch) override {
    EXPECT_GT(batch.rows, 0);
    EXPECT_LE(batch.rows, kBatchRows);
    for (int row = 0; row < batch.rows; ++row) {
      std::string line;
      AppendScriptRow(batch, row, schema_, &line);
      lines.push_back(std::move(line));
    }
    return Status::Ok();
  }
  Status Advance(Time time) override {
    if (!with_times_) return Status::Ok();
    switch (time.kind) {
      case Time::Kind::kWatermark:
        lines.push_back(time.millis == Time::kMaxWatermark ? "WM MAX"
                                                           : "WM " + std::to_string(time.millis));
        break;
      case Time::Kind::kTick: lines.push_back("TICK " + std::to_string(time.millis)); break;
      case Time::Kind::kIdle: lines.push_back("IDLE"); break;
      case Time::Kind::kEnd: lines.push_back("END"); break;
    }
    return Status::Ok();
  }
  std::vector<std::string> lines;

 private:
  Schema schema_;
  bool with_times_;
};

// What an operator is made in: outlives it.
struct Bench {
  ManualClock clock{1'000'000};
  Counters counters;
  StateSize state_size;
  OperatorContext context;
  Bench() {
    context.clock = &clock;
    context.counters = &counters;
    context.state_size = &state_size;
  }
};

using MakeOperator = std::function<Result<std::unique_ptr<Operator>>(const OperatorContext&)>;

inline std::unique_ptr<Operator> Made(const MakeOperator& make, const OperatorContext& context) {
  Result<std::unique_ptr<Operator>> made = make(context);
  EXPECT_TRUE(made.ok()) << made.status().ToString();
  return made.ok() ? std::move(*made) : nullptr;
}

inline std::string SnapshotOf(const Operator& op) {
  SnapshotWriter writer;
  EXPECT_TRUE(op.Snapshot(writer).ok());
  return writer.Take();
}

// Runs all rows as one batch, then as single rows, then as single rows with the operator rebuilt
// from its snapshot before each; all three must give the same changelog, which is returned.
inline std::vector<std::string> Changelog(const MakeOperator& make, const Schema& input,
                                          const std::vector<std::string>& lines,
                                          const Bench& like = Bench()) {
  std::vector<std::vector<std::string>> results;
  for (int way = 0; way < 3; ++way) {
    Bench bench;
    bench.context.state_ttl_millis = like.context.state_ttl_millis;
    bench.context.flink_compat = like.context.flink_compat;
    std::unique_ptr<Operator> op = Made(make, bench.context);
    if (!op) return {};
    ScriptCollector out(op->output_schema());
    if (way == 0) {
      const Status status = op->Process(0, Rows(input, lines), out);
      EXPECT_TRUE(status.ok()) << status.ToString();
    } else {
      for (const std::string& line : lines) {
        if (way == 2) {
          const std::string bytes = SnapshotOf(*op);
          op = Made(make, bench.context);
          SnapshotReader reader(bytes);
          const Status restored = op->Restore(reader);
          EXPECT_TRUE(restored.ok()) << restored.ToString();
          EXPECT_EQ(SnapshotOf(*op), bytes);
        }
        const Status status = op->Process(0, Rows(input, {line}), out);
        EXPECT_TRUE(status.ok()) << status.ToString();
      }
    }
    EXPECT_TRUE(op->Advance(0, Time::End(), out).ok());
    results.push_back(out.lines);
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[1], results[2]);
  return results[0];
}

using Lines = std::vector<std::string>;

}  // namespace rowtide
