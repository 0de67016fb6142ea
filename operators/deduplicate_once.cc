#include <algorithm>

#include "operators/deduplicate.h"
#include "operators/keyed_operator.h"
#include "operators/null_keys.h"
#include "operators/output_rows.h"
#include "operators/row_times.h"
#include "operators/shown_rows.h"
#include "state/key_codec.h"
#include "state/key_groups.h"
#include "state/row_codec.h"
#include "state/row_log.h"
#include "state/row_writer.h"
#include "state/timers.h"
#include "state/value_state.h"

namespace rowtide {
namespace {

// The first row of a key, once: it waits until the watermark has passed it (6.7).
//
//   entry of a key   the number of what waits, as a mark   ->   empty: the first row is out; where
//                                                               it is watched: a note
//   waiting_         number   due   sequence   row   entry      owned by its timer
//   rows_            the rows, in the order in which they came, which is nearly that of leaving
//
// What was replaced by an earlier row stays in `waiting_` until its timer comes up, and is passed
// over then. Neither arrival nor leaving touches more of the state than the entry of the key.
class RowtimeFirstOnce final : public KeyedOperator {
 public:
  RowtimeFirstOnce(const DeduplicateSpec& spec, const OperatorContext& context,
                   std::unique_ptr<ConflictWatch> watch)
      : KeyedOperator("DeduplicateRowtimeFirstOnce", spec.schema),
        schema_(spec.schema),
        key_codec_(spec.schema, spec.keys, context.flink_compat),
        row_codec_(spec.schema),
        writer_(row_codec_),
        times_(spec.schema, spec.order_column),
        keys_state_(context),
        rows_(context.state_size),
        state_size_(context.state_size),
        output_(&row_codec_, false),
        watch_(std::move(watch)),
        keys_of_rows_(spec.keys),
        null_keys_(context.counters->Find("null_key")),
        late_(context.counters->Find("late")),
        duplicates_(context.counters->Find("duplicate")) {
    if (watch_) keys_state_.ExpectValues(watch_->NoteBytes(0));
    keys_state_.CheckValues(CheckNote);
    Register(&part_);
  }

  ~RowtimeFirstOnce() override { Forget(); }

  Status Process(int /*input*/, const RowBatch& batch, Collector& /*out*/) override {
    RT_TRY(CheckInsertOnly(batch, "Deduplicate"));
    RT_TRY(times_.Read(batch, &row_times_));
    RT_TRY(key_codec_.Encode(batch, &keys_));
    *null_keys_ += CountNullKeys(batch, keys_of_rows_);
    groups_.Fold(keys_);
    RT_TRY(keys_state_.FindOrCreate(keys_, groups_.first_rows(), &entries_));
    FindEarliest();
    if (watch_) watch_->Begin(batch, keys_);
    ChooseEarliest(batch.rows);
    RT_TRY(StoreEarliest(batch));
    if (rows_.wasteful()) MoveRows();
    return watch_ ? watch_->status() : Status::Ok();
  }

  ShownStates Shown() override {
    ShownStates shown;
    shown.push_back(ShowKeys({"keys", schema_, key_codec_, {}}, &keys_state_));
    shown.push_back(
        ShowEntries<ValueState>({"waiting", schema_, key_codec_, schema_}, &keys_state_,
                                [this](Entry entry, ShownRows& rows) -> Status {
                                  if (!keys_state_.Has(entry) || !keys_state_.IsMarked(entry))
                                    return Status::Ok();
                                  RT_ASSIGN(BatchBuilder* const builder, rows.BeginRow());
                                  row_codec_.AppendTo(WaitingOf(entry).row.bytes, builder);
                                  return Status::Ok();
                                }));
    return shown;
  }

  Status Advance(int /*input*/, Time time, Collector& out) override {
    if (time.kind == Time::Kind::kWatermark && time.millis > watermark_) {
      watermark_ = time.millis;
      while (timers_.HasDue(time.millis)) RT_TRY(EmitDue(out));
    }
    return out.Advance(time);
  }

