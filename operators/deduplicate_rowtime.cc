#include "operators/deduplicate.h"
#include "operators/keyed_operator.h"
#include "operators/null_keys.h"
#include "operators/output_rows.h"
#include "operators/row_times.h"
#include "operators/shown_rows.h"
#include "state/key_codec.h"
#include "state/key_groups.h"
#include "state/row_codec.h"
#include "state/row_writer.h"
#include "state/value_state.h"

namespace rowtide {
namespace {

// Does a row of time `current` take the place of one of time `kept`? The later arrival wins a tie
// for LAST only.
template <bool kLast>
bool Replaces(int64_t current, int64_t kept) {
  return kLast ? kept <= current : current < kept;
}

// The kept row per key, corrected whenever a better one comes (6.6), also by bundles (6.8, 6.9).
//
//   value of a key   the row   or, where nobody asks for -U, its time alone   | millis: i64 |
//
// A row is longer than a time, so its size tells which one a value is. Either may come out of a
// snapshot.
template <bool kLast>
class RowtimeEager final : public KeyedOperator {
 public:
  RowtimeEager(const DeduplicateSpec& spec, const OperatorContext& context,
               std::unique_ptr<ConflictWatch> watch)
      : KeyedOperator(kLast ? "DeduplicateRowtimeLast" : "DeduplicateRowtimeFirst", spec.schema),
        spec_(spec),
        key_codec_(spec.schema, spec.keys, context.flink_compat),
        row_codec_(spec.schema),
        writer_(row_codec_),
        times_(spec.schema, spec.order_column),
        state_(context),
        bundle_(context),
        output_(&row_codec_, false),
        watch_(std::move(watch)),
        null_keys_(context.counters->Find("null_key")),
        duplicates_(context.counters->Find("duplicate")),
        says_insert_(spec.emits_update_before || spec.insert_update_after_sensitive),
        keeps_rows_(spec.emits_update_before || watch_ != nullptr || spec.mini_batch.enabled()) {
    if (!keeps_rows_) state_.ExpectValues(kTimeBytes);
    const auto is_row = [this](std::string_view row) { return row_codec_.Check(row); };
    state_.CheckValues([is_row](std::string_view value) {
      return value.size() == kTimeBytes ? Status::Ok() : is_row(value);
    });
    bundle_.CheckRows(is_row);
    Register(&state_);
    Register(&bundle_);
  }

  Status Process(int /*input*/, const RowBatch& batch, Collector& out) override {
    RT_TRY(CheckInsertOnly(batch, "Deduplicate"));
    RT_TRY(times_.Read(batch, &row_times_));
    RT_TRY(key_codec_.Encode(batch, &keys_));
    *null_keys_ += CountNullKeys(batch, spec_.keys);
    if (watch_) watch_->Begin(batch, keys_);
    if (spec_.mini_batch.enabled()) {
      RT_TRY(row_codec_.EncodeAll(batch, &encoded_));
      return Gather(batch.rows, out);
    }
    RT_TRY(FindKept(batch));
    first_name_ += 2 * size_t{kBatchRows};
    if (watch_) {
      ListReplacements<true>(batch);
    } else {
      ListReplacements<false>(batch);
    }
    RT_TRY(StoreKept());
    RT_TRY(Emit(out));
    return watch_ ? watch_->status() : Status::Ok();
  }

  // Values of the other form are rows of the other state.
  ShownStates Shown() override {
    ShownStates shown;
    shown.push_back(ShowRow({"rows", spec_.schema, key_codec_, spec_.schema}, &state_, &row_codec_,
                            [](std::string_view value) {
                              return value.size() == kTimeBytes ? std::string_view() : value;
                            }));
    shown.push_back(ShowEntries<ValueState>(
        {"times", spec_.schema, key_codec_, TimeColumn()}, &state_,
        [this](Entry entry, ShownRows& rows) -> Status {
          if (!state_.Has(entry) || state_.Value(entry).size() != kTimeBytes) return Status::Ok();
          RT_ASSIGN(BatchBuilder* const builder, rows.BeginRow());
          builder->AppendValue(0, TimeColumn().type(0), MillisOf(state_.Value(entry)));
          return Status::Ok();
        }));
    shown.push_back(
        ShowBundle({"bundle", spec_.schema, key_codec_, spec_.schema}, &bundle_, &row_codec_));
    return shown;
  }

  Status Advance(int /*input*/, Time time, Collector& out) override {
    if (spec_.mini_batch.enabled() && time.kind != Time::Kind::kIdle) RT_TRY(Flush(out));
    return out.Advance(time);
  }

 private:
  // The row of a key that is kept at the moment: a row of the batch, the one in state, or none.
  struct Kept {
    static constexpr int32_t kNone = -1;
    static constexpr int32_t kInState = -2;
    int32_t row = kNone;
    int64_t millis = 0;
  };

  static constexpr size_t kTimeBytes = sizeof(int64_t);

