// Keys as bytes: of groups (equal iff the values are equal) and of sort orders (memcmp orders as
// ORDER BY does).
//
//   group key, fixed widths   | v1 | v2 |               no value is NULL: exactly the widths
//                             | v1 | v2 | null bits |   some value is: its bytes are zero
//   group key with strings    | null bits | v1 | length: u32 | bytes | ...
//   sort key, per column      | marker, if it may be NULL | big-endian value, sign flipped |
//                             strings: 00 -> 00 FF, closed by 00 00; DESC: value bytes inverted
//
// Canonical: -0.0 is 0.0 and there is one NaN, which sorts last. NULL's place does not turn with
// DESC. Sort keys are prefix-free within one codec, so a short one padded with zeros still compares
// right; group keys are not, so a store that puts something behind one writes its length first.
// One lane; not thread-safe.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/row_batch.h"
#include "engine/schema.h"
#include "engine/status.h"
#include "engine/value.h"
#include "state/byte_buffer.h"

namespace rowtide {

uint64_t HashBytes(std::string_view bytes);
inline constexpr uint32_t kKeyBytesMax = (1u << 24) - 1;

// Without a call for keys of two BIGINTs.
inline bool EqualKeys(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  if (a.size() == 16) {
    uint64_t of_a[2], of_b[2];
    std::memcpy(of_a, a.data(), 16);
    std::memcpy(of_b, b.data(), 16);
    return ((of_a[0] ^ of_b[0]) | (of_a[1] ^ of_b[1])) == 0;
  }
  return std::memcmp(a.data(), b.data(), a.size()) == 0;
}

// The keys of the rows of a batch: contiguous bytes, where each begins, a 64-bit hash of each.
// Reused between batches.
class KeyBatch {
 public:
  int rows() const { return rows_; }
  std::string_view key(int row) const {
    const uint32_t* const begins = begins_.data() + row;  // the index is not checked for each row
    return {bytes_.data() + begins[0], begins[1] - begins[0]};
  }
  uint64_t hash(int row) const { return hashes_.data()[row]; }
  const uint64_t* hashes() const { return hashes_.data(); }

  void Clear() {
    rows_ = 0;
    begins_.assign(1, 0);
    hashes_.clear();
  }
  // Appends a key that is already encoded: timers and bundles.
  void Add(std::string_view key, uint64_t hash);
  void Add(std::string_view key) { Add(key, HashBytes(key)); }

 private:
  friend class KeyCodec;
  int rows_ = 0;
  ByteBuffer bytes_;
  std::vector<uint32_t> begins_ = {0};  // rows + 1
  std::vector<uint64_t> hashes_;
};

class KeyCodec {
 public:
  // `separate_zeros`: -0.0 and 0.0 are two keys, as in Flink (flink-rank-dedup.md 15.9, compat).
  KeyCodec(const Schema& schema, std::vector<int> columns, bool separate_zeros = false);

  // The keys of all rows of the batch. Fails when a key is longer than kKeyBytesMax.
  Status Encode(const RowBatch& batch, KeyBatch* keys) const;
  // The values of one key, by column. kCorruption: it is no key of this codec.
  Result<std::vector<Value>> Decode(std::string_view key) const;
  const std::vector<int>& columns() const { return columns_; }
  // The same keys, of rows that have their columns alone.
  KeyCodec Alone(const Schema& keys) const;

 private:
  struct Part {
    int column;
    Layout layout;
    uint32_t width;
    Type type;
  };
  void EncodeFixed(const RowBatch& batch, KeyBatch* keys) const;
  void EncodeWithNulls(const RowBatch& batch, KeyBatch* keys) const;
  Status EncodeWithStrings(const RowBatch& batch, KeyBatch* keys) const;
  void PutValue(const Column& column, int row, const Part& part, char* to) const;

  std::vector<int> columns_;
  std::vector<Part> parts_;
  uint32_t fixed_width_ = 0;
  uint32_t null_bytes_ = 0;
  bool has_strings_ = false;
  bool separate_zeros_;
};

// One column of a sort order. `arrival` stands for a PROCTIME column: its value is the number of
// the row.
struct SortField {
  int column = 0;
  bool descending = false;
  bool nulls_first = true;
  bool arrival = false;
};

// The first 16 bytes of a sort key as a number, zero padded: decides nearly every comparison.
using SortPrefix = unsigned __int128;
SortPrefix SortPrefixOf(std::string_view key);

// A sort key with its prefix, as the ordered state takes it. Borrows the bytes.
struct SortKeyView {
  SortPrefix prefix = 0;
  std::string_view bytes;
};

class SortKeyBatch {
 public:
  std::string_view key(int row) const {
    const uint32_t* const begins = begins_.data() + row;
    return {bytes_.data() + begins[0], begins[1] - begins[0]};
  }
  SortPrefix prefix(int row) const { return prefixes_.data()[row]; }
  SortKeyView view(int row) const { return {prefix(row), key(row)}; }

 private:
  friend class SortKeyCodec;
  ByteBuffer bytes_;
  std::vector<uint32_t> begins_ = {0};
  std::vector<SortPrefix> prefixes_;
};

class SortKeyCodec {
 public:
  SortKeyCodec(const Schema& schema, std::vector<SortField> fields);

  // `first_arrival`: the number of the batch's first row, for `arrival` fields.
  void Encode(const RowBatch& batch, uint64_t first_arrival, SortKeyBatch* keys) const;
  // The values of one key, by field. Requires: no `arrival` fields.
  Result<std::vector<Value>> Decode(std::string_view key) const;
  const std::vector<SortField>& fields() const { return fields_; }

 private:
  struct Part {
    SortField field;
    Layout layout;
    bool may_be_null;
    uint32_t width;  // of the value, 0 for strings
    Type type;
  };
  void EncodeFixed(const RowBatch& batch, uint64_t first_arrival, SortKeyBatch* keys) const;
  void EncodeWithStrings(const RowBatch& batch, uint64_t first_arrival, SortKeyBatch* keys) const;

  std::vector<SortField> fields_;
  std::vector<Part> parts_;
  uint32_t fixed_width_ = 0;
  bool has_strings_ = false;
};

}  // namespace rowtide
