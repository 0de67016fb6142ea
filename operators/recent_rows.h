// The rows that were put into ordered state or read from it lately, by the place where they lie in
// it: copies of their bytes that outlive the place, and names for those who take rows by name.
//
//   Put(row at 0x40)    ->   copy, name 7     just written, so it gets a new name
//   Of(row at 0x40)     ->   copy, name 7     no look at the row itself
//   Of(row at 0x80)     ->   copy, name 8     not known, or no longer: copied
//
// 2,048 rows are known at most, those whose copies lie in the newest blocks. Copies are valid until
// the next Trim. A place is used again when its row is gone, so every row that is written has to be
// put here; Follow finds out when others were written (a restore, rows that come back from
// elsewhere) and forgets all. No name is given twice.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "engine/row_batch.h"
#include "state/ordered_state.h"

namespace rowtide {

class RecentRows {
 public:
  static constexpr size_t kRows = 2048;

  struct Copy {
    const char* bytes;
    uint64_t name;
  };

  // Borrows the state.
  explicit RecentRows(const OrderedState* state)
      : state_(state), rows_(kRows), numbers_(size_t{1} << kHashBits) {}

  Copy Of(const OrderedState::Cursor& row) {
    const Row& known = rows_.data()[numbers_.data()[HashOf(row.place())]];
    if (known.place == row.place() && known.copy.name >= first_name_) return known.copy;
    return CopyOf(row);
  }
  bool Knows(const char* place) const {
    const Row& known = rows_.data()[numbers_.data()[HashOf(place)]];
    return known.place == place && known.copy.name >= first_name_;
  }
  Copy Put(const OrderedState::Cursor& row) {
    ++written_;
    return CopyOf(row);
  }
  // Requires: called before rows are asked for when others may have written some.
  void Follow();
  // Gives up old copies.
  void Trim();

 private:
  static constexpr int kHashBits = 14;
  static constexpr size_t kKeptBlocks = 12;
  static constexpr size_t kBlockBytes = size_t{64} << 10;

  struct Row {
    const char* place = nullptr;
    Copy copy{nullptr, 0};
  };
  struct CopyBlock {
    std::unique_ptr<Block> bytes;
    uint64_t first_name;
  };

  static size_t HashOf(const char* place) {
    return reinterpret_cast<uintptr_t>(place) * 0x9e3779b97f4a7c15 >> (64 - kHashBits);
  }
  Copy CopyOf(const OrderedState::Cursor& row);
  char* Room(size_t bytes);

  const OrderedState* state_;
  uint64_t written_ = 0;           // rows of the state, as far as they are known here
  std::vector<Row> rows_;          // by the lowest bits of the name
  std::vector<uint16_t> numbers_;  // by the hash of the place: where in `rows_`
  uint64_t next_name_ = 1;
  uint64_t first_name_ = 1;  // that is still good
  std::deque<CopyBlock> blocks_;
  char* next_ = nullptr;
  size_t left_ = 0;
};

}  // namespace rowtide