  // Each key of the batch is looked up once; what it kept before is where its rows start from.
  Status FindKept(const RowBatch& batch) {
    groups_.Fold(keys_);
    RT_TRY(FindEntries(batch));
    kept_.resize(entries_.size());
    Kept* const kept = kept_.data();
    const Entry* const entries = entries_.data();
    for (size_t group = 0; group < kept_.size(); ++group) {
      const Entry entry = entries[group];
      kept[group] = {};
      if (!state_.Has(entry)) continue;
      const std::string_view value = state_.Value(entry);
      RT_TRY(CheckKept(value));
      kept[group] = {Kept::kInState, MillisOf(value)};
      if (keeps_rows_) state_.PrefetchValue(entry);  // it is most probably read, and written
    }
    return Status::Ok();
  }

  Status FindEntries(const RowBatch& batch) {
    if (!keeps_rows_) return state_.FindOrCreate(keys_, groups_.first_rows(), &entries_);
    writer_.Bind(batch);
    row_bytes_.clear();
    for (const int32_t row : groups_.first_rows()) {
      row_bytes_.push_back(writer_.SizeOf(row));
      RT_TRY(CheckRowSize(row_bytes_.back()));
    }
    return state_.FindOrCreate(keys_, groups_.first_rows(), row_bytes_, &entries_);
  }

  // Kept times are in milliseconds, whatever the column is in.
  Schema TimeColumn() const {
    Type type = spec_.schema.type(spec_.order_column).WithoutTimeAttribute();
    type.precision = 3;
    Schema schema;
    schema.Add({spec_.schema.name(spec_.order_column), type});
    return schema;
  }

  int64_t MillisOf(std::string_view value) const {
    if (value.size() != kTimeBytes) return times_.Of(row_codec_, value.data());
    int64_t millis;
    std::memcpy(&millis, value.data(), kTimeBytes);
    return millis;
  }

  // Only a snapshot of another job has times where rows are needed.
  Status CheckKept(std::string_view value) const {
    if (value.size() != kTimeBytes || !spec_.emits_update_before) [[likely]]
      return Status::Ok();
    return Status::InvalidArgument(
               "the snapshot was made by a job whose sink asked for no -U rows, so it has no rows "
               "to take back")
        .WithHint("start this job without the snapshot, or leave the sink as it was");
  }

  // At most two rows for each of the batch. They are emitted when state has the new rows: what is
  // downstream takes the entries out of the cache. Whether a key has a row so far is as good as
  // random: -U is written in any case, and written over where there is none.
  template <bool kWatched>
  void ListReplacements(const RowBatch& batch) {
    const int64_t* const times = row_times_.data();
    const bool counts_only = kWatched && watch_->counts_only();
    const bool with_before = spec_.emits_update_before;
    const RowKind kinds[] = {KindOf(false), RowKind::kUpdateAfter};
    int64_t duplicates = 0, different = 0;
    output_.Begin(batch);
    const OutputRows::Places out = output_.Offer(2 * static_cast<size_t>(batch.rows));
    size_t listed = 0, copied = 0;
    Kept* const all_kept = kept_.data();  // the index is not checked for each row
    for (int32_t row = 0; row < batch.rows; ++row) {
      const auto group = static_cast<size_t>(groups_.of(row));
      const Kept kept = all_kept[group];
      const bool has = kept.row != Kept::kNone;
      if (kWatched && has) {
        const bool differs = times[row] != kept.millis;
        if (differs && counts_only) {
          ++different;
        } else {
          Watch(row, group, differs);
        }
      }
      if (has & !Replaces<kLast>(times[row], kept.millis)) {
        ++duplicates;
        continue;
      }
      if (with_before) {
        out.stored[listed] = nullptr;
        out.picks[listed] = kept.row;
        out.kinds[listed] = RowKind::kUpdateBefore;
        out.names[listed] = first_name_ + static_cast<uint64_t>(kept.row);
        if (kept.row == Kept::kInState) {
          out.stored[listed] = output_.Copy(state_.Value(entries_.data()[group]));
          out.picks[listed] = 0;
          out.names[listed] = first_name_ + size_t{kBatchRows} + copied++;
        }
        listed += has;
      }
      out.stored[listed] = nullptr;
      out.picks[listed] = row;
      out.kinds[listed] = kinds[has];
      out.names[listed] = first_name_ + static_cast<uint64_t>(row);
      ++listed;
      all_kept[group] = {row, times[row]};
      if (kWatched && !counts_only) watch_->Keeps(row);
    }
    output_.Take(listed);
    if (kWatched) watch_->CountDifferent(different);
    if (!kWatched) *duplicates_ += duplicates;
  }

  // A row that is replaced in the batch that it came with goes out twice.
  Status Emit(Collector& out) {
    NamedRowsTaker* const taker = spec_.emits_update_before ? out.named_rows() : nullptr;
    return taker != nullptr ? output_.FlushNamed(*taker) : output_.FlushTo(out);
  }

  void Watch(int32_t row, size_t group, bool differs) {
    const int32_t kept = kept_[group].row;
    if (kept != Kept::kInState) {
      watch_->MeetsEarlier(row, kept, differs);
    } else if (const std::string_view value = state_.Value(entries_[group]);
               value.size() != kTimeBytes) {
      watch_->MeetsStored(row, value, differs);
    } else if (differs) {
      watch_->CountDifferent(1);
    } else {
      watch_->CountUncompared(1);
    }
  }

