#include "operators/rank_operator.h"

namespace rowtide {
namespace {

// The best N rows of each partition of a stream of all kinds (7.6): every row is kept, so that one
// can move up when another is taken away. A row's tag is the hash of its content.
class RetractTopN final : public RankOperator {
 public:
  RetractTopN(const RankSpec& spec, const OperatorContext& context)
      : RankOperator("RankRetractTopN", spec, context),
        rows_(context),
        unmatched_(context.counters->Find("unmatched_retraction")) {
    CheckRowsOf(&rows_);
    Register(&rows_);
  }

  Status Process(int /*input*/, const RowBatch& batch, Collector& out) override {
    RT_TRY(Encode(batch));
    RT_TRY(row_codec_.EncodeAll(batch, &encoded_));
    output_.Keep(encoded_.block());
    RT_TRY(rows_.FindOrCreate(keys_, &entries_));
    for (int row = 0; row < batch.rows; ++row) {
      if (row + kFetchRows < batch.rows)
        rows_.PrefetchRows(entries_[static_cast<size_t>(row + kFetchRows)]);
      if (Adds(batch.kind(row))) {
        Accumulate(row);
      } else {
        Retract(row);
      }
      if (output_.full()) {
        RT_TRY(output_.FlushTo(out));
        output_.Keep(encoded_.block());
      }
    }
    RT_TRY(output_.FlushTo(out));
    rows_.Settle();
    return Status::Ok();
  }

 private:
  static constexpr int kFetchRows = 12;  // how many rows ahead a key's rows are fetched

  void Accumulate(int row) {
    const Entry key = entries_[static_cast<size_t>(row)];
    const std::string_view bytes = encoded_.row(row);
    const int64_t end = EndOf(row);
    const int64_t position =
        rows_.Insert(key, sorts_.view(row), bytes, row_codec_.HashContent(bytes));
    rows_.Touch(key);
    TouchEnd(row);
    if (numbered_) return EmitInserted(rows_, key, position, end);
    if (position >= end) {
      ++*beyond_rank_;
      return;
    }
    if (rows_.rows(key) > end) output_.AddCopy(RowKind::kDelete, rows_.At(key, end).row());
    output_.Add(RowKind::kInsert, bytes.data());
  }

  void Retract(int row) {
    const Entry key = entries_[static_cast<size_t>(row)];
    const int64_t position = Find(key, row);
    if (position < 0) {
      ++*unmatched_;
      if (flink_compat_) ForgetOne(key, row);
      return;
    }
    const int64_t end = EndOf(row);
    // The stored row is what goes out: it may differ from the retraction where equality does not
    // look.
    const char* const removed =
        position < end ? output_.Copy(rows_.At(key, position).row()) : nullptr;
    rows_.Erase(key, position);
    if (rows_.rows(key) > 0) rows_.Touch(key);
    TouchEnd(row);
    if (position >= end) return;
    if (numbered_) return EmitRemoved(rows_, key, position, removed, end);
    output_.Add(RowKind::kDelete, removed);
    if (rows_.rows(key) >= end) output_.AddCopy(RowKind::kInsert, rows_.At(key, end - 1).row());
  }

  // Flink takes one off the count of the unknown row's sort key, so that a row with that key is no
  // longer ranked (flink-rank-dedup.md 15.8).
  void ForgetOne(Entry key, int row) {
    if (rows_.rows(key) == 0) return;
    const OrderedState::Range range = rows_.EqualRange(key, sorts_.view(row));
    if (range.count() > 0) rows_.Erase(key, range.last - 1);
  }

  // The first equal row. A sort key made of arrival numbers says nothing about a retraction: all
  // rows are looked at.
  int64_t Find(Entry key, int row) const {
    if (rows_.rows(key) == 0) return -1;
    const std::string_view bytes = encoded_.row(row);
    const OrderedState::Range range = sorts_by_arrival_ ? OrderedState::Range{0, rows_.rows(key)}
                                                        : rows_.EqualRange(key, sorts_.view(row));
    return rows_.FindTagged(
        key, range, row_codec_.HashContent(bytes),
        [&](std::string_view stored) { return row_codec_.Equal(stored, bytes); });
  }

  std::unique_ptr<ShownState> ShownRanks() override {
    return ShowRows(FormOf("rows"), &rows_, &row_codec_);
  }

  OrderedState rows_;
  EncodedRows encoded_;
  int64_t* unmatched_;
};

}  // namespace

std::unique_ptr<Operator> CreateRetractTopN(const RankSpec& spec, const OperatorContext& context) {
  return std::make_unique<RetractTopN>(spec, context);
}

}  // namespace rowtide
