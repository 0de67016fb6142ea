#include "connectors/named_lines.h"

#include <algorithm>
#include <cstring>

namespace rowtide {
namespace {

Schema WithoutLast(const Schema& schema) {
  Schema values;
  for (int i = 0; i + 1 < schema.size(); ++i) values.Add(schema.fields()[static_cast<size_t>(i)]);
  return values;
}

}  // namespace

NamedLines::NamedLines(const Schema& schema)
    : encoder_(WithoutLast(schema)), has_values_(schema.size() > 1) {}

size_t NamedLines::MakeReady(const NamedRows& rows, size_t first) {
  if (!texts_) texts_ = std::make_unique<Text[]>(kTexts);
  for (const uint64_t name : long_names_) texts_[name % kTexts].name = 0;
  long_names_.clear();
  long_lines_.clear();
  wanted_.clear();
  ++turn_;
  const size_t end = std::min(rows.names.size(), first + kBatchRows);
  size_t row = first;
  for (; row < end; ++row) {
    if (row + kFetchRows < end) Prefetch(rows.names[row + kFetchRows]);
    const uint64_t name = rows.names[row];
    Text& text = texts_[name % kTexts];
    if (text.name != name) {
      if (text.turn == turn_ && row > first) break;
      text.name = name;
      wanted_.push_back(static_cast<int32_t>(row));
    }
    text.turn = turn_;
  }
  if (!wanted_.empty()) Encode(rows);
  return row;
}

void NamedLines::Encode(const NamedRows& rows) {
  const RowBatch values = rows.Values(wanted_);
  for (int first = 0; first < values.rows; first += ScriptEncoder::kStepRows) {
    const int step = std::min(ScriptEncoder::kStepRows, values.rows - first);
    encoder_.Encode(values, first, step);
    for (int row = 0; row < step; ++row) {
      const auto wanted = static_cast<size_t>(wanted_[static_cast<size_t>(first + row)]);
      Remember(rows.names[wanted], encoder_.line(row));
    }
  }
}

// `line` ends with a bracket and a newline, which a number is to take the place of.
void NamedLines::Remember(uint64_t name, std::string_view line) {
  Text& text = texts_[name % kTexts];
  line.remove_suffix(2);
  const size_t bytes = line.size() + (has_values_ ? 1 : 0);
  if (bytes + kEndBytes <= kLineBytes) [[likely]] {
    std::memcpy(text.line, line.data(), line.size());
    if (has_values_) text.line[line.size()] = ',';
    text.bytes = static_cast<uint32_t>(bytes);
    return;
  }
  text.bytes = kIsLong + static_cast<uint32_t>(long_lines_.size());
  long_names_.push_back(name);
  std::string& long_line = long_lines_.emplace_back(line);
  if (has_values_) long_line += ',';
}

std::string_view NamedLines::LongLineOf(RowKind kind, size_t number_of_line, int64_t number) {
  long_line_ = long_lines_[number_of_line];
  std::memcpy(long_line_.data(), ScriptEncoder::HeadOf(kind), ScriptEncoder::kHeadBytes);
  long_line_ += std::to_string(number);
  long_line_ += "]\n";
  return long_line_;
}

}  // namespace rowtide
