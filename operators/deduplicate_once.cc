#include "operators/deduplicate.h"
#include "operators/keyed_operator.h"
#include "operators/null_keys.h"
#include "operators/output_rows.h"
#include "operators/row_times.h"
#include "state/key_codec.h"
#include "state/key_groups.h"
#include "state/row_codec.h"
#include "state/row_writer.h"
#include "state/timers.h"
#include "state/value_state.h"

namespace rowtide {
namespace {

// The first row of a key, once: it waits until the watermark has passed it (6.7).
//
//   entry of a key    reference of the waiting record (8 bytes)   ->   empty: the first row is out;
//                                                                      where it is watched: a note
//   waiting record    | due | sequence | hash | live | key size | key | row |   owned by its timer
//
// A record whose row was replaced by an earlier one stays until its timer comes up, and is passed
// over then.
class RowtimeFirstOnce final : public KeyedOperator {
 public:
  RowtimeFirstOnce(const DeduplicateSpec& spec, const OperatorContext& context,
                   std::unique_ptr<ConflictWatch> watch)
      : KeyedOperator("DeduplicateRowtimeFirstOnce", spec.schema),
        key_codec_(spec.schema, spec.keys, context.flink_compat),
        row_codec_(spec.schema),
        writer_(row_codec_),
        times_(spec.schema, spec.order_column),
        keys_state_(context),
        output_(&row_codec_, false),
        watch_(std::move(watch)),
        keys_of_rows_(spec.keys),
        null_keys_(context.counters->Find("null_key")),
        late_(context.counters->Find("late")),
        duplicates_(context.counters->Find("duplicate")) {
    keys_state_.ExpectValues(watch_ ? watch_->NoteBytes(0) : sizeof(Arena::Ref));
    Register(&part_);
  }

  Status Process(int /*input*/, const RowBatch& batch, Collector& /*out*/) override {
    RT_TRY(CheckInsertOnly(batch, "Deduplicate"));
    RT_TRY(times_.Read(batch, &row_times_));
    RT_TRY(key_codec_.Encode(batch, &keys_));
    *null_keys_ += CountNullKeys(batch, keys_of_rows_);
    groups_.Fold(keys_);
    keys_state_.FindOrCreate(keys_, groups_.first_rows(), &entries_);
    FindEarliest();
    if (watch_) watch_->Begin(batch, keys_);
    ChooseEarliest(batch.rows);
    RT_TRY(StoreEarliest(batch));
    return watch_ ? watch_->status() : Status::Ok();
  }

  Status Advance(int /*input*/, Time time, Collector& out) override {
    if (time.kind == Time::Kind::kWatermark && time.millis > watermark_) {
      watermark_ = time.millis;
      while (timers_.HasDue(time.millis)) RT_TRY(EmitDue(out));
    }
    return out.Advance(time);
  }

 private:
  struct Waiting {
    int64_t due_millis;
    uint64_t sequence;
    uint64_t hash;
    uint32_t live;
    uint32_t key_size;
    uint64_t row_size;
    char bytes[];

    std::string_view key() const { return {bytes, key_size}; }
    std::string_view row() const { return {bytes + key_size, row_size}; }
    size_t size() const { return sizeof(Waiting) + key_size + row_size; }
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
      } else if (!Waits(keys_state_.Value(entry))) {
        earliest_[group] = {Earliest::kIsOut, 0, 0};
      } else {
        const Waiting* waiting = WaitingOf(entry);
        earliest_[group] = {Earliest::kWaits, waiting->due_millis, waiting->sequence};
      }
    }
  }

