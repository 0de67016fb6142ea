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

NamedLines::NamedLines(const Schema& schema, bool numbered)
    : encoder_(numbered ? WithoutLast(schema) : schema),
      numbered_(numbered),
      has_values_(schema.size() > 1) {}

size_t NamedLines::MakeReady(const NamedRows& rows, size_t first) {
  if (!texts_) {
    texts_ = std::make_unique<Text[]>(kTexts);
    lines_ = std::make_unique_for_overwrite<char[]>(kTexts * kLineBytes);
  }
  for (const uint64_t name : long_names_) texts_[PlaceOf(name)].name = 0;
  long_names_.clear();
  long_lines_.clear();
  wanted_.resize(kBatchRows);
  size_t wanted = 0;
  const uint32_t turn = ++turn_;
  const size_t end = std::min(rows.names.size(), first + kBatchRows);
  const uint64_t* const names = rows.names.data();
  Text* const texts = texts_.get();
  size_t row = first;
  for (; row < end; ++row) {
    const uint64_t name = names[row];
    Text& text = texts[PlaceOf(name)];
    if (text.name == name && text.turn == turn) continue;
    if (text.name != name) {
      if (text.turn == turn && row > first) break;
      text.name = name;
      wanted_.data()[wanted++] = static_cast<int32_t>(row);
    }
    text.turn = turn;
    const char* const line = LineAt(PlaceOf(name));  // to be written or patched
    for (int i = 0; i < 4; ++i) __builtin_prefetch(line + 64 * i, 1);
  }
  wanted_.resize(wanted);
  if (!wanted_.empty()) Encode(rows);
  return row;
}

// A line ends with a bracket and a newline, which a number is to take the place of.
void NamedLines::Encode(const NamedRows& rows) {
  const RowBatch values = rows.Values(wanted_);
  const uint64_t* const names = rows.names.data();
  Text* const texts = texts_.get();
  const size_t room = numbered_ ? kLineBytes - kEndBytes : kLineBytes;
  const size_t cut = numbered_ ? 2 : 0, commas = numbered_ && has_values_ ? 1 : 0;
  for (int first = 0; first < values.rows; first += ScriptEncoder::kStepRows) {
    const int step = std::min(ScriptEncoder::kStepRows, values.rows - first);
    const int32_t* const wanted = wanted_.data() + first;
    for (int row = 0; row < step; ++row) places_[row] = LineAt(PlaceOf(names[wanted[row]]));
    encoder_.EncodeInto(values, first, step, places_, room);
    for (int row = 0; row < step; ++row) {
      const std::string_view line = encoder_.line(row);
      const uint64_t name = names[wanted[row]];
      if (line.data() != places_[row]) [[unlikely]] {
        RememberLong(name, line.substr(0, line.size() - cut), commas);
        continue;
      }
      const size_t bytes = line.size() - cut;
      if (commas != 0) places_[row][bytes] = ',';
      texts[PlaceOf(name)].bytes = static_cast<uint32_t>(bytes + commas);
    }
  }
}

void NamedLines::RememberLong(uint64_t name, std::string_view line, size_t commas) {
  texts_[PlaceOf(name)].bytes = kIsLong + static_cast<uint32_t>(long_lines_.size());
  long_names_.push_back(name);
  long_lines_.emplace_back(line).append(commas, ',');
}

std::string_view NamedLines::LongLineOf(RowKind kind, size_t number_of_line, int64_t number) {
  long_line_ = long_lines_[number_of_line];
  std::memcpy(long_line_.data(), ScriptEncoder::HeadOf(kind), ScriptEncoder::kHeadBytes);
  if (numbered_) {
    long_line_ += std::to_string(number);
    long_line_ += "]\n";
  }
  return long_line_;
}

}  // namespace rowtide