 private:
  static constexpr Arena::Ref kReplaced = 0;
  struct Waiting {
    int64_t due_millis;
    uint64_t sequence;
    RowLog::Row row;
    Arena::Ref entry;  // where it lies; kReplaced: another row waits for the key
  };

  // The earliest row of a key so far: one of the batch, the one that waits, or none; or it is out.
  struct Earliest {
    static constexpr int32_t kNone = -1;
    static constexpr int32_t kWaits = -2;
    static constexpr int32_t kIsOut = -3;
    int32_t row;
    int64_t millis;
    uint64_t sequence;
  };

  void FindEarliest() {
    earliest_.resize(entries_.size());
    for (size_t group = 0; group < entries_.size(); ++group) {
      const Entry entry = entries_[group];
      if (!keys_state_.Has(entry)) {
        earliest_[group] = {Earliest::kNone, 0, 0};
      } else if (!keys_state_.IsMarked(entry)) {
        earliest_[group] = {Earliest::kIsOut, 0, 0};
      } else {
        const Waiting& waiting = WaitingOf(entry);
        earliest_[group] = {Earliest::kWaits, waiting.due_millis, waiting.sequence};
      }
    }
  }

  // A key has its number from its first row that is not late, whichever row goes out in the end.
  void ChooseEarliest(int rows) {
    int64_t late = 0, duplicates = 0;
    for (int32_t row = 0; row < rows; ++row) {
      const int64_t millis = row_times_[static_cast<size_t>(row)];
      Earliest& earliest = earliest_[static_cast<size_t>(groups_.of(row))];
      if (millis < watermark_) {
        ++late;
      } else if (earliest.row == Earliest::kNone) {
        earliest = {row, millis, next_sequence_++};
        if (watch_) watch_->Keeps(row);
      } else {
        ++duplicates;
        if (watch_) Watch(row, millis, earliest);
        if (earliest.row == Earliest::kIsOut || millis >= earliest.millis) continue;
        earliest.row = row;
        earliest.millis = millis;
        if (watch_) watch_->Keeps(row);
      }
    }
    *late_ += late;
    if (!watch_) *duplicates_ += duplicates;
  }

  void Watch(int32_t row, int64_t millis, const Earliest& earliest) {
    const Entry entry = entries_[static_cast<size_t>(groups_.of(row))];
    if (earliest.row == Earliest::kIsOut) {
      watch_->MeetsNote(row, keys_state_.Value(entry), millis);
    } else if (earliest.row == Earliest::kWaits) {
      watch_->MeetsStored(row, WaitingOf(entry).row.view(), millis != earliest.millis);
    } else {
      watch_->MeetsEarlier(row, earliest.row, millis != earliest.millis);
    }
  }

  Status StoreEarliest(const RowBatch& batch) {
    writer_.Bind(batch);
    for (size_t group = 0; group < entries_.size(); ++group) {
      const Earliest& earliest = earliest_[group];
      if (earliest.row < 0) continue;
      const Entry entry = entries_[group];
      const size_t size = writer_.SizeOf(earliest.row);
      RT_TRY(CheckRowSize(size));
      if (keys_state_.Has(entry)) Replace(WaitingOf(entry));
      const RowLog::Row place = AddWaiting(entry, earliest.millis, earliest.sequence, size);
      writer_.Write(earliest.row, place.bytes);
    }
    return Status::Ok();
  }

  // Numbers of what waits are used again; chunks of them stay where they are.
  static constexpr uint32_t kChunk = 4096;
  Waiting& At(uint64_t number) { return chunks_[number / kChunk][number % kChunk]; }
  Waiting& WaitingOf(Entry entry) { return At(keys_state_.Mark(entry)); }

  uint32_t NewNumber() {
    if (free_numbers_.empty()) {
      const auto first = static_cast<uint32_t>(chunks_.size()) * kChunk;
      RT_CHECK(first + kChunk <= ValueState::kMarksMax);
      chunks_.push_back(std::make_unique<Waiting[]>(kChunk));
      for (uint32_t i = kChunk; i > 0; --i) free_numbers_.push_back(first + i - 1);
    }
    const uint32_t number = free_numbers_.back();
    free_numbers_.pop_back();
    return number;
  }

