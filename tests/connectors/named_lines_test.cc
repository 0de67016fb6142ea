// Lines of rows by name against lines of whole rows, written row by row.
#include "connectors/named_lines.h"

#include <gtest/gtest.h>

#include <random>

#include "engine/batch_builder.h"
#include "engine/value_text.h"

namespace rowtide {
namespace {

using Row = std::pair<RowKind, std::vector<Value>>;

Schema ValueColumns() {
  return Schema({{"a", Type::BigInt()}, {"s", Type::String()}, {"t", Type::Timestamp(3)}});
}

// A row is what its name says, at any time.
std::vector<Value> ValuesOf(uint64_t name) {
  std::mt19937_64 random(name);
  size_t bytes = random() % 30;
  if (name % 11 == 0)
    bytes = 200 + random() % 200;  // about as long as a place, and too long for it
  if (name % 97 == 0) bytes = 5000;
  std::string text(bytes, static_cast<char>('a' + name % 26));
  if (name % 5 == 0 && !text.empty()) text[name % text.size()] = "\"\\\n\x01\xc3"[name % 5];
  std::vector<Value> values = {static_cast<int64_t>(random()), std::move(text),
                               static_cast<int64_t>(random() % 4000000000000)};
  if (name % 7 == 0) values[name % 3] = {};
  return values;
}

struct MadeUp final : NamedRows {
  std::vector<uint64_t> own_names;
  std::vector<RowKind> own_kinds;
  std::vector<int64_t> own_numbers;
  mutable size_t asked = 0;

  void Add(uint64_t name, RowKind kind, int64_t number) {
    own_names.push_back(name);
    own_kinds.push_back(kind);
    own_numbers.push_back(number);
    names = own_names;
    kinds = own_kinds;
    numbers = own_numbers;
  }
  RowBatch Values(std::span<const int32_t> rows) const override {
    EXPECT_LE(rows.size(), size_t{kBatchRows});
    std::vector<Row> values;
    for (const int32_t row : rows)
      values.emplace_back(RowKind::kInsert, ValuesOf(names[static_cast<size_t>(row)]));
    asked += rows.size();
    return BatchOf(ValueColumns(), values);
  }
};

std::string WholeLine(uint64_t name, RowKind kind, int64_t number) {
  Schema schema = ValueColumns();
  schema.Add({"rn", Type::BigInt().NotNull()});
  std::vector<Value> values = ValuesOf(name);
  values.emplace_back(number);
  std::string line;
  AppendScriptRow(BatchOf(schema, {{kind, values}}), 0, schema, &line);
  return line + "\n";
}

Schema WholeRows() {
  Schema schema = ValueColumns();
  schema.Add({"rn", Type::BigInt().NotNull()});
  return schema;
}

void ExpectLines(NamedLines* lines, const MadeUp& rows) {
  size_t row = 0;
  lines->ForEach(rows, [&](RowKind kind, std::string_view line) {
    ASSERT_LT(row, rows.names.size());
    ASSERT_EQ(kind, rows.kinds[row]);
    ASSERT_EQ(line, WholeLine(rows.names[row], kind, rows.numbers[row])) << rows.names[row];
    ++row;
  });
  EXPECT_EQ(row, rows.names.size());
}

TEST(NamedLines, SameTextAsWholeRows) {
  NamedLines lines(WholeRows(), true);
  std::mt19937_64 random(1);
  for (int step = 0; step < 60; ++step) {
    MadeUp rows;
    // Names near each other, some far behind: those take each other's places.
    for (size_t count = random() % 1500; count > 0; --count) {
      const uint64_t name =
          1 + static_cast<uint64_t>(step) * 500 + random() % 700 + (random() % 20 == 0 ? 2048 : 0);
      const int64_t number = random() % 50 == 0 ? static_cast<int64_t>(random())
                                                : static_cast<int64_t>(random() % 120);
      rows.Add(name, static_cast<RowKind>(random() % 4), number);
    }
    ExpectLines(&lines, rows);
  }
}

TEST(NamedLines, RowsWithoutANumber) {
  NamedLines lines(ValueColumns(), false);
  std::mt19937_64 random(2);
  for (int step = 0; step < 60; ++step) {
    MadeUp rows;
    for (size_t count = random() % 1500; count > 0; --count) {
      const uint64_t name =
          1 + static_cast<uint64_t>(step) * 500 + random() % 700 + (random() % 20 == 0 ? 2048 : 0);
      rows.Add(name, static_cast<RowKind>(random() % 4), 0);
    }
    rows.numbers = {};
    size_t row = 0;
    lines.ForEach(rows, [&](RowKind kind, std::string_view line) {
      std::string expected;
      AppendScriptRow(BatchOf(ValueColumns(), {{kind, ValuesOf(rows.names[row])}}), 0,
                      ValueColumns(), &expected);
      ASSERT_EQ(line, expected + "\n") << rows.names[row];
      ++row;
    });
    EXPECT_EQ(row, rows.names.size());
  }
}

TEST(NamedLines, PlacesTakenInTurns) {
  NamedLines lines(WholeRows(), true);
  MadeUp rows;
  for (int i = 0; i < 300; ++i) {
    rows.Add(1 + 2048 * static_cast<uint64_t>(i % 3), RowKind::kUpdateAfter, i);
    rows.Add(5, RowKind::kUpdateBefore, -i);
  }
  ExpectLines(&lines, rows);
}

TEST(NamedLines, AKnownRowIsNotAskedForAgain) {
  NamedLines lines(WholeRows(), true);
  for (int step = 0; step < 3; ++step) {
    MadeUp rows;
    for (uint64_t name = 1; name < 400; ++name) {
      if (name % 11 != 0 && name % 97 != 0) rows.Add(name, RowKind::kInsert, step);
    }
    ExpectLines(&lines, rows);
    EXPECT_EQ(rows.asked, step == 0 ? rows.names.size() : 0);
  }
}

TEST(NamedLines, TheNumberAlone) {
  struct Bare final : NamedRows {
    RowBatch Values(std::span<const int32_t> rows) const override {
      RowBatch batch;
      batch.rows = static_cast<int>(rows.size());
      return batch;
    }
  } rows;
  const uint64_t names[] = {1, 2, 1};
  const RowKind kinds[] = {RowKind::kInsert, RowKind::kUpdateBefore, RowKind::kDelete};
  const int64_t numbers[] = {1, 10, -7};
  rows.names = names;
  rows.kinds = kinds;
  rows.numbers = numbers;
  NamedLines lines(Schema({{"rn", Type::BigInt()}}), true);
  std::string text;
  lines.ForEach(rows, [&](RowKind, std::string_view line) { text += line; });
  EXPECT_EQ(text, "+I [1]\n-U [10]\n-D [-7]\n");
}

}  // namespace
}  // namespace rowtide
