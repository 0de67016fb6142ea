#include "operators/deduplicate.h"
#include "operators/keyed_operator.h"
#include "operators/output_rows.h"
#include "operators/row_times.h"
#include "state/key_codec.h"
#include "state/row_codec.h"
#include "state/value_state.h"

namespace rowtide {
namespace {

// How far ahead of its use an old row is fetched.
constexpr int kPrefetchedRows = 8;

// Does a row of time `current` take the place of one of time `kept`? The later arrival wins a tie
// for LAST only.
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
      if (row + kPrefetchedRows < batch.rows)
        state_.PrefetchValue(entries_[static_cast<size_t>(row + kPrefetchedRows)]);
      const Entry entry = entries_[static_cast<size_t>(row)];
      const std::string_view current = encoded_.row(row);
      if (state_.Has(entry)) {
        const std::string_view before = state_.Value(entry);
        if (!Replaces<kLast>(row_times_[static_cast<size_t>(row)],
                             times_.Of(row_codec_, before.data()))) {
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

  RowKind KindOf(bool has) const {
    return has || !says_insert_ ? RowKind::kUpdateAfter : RowKind::kInsert;
  }

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

  // Per key, every row of the bundle meets the one before it, the first meets the state; the last
  // kept one is stored.
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
      if (has && !Replaces<kLast>(times_.Of(row_codec_, item.bytes.data()),
                                  times_.Of(row_codec_, kept.data()))) {
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

}  // namespace

std::unique_ptr<Operator> CreateRowtimeDeduplicate(const DeduplicateSpec& spec,
                                                   const OperatorContext& context) {
  if (spec.keeps_last) return std::make_unique<RowtimeEager<true>>(spec, context);
  return std::make_unique<RowtimeEager<false>>(spec, context);
}

}  // namespace rowtide
