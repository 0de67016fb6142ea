#include "connectors/formats/update_pairs.h"

#include <utility>

#include "connectors/options.h"
#include "engine/batch_builder.h"

namespace rowtide {
namespace {

class JoinedUpdates final : public Encoder {
 public:
  JoinedUpdates(std::unique_ptr<Encoder> halves, RowKey key)
      : halves_(std::move(halves)), key_(std::move(key)) {}

  Status Encode(const RowBatch& batch, std::string* out, std::vector<size_t>* ends) override {
    lines_.clear();
    line_ends_.clear();
    RT_TRY(halves_->Encode(batch, &lines_, &line_ends_));
    size_t begin = 0;
    for (int row = 0; row < batch.rows; ++row) {
      const size_t end = line_ends_[static_cast<size_t>(row)];
      const std::string_view record = std::string_view(lines_).substr(begin, end - 1 - begin);
      begin = end;
      if (batch.kind(row) == RowKind::kUpdateAfter && !held_.empty() &&
          key_.Of(batch, row) == held_key_) {
        Append(JoinUpdate(std::exchange(held_, {}), record), out, ends);
        continue;
      }
      Finish(out, ends);
      if (batch.kind(row) == RowKind::kUpdateBefore) {
        held_ = record;
        held_key_ = key_.Of(batch, row);
      } else {
        Append(record, out, ends);
      }
    }
    return Status::Ok();
  }

  Status Finish(std::string* out) override {
    Finish(out, nullptr);
    return Status::Ok();
  }

 private:
  void Finish(std::string* out, std::vector<size_t>* ends) {
    if (!held_.empty()) Append(std::exchange(held_, {}), out, ends);
  }
  static void Append(std::string_view record, std::string* out, std::vector<size_t>* ends) {
    *out += record;
    *out += '\n';
    if (ends != nullptr) ends->push_back(out->size());
  }

  std::unique_ptr<Encoder> halves_;
  RowKey key_;
  std::string held_;  // of a -U
  std::vector<Value> held_key_;
  std::string lines_;
  std::vector<size_t> line_ends_;
};

// What stands between two texts.
std::string_view Between(std::string_view text, std::string_view first, std::string_view last) {
  const size_t begin = text.find(first) + first.size();
  return text.substr(begin, text.rfind(last) - begin);
}

}  // namespace

bool JoinsUpdates(const TableSpec& format, const ConnectorContext& context) {
  return context.settings.update_pairs && TextOption(format, "format") == "debezium-json";
}

// Without NULLs the other half is left out: the row is what stands before the kind, or before it.
std::string JoinUpdate(std::string_view before, std::string_view after) {
  const bool says_null = before.ends_with(",\"after\":null,\"op\":\"d\"}");
  const std::string_view old_row = Between(
      before, "{\"before\":", says_null ? ",\"after\":null,\"op\":\"d\"}" : ",\"op\":\"d\"}");
  const std::string_view new_row = Between(after, "\"after\":", ",\"op\":\"c\"}");
  return fmt::format("{{\"before\":{},\"after\":{},\"op\":\"u\"}}", old_row, new_row);
}

RowKey::RowKey(const TableSpec& table) : schema_(table.schema) {
  for (const std::string& name : table.primary_key) columns_.push_back(schema_.Find(name));
}

std::vector<Value> RowKey::Of(const RowBatch& batch, int row) const {
  std::vector<Value> key;
  for (const int column : columns_)
    key.push_back(ValueAt(batch, column, row, schema_.type(column)));
  return key;
}

std::unique_ptr<Encoder> WithJoinedUpdates(std::unique_ptr<Encoder> encoder, RowKey key) {
  return std::make_unique<JoinedUpdates>(std::move(encoder), std::move(key));
}

}  // namespace rowtide
