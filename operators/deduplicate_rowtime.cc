#include "operators/deduplicate.h"
#include "operators/keyed_operator.h"
#include "operators/output_rows.h"
#include "state/key_codec.h"
#include "state/row_codec.h"
#include "state/timers.h"
#include "state/value_state.h"

namespace rowtide {
namespace {

// How far ahead of its use an old row is fetched.
constexpr int kPrefetchedRows = 8;

int64_t FloorDivide(int64_t value, int64_t by) { return value / by - (value % by < 0 ? 1 : 0); }

// Row times in epoch milliseconds, of a batch and of stored rows.
class RowTimes {
 public:
  RowTimes(const Schema& schema, int column) : column_(column), type_(schema.type(column)), layout_(LayoutOf(type_)) {}

  Status Read(const RowBatch& batch, std::vector<int64_t>* times) const {
    const Column& column = batch.columns[static_cast<size_t>(column_)];
    times->resize(static_cast<size_t>(batch.rows));
    for (int row = 0; row < batch.rows; ++row) {
      if (column.IsNull(row)) return Status::DataError("the row time of a row is NULL; deduplication needs one");
      (*times)[static_cast<size_t>(row)] = layout_ == Layout::kWideTime ? column.values<WideTime>()[row].millis
                                                                        : Millis(column.values<int64_t>()[row]);
    }
    return Status::Ok();
  }
  int64_t Of(const RowCodec& codec, const char* row) const { return Millis(codec.Fixed<int64_t>(row, column_)); }

 private:
  int64_t Millis(int64_t value) const {
    if (layout_ == Layout::kInt64 && type_.precision > 3) return FloorDivide(value, 1000);
    return value;
  }
  int column_;
  Type type_;
  Layout layout_;
};

// Does a row of time `current` take the place of one of time `kept`? The later arrival wins a tie for LAST only.
template <bool kLast>
bool Replaces(int64_t current, int64_t kept) {
  return kLast ? kept <= current : current < kept;
}

// The kept row per key, corrected whenever a better one comes (6.6), also by bundles (6.8, 6.9).
template <bool kLast>
class RowtimeEager final : public KeyedOperator {
 public:
  RowtimeEager(const DeduplicateSpec& spec, const OperatorContext& context)
      : KeyedOperator(kLast ? "DeduplicateRowtimeLast" : "DeduplicateRowtimeFirst", spec.schema),
        spec_(spec),
        key_codec_(spec.schema, spec.keys, context.flink_compat),
        row_codec_(spec.schema),
        times_(spec.schema, spec.order_column),
        state_(context),
        bundle_(context),
        output_(&row_codec_, false),
        duplicates_(context.counters->Find("duplicate")),
        says_insert_(spec.emits_update_before || spec.insert_update_after_sensitive) {
    Register(&state_);
    Register(&bundle_);
  }

  Status Process(int /*input*/, const RowBatch& batch, Collector& out) override {
    RT_TRY(CheckInsertOnly(batch, "Deduplicate"));
    RT_TRY(times_.Read(batch, &row_times_));
    RT_TRY(key_codec_.Encode(batch, &keys_));
    RT_TRY(row_codec_.EncodeAll(batch, &encoded_));
    if (spec_.mini_batch.enabled()) return Gather(batch.rows, out);
    state_.FindOrCreate(keys_, &entries_);
    return spec_.emits_update_before ? WorkWithBefore(batch, out) : WorkWithoutBefore(batch, out);
  }

  Status Advance(int /*input*/, Time time, Collector& out) override {
    if (spec_.mini_batch.enabled() && time.kind != Time::Kind::kIdle) RT_TRY(Flush(out));
    return out.Advance(time);
  }

 private:
  Status WorkWithBefore(const RowBatch& batch, Collector& out) {
    output_.Keep(encoded_.block());
    int64_t duplicates = 0;
    for (int row = 0; row < batch.rows; ++row) {
      if (row + kPrefetchedRows < batch.rows) state_.PrefetchValue(entries_[static_cast<size_t>(row + kPrefetchedRows)]);
      const Entry entry = entries_[static_cast<size_t>(row)];
      const std::string_view current = encoded_.row(row);
      if (state_.Has(entry)) {
        const std::string_view before = state_.Value(entry);
        if (!Replaces<kLast>(row_times_[static_cast<size_t>(row)], times_.Of(row_codec_, before.data()))) {
          ++duplicates;
          continue;
        }
        output_.AddCopy(RowKind::kUpdateBefore, before);
        output_.Add(RowKind::kUpdateAfter, current.data());
      } else {
        output_.Add(RowKind::kInsert, current.data());
      }
      state_.Assign(entry, current);
    }
    *duplicates_ += duplicates;
    return output_.FlushTo(out);
  }