  // Of all rows that a key kept in this batch, the last one goes into state.
  Status StoreKept() {
    const Kept* const kept = kept_.data();
    const Entry* const entries = entries_.data();
    const size_t groups = kept_.size();
    for (size_t group = 0; group < groups; ++group) {
      const int32_t row = kept[group].row;
      if (row < 0) continue;
      if (!keeps_rows_) {
        std::memcpy(state_.Assign(entries[group], kTimeBytes), &kept[group].millis, kTimeBytes);
        continue;
      }
      const size_t size = writer_.SizeOf(row);
      RT_TRY(CheckRowSize(size));
      writer_.Write(row, state_.Assign(entries[group], size));
    }
    state_.Settle();
    return Status::Ok();
  }

  RowKind KindOf(bool has) const {
    return has || !says_insert_ ? RowKind::kUpdateAfter : RowKind::kInsert;
  }

  Status Gather(int rows, Collector& out) {
    for (int row = 0; row < rows; ++row) {
      const uint32_t key = bundle_.FindOrAdd(keys_.key(row), keys_.hash(row));
      const std::string_view current = encoded_.row(row);
      if (!spec_.compacts_changes) {
        bundle_.Append(key, RowKind::kInsert, current);
      } else if (!bundle_.HasRows(key) || Beats(current, bundle_.First(key).bytes)) {
        bundle_.ReplaceLast(key, RowKind::kInsert, current);
      }
      bundle_.CountRow();
      if (bundle_.rows_added() >= spec_.mini_batch.size) RT_TRY(Flush(out));
    }
    return Status::Ok();
  }

  // Per key, every row of the bundle meets the one before it, the first meets the state; the last
  // kept one is stored.
  Status Flush(Collector& out) {
    for (int first = 0; first < bundle_.keys(); first += kBatchRows) {
      KeyBatch keys;
      bundle_.KeysFrom(first, kBatchRows, &keys);
      RT_TRY(state_.FindOrCreate(keys, &entries_));
      for (int i = 0; i < keys.rows(); ++i) {
        RT_TRY(SettleKey(entries_[static_cast<size_t>(i)], static_cast<uint32_t>(first + i)));
        if (output_.full()) RT_TRY(output_.FlushTo(out));
      }
      RT_TRY(output_.FlushTo(out));
    }
    bundle_.Clear();
    return watch_ ? watch_->status() : Status::Ok();
  }

  // Whether the row takes the place of the kept one.
  bool Beats(std::string_view row, std::string_view kept) {
    const int64_t millis = times_.Of(row_codec_, row.data());
    const int64_t kept_millis = MillisOf(kept);
    const bool replaces = Replaces<kLast>(millis, kept_millis);
    if (watch_ && kept.size() == kTimeBytes) {
      (millis != kept_millis ? watch_->CountDifferent(1) : watch_->CountUncompared(1));
    } else if (watch_) {
      watch_->Meets(row, kept, millis != kept_millis);
    } else if (!replaces) {
      ++*duplicates_;
    }
    return replaces;
  }

  Status SettleKey(Entry entry, uint32_t key) {
    std::string_view kept;
    bool has = state_.Has(entry);
    if (has) kept = state_.Value(entry);
    if (has) RT_TRY(CheckKept(kept));
    uint32_t row = Bundle::kNone;
    for (Bundle::Row item = bundle_.First(key);; item = bundle_.At(row)) {
      if (!has || Beats(item.bytes, kept)) {
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
    return Status::Ok();
  }

  const DeduplicateSpec spec_;
  KeyCodec key_codec_;
  RowCodec row_codec_;
  RowWriter writer_;
  RowTimes times_;
  ValueState state_;
  Bundle bundle_;
  OutputRows output_;
  std::unique_ptr<ConflictWatch> watch_;  // null: not watched
  int64_t* null_keys_;
  int64_t* duplicates_;
  const bool says_insert_;  // +I for a key's first row; else +U always
  const bool keeps_rows_;   // else only their times
  KeyBatch keys_;
  KeyGroups groups_;
  std::vector<size_t> row_bytes_;  // of the groups' first rows
  std::vector<Entry> entries_;     // of the groups
  std::vector<Kept> kept_;         // likewise
  std::vector<int64_t> row_times_;
  // Of rows that go out: those of the batch come first, then those that lay in state.
  uint64_t first_name_ = 0;
  EncodedRows encoded_;  // with bundles only
};

}  // namespace

std::unique_ptr<Operator> CreateRowtimeDeduplicate(const DeduplicateSpec& spec,
                                                   const OperatorContext& context,
                                                   std::unique_ptr<ConflictWatch> watch) {
  if (spec.keeps_last) return std::make_unique<RowtimeEager<true>>(spec, context, std::move(watch));
  return std::make_unique<RowtimeEager<false>>(spec, context, std::move(watch));
}

}  // namespace rowtide
