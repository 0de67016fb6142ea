#include "operators/conflict_watch.h"

#include "engine/snapshot.h"
#include "engine/value_text.h"
#include "operators/row_times.h"
#include "state/key_codec.h"
#include "state/row_codec.h"
#include "state/value_state.h"

namespace rowtide {
namespace {

// Of the kept row of a key; the row itself follows where samples are wanted.
struct Kept {
  int64_t millis;
  uint64_t hash;
  int64_t input_row;
};

class ConflictWatch final : public Operator {
 public:
  ConflictWatch(ConflictWatchSpec spec, const OperatorContext& context)
      : spec_(std::move(spec.deduplicate)),
        log_(std::move(spec.log)),
        context_(Hidden(context)),
        seen_counters_(context.counters),
        key_codec_(spec_.schema, spec_.keys, context.flink_compat),
        row_codec_(spec_.schema),
        state_(context_),
        identical_(context.counters->Find("identical")),
        duplicates_(context.counters->Find("duplicate")) {
    state_.ExpectValues(sizeof(Kept));
    if (spec_.rowtime) times_.emplace(spec_.schema, spec_.order_column);
  }

  // Its own state is not the node's: sizes of the Deduplicate are what is shown.
  Status MakeInner(const OperatorContext& context) {
    OperatorContext inner = context;
    inner.counters = &inner_counters_;
    RT_ASSIGN(inner_, Create(spec_, inner));
    return Status::Ok();
  }

  const Schema& output_schema() const override { return inner_->output_schema(); }

  Status Process(int input, const RowBatch& batch, Collector& out) override {
    RT_TRY(CheckInsertOnly(batch, "Deduplicate"));
    RT_TRY(Watch(batch));
    RT_TRY(inner_->Process(input, batch, out));
    PassCounters();
    return Status::Ok();
  }

  Status Advance(int input, Time time, Collector& out) override {
    if (time.kind == Time::Kind::kWatermark) watermark_ = std::max(watermark_, time.millis);
    RT_TRY(inner_->Advance(input, time, out));
    PassCounters();
    return Status::Ok();
  }

  Status Snapshot(SnapshotWriter& writer) const override {
    RT_TRY(inner_->Snapshot(writer));
    writer.PutI64(watermark_);
    writer.PutI64(rows_seen_);
    state_.Snapshot(writer);
    return Status::Ok();
  }

  Status Restore(SnapshotReader& reader) override {
    RT_TRY(inner_->Restore(reader));
    RT_ASSIGN(watermark_, reader.I64("watermark of the watch"));
    RT_ASSIGN(rows_seen_, reader.I64("rows that the watch has seen"));
    return state_.Restore(reader);
  }

 private:
  OperatorContext Hidden(OperatorContext context) {
    context.counters = &own_counters_;
    context.state_size = &own_size_;
    return context;
  }

  Status Watch(const RowBatch& batch) {
    if (times_) RT_TRY(times_->Read(batch, &row_times_));
    RT_TRY(key_codec_.Encode(batch, &keys_));
    RT_TRY(row_codec_.EncodeAll(batch, &rows_));
    state_.FindOrCreate(keys_, &entries_);
    for (int row = 0; row < batch.rows; ++row) {
      const int64_t millis = times_ ? row_times_[static_cast<size_t>(row)] : 0;
      RT_TRY(WatchRow(entries_[static_cast<size_t>(row)], rows_.row(row), millis));
    }
    state_.Settle();
    return Status::Ok();
  }

  Status WatchRow(Entry entry, std::string_view row, int64_t millis) {
    ++rows_seen_;
    if (IsLate(millis)) return Status::Ok();
    const Kept current{millis, row_codec_.HashContent(row), rows_seen_};
    if (!state_.Has(entry)) {
      Keep(entry, current, row);
      return Status::Ok();
    }
    Kept kept;
    std::memcpy(&kept, state_.Value(entry).data(), sizeof(kept));
    if (kept.hash == current.hash) {
      ++*identical_;
    } else {
      ++*duplicates_;
      if (log_) RT_TRY(Log(state_.Value(entry).substr(sizeof(Kept)), kept, row, current));
    }
    if (Replaces(current.millis, kept.millis)) Keep(entry, current, row);
    return Status::Ok();
  }

