#include "operators/deduplicate.h"
#include "operators/rank_operator.h"

namespace rowtide {
namespace {

// The first N rows of each partition by arrival (7.2). State: how many came.
class FirstN final : public RankOperator {
 public:
  FirstN(const RankSpec& spec, const OperatorContext& context)
      : RankOperator("RankFirstN", spec, context), counts_(context) {
    counts_.CheckValues(CheckNumber);
    Register(&counts_);
  }

  Status Process(int /*input*/, const RowBatch& batch, Collector& out) override {
    RT_TRY(CheckInsertOnly(batch, "Rank"));
    RT_TRY(Encode(batch));
    RT_TRY(counts_.FindOrCreate(keys_, &entries_));
    rows_.clear();
    numbers_.clear();
    for (int row = 0; row < batch.rows; ++row) {
      const Entry entry = entries_[static_cast<size_t>(row)];
      const int64_t count = counts_.Has(entry) ? counts_.ValueAs<int64_t>(entry) : 0;
      if (count >= EndOf(row)) {
        ++*beyond_rank_;
        continue;
      }
      const int64_t number = count + 1;
      std::memcpy(counts_.Assign(entry, sizeof(number)), &number, sizeof(number));
      TouchEnd(row);
      if (number < spec_.start) continue;
      rows_.push_back(row);
      numbers_.push_back(number);
    }
    return EmitRows(batch, out);
  }

 private:
  Status EmitRows(const RowBatch& batch, Collector& out) {
    if (rows_.empty()) return Status::Ok();
    if (!spec_.outputs_number()) return EmitSelected(batch, rows_, nullptr, out);
    RowBatch ranked = Select(batch, rows_);
    ranked.kinds = nullptr;
    auto block = std::make_shared<Block>(numbers_.size() * sizeof(int64_t));
    std::memcpy(block->data(), numbers_.data(), numbers_.size() * sizeof(int64_t));
    ranked.columns.emplace_back(Layout::kInt64, std::move(block), nullptr);
    return out.Emit(std::move(ranked));
  }

  std::unique_ptr<ShownState> ShownRanks() override {
    return ShowNumber(FormOf("counts", NumberColumn("rows")), &counts_);
  }

  ValueState counts_;
  std::vector<int32_t> rows_;
  std::vector<int64_t> numbers_;
};

// The best row of each partition, by appends or by upserts (7.4). Kinds are not looked at; a tie
// keeps the incumbent.
class TopOne final : public RankOperator {
 public:
  TopOne(const RankSpec& spec, const OperatorContext& context)
      : RankOperator("RankTopOne", spec, context),
        // Flink drops an update of the best row that leaves its sort key as it is
        // (flink-rank-dedup.md 15.2).
        follows_incumbent_(spec.strategy == RankSpec::Strategy::kUpdateFast &&
                           !context.flink_compat),
        best_(context) {
    best_.CheckValues([this](std::string_view value) { return CheckBest(value); });
    Register(&best_);
  }

  Status Process(int /*input*/, const RowBatch& batch, Collector& out) override {
    RT_TRY(Encode(batch));
    groups_.Fold(keys_);
    RT_TRY(best_.FindOrCreate(keys_, groups_.first_rows(), &entries_));
    writer_.Bind(batch);
    output_.Begin(batch);
    for (int row = 0; row < batch.rows; ++row) {
      RT_TRY(Challenge(batch, row));
      if (output_.full()) RT_TRY(output_.FlushTo(out));
    }
    return output_.FlushTo(out);
  }

 private:
  // | prefix of the sort key: 16 bytes | size of the sort key: u64 | sort key | row |
  struct Best {
    uint64_t high;
    uint64_t low;
    uint64_t sort_size;
    char bytes[];
  };

  Status CheckBest(std::string_view value) const {
    const std::string_view rest = value.substr(std::min(value.size(), sizeof(Best)));
    uint64_t sort_size = 0;
    if (value.size() >= sizeof(Best))
      std::memcpy(&sort_size, value.data() + offsetof(Best, sort_size), sizeof(sort_size));
    if (value.size() < sizeof(Best) || sort_size > rest.size())
      return Status::Corruption("a ranked row in the state has {} bytes", value.size());
    return row_codec_.Check(rest.substr(sort_size));
  }

