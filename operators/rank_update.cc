#include "operators/rank_operator.h"

namespace rowtide {
namespace {

// The best N rows of each partition of an upsert stream whose rows only get better (7.5). A row is
// known by its row key, whose hash is its tag in the ordered state; kinds are not looked at.
class UpdateTopN final : public RankOperator {
 public:
  UpdateTopN(const RankSpec& spec, const OperatorContext& context)
      : RankOperator("RankUpdateTopN", spec, context),
        row_key_codec_(spec.input, spec.row_key),
        rows_(context) {
    CheckRowsOf(&rows_);
    Register(&rows_);
  }

  Status Process(int /*input*/, const RowBatch& batch, Collector& out) override {
    RT_TRY(Encode(batch));
    RT_TRY(row_key_codec_.Encode(batch, &row_keys_));
    RT_TRY(rows_.FindOrCreate(keys_, &entries_));
    writer_.Bind(batch);
    for (int row = 0; row < batch.rows; ++row) {
      if (row + kFetchRows < batch.rows)
        rows_.PrefetchRows(entries_[static_cast<size_t>(row + kFetchRows)]);
      Take(batch, row);
      if (output_.full()) RT_TRY(output_.FlushTo(out));
    }
    return output_.FlushTo(out);
  }

 private:
  static constexpr int kFetchRows = 12;  // how many rows ahead a key's rows are fetched

  struct Challenger {
    Entry key;
    SortKeyView sort;
    std::string_view row;  // in the output's block
    uint64_t tag;
    int64_t end;
  };

  void Take(const RowBatch& batch, int row) {
    const Entry key = entries_[static_cast<size_t>(row)];
    const int64_t end = EndOf(row);
    if (end <= 0) {
      ++*beyond_rank_;
      return;
    }
    const uint64_t tag = row_keys_.hash(row);
    const int64_t old_position =
        rows_.FindTagged(key, {0, rows_.rows(key)}, tag, [&](std::string_view stored) {
          return std::all_of(spec_.row_key.begin(), spec_.row_key.end(), [&](int column) {
            return row_codec_.EqualsInColumn(stored, batch, row, column);
          });
        });
    if (old_position < 0 && !Admits(key, row, end)) {
      ++*beyond_rank_;
      return;
    }
    const size_t size = writer_.SizeOf(row);
    char* const bytes = output_.Room(size);
    writer_.Write(row, bytes);
    const Challenger challenger{key, sorts_.view(row), {bytes, size}, tag, end};
    if (old_position < 0) {
      Enter(challenger);
    } else {
      Move(challenger, old_position);
    }
    rows_.Touch(key);
    TouchEnd(row);
  }

  bool Admits(Entry key, int row, int64_t end) const {
    const int64_t rows = rows_.rows(key);
    return rows == 0 || rows < AdmittedOf(end) || rows_.BeforeLast(key, sorts_.view(row));
  }

  // A row key that is not among the best so far.
  void Enter(const Challenger& x) {
    const int64_t position = rows_.Insert(x.key, x.sort, x.row, x.tag);
    const int64_t last = rows_.rows(x.key) - 1;
    if (numbered_) {
      EmitInserted(rows_, x.key, position, x.end);
      if (last >= x.end) rows_.Erase(x.key, last);
      return;
    }
    const bool keeps = position < x.end;
    if (last >= x.end) {
      // Flink takes back and adds a row that it does not keep (flink-rank-dedup.md 15.6).
      if (keeps || flink_compat_) output_.AddCopy(RowKind::kDelete, rows_.At(x.key, last).row());
      rows_.Erase(x.key, last);
    }
    if (keeps || flink_compat_) output_.Add(RowKind::kInsert, x.row.data());
  }

  // A row key that is there: its row is replaced and goes where its sort key belongs.
  void Move(const Challenger& x, int64_t old_position) {
    const OrderedState::Cursor cursor = rows_.At(x.key, old_position);
    const char* const old_row = output_.Copy(cursor.row());
    const int order = Compare(x.sort, cursor);
    int64_t position = old_position;
    if (order == 0) {
      rows_.Replace(x.key, old_position, x.row);
    } else {
      // Inserted before the old row is erased: the key's entry must not lose its last row in
      // between.
      position = rows_.Insert(x.key, x.sort, x.row, x.tag);
      if (position <= old_position) {
        rows_.Erase(x.key, old_position + 1);
      } else {
        rows_.Erase(x.key, old_position);
        --position;
      }
    }
    if (!numbered_) {
      if (spec_.emits_update_before) output_.Add(RowKind::kUpdateBefore, old_row);
      output_.Add(RowKind::kUpdateAfter, x.row.data());
    } else if (order <= 0) {
      EmitRisen(x, old_row, old_position, position);
    } else {
      EmitSunken(x, old_row, old_position, position);
    }
  }

  static int Compare(SortKeyView sort, const OrderedState::Cursor& cursor) {
    if (sort.prefix != cursor.prefix()) return sort.prefix < cursor.prefix() ? -1 : 1;
    return sort.bytes.size() <= sizeof(SortPrefix) ? 0 : sort.bytes.compare(cursor.sort_key());
  }

  // The rows between the new and the old rank each go down by one. The old row is taken back behind
  // the first of them.
  void EmitRisen(const Challenger& x, const char* old_row, int64_t old_position, int64_t position) {
    const int64_t old_rank = old_position + 1;
    int64_t rank = position + 1;
    const char* current = x.row.data();
    bool old_is_out = false;
    for (OrderedState::Cursor cursor = rows_.At(x.key, rank); rank < old_rank && cursor.valid();
         cursor.Next(), ++rank) {
      const char* pushed = output_.Copy(cursor.row());
      Emit(RowKind::kUpdateBefore, pushed, rank, x.end);
      if (!old_is_out) Emit(RowKind::kUpdateBefore, old_row, old_rank, x.end);
      old_is_out = true;
      Emit(RowKind::kUpdateAfter, current, rank, x.end);
      current = pushed;
    }
    if (!old_is_out) Emit(RowKind::kUpdateBefore, old_row, old_rank, x.end);
    Emit(RowKind::kUpdateAfter, current, rank, x.end);
  }

  // A sort key that got worse, against the plan's promise: the rows behind go up by one.
  void EmitSunken(const Challenger& x, const char* old_row, int64_t old_position,
                  int64_t position) {
    int64_t rank = old_position + 1;
    Emit(RowKind::kUpdateBefore, old_row, rank, x.end);
    for (OrderedState::Cursor cursor = rows_.At(x.key, old_position); rank <= position;
         cursor.Next(), ++rank) {
      const char* moved = output_.Copy(cursor.row());
      Emit(RowKind::kUpdateBefore, moved, rank + 1, x.end);
      Emit(RowKind::kUpdateAfter, moved, rank, x.end);
    }
    Emit(RowKind::kUpdateAfter, x.row.data(), position + 1, x.end);
  }

  KeyCodec row_key_codec_;
  KeyBatch row_keys_;
  std::unique_ptr<ShownState> ShownRanks() override {
    return ShowRows(FormOf("rows"), &rows_, &row_codec_);
  }

  OrderedState rows_;
};

}  // namespace

std::unique_ptr<Operator> CreateUpdateTopN(const RankSpec& spec, const OperatorContext& context) {
  return std::make_unique<UpdateTopN>(spec, context);
}

}  // namespace rowtide
