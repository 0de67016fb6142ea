#include "connectors/formats/json.h"

#include <simdjson.h>

#include <algorithm>
#include <cstring>

#include "connectors/formats/hints.h"
#include "connectors/formats/json_nested.h"
#include "connectors/formats/json_shape.h"
#include "connectors/formats/json_syntax.h"
#include "connectors/formats/json_values.h"

namespace rowtide {
namespace {

namespace ondemand = simdjson::ondemand;

// As much of a value as a message shows.
constexpr size_t kValueBytes = 40;

enum class Found : uint8_t { kNothing, kNull, kValue };

struct Wanted {
  int column;  // in the schema
  JsonColumn values;
  Found found = Found::kNothing;
};

class JsonDecoder final : public Decoder {
 public:
  JsonDecoder(JsonDecoderSpec spec, Rejects* rejects) : spec_(std::move(spec)), rejects_(rejects) {
    for (const int column : spec_.columns) {
      const Type& type = spec_.schema.type(column);
      names_[spec_.schema.name(column)] = static_cast<int>(wanted_.size());
      wanted_.push_back({column, JsonColumn(type, spec_.options)});
    }
  }

  Status Begin(RecordPlace place, std::string_view /*header*/) override {
    place_ = place;
    elements_.clear();
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
        RT_TRY(RejectRecord(RejectReason::kTooLarge, TooLargeText(spec_.limits), line));
      } else {
        const int rows = rows_;
        RT_ASSIGN(is_done, TakeLine(line.ends_with('\r') ? line.substr(0, line.size() - 1) : line));
        if (spec_.guesses && rows_ == rows + 1 && next < lines_end_)
          shapes_.Missed(next, scan_, names_);
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

  int rows() const override { return rows_; }

  RowBatch Finish() override {
    RowBatch batch;
    batch.rows = rows_;
    batch.first_record = first_record_;
    batch.places = std::move(row_places_);
    for (Wanted& wanted : wanted_) batch.columns.push_back(wanted.values.slots().Finish());
    batch.blocks = std::move(blocks_);
    blocks_.clear();
    for (BlockPointer& copies : strings_.Finish()) batch.blocks.push_back(std::move(copies));
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
      for (Wanted& wanted : wanted_) wanted.values.slots().Begin();
    }
    if (blocks_.empty() || blocks_.back() != block) blocks_.push_back(block);
  }

  // Up to which byte there are whole lines, and whether they are UTF-8: once a block.
  void Look(const BlockPointer& block, const char* next, const char* stop) {
    block_ = block;
    stop_ = stop;
    const auto* last = static_cast<const char*>(::memrchr(next, '\n', Bytes(next, stop)));
    lines_end_ = last != nullptr && spec_.guesses ? last + 1 : next;
    scan_.Look(next, lines_end_);
    is_utf8_ = scan_.is_ascii() || simdjson::validate_utf8(next, Bytes(next, lines_end_));
  }
  static size_t Bytes(const char* begin, const char* end) {
    return static_cast<size_t>(end - begin);
  }

  // --- records ---
  // The row of a record that has the shape of an earlier one, without a parser. Where its line
  // ends; null: nothing is taken, and TakeLine says what it is. Takes nothing that TakeLine would
  // refuse or read otherwise.
  [[gnu::noinline]] const char* TakeAlike(const char* next) {
    if (place_.record == 0 || skips_line_) return nullptr;
    Wanted* const columns = wanted_.data();
    const int row = rows_;
    const char* const line_end = shapes_.Walk(
        next, scan_, [ =, this ](int wanted, JsonScalar value) __attribute__((always_inline)) {
          if (wanted >= 0 && !value.has_escapes && columns[wanted].values.StoreQuickly(value, row))
              [[likely]] {
            return true;
          }
          return StoreAlike(wanted, value.kind, value.has_escapes, value.text);
        });
    if (line_end == nullptr || line_end - next > spec_.limits.record_bytes) return nullptr;
    if (!is_utf8_ && !simdjson::validate_utf8(next, Bytes(next, line_end))) return nullptr;
    for (const int missing : shapes_.missing())
      wanted_[static_cast<size_t>(missing)].values.slots().SetNull(rows_);
    AddRow();
    return line_end;
  }

