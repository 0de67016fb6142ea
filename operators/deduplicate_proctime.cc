#include "operators/deduplicate.h"
#include "operators/keyed_operator.h"
#include "operators/null_keys.h"
#include "operators/output_rows.h"
#include "operators/shown_rows.h"
#include "state/key_codec.h"
#include "state/row_codec.h"
#include "state/value_state.h"

namespace rowtide {
namespace {

bool FlushesBundle(Time time) { return time.kind != Time::Kind::kIdle; }

// What all forms share: keys of the batch at hand, and a bundle that may be unused.
class ProctimeDeduplicate : public KeyedOperator {
 public:
  ProctimeDeduplicate(const char* name, const DeduplicateSpec& spec, const OperatorContext& context,
                      std::unique_ptr<ConflictWatch> watch)
      : KeyedOperator(name, spec.schema),
        spec_(spec),
        key_codec_(spec.schema, spec.keys, context.flink_compat),
        row_codec_(spec.schema),
        state_(context),
        bundle_(context),
        output_(&row_codec_, false),
        watch_(std::move(watch)),
        noted_keys_(&state_, watch_.get()),
        null_keys_(context.counters->Find("null_key")) {
    const auto is_row = [this](std::string_view row) { return row_codec_.Check(row); };
    bundle_.CheckRows(is_row);
    if (spec.keeps_last) {
      state_.CheckValues(is_row);
    } else {
      state_.CheckValues(CheckNote);
    }
    Register(spec.keeps_last ? static_cast<StatePart*>(&state_) : &noted_keys_);
    Register(&bundle_);
  }

  Status Process(int /*input*/, const RowBatch& batch, Collector& out) final {
    RT_TRY(CheckInsertOnly(batch, "Deduplicate"));
    RT_TRY(key_codec_.Encode(batch, &keys_));
    *null_keys_ += CountNullKeys(batch, spec_.keys);
    if (watch_) watch_->Begin(batch, keys_);
    if (!spec_.mini_batch.enabled()) {
      RT_TRY(Work(batch, out));
      return watch_ ? watch_->status() : Status::Ok();
    }
    RT_TRY(row_codec_.EncodeAll(batch, &encoded_));
    for (int row = 0; row < batch.rows; ++row) {
      Gather(bundle_.FindOrAdd(keys_.key(row), keys_.hash(row)), encoded_.row(row));
      bundle_.CountRow();
      if (bundle_.rows_added() >= spec_.mini_batch.size) RT_TRY(Flush(out));
    }
    return Status::Ok();
  }

  ShownStates Shown() final {
    const ShownForm form{"rows", spec_.schema, key_codec_, spec_.schema};
    ShownStates shown;
    shown.push_back(spec_.keeps_last ? ShowRow(form, &state_, &row_codec_)
                                     : ShowKeys({"keys", spec_.schema, key_codec_, {}}, &state_));
    shown.push_back(
        ShowBundle({"bundle", spec_.schema, key_codec_, spec_.schema}, &bundle_, &row_codec_));
    return shown;
  }

  Status Advance(int /*input*/, Time time, Collector& out) final {
    if (FlushesBundle(time)) RT_TRY(Flush(out));
    return out.Advance(time);
  }

 protected:
  // One batch without a bundle; the keys are encoded.
  virtual Status Work(const RowBatch& batch, Collector& out) = 0;
  // Keeps a row of the bundle's key, or not.
  virtual void Gather(uint32_t key, std::string_view row) = 0;
  // The one row a key has in the bundle meets its entry.
  virtual void Settle(Entry entry, std::string_view row) = 0;

  const DeduplicateSpec spec_;
  KeyCodec key_codec_;
  RowCodec row_codec_;
  ValueState state_;
  Bundle bundle_;
  OutputRows output_;
  std::unique_ptr<ConflictWatch> watch_;  // null: not watched
  NotedKeys noted_keys_;                  // keep first: the state's part
  int64_t* null_keys_;
  KeyBatch keys_;
  EncodedRows encoded_;
  std::vector<Entry> entries_;

