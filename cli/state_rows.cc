#include "cli/state_rows.h"

#include <cstdio>

#include "engine/batch_builder.h"
#include "engine/value_text.h"

namespace rowtide {
namespace {

constexpr size_t kTableRowsMax = 10'000;  // of one table on the screen; then the next one begins

// Script text is JSON but for decimals, which are quoted there.
void AppendJsonValue(const Value& value, const Type& type, std::string* to) {
  const size_t begin = to->size();
  AppendScriptText(value, type, to);
  if (type.kind != TypeKind::kDecimal || (*to)[begin] != '"') return;
  to->erase(begin, 1);
  to->pop_back();
}

std::string JsonObject(const Schema& schema, const std::vector<Value>& values) {
  std::string text = "{";
  for (int i = 0; i < schema.size(); ++i) {
    if (i > 0) text += ',';
    AppendJsonString(schema.name(i), &text);
    text += ':';
    AppendJsonValue(values[static_cast<size_t>(i)], schema.type(i), &text);
  }
  return text + "}";
}

}  // namespace

std::string StateRows::Cell(const Value& value, const Type& type) const {
  if (IsNull(value)) return mode_ == OutputMode::kCsv ? "" : "<NULL>";
  std::string text;
  AppendCastText(value, type, zone_, &text);
  return text;
}

Result<std::vector<std::vector<RowText>>> StateRows::RowsOf(LookedState& state,
                                                            const KeyBatch& keys) const {
  std::vector<std::vector<RowText>> rows(static_cast<size_t>(keys.rows()));
  const Schema& schema = state.row_schema();
  RT_TRY(state.Rows(keys, [&](const RowBatch& batch, std::span<const int32_t> of) {
    std::vector<Value> values(static_cast<size_t>(schema.size()));
    for (int row = 0; row < batch.rows; ++row) {
      RowText text;
      for (int i = 0; i < schema.size(); ++i) {
        values[static_cast<size_t>(i)] = ValueAt(batch, i, row, schema.type(i));
        if (mode_ != OutputMode::kJson)
          text.cells.push_back(Cell(values[static_cast<size_t>(i)], schema.type(i)));
      }
      text.json = JsonObject(schema, values);
      rows[static_cast<size_t>(of[static_cast<size_t>(row)])].push_back(std::move(text));
    }
    return Status::Ok();
  }));
  return rows;
}

void StateRows::Begin(const LookedNode& node, const LookedState& state) {
  End();
  node_ = &node;
  state_ = &state;
  has_heading_ = false;
  key_columns_.clear();
  names_.clear();
  if (with_changes_) names_.emplace_back("");
  if (mode_ == OutputMode::kCsv) names_ = {with_changes_ ? "change" : "node"};
  if (mode_ == OutputMode::kCsv && with_changes_) names_.emplace_back("node");
  if (mode_ == OutputMode::kCsv) names_.emplace_back("state");
  for (int i = 0; i < state.key_schema().size(); ++i) {
    const int column = state.row_schema().Find(state.key_schema().name(i));
    if (column >= 0) continue;
    key_columns_.push_back(i);
    names_.push_back(state.key_schema().name(i));
  }
  for (const std::string& name : state.row_schema().names()) names_.push_back(name);
}

void StateRows::Print(char change, const std::vector<Value>& key, const RowText& row) {
  ++rows_;
  if (mode_ == OutputMode::kJson) {
    std::string line = "{";
    if (with_changes_) line += fmt::format("\"change\":\"{}\",", change);
    line += fmt::format("\"node\":{},\"operator\":", node_->number);
    AppendJsonString(node_->identity.kind, &line);
    line += ",\"state\":";
    AppendJsonString(state_->name(), &line);
    line += ",\"key\":" + JsonObject(state_->key_schema(), key) + ",\"row\":" + row.json + "}\n";
    std::fwrite(line.data(), 1, line.size(), stdout);
    return;
  }
  std::vector<std::string> cells;
  if (with_changes_) cells.emplace_back(1, change);
  if (mode_ == OutputMode::kCsv) {
    cells.push_back(std::to_string(node_->number));
    cells.push_back(state_->name());
  }
  for (const int i : key_columns_)
    cells.push_back(Cell(key[static_cast<size_t>(i)], state_->key_schema().type(i)));
  cells.insert(cells.end(), row.cells.begin(), row.cells.end());
  table_.push_back(std::move(cells));
  if (table_.size() >= kTableRowsMax) PrintTable();
}

void StateRows::PrintTable() {
  if (table_.empty()) return;
  std::string text;
  if (mode_ == OutputMode::kCsv) {
    text = TextRows(mode_, names_, table_);
    if (has_heading_) text.erase(0, TextRows(mode_, names_, {}).size());
  } else {
    if (!has_heading_)
      text = fmt::format("{} {}: {}\n", node_->number, node_->identity.kind, state_->name());
    text += TextRows(OutputMode::kTable, names_, table_);
  }
  has_heading_ = true;
  std::fwrite(text.data(), 1, text.size(), stdout);
  table_.clear();
}

void StateRows::End() {
  if (state_ != nullptr) PrintTable();
  state_ = nullptr;
}

}  // namespace rowtide