  // Room for a row that waits for the entry's key, and its timer. The row is left to the caller.
  RowLog::Row AddWaiting(Entry entry, int64_t millis, uint64_t sequence, size_t row_size) {
    const RowLog::Row row = rows_.Append(row_size);
    const uint32_t number = NewNumber();
    At(number) = {millis, sequence, row, keys_state_.PlaceOf(entry)};
    keys_state_.SetMark(entry, number);  // the TTL begins when the row is out
    timers_.Add({millis, sequence, number});
    state_size_->bytes += kWaitingBytes;
    return row;
  }

  void Replace(Waiting& waiting) {
    rows_.Release(waiting.row);
    waiting.entry = kReplaced;
  }

  // Rows that stay long have kept too many blocks.
  void MoveRows() {
    RowLog moved(state_size_);
    for (const std::unique_ptr<Waiting[]>& chunk : chunks_) {
      for (Waiting& waiting : std::span(chunk.get(), kChunk)) {
        if (waiting.entry == kReplaced) continue;
        const RowLog::Row row = moved.Append(waiting.row.size);
        std::memcpy(row.bytes, waiting.row.bytes, row.size);
        waiting.row = row;
      }
    }
    rows_.Swap(moved);
  }

  // Up to a batch of rows whose time has come.
  Status EmitDue(Collector& out) {
    due_.clear();
    while (timers_.HasDue(watermark_) && due_.size() < size_t{kBatchRows}) {
      due_.push_back(static_cast<uint32_t>(timers_.PopFirst().payload));
      __builtin_prefetch(&At(due_.back()));
    }
    for (const uint32_t number : due_) {
      if (At(number).entry != kReplaced) keys_state_.PrefetchPlace(At(number).entry);
    }
    if (watch_) RT_TRY(LeaveNotes());
    keys_state_.ReadClock();
    const Block* kept = nullptr;
    for (const uint32_t number : due_) {
      Waiting& waiting = At(number);
      free_numbers_.push_back(number);
      state_size_->bytes -= kWaitingBytes;
      if (waiting.entry == kReplaced) continue;
      const BlockPointer& block = rows_.BlockOf(waiting.row);
      if (block.get() != kept) output_.Keep(block);
      kept = block.get();
      output_.Add(RowKind::kInsert, waiting.row.bytes);
      rows_.Release(waiting.row);
      if (!watch_) keys_state_.EndMarkAt(waiting.entry);
      waiting.entry = kReplaced;
    }
    return output_.FlushTo(out);
  }

  // In place of the marks of the rows that are due.
  Status LeaveNotes() {
    keys_.Clear();
    for (const uint32_t number : due_) {
      if (At(number).entry != kReplaced) keys_.Add(keys_state_.KeyAt(At(number).entry));
    }
    RT_TRY(keys_state_.FindOrCreate(keys_, &entries_));
    size_t i = 0;
    for (const uint32_t number : due_) {
      const Waiting& waiting = At(number);
      if (waiting.entry == kReplaced) continue;
      keys_state_.Assign(entries_[i++], watch_->NoteOf(waiting.row.view(), waiting.due_millis));
    }
    return Status::Ok();
  }

  // --- snapshot ---

  static constexpr uint8_t kOut = 0, kWaiting = 1, kOutWithNote = 2;

  void Write(SnapshotWriter& writer) const {
    writer.PutI64(watermark_);
    writer.PutU64(next_sequence_);
    auto& self = const_cast<RowtimeFirstOnce&>(*this);
    keys_state_.SnapshotWith(writer, [&self](Entry entry, SnapshotWriter& to) {
      if (self.keys_state_.IsMarked(entry)) {
        const Waiting& waiting = self.WaitingOf(entry);
        to.PutU8(kWaiting);
        to.PutI64(waiting.due_millis);
        to.PutU64(waiting.sequence);
        to.PutBytes(waiting.row.view());
        return;
      }
      const std::string_view note = self.keys_state_.Value(entry);
      to.PutU8(note.empty() ? kOut : kOutWithNote);
      if (!note.empty()) to.PutBytes(note);
    });
  }