  Status WorkWithoutBefore(const RowBatch& batch, Collector& out) {
    rows_.clear();
    kinds_.clear();
    for (int row = 0; row < batch.rows; ++row) {
      const Entry entry = entries_[static_cast<size_t>(row)];
      const bool has = state_.Has(entry);
      if (has && !Replaces<kLast>(row_times_[static_cast<size_t>(row)],
                                  times_.Of(row_codec_, state_.Value(entry).data()))) {
        ++*duplicates_;
        continue;
      }
      rows_.push_back(row);
      kinds_.push_back(static_cast<char>(KindOf(has)));
      state_.Assign(entry, encoded_.row(row));
    }
    return EmitSelected(batch, rows_, &kinds_, out);
  }

  RowKind KindOf(bool has) const { return has || !says_insert_ ? RowKind::kUpdateAfter : RowKind::kInsert; }

  Status Gather(int rows, Collector& out) {
    for (int row = 0; row < rows; ++row) {
      const uint32_t key = bundle_.FindOrAdd(keys_.key(row), keys_.hash(row));
      const std::string_view current = encoded_.row(row);
      if (!spec_.compacts_changes) {
        bundle_.Append(key, RowKind::kInsert, current);
      } else if (!bundle_.HasRows(key) ||
                 Replaces<kLast>(row_times_[static_cast<size_t>(row)],
                                 times_.Of(row_codec_, bundle_.First(key).bytes.data()))) {
        bundle_.ReplaceLast(key, RowKind::kInsert, current);
      } else {
        ++*duplicates_;
      }
      bundle_.CountRow();
      if (bundle_.rows_added() >= spec_.mini_batch.size) RT_TRY(Flush(out));
    }
    return Status::Ok();
  }

  // Per key, every row of the bundle meets the one before it, the first meets the state; the last kept one is stored.
  Status Flush(Collector& out) {
    for (int first = 0; first < bundle_.keys(); first += kBatchRows) {
      KeyBatch keys;
      bundle_.KeysFrom(first, kBatchRows, &keys);
      state_.FindOrCreate(keys, &entries_);
      for (int i = 0; i < keys.rows(); ++i) {
        SettleKey(entries_[static_cast<size_t>(i)], static_cast<uint32_t>(first + i));
        if (output_.full()) RT_TRY(output_.FlushTo(out));
      }
      RT_TRY(output_.FlushTo(out));
    }
    bundle_.Clear();
    return Status::Ok();
  }

  void SettleKey(Entry entry, uint32_t key) {
    std::string_view kept;
    bool has = state_.Has(entry);
    if (has) kept = state_.Value(entry);
    uint32_t row = Bundle::kNone;
    for (Bundle::Row item = bundle_.First(key);; item = bundle_.At(row)) {
      if (has && !Replaces<kLast>(times_.Of(row_codec_, item.bytes.data()), times_.Of(row_codec_, kept.data()))) {
        ++*duplicates_;
      } else {
        if (has && spec_.emits_update_before) output_.AddCopy(RowKind::kUpdateBefore, kept);
        output_.AddCopy(KindOf(has), item.bytes);
        kept = item.bytes;
        has = true;
      }
      row = item.next;
      if (row == Bundle::kNone) break;
    }
    if (state_.Has(entry) && kept.data() == state_.Value(entry).data()) {
      state_.Touch(entry);
    } else {
      state_.Assign(entry, kept);
    }
  }

  const DeduplicateSpec spec_;
  KeyCodec key_codec_;
  RowCodec row_codec_;
  RowTimes times_;
  ValueState state_;
  Bundle bundle_;
  OutputRows output_;
  int64_t* duplicates_;
  const bool says_insert_;  // +I for a key's first row; else +U always
  KeyBatch keys_;
  EncodedRows encoded_;
  std::vector<Entry> entries_;
  std::vector<int64_t> row_times_;
  std::vector<int32_t> rows_;
  std::vector<char> kinds_;
};

// The first row of a key, once: it waits until the watermark has passed it (6.7).
class RowtimeFirstOnce final : public KeyedOperator {
 public:
  RowtimeFirstOnce(const DeduplicateSpec& spec, const OperatorContext& context)
      : KeyedOperator("DeduplicateRowtimeFirstOnce", spec.schema),
        key_codec_(spec.schema, spec.keys, context.flink_compat),
        row_codec_(spec.schema),
        times_(spec.schema, spec.order_column),
        emitted_(context),
        waiting_(context, Ttl()),
        timers_(context),
        output_(&row_codec_, false),
        late_(context.counters->Find("late")),
        duplicates_(context.counters->Find("duplicate")) {
    Register(&emitted_);
    Register(&waiting_);
    Register(&timers_);
    Register(&saved_);
    saved_->watermark = Time::kNoWatermark;
  }

