#include "connectors/formats/json.h"

#include <algorithm>
#include <cstring>

#include "connectors/formats/hints.h"
#include "connectors/formats/json_changes.h"
#include "connectors/formats/json_nested.h"
#include "connectors/formats/json_rows.h"
#include "connectors/formats/json_shape.h"

namespace rowtide {
namespace {

namespace ondemand = simdjson::ondemand;

class JsonDecoder final : public Decoder, public RecordDecoder {
 public:
  JsonDecoder(JsonDecoderSpec spec, std::unique_ptr<JsonMessages> messages, Rejects* rejects)
      : spec_(std::move(spec)),
        guesses_(spec_.guesses && messages == nullptr),
        rejects_(rejects),
        object_(spec_, rejects),
        messages_(std::move(messages)) {}

  Status Begin(RecordPlace place, std::string_view /*header*/) override {
    place_ = place;
    line_ = nullptr;
    skips_line_ = false;
    block_ = nullptr;
    return Status::Ok();
  }

  Result<size_t> Decode(const BlockPointer& block, size_t begin, size_t end, bool at_end) override {
    BeginBatch(block);
    const char* next = block->data() + begin;
    const char* const stop = block->data() + end;
    if (block != block_ || next != next_ || stop != stop_) Look(block, next, stop);
    while (rows_ < kBatchRows && next < stop) {
      const char* const alike_end = next < lines_end_ ? TakeAlike(next) : nullptr;
      if (alike_end != nullptr) {
        place_.byte += alike_end + 1 - next;
        ++place_.line;
        ++place_.record;
        next = alike_end + 1;
        continue;
      }
      const auto* line_end =
          static_cast<const char*>(std::memchr(next, '\n', static_cast<size_t>(stop - next)));
      const bool is_whole = line_end != nullptr || at_end;
      if (line_end == nullptr) line_end = stop;
      const std::string_view line(next, static_cast<size_t>(line_end - next));
      const char* const behind = line_end < stop ? line_end + 1 : stop;
      if (!is_whole && !skips_line_ &&
          static_cast<int64_t>(line.size()) <= spec_.limits.record_bytes) {
        break;
      }
      bool is_done = true;
      if (skips_line_) {
        skips_line_ = !is_whole;
      } else if (static_cast<int64_t>(line.size()) > spec_.limits.record_bytes) {
        skips_line_ = !is_whole;
        RT_TRY(RejectRecord({RejectReason::kTooLarge, TooLargeText(spec_.limits), "", -1}, line));
      } else {
        const int rows = rows_;
        RT_ASSIGN(is_done, TakeLine(line.ends_with('\r') ? line.substr(0, line.size() - 1) : line));
        if (guesses_ && rows_ == rows + 1 && next < lines_end_)
          shapes_.Missed(next, scan_, object_.names());
      }
      if (!is_done) break;
      place_.byte += behind - next;
      place_.line += line_end < stop;
      place_.record += !skips_line_;
      place_.rows = 0;
      next = behind;
    }
    next_ = next;
    return static_cast<size_t>(next - block->data()) - begin;
  }

  Status Decode(const Records& records, RecordCursor* at) override {
    if (records.bytes.empty()) return Status::Ok();
    is_message_ = true;
    BeginBatch(records.block);
    if (at->record == 0 && at->rows == 0) {
      const RecordBytes &first = records.bytes.front(), &last = records.bytes.back();
      Look(records.block, records.block->data() + first.begin,
           records.block->data() + last.begin + last.bytes + 1);
    }
    while (rows_ < kBatchRows && at->record < static_cast<int32_t>(records.bytes.size())) {
      RT_ASSIGN(const bool is_done, TakeMessage(records, *at));
      at->rows = is_done ? 0 : static_cast<int32_t>(place_.rows);
      if (!is_done) break;
      ++at->record;
      ++records_;
    }
    return Status::Ok();
  }

  int rows() const override { return rows_; }

  RowBatch Finish() override {
    RowBatch batch;
    batch.rows = rows_;
    batch.first_record = first_record_;
    batch.places = std::move(row_places_);
    batch.kinds = std::move(kinds_);
    batch.columns = object_.FinishColumns();
    batch.blocks = std::move(blocks_);
    blocks_.clear();
    for (BlockPointer& copies : object_.FinishStrings()) batch.blocks.push_back(std::move(copies));
    rows_ = 0;
    return batch;
  }

  const RecordPlace& place() const override { return place_; }

