// What the `datagen` connector puts into a column, by Flink's options `fields.<column>.*`.
//
//   kind      options                      types
//   random    min, max                     numbers
//             length, var-len              STRING, BYTES and their like (hexadecimal digits; bytes)
//             max-past                     timestamps: now, or up to that long ago
//             null-rate                    all
//   sequence  start, end                   numbers and strings; ends with the shortest sequence
//
// A value depends on nothing but the seed, the column and the number of the row (and the clock,
// where it is a time): a restored source goes on with the same values.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "connectors/options.h"
#include "engine/value.h"

namespace rowtide {

class FieldGenerator {
 public:
  virtual ~FieldGenerator() = default;
  // `random`: 64 random bits of this row and column.
  virtual Value Generate(int64_t row, uint64_t random, int64_t now_millis) const = 0;
  // After how many rows it is over.
  virtual std::optional<int64_t> rows() const { return std::nullopt; }
};

// Every option is one of this table's columns, fits its type and goes with the others.
Status CheckDatagenOptions(const TableSpec& table);
// Requires: CheckDatagenOptions was content.
Result<std::unique_ptr<FieldGenerator>> CreateFieldGenerator(const TableSpec& table,
                                                             const Field& field);

// The next of a sequence of well mixed numbers (splitmix64).
uint64_t MixBits(uint64_t bits);

}  // namespace rowtide