  [[gnu::noinline]] bool StoreAlike(int column, JsonScalar::Kind kind, bool has_escapes,
                                    std::string_view text) {
    JsonScalar value{.kind = kind, .has_escapes = has_escapes, .text = text};
    if (value.has_escapes && !Unescape(&value)) return false;
    if (column < 0) return true;
    Wanted& wanted = wanted_[static_cast<size_t>(column)];
    const JsonCast cast = value.kind == JsonScalar::Kind::kNull
                              ? JsonCast::kNull
                              : wanted.values.Store(value, rows_, &strings_);
    if (cast != JsonCast::kNull) return cast == JsonCast::kValue;
    if (!TakesNull(wanted)) return false;
    wanted.values.slots().SetNull(rows_);
    return true;
  }

  void AddRow() {
    rejects_->CountRead(1);
    reinterpret_cast<RowPlace*>(row_places_->data())[rows_++] = {place_.line, place_.byte};
  }

  // False: an array has more rows than the batch has room for.
  Result<bool> TakeLine(std::string_view line) {
    if (line.empty()) return true;
    const size_t first = line.find_first_not_of(" \t\r");
    if (first != std::string_view::npos && line[first] == '[') return TakeArray(line);
    RT_TRY(TakeObject(line));
    return true;
  }

  Status TakeObject(std::string_view text) {
    for (Wanted& wanted : wanted_) wanted.found = Found::kNothing;
    trouble_.clear();
    trouble_column_ = -1;
    if (!DecodeText(text, !IsRepaired(text)) || !CheckRow()) {
      return RejectRecord(trouble_reason_, std::move(trouble_), text);
    }
    if (place_.record == 0) LookForOtherCase();
    AddRow();
    return Status::Ok();
  }