 private:
  void BeginBatch(const BlockPointer& block) {
    if (rows_ == 0) blocks_.clear();  // no row points into what was read so far
    if (blocks_.empty()) {
      first_record_ = place_.record;
      row_places_ = std::make_shared<Block>(kBatchRows * sizeof(RowPlace));
      if (messages_) kinds_ = std::make_shared<Block>(kBatchRows);
      object_.Begin();
    }
    if (blocks_.empty() || blocks_.back() != block) blocks_.push_back(block);
  }

  // False: the message has more rows than the batch has room for.
  Result<bool> TakeMessage(const Records& records, const RecordCursor& at) {
    const RecordBytes& one = records.bytes[static_cast<size_t>(at.record)];
    const char* const next = records.block->data() + one.begin;
    const std::string_view text(next, one.bytes);
    place_ = PlaceOfRecord(records, at.record);
    place_.record = records_;
    place_.rows = at.rows;
    if (one.kind != RecordBytes::Kind::kBytes) {
      if (one.kind == RecordBytes::Kind::kNull) rejects_->CountEmpty();
      return true;
    }
    const bool looks_alike = at.rows == 0 && next < lines_end_;
    if (looks_alike && TakeAlike(next, next + one.bytes) != nullptr) return true;
    if (static_cast<int64_t>(one.bytes) > spec_.limits.record_bytes) {
      RT_TRY(RejectRecord({RejectReason::kTooLarge, TooLargeText(spec_.limits), "", -1}, text));
      return true;
    }
    if (text.empty()) rejects_->CountEmpty();
    const int rows = rows_;
    RT_ASSIGN(const bool is_done, TakeLine(text));
    if (guesses_ && is_done && rows_ == rows + 1 && next < lines_end_)
      shapes_.Missed(next, scan_, object_.names());
    return is_done;
  }

  // Up to which byte there are whole lines, and whether they are UTF-8: once a block.
  void Look(const BlockPointer& block, const char* next, const char* stop) {
    block_ = block;
    stop_ = stop;
    const auto* last = static_cast<const char*>(::memrchr(next, '\n', Bytes(next, stop)));
    lines_end_ = last != nullptr && guesses_ ? last + 1 : next;
    scan_.Look(next, lines_end_);
    is_utf8_ = scan_.is_ascii() || simdjson::validate_utf8(next, Bytes(next, lines_end_));
  }
  static size_t Bytes(const char* begin, const char* end) {
    return static_cast<size_t>(end - begin);
  }

  // The row of a record that has the shape of an earlier one, without a parser. Where its line
  // ends; null: nothing is taken, and TakeLine says what it is. Takes nothing that TakeLine would
  // refuse or read otherwise. `end`: where it must end; null: at any line end.
  [[gnu::noinline]] const char* TakeAlike(const char* next, const char* end = nullptr) {
    if (place_.record == 0 || skips_line_) return nullptr;
    JsonColumn* const columns = object_.columns();
    const int row = rows_;
    const char* const line_end = shapes_.Walk(
        next, scan_, [=, this](int wanted, JsonScalar value) __attribute__((always_inline)) {
          if (wanted >= 0 && !value.has_escapes && columns[wanted].StoreQuickly(value, row))
              [[likely]] {
            return true;
          }
          return StoreAlike(wanted, value.kind, value.has_escapes, value.text);
        });
    if (line_end == nullptr || line_end - next > spec_.limits.record_bytes) return nullptr;
    if (end != nullptr && line_end != end) return nullptr;
    if (!is_utf8_ && !simdjson::validate_utf8(next, Bytes(next, line_end))) return nullptr;
    for (const int missing : shapes_.missing()) columns[missing].slots().SetNull(rows_);
    AddRow(RowKind::kInsert);
    return line_end;
  }

  [[gnu::noinline]] bool StoreAlike(int wanted, JsonScalar::Kind kind, bool has_escapes,
                                    std::string_view text) {
    return object_.TakeScalar(wanted, {.kind = kind, .has_escapes = has_escapes, .text = text},
                              rows_);
  }

  void AddRow(RowKind kind) {
    rejects_->CountRead(1);
    if (kinds_) kinds_->data()[rows_] = static_cast<char>(kind);
    reinterpret_cast<RowPlace*>(row_places_->data())[rows_++] = {place_.line, place_.byte};
  }

