#include "operators/conflict_watch.h"

#include <cstring>

#include "engine/snapshot.h"
#include "engine/value_text.h"

namespace rowtide {
namespace {

// {"file":"orders.csv","line":3,"byte":120}
std::string PlaceJson(const RowBatch& batch, int row) {
  const RowPlace* const place = batch.place_of(row);
  if (place == nullptr) return "null";
  std::string text = "{\"file\":";
  AppendJsonString({batch.file->data(), batch.file->size()}, &text);
  return text + fmt::format(",\"line\":{},\"byte\":{}}}", place->line, place->byte);
}

}  // namespace

ConflictWatch::ConflictWatch(const Schema& schema, std::vector<int> keys,
                             std::unique_ptr<ConflictLog> log, Counters* counters)
    : schema_(schema),
      keys_(std::move(keys)),
      log_(std::move(log)),
      identical_(counters->Find("identical")),
      duplicates_(counters->Find("duplicate")),
      uncompared_(counters->Find("uncompared")),
      codec_(schema),
      writer_(codec_) {}

void ConflictWatch::Begin(const RowBatch& batch, const KeyBatch& keys) {
  batch_ = &batch;
  key_batch_ = &keys;
  writer_.Bind(batch);
}

std::string_view ConflictWatch::Encode(int row, std::string* bytes) {
  bytes->resize(writer_.SizeOf(row));
  writer_.Write(row, bytes->data());
  return *bytes;
}

void ConflictWatch::CompareStored(int row, std::string_view kept, bool differs) {
  if (!differs && codec_.EqualsRow(kept, *batch_, row)) {
    ++*identical_;
    return;
  }
  ++*duplicates_;
  if (log_) Write(Encode(row, &row_bytes_), kept, row);
}

void ConflictWatch::Meets(std::string_view row, std::string_view kept, bool differs) {
  if (!differs && codec_.Equal(row, kept)) {
    ++*identical_;
    return;
  }
  ++*duplicates_;
  if (log_) Write(row, kept, kNoNumber);
}

void ConflictWatch::MeetsNote(int row, std::string_view note, int64_t millis) {
  Note noted{};
  if (!note.empty()) std::memcpy(&noted, note.data(), sizeof(noted));
  if (!log_ && !note.empty() && noted.millis != millis) {
    ++*duplicates_;  // no need to look at the row
  } else {
    CompareNote(Encode(row, &row_bytes_), note, millis, row);
  }
}

void ConflictWatch::CompareNote(std::string_view row, std::string_view note, int64_t millis,
                                int number) {
  if (note.empty()) {
    ++*uncompared_;
    return;
  }
  Note noted;
  std::memcpy(&noted, note.data(), sizeof(noted));
  if (noted.millis == millis && noted.digest == codec_.HashContent(row)) {
    ++*identical_;
    return;
  }
  ++*duplicates_;
  if (!log_) return;
  note.remove_prefix(sizeof(noted));
  Write(row, note.empty() ? std::nullopt : std::optional(note), number);
}

std::string_view ConflictWatch::NoteOf(std::string_view row, int64_t millis) {
  const Note note{millis, codec_.HashContent(row)};
  note_.assign(reinterpret_cast<const char*>(&note), sizeof(note));
  if (log_) note_ += row;
  return note_;
}

void ConflictWatch::RememberPlace(int row) {
  if (batch_->place_of(row) != nullptr)
    kept_places_[std::string(key_batch_->key(row))] = PlaceJson(*batch_, row);
}

// {"key":{…},"kept":{…},"other":{…},"kept_at":{"file":"orders.csv","line":3,"byte":9},"other_at":…}
void ConflictWatch::Write(std::string_view row, std::optional<std::string_view> kept, int number) {
  if (samples_ == kConflictSamplesMax || !status_.ok()) return;
  ++samples_;
  std::string line = "{\"key\":{";
  for (size_t i = 0; i < keys_.size(); ++i) AppendField(keys_[i], row, i > 0, &line);
  line += "},\"kept\":";
  if (kept) {
    AppendRow(*kept, &line);
  } else {
    line += "null";
  }
  line += ",\"other\":";
  AppendRow(row, &line);
  const bool is_in_batch = number != kNoNumber;
  const auto place =
      is_in_batch ? kept_places_.find(std::string(key_batch_->key(number))) : kept_places_.end();
  line += ",\"kept_at\":" + (place == kept_places_.end() ? "null" : place->second);
  line += ",\"other_at\":" + (is_in_batch ? PlaceJson(*batch_, number) : "null") + "}\n";
  status_ = log_->Write(line);
}

void ConflictWatch::AppendRow(std::string_view row, std::string* line) const {
  line->push_back('{');
  for (int column = 0; column < schema_.size(); ++column) {
    AppendField(column, row, column > 0, line);
  }
  line->push_back('}');
}

void ConflictWatch::AppendField(int column, std::string_view row, bool follows,
                                std::string* line) const {
  if (follows) line->push_back(',');
  const Type& type = schema_.type(column);
  AppendJsonString(schema_.name(column), line);
  line->push_back(':');
  AppendScriptText(codec_.ValueOf(row.data(), column, type), type, line);
}

Status NotedKeys::Restore(SnapshotReader& reader) {
  state_->Clear();
  return Merge(reader);
}

Status NotedKeys::Merge(SnapshotReader& reader) {
  return state_->MergeWith(reader, [this](SnapshotReader& from, Entry entry) {
    RT_ASSIGN(const std::string_view note, from.Bytes("note"));
    RT_TRY(CheckNote(note));
    if (entry) state_->Assign(entry, watch_ != nullptr ? note : std::string_view());
    return Status::Ok();
  });
}

Status CheckNote(std::string_view note) {
  if (note.empty() || note.size() >= sizeof(int64_t) + sizeof(uint64_t)) return Status::Ok();
  return Status::Corruption("a note of the snapshot has {} bytes", note.size());
}

}  // namespace rowtide
