#include "operators/final_rows.h"

#include <algorithm>
#include <numeric>

namespace rowtide {
namespace {

// Every column: rows match by content.
std::vector<int> AllColumns(const Schema& schema) {
  std::vector<int> columns(static_cast<size_t>(schema.size()));
  std::iota(columns.begin(), columns.end(), 0);
  return columns;
}

// All rows are needed at the end, at once.
OperatorContext InMemory(OperatorContext context) {
  context.state_ttl_millis = 0;
  context.tier = nullptr;
  return context;
}

}  // namespace

struct FinalRows::Candidate {
  std::string sort_key;
  uint64_t arrival;
  std::string_view value;  // Kept and the row, in state

  int64_t count() const { return reinterpret_cast<const Kept*>(value.data())->count; }
  std::string_view row() const { return value.substr(sizeof(Kept)); }
};

Result<std::unique_ptr<Operator>> FinalRows::Create(FinalRowsSpec spec, const Schema& input,
                                                    const OperatorContext& context) {
  return std::unique_ptr<Operator>(new FinalRows(std::move(spec), input, context));
}

FinalRows::FinalRows(FinalRowsSpec spec, const Schema& input, const OperatorContext& context)
    : KeyedOperator("final_rows", input),
      spec_(std::move(spec)),
      unmatched_retractions_(context.counters->Find("unmatched_retraction")),
      key_codec_(input, AllColumns(input), true),
      row_codec_(input),
      sort_codec_(input, spec_.order),
      rows_(InMemory(context)),
      output_(&row_codec_, false) {
  Register(&rows_);
  Register(&numbers_);
}

Status FinalRows::Process(int /*input*/, const RowBatch& batch, Collector& /*out*/) {
  RT_TRY(key_codec_.Encode(batch, &keys_));
  RT_TRY(row_codec_.EncodeAll(batch, &encoded_));
  RT_TRY(rows_.FindOrCreate(keys_, &entries_));
  for (int row = 0; row < batch.rows; ++row) {
    const Entry entry = entries_[static_cast<size_t>(row)];
    if (Adds(batch.kind(row))) {
      Add(entry, encoded_.row(row));
    } else {
      Remove(entry);
    }
  }
  rows_.Settle();
  return Status::Ok();
}

void FinalRows::Add(Entry entry, std::string_view row) {
  if (rows_.Has(entry)) {
    ++rows_.DataAs<Kept>(entry)->count;
    return;
  }
  char* to = rows_.Assign(entry, sizeof(Kept) + row.size());
  const Kept kept{1, numbers_->next_arrival++};
  std::memcpy(to, &kept, sizeof(kept));
  std::memcpy(to + sizeof(kept), row.data(), row.size());
}

void FinalRows::Remove(Entry entry) {
  if (!rows_.Has(entry)) {
    ++*unmatched_retractions_;
    return;
  }
  if (--rows_.DataAs<Kept>(entry)->count == 0) rows_.Erase(entry);
}

Status FinalRows::Advance(int /*input*/, Time time, Collector& out) {
  if (time.kind == Time::Kind::kEnd) RT_TRY(EmitAll(out));
  return out.Advance(time);
}

void FinalRows::SetSortKeys(std::vector<Candidate>* rows) const {
  std::vector<const char*> pointers;
  SortKeyBatch keys;
  for (size_t first = 0; first < rows->size(); first += kBatchRows) {
    const size_t end = std::min(rows->size(), first + kBatchRows);
    BatchBuilder builder(output_schema_);
    for (size_t i = first; i < end; ++i) {
      builder.AppendKind(RowKind::kInsert);
      row_codec_.AppendTo((*rows)[i].row().data(), &builder);
    }
    sort_codec_.Encode(builder.Finish(), first, &keys);
    for (size_t i = first; i < end; ++i)
      (*rows)[i].sort_key = keys.key(static_cast<int>(i - first));
  }
}

Status FinalRows::EmitAll(Collector& out) {
  std::vector<Candidate> rows;
  rows.reserve(static_cast<size_t>(rows_.entries()));
  rows_.ForEach([&](Entry entry) {
    const std::string_view value = rows_.Value(entry);
    rows.push_back({"", reinterpret_cast<const Kept*>(value.data())->arrival, value});
  });
  if (!spec_.order.empty()) SetSortKeys(&rows);
  std::sort(rows.begin(), rows.end(), [](const Candidate& a, const Candidate& b) {
    const int order = a.sort_key.compare(b.sort_key);
    return order != 0 ? order < 0 : a.arrival < b.arrival;
  });
  for (const Candidate& row : rows) {
    for (int64_t i = 0; i < row.count(); ++i) {
      output_.AddCopy(RowKind::kInsert, row.row());
      if (output_.full()) RT_TRY(output_.FlushTo(out));
    }
  }
  RT_TRY(output_.FlushTo(out));
  rows_.Clear();
  return Status::Ok();
}

}  // namespace rowtide