 private:
  Status Flush(Collector& out) {
    KeyBatch keys;
    for (int first = 0; first < bundle_.keys(); first += kBatchRows) {
      bundle_.KeysFrom(first, kBatchRows, &keys);
      RT_TRY(state_.FindOrCreate(keys, &entries_));
      for (int i = 0; i < keys.rows(); ++i) {
        Settle(entries_[static_cast<size_t>(i)],
               bundle_.First(static_cast<uint32_t>(first + i)).bytes);
      }
      RT_TRY(output_.FlushTo(out));
    }
    state_.Settle();
    bundle_.Clear();
    return watch_ ? watch_->status() : Status::Ok();
  }
};

// A flag per key, or a note where it is watched: present = its first row went out. Later rows do
// not move the TTL clock.
class ProctimeFirst final : public ProctimeDeduplicate {
 public:
  ProctimeFirst(const DeduplicateSpec& spec, const OperatorContext& context,
                std::unique_ptr<ConflictWatch> watch)
      : ProctimeDeduplicate("DeduplicateProctimeFirst", spec, context, std::move(watch)),
        duplicates_(context.counters->Find("duplicate")) {
    if (watch_) state_.ExpectValues(watch_->NoteBytes(0));
  }

 private:
  Status Work(const RowBatch& batch, Collector& out) override {
    fresh_.clear();
    if (watch_) {
      RT_TRY(WatchAll(batch.rows));
    } else {
      RT_TRY(state_.FindOrCreate(keys_, &entries_, &perhaps_fresh_));
      for (const int32_t row : perhaps_fresh_) {
        const Entry entry = entries_[static_cast<size_t>(row)];
        if (state_.Has(entry)) continue;  // by now: its key came twice in the batch
        state_.Assign(entry, std::string_view());
        fresh_.push_back(row);
      }
      *duplicates_ += batch.rows - static_cast<int64_t>(fresh_.size());
    }
    return EmitSelected(batch, fresh_, nullptr, out);
  }

  Status WatchAll(int rows) {
    RT_TRY(state_.FindOrCreate(keys_, &entries_));
    for (int row = 0; row < rows; ++row) {
      const Entry entry = entries_[static_cast<size_t>(row)];
      if (state_.Has(entry)) {
        watch_->MeetsNote(row, state_.Value(entry), kNoTime);
        continue;
      }
      state_.Assign(entry, watch_->NoteOf(row, kNoTime));
      watch_->Keeps(row);
      fresh_.push_back(row);
    }
    return Status::Ok();
  }

  void Gather(uint32_t key, std::string_view row) override {
    if (!bundle_.HasRows(key)) {
      bundle_.Append(key, RowKind::kInsert, row);
    } else if (watch_) {
      watch_->Meets(row, bundle_.First(key).bytes, false);
    } else {
      ++*duplicates_;
    }
  }

  void Settle(Entry entry, std::string_view row) override {
    if (state_.Has(entry)) {
      if (watch_) {
        watch_->MeetsNote(row, state_.Value(entry), kNoTime);
      } else {
        ++*duplicates_;
      }
      return;
    }
    state_.Assign(entry, watch_ ? watch_->NoteOf(row, kNoTime) : std::string_view());
    output_.AddCopy(RowKind::kInsert, row);
  }

  static constexpr int64_t kNoTime = 0;  // in notes

  int64_t* duplicates_;
  std::vector<int32_t> perhaps_fresh_;
  std::vector<int32_t> fresh_;
};

// The last row per key; what repeats it emits nothing unless a TTL has to be kept alive downstream.
class ProctimeLast final : public ProctimeDeduplicate {
 public:
  ProctimeLast(const DeduplicateSpec& spec, const OperatorContext& context,
               std::unique_ptr<ConflictWatch> watch)
      : ProctimeDeduplicate("DeduplicateProctimeLast", spec, context, std::move(watch)),
        keeps_rows_(spec.emits_update_before || spec.insert_update_after_sensitive),
        suppresses_equal_(!Ttl(context).enabled()),
        identical_(context.counters->Find("identical")) {}