  static bool Waits(std::string_view value) { return value.size() == sizeof(Arena::Ref); }

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
      watch_->MeetsStored(row, WaitingOf(entry)->row(), millis != earliest.millis);
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
      if (keys_state_.Has(entry)) WaitingOf(entry)->live = 0;
      Waiting* const waiting =
          AddWaiting(entry, keys_.hash(earliest.row), earliest.millis, earliest.sequence, size);
      writer_.Write(earliest.row, waiting->bytes + waiting->key_size);
    }
    return Status::Ok();
  }

  Waiting* At(Arena::Ref ref) { return reinterpret_cast<Waiting*>(keys_state_.arena().At(ref)); }
  Waiting* WaitingOf(Entry entry) { return At(*keys_state_.DataAs<Arena::Ref>(entry)); }

  // A record for the entry's key with room for a row, and its timer. The row is left to the caller.
  Waiting* AddWaiting(Entry entry, uint64_t hash, int64_t millis, uint64_t sequence,
                      size_t row_size) {
    const std::string_view key = keys_state_.Key(entry);
    const Arena::Ref ref = keys_state_.arena().Allocate(sizeof(Waiting) + key.size() + row_size);
    Waiting* waiting = At(ref);
    *waiting = {millis, sequence, hash, 1, static_cast<uint32_t>(key.size()), row_size};
    if (!key.empty()) std::memcpy(waiting->bytes, key.data(), key.size());
    std::memcpy(keys_state_.Assign(entry, sizeof(ref)), &ref, sizeof(ref));
    keys_state_.KeepForever(entry);  // the TTL begins when the row is out
    timers_.Add({millis, sequence, ref});
    return waiting;
  }

  // Up to a batch of rows whose time has come.
  Status EmitDue(Collector& out) {
    due_.clear();
    while (timers_.HasDue(watermark_) && due_.size() < size_t{kBatchRows}) {
      due_.push_back(timers_.PopFirst().payload);
      const char* record = keys_state_.arena().At(due_.back());
      for (int line = 0; line < 4; ++line) __builtin_prefetch(record + 64 * line);
    }
    keys_.Clear();
    out_.clear();
    for (const Arena::Ref ref : due_) {
      const Waiting* waiting = At(ref);
      if (waiting->live != 0) {
        const char* const copy = output_.AddCopy(RowKind::kInsert, waiting->row());
        if (watch_) out_.push_back({{copy, waiting->row_size}, waiting->due_millis});
        keys_.Add(waiting->key(), waiting->hash);
      }
      keys_state_.arena().Free(ref, Arena::ClassOf(waiting->size()));
    }
    keys_state_.FindOrCreate(keys_, &entries_);
    for (size_t i = 0; i < entries_.size(); ++i) {
      keys_state_.AssignCompact(
          entries_[i], watch_ ? watch_->NoteOf(out_[i].row, out_[i].millis) : std::string_view());
    }
    return output_.FlushTo(out);
  }

  // --- snapshot ---

  static constexpr uint8_t kOut = 0, kWaiting = 1, kOutWithNote = 2;

  void Write(SnapshotWriter& writer) const {
    writer.PutI64(watermark_);
    writer.PutU64(next_sequence_);
    auto& self = const_cast<RowtimeFirstOnce&>(*this);
    keys_state_.SnapshotWith(writer, [&self](std::string_view value, SnapshotWriter& to) {
      to.PutU8(value.empty() ? kOut : Waits(value) ? kWaiting : kOutWithNote);
      if (!value.empty() && !Waits(value)) to.PutBytes(value);
      if (!Waits(value)) return;
      Arena::Ref ref;
      std::memcpy(&ref, value.data(), sizeof(ref));
      const Waiting* waiting = self.At(ref);
      to.PutI64(waiting->due_millis);
      to.PutU64(waiting->sequence);
      to.PutBytes(waiting->row());
    });
  }

  Status Read(SnapshotReader& reader) {
    timers_.Clear();
    RT_ASSIGN(watermark_, reader.I64("watermark"));
    RT_ASSIGN(next_sequence_, reader.U64("next arrival"));
    return keys_state_.RestoreWith(reader, [this](SnapshotReader& from, Entry entry) {
      RT_ASSIGN(const uint8_t form, from.U8("form"));
      std::string_view note;
      if (form == kOutWithNote) {
        RT_ASSIGN(note, from.Bytes("note"));
        RT_TRY(CheckNote(note));
      }
      if (form != kWaiting) {
        keys_state_.Assign(entry, watch_ ? note : std::string_view());
        return Status::Ok();
      }
      RT_ASSIGN(const int64_t millis, from.I64("due"));
      RT_ASSIGN(const uint64_t sequence, from.U64("arrival"));
      RT_ASSIGN(const std::string_view row, from.Bytes("row"));
      Waiting* waiting =
          AddWaiting(entry, HashBytes(keys_state_.Key(entry)), millis, sequence, row.size());
      std::memcpy(waiting->bytes + waiting->key_size, row.data(), row.size());
      return Status::Ok();
    });
  }

  struct Part final : StatePart {
    explicit Part(RowtimeFirstOnce* of) : owner(of) {}
    void Snapshot(SnapshotWriter& writer) const override { owner->Write(writer); }
    Status Restore(SnapshotReader& reader) override { return owner->Read(reader); }
    RowtimeFirstOnce* owner;
  };

  Part part_{this};
  KeyCodec key_codec_;
  RowCodec row_codec_;
  RowWriter writer_;
  RowTimes times_;
  ValueState keys_state_;
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
  std::vector<Arena::Ref> due_;
  struct Out {
    std::string_view row;
    int64_t millis;
  };
  std::vector<Out> out_;  // of the batch of keys_; where it is watched
};

}  // namespace

std::unique_ptr<Operator> CreateRowtimeFirstOnce(const DeduplicateSpec& spec,
                                                 const OperatorContext& context,
                                                 std::unique_ptr<ConflictWatch> watch) {
  return std::make_unique<RowtimeFirstOnce>(spec, context, std::move(watch));
}

}  // namespace rowtide