  // False: the line has more rows than the batch has room for.
  Result<bool> TakeLine(std::string_view line) {
    if (line.empty()) return true;
    const bool goes_on = line.data() == line_;
    line_ = line.data();
    if (messages_) return TakeMessages(line, goes_on);
    if (IsArray(line)) return TakeArray(line, goes_on);
    RT_TRY(TakeObject(line));
    return true;
  }

  static bool IsArray(std::string_view line) {
    const size_t first = line.find_first_not_of(" \t\r");
    return first != std::string_view::npos && line[first] == '[';
  }

  Status TakeObject(std::string_view text) {
    if (!object_.Take(TextOf(text), rows_)) return RejectRecord(object_.trouble(), text);
    if (place_.record == 0) object_.LookForOtherCase();
    AddRow(RowKind::kInsert);
    return Status::Ok();
  }

  // Of the line at hand, or of what it became when it was repaired.
  JsonRows::Text TextOf(std::string_view text) const {
    const int64_t begin = is_message_ ? 0 : place_.byte;  // of the line
    if (IsRepaired(text)) return {text, false, begin};
    return {text, true, begin + (text.data() - line_)};
  }

  void Repair(std::string_view text) { repaired_ = RepairedJson(text); }
  bool IsRepaired(std::string_view text) const {
    return text.data() >= repaired_.data() && text.data() < repaired_.data() + repaired_.size();
  }

  Status RejectRecord(JsonTrouble trouble, std::string_view record) {
    const std::string column = trouble.column < 0 ? "" : spec_.schema.name(trouble.column);
    if (trouble.hint.empty() && trouble.reason == RejectReason::kUndecodable)
      trouble.hint = JsonHint(record);
    const Reject reject{trouble.reason,          place_, column, std::move(trouble.message),
                        std::move(trouble.hint), record};
    RT_TRY(spec_.options.ignore_parse_errors && reject.reason != RejectReason::kNotNull
               ? rejects_->TakeQuietly(reject)
               : rejects_->Take(reject));
    rejects_->CountRead(1);
    return Status::Ok();
  }

  // --- arrays ---
  // The elements are found once, and then each is a record of its own, from place_.rows on.
  Result<bool> TakeArray(std::string_view line, bool goes_on) {
    if (!goes_on || elements_.empty()) {
      if (!FindElements(line)) {
        elements_.clear();
        RT_TRY(RejectRecord(std::move(trouble_), line));
        return true;
      }
      if (is_message_ && elements_.empty()) rejects_->CountEmpty();
    }
    while (place_.rows < static_cast<int64_t>(elements_.size())) {
      if (rows_ == kBatchRows) return false;
      RT_TRY(TakeObject(elements_[static_cast<size_t>(place_.rows)]));
      ++place_.rows;
    }
    elements_.clear();
    return true;
  }

  bool FindElements(std::string_view line) {
    elements_.clear();
    ondemand::document document;
    ondemand::array array;
    if (IterateJson(&parser_, line, &document) != simdjson::SUCCESS ||
        document.get_array().get(array) != simdjson::SUCCESS) {
      return FindElementsSlowly(line);
    }
    for (auto element : array) {
      ondemand::value value;
      std::string_view text;
      if (std::move(element).get(value) != simdjson::SUCCESS || !RawText(value, &text))
        return FindElementsSlowly(line);
      elements_.push_back(text);
    }
    return IsAtEnd(document) || FindElementsSlowly(line);
  }

  // Why the array is none; or, where a string holds control characters, its elements all the same.
  bool FindElementsSlowly(std::string_view line) {
    const JsonVerdict verdict = CheckJson(line, spec_.limits.json_depth);
    if (verdict.kind == JsonVerdict::Kind::kOk && !verdict.has_more && verdict.has_controls &&
        !IsRepaired(line)) {
      Repair(line);
      return FindElements(repaired_);
    }
    trouble_ = ExplainJson(line, verdict, TextOf(line).at);
    return false;
  }

  // --- messages ---
  // A step is one row of a change, or a change that is none; place_.rows counts them, so a batch
  // may end between the two rows of an update.
  struct Step {
    size_t change;
    bool is_before;
  };

  Result<bool> TakeMessages(std::string_view line, bool goes_on) {
    if (!goes_on || steps_.empty()) {
      FindSteps(line);
      if (is_message_ && steps_.empty()) rejects_->CountEmpty();
    }
    while (place_.rows < static_cast<int64_t>(steps_.size())) {
      if (rows_ == kBatchRows) return false;
      const Step step = steps_[static_cast<size_t>(place_.rows)];
      RT_ASSIGN(const int taken, TakeStep(changes_[step.change], step.is_before));
      place_.rows += taken;
    }
    steps_.clear();
    return true;
  }