  Status Read(SnapshotReader& reader) {
    Forget();
    keys_state_.Clear();
    watermark_ = Time::kMaxWatermark;
    next_sequence_ = 0;
    return Add(reader);
  }

  Status Add(SnapshotReader& reader) {
    RT_ASSIGN(const int64_t watermark, reader.I64("watermark"));
    RT_ASSIGN(const uint64_t next_sequence, reader.U64("next arrival"));
    watermark_ = std::min(watermark_, watermark);
    next_sequence_ = std::max(next_sequence_, next_sequence);
    return keys_state_.MergeWith(reader, [this](SnapshotReader& from, Entry entry) {
      RT_ASSIGN(const uint8_t form, from.U8("form"));
      std::string_view note;
      if (form == kOutWithNote) {
        RT_ASSIGN(note, from.Bytes("note"));
        RT_TRY(CheckNote(note));
      }
      if (form != kWaiting) {
        if (entry) keys_state_.Assign(entry, watch_ ? note : std::string_view());
        return Status::Ok();
      }
      RT_ASSIGN(const int64_t millis, from.I64("due"));
      RT_ASSIGN(const uint64_t sequence, from.U64("arrival"));
      RT_ASSIGN(const std::string_view row, from.Bytes("row"));
      RT_TRY(row_codec_.Check(row));
      if (!entry) return Status::Ok();
      const RowLog::Row place = AddWaiting(entry, millis, sequence, row.size());
      std::memcpy(place.bytes, row.data(), row.size());
      return Status::Ok();
    });
  }

  void Forget() {
    timers_.Clear();
    rows_.Clear();
    state_size_->bytes -=
        kWaitingBytes * static_cast<int64_t>(chunks_.size() * kChunk - free_numbers_.size());
    chunks_.clear();
    free_numbers_.clear();
  }

  struct Part final : StatePart {
    explicit Part(RowtimeFirstOnce* of) : owner(of) {}
    void Snapshot(SnapshotWriter& writer) const override { owner->Write(writer); }
    Status Restore(SnapshotReader& reader) override { return owner->Read(reader); }
    Status Merge(SnapshotReader& reader) override { return owner->Add(reader); }
    RowtimeFirstOnce* owner;
  };

  Part part_{this};
  const Schema schema_;
  KeyCodec key_codec_;
  RowCodec row_codec_;
  RowWriter writer_;
  RowTimes times_;
  ValueState keys_state_;
  static constexpr int64_t kWaitingBytes = sizeof(Waiting) + sizeof(TimerQueue::Timer);
  std::vector<std::unique_ptr<Waiting[]>> chunks_;
  std::vector<uint32_t> free_numbers_;
  RowLog rows_;
  StateSize* state_size_;
  TimerQueue timers_;
  int64_t watermark_ = Time::kNoWatermark;
  uint64_t next_sequence_ = 0;  // of the next key's first arrival
  OutputRows output_;
  std::unique_ptr<ConflictWatch> watch_;  // null: not watched
  std::vector<int> keys_of_rows_;
  int64_t* null_keys_;
  int64_t* late_;
  int64_t* duplicates_;
  KeyBatch keys_;
  KeyGroups groups_;
  std::vector<Entry> entries_;
  std::vector<Earliest> earliest_;
  std::vector<int64_t> row_times_;
  std::vector<uint32_t> due_;  // numbers of what waits
};

}  // namespace

std::unique_ptr<Operator> CreateRowtimeFirstOnce(const DeduplicateSpec& spec,
                                                 const OperatorContext& context,
                                                 std::unique_ptr<ConflictWatch> watch) {
  return std::make_unique<RowtimeFirstOnce>(spec, context, std::move(watch));
}

}  // namespace rowtide
