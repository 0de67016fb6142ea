#include "connectors/rows.h"

#include <simdjson.h>

#include <algorithm>
#include <limits>

#include "connectors/options.h"
#include "engine/batch_builder.h"
#include "engine/snapshot.h"
#include "engine/value_text.h"

namespace rowtide {
namespace {

constexpr size_t kOver = std::numeric_limits<size_t>::max();

std::string_view TrimBlanks(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r'))
    text.remove_suffix(1);
  return text;
}

std::string_view TakeWord(std::string_view* text) {
  *text = TrimBlanks(*text);
  const size_t end = std::min(text->find_first_of(" \t"), text->size());
  const std::string_view word = text->substr(0, end);
  *text = TrimBlanks(text->substr(end));
  return word;
}

bool ParseKind(std::string_view text, RowKind* kind) {
  for (const RowKind candidate :
       {RowKind::kInsert, RowKind::kUpdateBefore, RowKind::kUpdateAfter, RowKind::kDelete}) {
    if (text == Text(candidate)) {
      *kind = candidate;
      return true;
    }
  }
  return false;
}

struct Token {
  std::string text;
  bool was_quoted;
};

// The elements of a JSON array; what is nested stays text.
bool ParseArray(const std::string& json, std::vector<Token>* tokens) {
  simdjson::ondemand::parser parser;
  const simdjson::padded_string padded(json);
  simdjson::ondemand::document document;
  simdjson::ondemand::array array;
  if (parser.iterate(padded).get(document) || document.get_array().get(array)) return false;
  for (auto element : array) {
    simdjson::ondemand::value value;
    simdjson::ondemand::json_type type;
    std::string_view text;
    if (std::move(element).get(value) || value.type().get(type)) return false;
    const bool is_text = type == simdjson::ondemand::json_type::string;
    if (is_text) {
      if (value.get_string().get(text)) return false;
    } else {
      text = value.raw_json_token();
      while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ') text.remove_suffix(1);
    }
    tokens->push_back({std::string(text), is_text});
  }
  return true;
}

struct RowsRow {
  size_t event;
  bool is_watermark;
  int64_t watermark_ms;
  RowKind kind;
  std::vector<Value> values;
};

Result<RowsRow> ParseRow(const ScriptEvent& event, size_t number, const TableSpec& table,
                         const ScanSpec& scan) {
  RowsRow row{number, event.is_watermark, 0, event.kind, {}};
  if (event.is_watermark) {
    WideTime time;
    if (!ParseTimestamp(event.text, &time)) {
      return Status::InvalidArgument("line {}: {} is no timestamp", event.line, Quote(event.text));
    }
    row.watermark_ms = time.millis;
    return row;
  }
  std::vector<Token> tokens;
  if (!ParseArray(event.text, &tokens)) {
    return Status::InvalidArgument("line {}: {} is no JSON array", event.line, event.text);
  }
  if (static_cast<int>(tokens.size()) != table.schema.size()) {
    return Status::InvalidArgument("line {}: {} values for the {} columns of {}", event.line,
                                   tokens.size(), table.schema.size(), table.name);
  }
  for (const int column : scan.columns) {
    const Token& token = tokens[static_cast<size_t>(column)];
    if (!token.was_quoted && token.text == "null") {
      row.values.emplace_back();
      continue;
    }
    Result<Value> value = ParseScriptValue(token.text, token.was_quoted, table.schema.type(column));
    if (!value.ok()) return Status(value.status()).WithContext(fmt::format("line {}", event.line));
    row.values.push_back(std::move(*value));
  }
  return row;
}

// The last part of `catalog.database.table`: what scripts call it.
std::string ShortName(const std::string& name) { return name.substr(name.rfind('.') + 1); }

}  // namespace

class RowsSource final : public Source {
 public:
  RowsSource(Schema schema, std::string table, std::vector<RowsRow> rows, RowsFeed* feed)
      : schema_(std::move(schema)), rows_(std::move(rows)), feed_(feed) {
    feed->places_.push_back(
        std::make_unique<RowsFeed::Place>(RowsFeed::Place{std::move(table), 0}));
    place_ = feed->places_.back().get();
    MoveTo(0);
  }

  const Schema& output_schema() const override { return schema_; }

  Result<SourceState> Poll(Collector& out) override {
    if (place_->next == kOver) return SourceState::kEnd;
    const size_t horizon = Horizon();
    if (place_->next > horizon) return SourceState::kWait;
    if (row_ == rows_.size()) return End();
    if (rows_[row_].is_watermark) {
      const Time time = Time::Watermark(rows_[row_].watermark_ms);
      MoveTo(row_ + 1);
      RT_TRY(out.Advance(time));
      return SourceState::kMore;
    }
    const int rows_max =
        feed_->next_rows_max_ ? std::clamp(feed_->next_rows_max_(), 1, kBatchRows) : kBatchRows;
    BatchBuilder builder(schema_, rows_max);
    while (row_ < rows_.size() && !builder.full() && !rows_[row_].is_watermark &&
           rows_[row_].event <= horizon) {
      builder.AppendKind(rows_[row_].kind);
      for (int i = 0; i < schema_.size(); ++i) {
        builder.AppendValue(i, schema_.type(i), rows_[row_].values[static_cast<size_t>(i)]);
      }
      MoveTo(row_ + 1);
    }
    RT_TRY(out.Emit(builder.Finish()));
    return SourceState::kMore;
  }

