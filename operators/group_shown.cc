// The groups of a group aggregate for people to look at: a row as it would be put out now.
//
// Calls say their results before a row without applying it, so no call has code of its own for
// this: the row has the group's columns, and NULL elsewhere.
#include <cstring>

#include "operators/group_aggregate.h"
#include "operators/shown_rows.h"

namespace rowtide {

class GroupAggregate::ShownGroups final : public ShownState {
 public:
  ShownGroups(const ShownForm& form, GroupAggregate* of)
      : ShownState(form), of_(of), walk_(&of->entries_.keys()) {
    for (const Aggregation& call : of->spec_.calls) {
      if (!of->spec_.merges_partials && call.arguments.size() > 1)
        separators_.push_back(call.arguments[1]);
    }
  }

  Status NextKeys(int keys_max, KeyBatch* keys) override { return walk_.Next(keys_max, keys); }

  Status Rows(const KeyBatch& keys, const Visit& visit) override {
    RT_ASSIGN(const RowBatch batch, RowsOf(keys));
    RT_TRY(of_->Begin(keys, keys.rows()));
    std::vector<int32_t> there;
    for (int32_t unit = 0; unit < keys.rows(); ++unit) {
      char* const entry = of_->entries_.Data(unit);
      if (entry == nullptr || (of_->spec_.counts_rows && of_->CountOf(entry) == 0)) continue;
      of_->unit_entries_[static_cast<size_t>(unit)] = entry;
      of_->steps_[static_cast<size_t>(unit)] = kStepOpen;
      there.push_back(unit);
    }
    of_->calls_->Run(batch, {batch.rows, of_->steps_.data(), nullptr, of_->unit_entries_.data()},
                     batch.rows, &of_->strings_);
    of_->output_.Reserve(there.size());
    for (const int32_t unit : there) of_->output_.Add(RowKind::kInsert, unit, unit, false);
    of_->entries_.Finish([](const char*) { return false; });
    of_->calls_->Settle();
    Shower shower(visit, there);
    return of_->output_.FlushTo(batch, *of_->calls_, &of_->strings_, shower);
  }

 private:
  class Shower final : public Collector {
   public:
    Shower(const Visit& visit, std::span<const int32_t> of) : visit_(visit), of_(of) {}
    Status Emit(RowBatch batch) override {
      const auto rows = static_cast<size_t>(batch.rows);
      RT_TRY(visit_(batch, of_.first(rows)));
      of_ = of_.subspan(rows);
      return Status::Ok();
    }
    Status Advance(Time /*time*/) override { return Status::Ok(); }

   private:
    const Visit& visit_;
    std::span<const int32_t> of_;
  };

  Result<RowBatch> RowsOf(const KeyBatch& keys) const {
    const Schema& input = of_->input_;
    const std::vector<int>& group = of_->spec_.group;
    BatchBuilder builder(input, std::max(keys.rows(), 1));
    for (int i = 0; i < keys.rows(); ++i) {
      RT_ASSIGN(const std::vector<Value> key, key_codec().Decode(keys.key(i)));
      std::vector<Value> row(static_cast<size_t>(input.size()));
      for (size_t k = 0; k < group.size(); ++k) row[static_cast<size_t>(group[k])] = key[k];
      for (const int separator : separators_)
        row[static_cast<size_t>(separator)] = std::string(",");
      builder.AppendKind(RowKind::kInsert);
      for (int column = 0; column < input.size(); ++column)
        builder.AppendValue(column, input.type(column), row[static_cast<size_t>(column)]);
    }
    return builder.Finish();
  }

  GroupAggregate* of_;
  std::vector<int> separators_;  // of LISTAGGs: a column of each row, not of the state
  KeyWalk walk_;
};

ShownStates GroupAggregate::Shown() {
  ShownStates shown;
  shown.push_back(std::make_unique<ShownGroups>(
      ShownForm{"groups", input_, key_codec_, output_schema()}, this));
  calls_->Show(input_, key_codec_, &shown);
  shown.push_back(ShowBundle({"bundle", input_, key_codec_, input_}, &bundle_, &row_codec_));
  return shown;
}

}  // namespace rowtide