  // Rows behind the watermark do not meet the form that waits for it; it counts them as late.
  bool IsLate(int64_t millis) const {
    return spec_.rowtime && spec_.outputs_insert_only && !spec_.keeps_last &&
           !spec_.mini_batch.enabled() && millis < watermark_;
  }

  bool Replaces(int64_t current, int64_t kept) const {
    if (!spec_.rowtime) return spec_.keeps_last;
    return spec_.keeps_last ? kept <= current : current < kept;
  }

  void Keep(Entry entry, const Kept& kept, std::string_view row) {
    const size_t row_bytes = log_ ? row.size() : 0;
    char* to = state_.Assign(entry, sizeof(kept) + row_bytes);
    std::memcpy(to, &kept, sizeof(kept));
    if (row_bytes > 0) std::memcpy(to + sizeof(kept), row.data(), row_bytes);
  }

  // {"key":{…},"kept":{…},"other":{…},"kept_input_row":7,"input_row":9}
  Status Log(std::string_view kept_row, const Kept& kept, std::string_view row,
             const Kept& current) {
    if (samples_ == kConflictSamplesMax) return Status::Ok();
    ++samples_;
    std::string line = "{\"key\":{";
    for (size_t i = 0; i < spec_.keys.size(); ++i) AppendField(spec_.keys[i], row, i > 0, &line);
    line += "},\"kept\":";
    AppendRow(kept_row, &line);
    line += ",\"other\":";
    AppendRow(row, &line);
    line += fmt::format(",\"kept_input_row\":{},\"input_row\":{}}}\n", kept.input_row,
                        current.input_row);
    return log_->Write(line);
  }

  void AppendRow(std::string_view row, std::string* line) const {
    line->push_back('{');
    for (int column = 0; column < spec_.schema.size(); ++column) {
      AppendField(column, row, column > 0, line);
    }
    line->push_back('}');
  }

  void AppendField(int column, std::string_view row, bool follows, std::string* line) const {
    if (follows) line->push_back(',');
    const Type& type = spec_.schema.type(column);
    AppendJsonString(spec_.schema.name(column), line);
    line->push_back(':');
    AppendScriptText(row_codec_.ValueOf(row.data(), column, type), type, line);
  }

  // All that the Deduplicate counts but its own idea of duplicates.
  void PassCounters() {
    for (const Counters::Named& named : inner_counters_.all()) {
      if (named.name == "identical" || named.name == "duplicate") continue;
      *seen_counters_->Find(named.name) = *named.value;
    }
  }

  const DeduplicateSpec spec_;
  std::unique_ptr<ConflictLog> log_;
  Counters own_counters_;
  Counters inner_counters_;
  StateSize own_size_;
  OperatorContext context_;  // of the watch's own state
  Counters* seen_counters_;  // of the node
  std::unique_ptr<Operator> inner_;
  KeyCodec key_codec_;
  RowCodec row_codec_;
  std::optional<RowTimes> times_;
  ValueState state_;
  int64_t* identical_;
  int64_t* duplicates_;
  int64_t watermark_ = Time::kNoWatermark;
  int64_t rows_seen_ = 0;
  int64_t samples_ = 0;
  KeyBatch keys_;
  EncodedRows rows_;
  std::vector<Entry> entries_;
  std::vector<int64_t> row_times_;
};

}  // namespace

Result<std::unique_ptr<Operator>> CreateWatched(ConflictWatchSpec spec,
                                                const OperatorContext& context) {
  auto watch = std::make_unique<ConflictWatch>(std::move(spec), context);
  RT_TRY(watch->MakeInner(context));
  return std::unique_ptr<Operator>(std::move(watch));
}

}  // namespace rowtide