  Status Challenge(const RowBatch& batch, int row) {
    const Entry entry = entries_[static_cast<size_t>(groups_.of(row))];
    RowKind kind = RowKind::kInsert;
    if (best_.Has(entry)) {
      const std::string_view value = best_.Value(entry);
      const Best* best = reinterpret_cast<const Best*>(value.data());
      const std::string_view incumbent = value.substr(sizeof(Best) + best->sort_size);
      const int order = Compare(row, best);
      if (order > 0 || (order == 0 && !UpdatesIncumbent(batch, row, incumbent))) {
        ++*beyond_rank_;
        return Status::Ok();
      }
      if (spec_.emits_update_before) output_.AddCopy(RowKind::kUpdateBefore, incumbent, 1);
      kind = RowKind::kUpdateAfter;
    }
    return Store(row, entry, kind);
  }

  int Compare(int row, const Best* best) const {
    const SortKeyView sort = sorts_.view(row);
    const SortPrefix prefix = (SortPrefix{best->high} << 64) | best->low;
    if (sort.prefix != prefix) return sort.prefix < prefix ? -1 : 1;
    if (sort.bytes.size() <= sizeof(SortPrefix)) return 0;
    return sort.bytes.compare({best->bytes, best->sort_size});
  }

  bool UpdatesIncumbent(const RowBatch& batch, int row, std::string_view incumbent) const {
    if (!follows_incumbent_) return false;
    for (const int column : spec_.row_key) {
      if (!row_codec_.EqualsInColumn(incumbent, batch, row, column)) return false;
    }
    return !row_codec_.EqualsRow(incumbent, batch, row);
  }

  Status Store(int row, Entry entry, RowKind kind) {
    const std::string_view sort = sorts_.key(row);
    const size_t size = writer_.SizeOf(row);
    RT_TRY(CheckRowSize(size));
    Best* best = reinterpret_cast<Best*>(best_.Assign(entry, sizeof(Best) + sort.size() + size));
    best->high = static_cast<uint64_t>(sorts_.prefix(row) >> 64);
    best->low = static_cast<uint64_t>(sorts_.prefix(row));
    best->sort_size = sort.size();
    std::memcpy(best->bytes, sort.data(), sort.size());
    writer_.Write(row, best->bytes + sort.size());
    output_.AddInput(kind, row, 1);
    return Status::Ok();
  }

  std::unique_ptr<ShownState> ShownRanks() override {
    return ShowRow(FormOf("rows"), &best_, &row_codec_, [](std::string_view value) {
      const Best* best = reinterpret_cast<const Best*>(value.data());
      return value.substr(sizeof(Best) + best->sort_size);
    });
  }

  const bool follows_incumbent_;
  ValueState best_;
};

// The best N rows of each partition of an insert-only stream (7.3).
class AppendTopN final : public RankOperator {
 public:
  AppendTopN(const RankSpec& spec, const OperatorContext& context)
      : RankOperator("RankAppendTopN", spec, context), rows_(context) {
    CheckRowsOf(&rows_);
    Register(&rows_);
    if (spec.outputs_number()) recent_.emplace(&rows_);
  }

  Status Process(int /*input*/, const RowBatch& batch, Collector& out) override {
    RT_TRY(Encode(batch));
    groups_.Fold(keys_);
    RT_TRY(rows_.FindOrCreate(keys_, groups_.first_rows(), &entries_));
    writer_.Bind(batch);
    output_.Begin(batch);
    if (recent_) EmitByName(out);
    FindGates();
    // What is worse than N rows stays so whatever comes before it in this batch: most rows stop
    // here, at the gate.
    admitted_.clear();
    for (int row = 0; row < batch.rows; ++row) {
      if (Admits(row)) admitted_.push_back(row);
    }
    *beyond_rank_ += batch.rows - static_cast<int64_t>(admitted_.size());
    for (size_t i = 0; i < admitted_.size(); ++i) {
      if (i + kFetchRows < admitted_.size())
        OrderedState::PrefetchRows(GateOf(admitted_.data()[i + kFetchRows]));
      if (i + kFetchPushed < admitted_.size()) FetchPushed(admitted_.data()[i + kFetchPushed]);
      const int32_t row = admitted_.data()[i];
      if (Admits(row)) {
        RT_TRY(Take(row));
        if (output_.full()) RT_TRY(Flush(out));
      } else {
        ++*beyond_rank_;
      }
    }
    return Flush(out);
  }

