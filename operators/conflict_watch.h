// Says of each row whose key a Deduplicate has met before whether it is a resend of the kept row,
// byte for byte, or differs from it.
//
//   keep last    o1 created   o1 created   o1 paid        identical 1, duplicate 1
//                (kept)       identical    duplicate, and kept from now on
//
// The operator asks while it has both rows at hand, so most forms need no state for it. Only where
// the first row is out and gone, the operator keeps a note in the entry of the key:
//
//   note   | row time: i64 | digest: u64 | the row, where samples are written |
//
// Notes are in the snapshot of a watched operator alone. One that does not watch drops them at
// Restore; one that watches counts rows of keys without a note as `uncompared`. So
// rows in = keys + identical + duplicate + uncompared + late. Of a bundle that keeps one row a key,
// what it leaves out is compared with what it keeps, and that with the kept row. Made on request
// only (--stats, rowtide.conflicts.<view>). Samples also name the places of both rows where they
// came from files; those of kept rows are memory of the watch, and no part of a snapshot.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "engine/operator.h"
#include "state/key_codec.h"
#include "state/row_codec.h"
#include "state/row_writer.h"
#include "state/value_state.h"

namespace rowtide {

// Where samples of rows that differ go, a line of JSON each.
class ConflictLog {
 public:
  virtual ~ConflictLog() = default;
  virtual Status Write(const std::string& line) = 0;
};

inline constexpr int64_t kConflictSamplesMax = 10000;  // per node; all are counted

class ConflictWatch {
 public:
  // `log` null: counting only.
  ConflictWatch(const Schema& schema, std::vector<int> keys, std::unique_ptr<ConflictLog> log,
                Counters* counters);

  // Borrows both until the next Begin. Rows are then named by their number.
  void Begin(const RowBatch& batch, const KeyBatch& keys);
  // `differs`: the caller knows that they do, by their row times.
  void MeetsStored(int row, std::string_view kept, bool differs) {
    if (differs && !log_) {
      ++*duplicates_;
    } else {
      CompareStored(row, kept, differs);
    }
  }
  void MeetsEarlier(int row, int kept_row, bool differs) {
    if (differs && !log_) {
      ++*duplicates_;
    } else {
      MeetsStored(row, Encode(kept_row, &kept_bytes_), differs);
    }
  }
  void MeetsNote(int row, std::string_view note, int64_t millis);
  // The row is what its key keeps from now on.
  void Keeps(int row) {
    if (log_) RememberPlace(row);
  }

  // No samples are written: rows that surely differ need not be shown, only counted.
  bool counts_only() const { return log_ == nullptr; }
  void CountDifferent(int64_t rows) { *duplicates_ += rows; }

  // The same for rows of bundles.
  void Meets(std::string_view row, std::string_view kept, bool differs);
  void MeetsNote(std::string_view row, std::string_view note, int64_t millis) {
    CompareNote(row, note, millis, kNoNumber);
  }
  void CountUncompared(int64_t rows) { *uncompared_ += rows; }

  // --- notes ---
  size_t NoteBytes(size_t row_bytes) const { return sizeof(Note) + (log_ ? row_bytes : 0); }
  // Valid until the next call.
  std::string_view NoteOf(std::string_view row, int64_t millis);
  std::string_view NoteOf(int row, int64_t millis) {
    return NoteOf(Encode(row, &row_bytes_), millis);
  }

  // That a sample could not be written.
  const Status& status() const { return status_; }

 private:
  struct Note {
    int64_t millis;
    uint64_t digest;
  };

  static constexpr int kNoNumber = -1;  // of a row that is in no batch at hand

  std::string_view Encode(int row, std::string* bytes);
  void CompareStored(int row, std::string_view kept, bool differs);
  void CompareNote(std::string_view row, std::string_view note, int64_t millis, int number);
  void RememberPlace(int row);
  // `number`: of the row in the batch. No kept row: only its digest is known.
  void Write(std::string_view row, std::optional<std::string_view> kept, int number);
  void AppendRow(std::string_view row, std::string* line) const;
  void AppendField(int column, std::string_view row, bool follows, std::string* line) const;

  const Schema schema_;
  const std::vector<int> keys_;
  std::unique_ptr<ConflictLog> log_;
  int64_t* identical_;
  int64_t* duplicates_;
  int64_t* uncompared_;
  RowCodec codec_;
  RowWriter writer_;
  const RowBatch* batch_ = nullptr;
  const KeyBatch* key_batch_ = nullptr;
  std::unordered_map<std::string, std::string> kept_places_;  // by key; with a log only
  int64_t samples_ = 0;
  Status status_;
  std::string kept_bytes_;
  std::string row_bytes_;
  std::string note_;
};

// The entries of a form that notes: `watch` null drops notes at Restore.
class NotedKeys final : public StatePart {
 public:
  NotedKeys(ValueState* state, const ConflictWatch* watch) : state_(state), watch_(watch) {}
  void Snapshot(SnapshotWriter& writer) const override { state_->Snapshot(writer); }
  Status Restore(SnapshotReader& reader) override;
  Status Merge(SnapshotReader& reader) override;

 private:
  ValueState* state_;
  const ConflictWatch* watch_;
};

// kCorruption unless it is one.
Status CheckNote(std::string_view note);

}  // namespace rowtide