  Status Snapshot(SnapshotWriter& writer) const override {
    writer.PutU64(row_);
    writer.PutU8(place_->next == kOver);
    return Status::Ok();
  }

  Status Restore(SnapshotReader& reader) override {
    RT_ASSIGN(const uint64_t row, reader.U64("row of the script"));
    RT_ASSIGN(const uint8_t is_over, reader.U8("end of the script"));
    if (row > rows_.size()) return Status::Corruption("row {} of {}", row, rows_.size());
    MoveTo(row);
    if (is_over) place_->next = kOver;
    return Status::Ok();
  }

 private:
  // The first event that another source still has to hand out.
  size_t Horizon() const {
    size_t horizon = kOver - 1;
    for (const auto& place : feed_->places_) {
      if (place.get() != place_) horizon = std::min(horizon, place->next);
    }
    return horizon;
  }

  // All rows are out everywhere: the tables end in the order of their names.
  SourceState End() {
    for (const auto& place : feed_->places_) {
      if (place.get() == place_ || place->next == kOver) continue;
      if (std::pair(place->table, place.get()) < std::pair(place_->table, place_))
        return SourceState::kWait;
    }
    place_->next = kOver;
    return SourceState::kEnd;
  }

  void MoveTo(size_t row) {
    row_ = row;
    place_->next = row < rows_.size() ? rows_[row].event : feed_->events_.size();
  }

  Schema schema_;
  std::vector<RowsRow> rows_;
  size_t row_ = 0;
  RowsFeed* feed_;
  RowsFeed::Place* place_;
};

Result<ScriptEvent> ParseScriptEvent(std::string_view text, int line) {
  ScriptEvent event;
  event.line = line;
  event.table = TakeWord(&text);
  const std::string_view word = TakeWord(&text);
  event.is_watermark = word == "WATERMARK";
  if (event.is_watermark) {
    if (text.size() >= 2 && text.front() == '"' && text.back() == '"')
      text = text.substr(1, text.size() - 2);
  } else if (!ParseKind(word, &event.kind)) {
    return Status::InvalidArgument("line {}: {} is none of +I, -U, +U, -D, WATERMARK", line,
                                   Quote(word));
  }
  event.text = text;
  return event;
}

void AppendCsvEvents(const std::string& table, std::string_view csv,
                     std::vector<ScriptEvent>* events) {
  for (int line = 1; !csv.empty(); ++line) {
    const size_t end = std::min(csv.find('\n'), csv.size());
    std::string_view row = csv.substr(0, end);
    csv.remove_prefix(std::min(end + 1, csv.size()));
    if (row.ends_with('\r')) row.remove_suffix(1);
    if (row.empty()) continue;
    ScriptEvent event;
    event.table = table;
    event.line = line;
    event.text = "[";
    while (true) {
      const size_t comma = std::min(row.find(','), row.size());
      if (comma == 0) {
        event.text += "null";
      } else {
        AppendJsonString(row.substr(0, comma), &event.text);
      }
      if (comma == row.size()) break;
      event.text += ",";
      row.remove_prefix(comma + 1);
    }
    event.text += "]";
    events->push_back(std::move(event));
  }
}

Result<std::unique_ptr<Source>> CreateRowsSource(const TableSpec& table, const ScanSpec& scan,
                                                 const ConnectorContext& context) {
  if (context.feed == nullptr) {
    return Status::InvalidArgument("table {} has the connector 'rows', which only scripts can fill",
                                   table.name);
  }
  RT_ASSIGN(const ChangelogMode mode,
            ParseChangelogMode(TextOption(table, "changelog-mode").value_or("I")));
  Schema schema;
  for (const int column : scan.columns) schema.Add(table.schema.field(column));
  const std::string name = ShortName(table.name);
  std::vector<RowsRow> rows;
  for (size_t i = 0; i < context.feed->events().size(); ++i) {
    const ScriptEvent& event = context.feed->events()[i];
    if (event.table != name) continue;
    if (!event.is_watermark && !mode.Holds(event.kind)) {
      return Status::InvalidArgument("line {}: table {} has no {} rows ('changelog-mode' is {})",
                                     event.line, name, Text(event.kind), mode.ToString());
    }
    RT_ASSIGN(RowsRow row, ParseRow(event, i, table, scan));
    rows.push_back(std::move(row));
  }
  return std::unique_ptr<Source>(
      std::make_unique<RowsSource>(std::move(schema), name, std::move(rows), context.feed));
}

}  // namespace rowtide