 private:
  // How many rows ahead a key's rows, and then what those say that will be emitted, are fetched.
  static constexpr size_t kFetchRows = 16;
  static constexpr size_t kFetchPushed = 6;

  // Through pointers: indexes would be checked for each row.
  Entry KeyOf(int32_t row) const { return entries_.data()[groups_.of(row)]; }
  OrderedState::Outlook& GateOf(int32_t row) { return gates_.data()[groups_.of(row)]; }

  void FindGates() {
    gates_.resize(entries_.size());
    for (size_t group = 0; group < entries_.size(); ++group)
      gates_[group] = rows_.OutlookOf(entries_[group]);
  }

  void FetchPushed(int32_t row) {
    const OrderedState::Outlook& gate = GateOf(row);
    if (by_name()) {
      rows_.PrefetchPushed(gate, sorts_.prefix(row),
                           [this](const char* place) { return !recent_->Knows(place); });
    } else if (numbered_) {
      rows_.PrefetchPushed(gate, sorts_.prefix(row), [](const char*) { return true; });
    } else if (gate.rows >= EndOf(row)) {
      rows_.PrefetchLast(gate);
    }
  }

  bool Admits(int row) {
    const int64_t end = EndOf(row);
    if (end <= 0) return false;
    const OrderedState::Outlook& gate = GateOf(row);
    if (gate.rows < AdmittedOf(end)) return true;
    const SortPrefix prefix = sorts_.prefix(row);
    if (prefix != gate.last) return prefix < gate.last;
    return rows_.BeforeLast(KeyOf(row), sorts_.view(row));
  }

  Status Take(int row) {
    const Entry key = KeyOf(row);
    const int64_t end = EndOf(row);
    const size_t size = writer_.SizeOf(row);
    RT_TRY(CheckRowSize(size));
    OrderedState::Outlook& gate = GateOf(row);
    const auto [position, room] = rows_.InsertRoom(key, sorts_.view(row), size, 0, &gate);
    writer_.Write(row, room);
    rows_.Touch(key);
    TouchEnd(row);
    const int64_t last = gate.rows - 1;
    if (by_name()) {
      EmitInsertedByName(rows_.At(key, position), end);
    } else if (numbered_) {
      EmitInserted(rows_, key, position, end);
    }
    if (last >= end) {
      if (!numbered_ && position != last)
        output_.AddCopy(RowKind::kDelete, rows_.At(key, last).row());
      rows_.Erase(key, last);
      gate = rows_.OutlookOf(key);
    }
    if (!numbered_ && position < end) output_.AddInput(RowKind::kInsert, row);
    return Status::Ok();
  }

  std::unique_ptr<ShownState> ShownRanks() override {
    return ShowRows(FormOf("rows"), &rows_, &row_codec_);
  }

  OrderedState rows_;
  std::vector<OrderedState::Outlook> gates_;  // of the groups: what a row has to be better than
  std::vector<int32_t> admitted_;
};

}  // namespace

std::unique_ptr<Operator> CreateFirstN(const RankSpec& spec, const OperatorContext& context) {
  return std::make_unique<FirstN>(spec, context);
}
std::unique_ptr<Operator> CreateTopOne(const RankSpec& spec, const OperatorContext& context) {
  return std::make_unique<TopOne>(spec, context);
}
std::unique_ptr<Operator> CreateAppendTopN(const RankSpec& spec, const OperatorContext& context) {
  return std::make_unique<AppendTopN>(spec, context);
}

}  // namespace rowtide