 private:
  Status Work(const RowBatch& batch, Collector& out) override {
    if (!keeps_rows_) return EmitAll(batch, out);
    RT_TRY(row_codec_.EncodeAll(batch, &encoded_));
    RT_TRY(state_.FindOrCreate(keys_, &entries_));
    if (spec_.emits_update_before) {
      output_.Keep(encoded_.block());
      for (int row = 0; row < batch.rows; ++row) {
        Change<true>(entries_[static_cast<size_t>(row)], encoded_.row(row), row);
      }
      return output_.FlushTo(out);
    }
    rows_.clear();
    kinds_.clear();
    for (int row = 0; row < batch.rows; ++row) {
      const RowKind kind =
          Change<false>(entries_[static_cast<size_t>(row)], encoded_.row(row), row);
      if (kind == RowKind::kDelete) continue;
      rows_.push_back(row);
      kinds_.push_back(static_cast<char>(kind));
    }
    return EmitSelected(batch, rows_, &kinds_, out);
  }

  // Stores the row. With -U wanted, emits; without, returns the kind to emit, kDelete for none.
  // `number`: the row's in the batch.
  template <bool kEmits>
  RowKind Change(Entry entry, std::string_view row, int number = kOfBundle) {
    if (watch_) Watch(entry, row, number);
    if (!state_.Has(entry)) {
      state_.Assign(entry, row);
      if constexpr (kEmits) output_.Add(RowKind::kInsert, row.data());
      return RowKind::kInsert;
    }
    const std::string_view before = state_.Value(entry);
    if (suppresses_equal_ && row_codec_.Equal(before, row)) {
      if (!watch_) ++*identical_;
      if (before != row) state_.Assign(entry, row);
      return RowKind::kDelete;
    }
    if constexpr (kEmits) {
      output_.AddCopy(RowKind::kUpdateBefore, before);
      output_.Add(RowKind::kUpdateAfter, row.data());
    }
    state_.Assign(entry, row);
    return RowKind::kUpdateAfter;
  }

  void Watch(Entry entry, std::string_view row, int number) {
    if (number != kOfBundle) {
      if (state_.Has(entry)) watch_->MeetsStored(number, state_.Value(entry), false);
      watch_->Keeps(number);
    } else if (state_.Has(entry)) {
      watch_->Meets(row, state_.Value(entry), false);
    }
  }

  Status EmitAll(const RowBatch& batch, Collector& out) {
    if (watch_) watch_->CountUncompared(batch.rows);
    RowBatch after = batch;
    auto kinds = std::make_shared<Block>(static_cast<size_t>(batch.rows));
    std::memset(kinds->data(), static_cast<int>(RowKind::kUpdateAfter),
                static_cast<size_t>(batch.rows));
    after.kinds = std::move(kinds);
    return out.Emit(std::move(after));
  }

  void Gather(uint32_t key, std::string_view row) override {
    if (watch_ && bundle_.HasRows(key)) watch_->Meets(row, bundle_.Last(key).bytes, false);
    bundle_.ReplaceLast(key, RowKind::kInsert, row);
  }

  void Settle(Entry entry, std::string_view row) override {
    if (!keeps_rows_) {
      if (watch_) watch_->CountUncompared(1);
      output_.AddCopy(RowKind::kUpdateAfter, row);
      return;
    }
    row = {output_.Copy(row), row.size()};
    if (spec_.emits_update_before) {
      Change<true>(entry, row);
      return;
    }
    const RowKind kind = Change<false>(entry, row);
    if (kind != RowKind::kDelete) output_.Add(kind, row.data());
  }

  static constexpr int kOfBundle = -1;

  const bool keeps_rows_;
  const bool suppresses_equal_;
  int64_t* identical_;
  std::vector<int32_t> rows_;
  std::vector<char> kinds_;
};

}  // namespace

std::unique_ptr<Operator> CreateProctimeDeduplicate(const DeduplicateSpec& spec,
                                                    const OperatorContext& context,
                                                    std::unique_ptr<ConflictWatch> watch) {
  if (spec.keeps_last) return std::make_unique<ProctimeLast>(spec, context, std::move(watch));
  return std::make_unique<ProctimeFirst>(spec, context, std::move(watch));
}

}  // namespace rowtide