  Status Process(int /*input*/, const RowBatch& batch, Collector& /*out*/) override {
    RT_TRY(CheckInsertOnly(batch, "Deduplicate"));
    RT_TRY(times_.Read(batch, &row_times_));
    RT_TRY(key_codec_.Encode(batch, &keys_));
    emitted_.Find(keys_, &entries_);
    rows_.clear();
    waiting_keys_.Clear();
    for (int row = 0; row < batch.rows; ++row) {
      if (row_times_[static_cast<size_t>(row)] < saved_->watermark) {
        ++*late_;
      } else if (entries_[static_cast<size_t>(row)]) {
        ++*duplicates_;
      } else {
        rows_.push_back(row);
        waiting_keys_.Add(keys_.key(row), keys_.hash(row));
      }
    }
    waiting_.FindOrCreate(waiting_keys_, &entries_);
    for (size_t i = 0; i < rows_.size(); ++i) Wait(entries_[i], batch, rows_[i]);
    return Status::Ok();
  }

  Status Advance(int /*input*/, Time time, Collector& out) override {
    if (time.kind == Time::Kind::kWatermark && time.millis > saved_->watermark) {
      saved_->watermark = time.millis;
      while (timers_.HasDue(time.millis)) RT_TRY(EmitDue(time.millis, out));
    }
    return out.Advance(time);
  }

 private:
  struct Waiting {
    int64_t due_millis;
    uint64_t sequence;
    char row[];
  };

  void Wait(Entry entry, const RowBatch& batch, int32_t row) {
    const int64_t millis = row_times_[static_cast<size_t>(row)];
    uint64_t sequence;
    if (waiting_.Has(entry)) {
      const Waiting* waiting = waiting_.DataAs<Waiting>(entry);
      if (millis >= waiting->due_millis) {
        ++*duplicates_;
        return;
      }
      sequence = waiting->sequence;
    } else {
      sequence = timers_.NextSequence();
    }
    Waiting* waiting = reinterpret_cast<Waiting*>(
        waiting_.Assign(entry, sizeof(Waiting) + row_codec_.SizeOf(batch, row)));
    waiting->due_millis = millis;
    waiting->sequence = sequence;
    row_codec_.Encode(batch, row, waiting->row);
    timers_.Add(waiting_.Key(entry), millis, sequence);
  }

  Status EmitDue(int64_t watermark, Collector& out) {
    timers_.PopDue(watermark, kBatchRows, &keys_, &due_);
    waiting_.Find(keys_, &entries_);
    waiting_keys_.Clear();
    for (int i = 0; i < keys_.rows(); ++i) {
      const Entry entry = entries_[static_cast<size_t>(i)];
      const TimerQueue::Due& due = due_[static_cast<size_t>(i)];
      if (!entry || !waiting_.Has(entry)) continue;
      const Waiting* waiting = waiting_.DataAs<Waiting>(entry);
      if (waiting->sequence != due.sequence || waiting->due_millis != due.millis) continue;
      const std::string_view value = waiting_.Value(entry);
      output_.AddCopy(RowKind::kInsert, value.substr(sizeof(Waiting)));
      waiting_keys_.Add(keys_.key(i), keys_.hash(i));
      waiting_.Erase(entry);
    }
    waiting_.Settle();
    emitted_.FindOrCreate(waiting_keys_, &entries_);
    for (const Entry entry : entries_) emitted_.Assign(entry, 0);
    return output_.FlushTo(out);
  }

  struct Saved {
    int64_t watermark;
  };

  KeyCodec key_codec_;
  RowCodec row_codec_;
  RowTimes times_;
  ValueState emitted_;  // keys whose first row is out
  ValueState waiting_;  // keys whose first row waits; without TTL
  TimerQueue timers_;
  SavedNumbers<Saved> saved_;
  OutputRows output_;
  int64_t* late_;
  int64_t* duplicates_;
  KeyBatch keys_;
  KeyBatch waiting_keys_;
  std::vector<Entry> entries_;
  std::vector<int64_t> row_times_;
  std::vector<int32_t> rows_;
  std::vector<TimerQueue::Due> due_;
};

}  // namespace

std::unique_ptr<Operator> CreateRowtimeDeduplicate(const DeduplicateSpec& spec, const OperatorContext& context) {
  if (spec.outputs_insert_only) return std::make_unique<RowtimeFirstOnce>(spec, context);
  if (spec.keeps_last) return std::make_unique<RowtimeEager<true>>(spec, context);
  return std::make_unique<RowtimeEager<false>>(spec, context);
}

}  // namespace rowtide