  void FindSteps(std::string_view line) {
    if (!ReadMessages(line)) {
      Repair(line);
      ReadMessages(repaired_);
    }
    steps_.clear();
    for (size_t i = 0; i < changes_.size(); ++i) {
      if (changes_[i].has_before()) steps_.push_back({i, true});
      steps_.push_back({i, false});
    }
  }

  // False: nothing is wrong with the line but control characters inside strings.
  bool ReadMessages(std::string_view line) {
    changes_.clear();
    if (!IsArray(line)) {
      messages_->Read(TextOf(line), &changes_);
    } else if (FindElements(line)) {
      for (const std::string_view element : elements_) messages_->Read(TextOf(element), &changes_);
    } else {
      changes_.push_back({.message = TextOf(line), .trouble = std::move(trouble_)});
    }
    if (changes_.empty() || changes_.back().trouble.message.empty() || IsRepaired(line))
      return true;
    const JsonVerdict verdict = CheckJson(line, spec_.limits.json_depth);
    return verdict.kind != JsonVerdict::Kind::kOk || verdict.has_more || !verdict.has_controls;
  }

  // Returns how many steps it took: both rows of an update are taken or none, so the first one is
  // not taken before it is known that the second one can be.
  Result<int> TakeStep(const JsonChange& change, bool is_before) {
    const int steps = is_before ? 2 : 1;
    if (!change.trouble.message.empty()) {
      RT_TRY(RejectRecord(change.trouble, change.message.json));
      return steps;
    }
    if (!object_.Take(change.row, rows_) ||
        (is_before && !object_.Take(change.before, rows_, change.is_partial))) {
      RT_TRY(RejectRecord(object_.trouble(), change.message.json));
      return steps;
    }
    if (place_.record == 0) object_.LookForOtherCase();
    AddRow(is_before ? RowKind::kUpdateBefore : change.row_kind());
    return 1;
  }

  JsonDecoderSpec spec_;
  const bool guesses_;
  Rejects* rejects_;
  JsonRows object_;
  std::unique_ptr<JsonMessages> messages_;  // null: a line is a row
  ondemand::parser parser_;
  JsonShapes shapes_;
  JsonScan scan_;
  RecordPlace place_;
  bool skips_line_ = false;  // the next bytes are the rest of a record that was too large
  bool is_message_ = false;  // what it is given is cut into records already
  int64_t records_ = 0;      // … so far

  // The block at hand: whole lines up to `lines_end_`; Decode left off at `next_`.
  BlockPointer block_;
  const char* next_ = nullptr;
  const char* stop_ = nullptr;
  const char* lines_end_ = nullptr;
  bool is_utf8_ = false;

  // The batch so far.
  int rows_ = 0;
  int64_t first_record_ = 0;
  std::shared_ptr<Block> row_places_;
  std::shared_ptr<Block> kinds_;  // of messages
  std::vector<BlockPointer> blocks_;

  // The line at hand; from place_.rows on, its elements or steps are still to come.
  const char* line_ = nullptr;
  std::vector<std::string_view> elements_;
  std::vector<JsonChange> changes_;
  std::vector<Step> steps_;
  std::string repaired_;  // it, with control characters escaped
  JsonTrouble trouble_;
};

}  // namespace

namespace {

template <typename Port>
Result<std::unique_ptr<Port>> Create(JsonDecoderSpec spec, Rejects* rejects) {
  std::unique_ptr<JsonMessages> messages;
  if (spec.envelope != JsonEnvelope::kNone) {
    RT_ASSIGN(messages, JsonMessages::Create(spec.envelope, spec.options, spec.limits.json_depth));
  }
  return std::unique_ptr<Port>(
      std::make_unique<JsonDecoder>(std::move(spec), std::move(messages), rejects));
}

}  // namespace

Result<std::unique_ptr<Decoder>> CreateJsonDecoder(JsonDecoderSpec spec, Rejects* rejects) {
  return Create<Decoder>(std::move(spec), rejects);
}

Result<std::unique_ptr<RecordDecoder>> CreateJsonRecordDecoder(JsonDecoderSpec spec,
                                                               Rejects* rejects) {
  return Create<RecordDecoder>(std::move(spec), rejects);
}

}  // namespace rowtide