  // The elements are found once, and then each is a record of its own, from place_.rows on.
  Result<bool> TakeArray(std::string_view line) {
    if (elements_.empty() || line.data() != line_) {
      line_ = line.data();
      if (!FindElements(line)) {
        RT_TRY(RejectRecord(trouble_reason_, std::move(trouble_), line));
        elements_.clear();
        return true;
      }
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
    trouble_column_ = -1;
    ondemand::document document;
    ondemand::array array;
    if (Iterate(line, &document) != simdjson::SUCCESS ||
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
    if (verdict.kind != JsonVerdict::Kind::kOk || verdict.has_more || !verdict.has_controls ||
        IsRepaired(line)) {
      return Explain(line, verdict);
    }
    Repair(line);
    return FindElements(repaired_);
  }

  void Repair(std::string_view text) {
    repaired_ = EscapeControls(text);
    repaired_.reserve(repaired_.size() + simdjson::SIMDJSON_PADDING);
  }
  bool IsRepaired(std::string_view text) const {
    return text.data() >= repaired_.data() && text.data() < repaired_.data() + repaired_.size();
  }

  // Requires: 64 readable bytes behind the text, as blocks and repaired records have them.
  simdjson::error_code Iterate(std::string_view text, ondemand::document* document) {
    static_assert(simdjson::SIMDJSON_PADDING <= 64);
    const size_t padded = text.size() + simdjson::SIMDJSON_PADDING;
    return parser_.iterate(text.data(), text.size(), padded).get(*document);
  }

  static bool IsAtEnd(ondemand::document& document) {
    return document.current_location().error() == simdjson::OUT_OF_BOUNDS;
  }

  // The values of one object. False: trouble_ says why it is none.
  bool DecodeText(std::string_view text, bool stays) {
    stays_ = stays;
    is_over_ = false;
    nested_ = 1;
    field_ = 0;
    ondemand::document document;
    ondemand::object object;
    if (Iterate(text, &document) == simdjson::SUCCESS &&
        document.get_object().get(object) == simdjson::SUCCESS) {
      switch (DecodeFields(object)) {
        case Walk::kDone:
          if (is_over_ || IsAtEnd(document)) return true;
          break;
        case Walk::kBadValue: return false;
        case Walk::kBadText: break;
      }
    }
    return DecodeSlowly(text, stays);
  }

  bool DecodeSlowly(std::string_view text, bool stays) {
    const JsonVerdict verdict = CheckJson(text, spec_.limits.json_depth);
    if (verdict.kind == JsonVerdict::Kind::kOk && stays) {
      for (Wanted& wanted : wanted_) wanted.found = Found::kNothing;
      if (verdict.has_more && IgnoresRest(text.substr(verdict.at)))
        return DecodeText(text.substr(0, verdict.end), stays);
      if (!verdict.has_more && verdict.has_controls) {
        Repair(text);
        return DecodeText(repaired_, false);
      }
    }
    return Explain(text, verdict);
  }

  // Text behind an object may be passed over where errors are, unless it is a record that would be
  // lost.
  bool IgnoresRest(std::string_view rest) const {
    if (spec_.stops_early) return true;
    return spec_.options.ignore_parse_errors && rest.front() != '{' && rest.front() != '[';
  }

  // Always false: what is wrong with the text, and where.
  bool Explain(std::string_view text, const JsonVerdict& verdict) {
    std::string reason = verdict.reason;
    trouble_reason_ = RejectReason::kUndecodable;
    if (verdict.kind == JsonVerdict::Kind::kEncoding)
      trouble_reason_ = RejectReason::kInvalidEncoding;
    if (verdict.kind == JsonVerdict::Kind::kTooDeep) trouble_reason_ = RejectReason::kTooDeep;
    const std::string_view rest = text.substr(std::min(verdict.at, text.size()));
    if (verdict.kind == JsonVerdict::Kind::kOk) {
      reason = verdict.has_more ? "text behind the value" : "an object in braces is expected";
      if (!verdict.has_more) {
        trouble_ = fmt::format("no record: {}, not '{}'", reason, Excerpt(text, kValueBytes));
        return false;
      }
    }
    trouble_ = fmt::format(
        "no JSON: {} at byte {}, ", reason,
        place_.byte + (IsRepaired(text) ? 0 : Offset(text)) + static_cast<int64_t>(verdict.at));
    if (rest.empty()) {
      trouble_ += "where the record ends";
    } else {
      trouble_ += fmt::format("not '{}'", Excerpt(rest, 16));
    }
    return false;
  }

  // Where the text begins within its line: elements of an array do not begin it.
  int64_t Offset(std::string_view text) const {
    return elements_.empty() ? 0 : text.data() - line_;
  }

  // Names of fields are what they are: `ID` is not `id`, which is then NULL in every row.
  void LookForOtherCase() {
    for (const Wanted& wanted : wanted_) {
      if (wanted.found != Found::kNothing) continue;
      const std::string& column = spec_.schema.name(wanted.column);
      for (size_t i = 0; i < std::min(field_, seen_.size()); ++i) {
        const Seen& seen = seen_[i];
        if (seen.number >= 0 || seen.name.size() != column.size() + 1) continue;
        const bool same =
            std::equal(column.begin(), column.end(), seen.name.begin(), [](char a, char b) {
              return std::tolower(static_cast<unsigned char>(a)) ==
                     std::tolower(static_cast<unsigned char>(b));
            });
        if (same)
          ++*rejects_->Oddity(kOtherCase + column + "." + seen.name.substr(0, column.size()));
      }
    }
  }

  // NULLs where nothing was found; whether all of the row is well.
  bool CheckRow() {
    for (Wanted& wanted : wanted_) {
      if (wanted.found == Found::kValue) continue;
      if (wanted.found == Found::kNothing && spec_.options.fail_on_missing_field) {
        return BadValue(wanted, RejectReason::kMissingField, "the record does not have the field");
      }
      if (!TakesNull(wanted))
        return BadValue(wanted, RejectReason::kNotNull, "NULL in a NOT NULL column");
      wanted.values.slots().SetNull(rows_);
    }
    return true;
  }

  bool TakesNull(const Wanted& wanted) const {
    return wanted.values.type().nullable || spec_.trusts_not_null;
  }

  Status RejectRecord(RejectReason reason, std::string message, std::string_view record) {
    const std::string column = trouble_column_ < 0 ? "" : spec_.schema.name(trouble_column_);
    trouble_column_ = -1;
    if (trouble_hint_.empty() && reason == RejectReason::kUndecodable)
      trouble_hint_ = JsonHint(record);
    const Reject reject{reason, place_, column, std::move(message), std::move(trouble_hint_),
                        record};
    trouble_hint_.clear();
    RT_TRY(spec_.options.ignore_parse_errors && reason != RejectReason::kNotNull
               ? rejects_->TakeQuietly(reject)
               : rejects_->Take(reject));
    rejects_->CountRead(1);
    return Status::Ok();
  }

  // --- fields ---
  enum class Walk : uint8_t { kDone, kBadText, kBadValue };

  Walk DecodeFields(ondemand::object& object) {
    for (auto result : object) {
      ondemand::field field;
      if (std::move(result).get(field) != simdjson::SUCCESS) return Walk::kBadText;
      int number;
      if (!NumberOf(field.key().raw(), &number)) return Walk::kBadText;
      if (number < 0) {
        if (!SkipJson(field.value(), nested_ + 1, spec_.limits.json_depth)) return Walk::kBadText;
        continue;
      }
      const Walk walk = DecodeField(wanted_[static_cast<size_t>(number)], field.value());
      if (walk != Walk::kDone || is_over_) return walk;
      if (spec_.stops_early && FoundAll()) {
        is_over_ = true;
        return Walk::kDone;
      }
    }
    return Walk::kDone;
  }

  bool FoundAll() const {
    return std::all_of(wanted_.begin(), wanted_.end(),
                       [](const Wanted& wanted) { return wanted.found != Found::kNothing; });
  }

  // Which wanted column a name is for, -1: none. Records tend to have the same names in the same
  // order, so the n-th name is first compared with that of the record before. False: no name.
  bool NumberOf(const char* raw, int* number) {
    if (field_ == seen_.size() && field_ < kSeenMax) seen_.emplace_back();
    Seen& seen = seen_[std::min(field_++, kSeenMax - 1)];
    if (!seen.name.empty() && std::memcmp(raw, seen.name.data(), seen.name.size()) == 0) {
      *number = seen.number;
      return true;
    }
    size_t size = 0;
    bool escaped = false;
    for (; raw[size] != '"'; ++size) {
      if (raw[size] == '\\') {
        escaped = true;
        ++size;
      }
    }
    std::string name(raw, size);
    if (escaped && !UnescapeJson({raw, size}, &name)) return false;
    const auto found = names_.find(name);
    *number = found == names_.end() ? -1 : found->second;
    if (size <= kSeenBytesMax) seen = {std::string(raw, size + 1), *number};
    return true;
  }

  Walk DecodeField(Wanted& wanted, ondemand::value value) {
    ondemand::json_type type;
    if (value.type().get(type) != simdjson::SUCCESS) return Walk::kBadText;
    if (type == ondemand::json_type::object || type == ondemand::json_type::array)
      return DecodeNested(wanted, value, type);
    std::string_view token = TokenOf(value);
    if (type == ondemand::json_type::null) {
      if (token != "null") return Walk::kBadText;
      wanted.found = Found::kNull;
      return Walk::kDone;
    }
    JsonScalar scalar{.kind = JsonScalar::Kind::kWord, .stays = stays_, .text = token};
    if (type == ondemand::json_type::number) {
      if (!IsJsonNumber(token)) return Walk::kBadText;
      scalar.kind = JsonScalar::Kind::kNumber;
    } else if (type == ondemand::json_type::string) {
      scalar.kind = JsonScalar::Kind::kString;
      scalar.text = token.substr(1, token.size() - 2);
      scalar.has_escapes = scalar.text.find('\\') != std::string_view::npos;
      if (scalar.has_escapes && !Unescape(&scalar)) return Walk::kBadText;
    } else if (token != "true" && token != "false") {
      return Walk::kBadText;
    }
    switch (wanted.values.Store(scalar, rows_, &strings_)) {
      case JsonCast::kValue: wanted.found = Found::kValue; return Walk::kDone;
      case JsonCast::kNull: wanted.found = Found::kNull; return Walk::kDone;
      case JsonCast::kBad: return BadField(wanted, token);
    }
    return Walk::kDone;
  }

  bool Unescape(JsonScalar* scalar) {
    if (!UnescapeJson(scalar->text, &scratch_)) return false;
    *scalar = {.kind = scalar->kind, .stays = false, .text = scratch_};
    return true;
  }

  // An object or an array is text in a STRING column, and fits nowhere else.
  Walk DecodeNested(Wanted& wanted, ondemand::value value, ondemand::json_type type) {
    if (IsCharacter(wanted.values.type())) {
      scratch_.clear();
      if (!AppendJsonText(value, nested_ + 1, spec_.limits.json_depth, &scratch_))
        return Walk::kBadText;
      wanted.values.slots().Set(rows_, strings_.Copy(scratch_));
      wanted.found = Found::kValue;
      return Walk::kDone;
    }
    if (type == ondemand::json_type::object && spec_.options.ignore_parse_errors)
      return GoOnInside(wanted, value);
    std::string_view text;
    if (!RawText(value, &text) || !CheckInside(text)) return Walk::kBadText;
    if (type == ondemand::json_type::array && wanted.values.type().kind == TypeKind::kBoolean) {
      wanted.values.slots().Set(rows_, uint8_t{0});  // not true, so false
      wanted.found = Found::kValue;
      return Walk::kDone;
    }
    return BadField(wanted, text);
  }

  // Flink's reader, told to ignore errors, stays inside the object that did not fit: takes its
  // fields for those of the record, and its end for the record's end.
  Walk GoOnInside(Wanted& wanted, ondemand::value value) {
    ondemand::object object;
    const Walk bad = BadField(wanted, "{");
    if (bad != Walk::kDone || value.get_object().get(object) != simdjson::SUCCESS) return bad;
    ++nested_;
    if (nested_ > spec_.limits.json_depth) return Walk::kBadText;
    const Walk walk = DecodeFields(object);
    is_over_ = true;
    return walk;
  }

  bool CheckInside(std::string_view text) const {
    const JsonVerdict verdict = CheckJson(text, spec_.limits.json_depth - nested_);
    return verdict.kind == JsonVerdict::Kind::kOk && !verdict.has_more;
  }

  Walk BadField(Wanted& wanted, std::string_view text) {
    if (spec_.options.ignore_parse_errors) {
      rejects_->CountNulled();
      wanted.found = Found::kNull;
      return Walk::kDone;
    }
    BadValue(wanted, RejectReason::kCast,
             fmt::format("no {}: {}", ToString(wanted.values.type().Nullable()),
                         Excerpt(text, kValueBytes)));
    if (rejects_->fails())
      trouble_hint_ =
          CastHint(text, spec_.schema.name(wanted.column), wanted.values.type(), TextFormat::kJson);
    return Walk::kBadValue;
  }

  bool BadValue(const Wanted& wanted, RejectReason reason, std::string message) {
    trouble_reason_ = reason;
    trouble_ = std::move(message);
    trouble_column_ = wanted.column;
    return false;
  }

  static constexpr size_t kSeenMax = 256;
  static constexpr size_t kSeenBytesMax = 63;  // readable behind any name
  struct Seen {
    std::string name;  // with the quote behind it
    int number = -1;
  };

  JsonDecoderSpec spec_;
  Rejects* rejects_;
  std::vector<Wanted> wanted_;
  JsonNames names_;
  ondemand::parser parser_;
  JsonShapes shapes_;
  JsonScan scan_;
  RecordPlace place_;
  bool skips_line_ = false;  // the next bytes are the rest of a record that was too large

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
  std::vector<BlockPointer> blocks_;
  StringBlocks strings_;

  // The record at hand.
  const char* line_ = nullptr;              // of the array whose elements these are
  std::vector<std::string_view> elements_;  // from place_.rows on they are still to come
  std::vector<Seen> seen_;
  size_t field_ = 0;
  int64_t nested_ = 0;
  bool stays_ = true;     // strings may point into the text
  bool is_over_ = false;  // the rest of the text does not count
  std::string repaired_;  // the record with control characters escaped
  std::string scratch_;
  RejectReason trouble_reason_ = RejectReason::kUndecodable;
  std::string trouble_;
  std::string trouble_hint_;
  int trouble_column_ = -1;
};

}  // namespace

Result<std::unique_ptr<Decoder>> CreateJsonDecoder(JsonDecoderSpec spec, Rejects* rejects) {
  return std::unique_ptr<Decoder>(std::make_unique<JsonDecoder>(std::move(spec), rejects));
}

}  // namespace rowtide
