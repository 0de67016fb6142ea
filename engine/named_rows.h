// Rows that go out again and again, the same or with another last column, a number: by name instead
// of by value, to a consumer that remembers what it made of a row.
//
//   insert c at rank 2:   -U b 2   +U c 2   -U d 3   +U b 3
//   names                   7        9        4        7
//
//   7 and 4 are known, only kind and number are new; 9 is not, so it is asked for its values.
//
// Two rows of one name, of this call or of any before it from the same producer, have the same
// values in all columns but the number. A producer has numbers always or never. Who has no use for
// names sees batches of dense columns.
#pragma once

#include <cstdint>
#include <span>

#include "engine/row_batch.h"
#include "engine/status.h"

namespace rowtide {

// Borrowed for a call. The lists are equally long, but for numbers that are not there.
class NamedRows {
 public:
  std::span<const uint64_t> names;  // none is 0
  std::span<const RowKind> kinds;
  std::span<const int64_t> numbers;  // the last column, never NULL; empty where there is none

  // All columns but the number, of those rows; valid during the call. At most 1,024 at once.
  virtual RowBatch Values(std::span<const int32_t> rows) const = 0;

 protected:
  ~NamedRows() = default;
};

class NamedRowsTaker {
 public:
  virtual Status Take(const NamedRows& rows) = 0;

 protected:
  ~NamedRowsTaker() = default;
};

}  // namespace rowtide
