// Where the records of a block are, and where their fields: the plain ones by their marks, the
// others walked through field by field.
#include <simdjson.h>

#include <algorithm>

#include "connectors/formats/csv.h"

namespace rowtide {
namespace {

bool IsBlank(char c) { return c == ' ' || c == '\t'; }

}  // namespace

int CsvDecoder::FindPlainRows(int rows) const {
  const auto fields = static_cast<size_t>(fields_);
  const uint32_t* marks = marks_.offsets + mark_;
  if (text_ + static_cast<uint32_t>(marks[-1] + 1) != next_) return 0;
  rows = static_cast<int>(std::min(static_cast<size_t>(rows), (marks_.count - mark_) / fields));
  const auto* const text = reinterpret_cast<const uint8_t*>(text_);
  const uint32_t delimiter = static_cast<uint8_t>(spec_.options.delimiter.front());
  for (int row = 0; row < rows; ++row, marks += fields) {
    uint32_t differs = text[marks[fields - 1]] ^ uint32_t { '\n' };
    size_t i = 0;
    for (; i + 3 < fields; i += 3) {
      differs |= text[marks[i]] ^ delimiter;
      differs |= text[marks[i + 1]] ^ delimiter;
      differs |= text[marks[i + 2]] ^ delimiter;
    }
    for (; i + 1 < fields; ++i) differs |= text[marks[i]] ^ delimiter;
    if (differs != 0) return row;
    if (marks_.beyond_ascii) {
      const uint32_t begin = marks[-1] + 1;
      if (!simdjson::validate_utf8(text_ + begin, marks[fields - 1] - begin)) return row;
    }
  }
  return rows;
}

bool CsvDecoder::TakePlainRecord(int row) {
  if (FindPlainRows(1) == 0) return false;
  const uint32_t* const marks = marks_.offsets + mark_;
  for (Wanted& wanted : wanted_) {
    const uint32_t begin = marks[wanted.place - 1] + 1;
    wanted.begins[static_cast<size_t>(row)] = text_ + begin;
    wanted.bytes[static_cast<size_t>(row)] = marks[wanted.place] - begin;
  }
  places_[static_cast<size_t>(row)] = place_;
  mark_ += static_cast<size_t>(fields_);
  MoveTo(text_ + marks[fields_ - 1] + 1, 1);
  ends_[row] = place_.byte;
  return true;
}

CsvDecoder::Walk CsvDecoder::WalkRecord(int row) {
  const size_t first_mark = mark_;
  record_.clear();
  cells_ = 0;
  record_lines_ = 0;
  const char* at = next_;
  Walk walk = Walk::kRow;
  if (spec_.options.allow_comments) {
    const char* first = at;
    while (first < end_ && IsBlank(*first)) ++first;
    if (first < end_ && *first == '#') walk = SkipLine(first);
  }
  if (walk == Walk::kRow) walk = WalkCells(&at);
  if (walk == Walk::kRow) walk = CheckCells(row, at);
  if (walk == Walk::kIncomplete) mark_ = first_mark;
  return walk;
}

CsvDecoder::Walk CsvDecoder::WalkCells(const char** at) {
  Walk walk = Walk::kRow;
  for (bool is_last = false; walk == Walk::kRow && !is_last;) walk = WalkCell(at, &is_last);
  return walk;
}

bool CsvDecoder::IsDelimiter(const char* at) const {
  const std::string& delimiter = spec_.options.delimiter;
  if (delimiter.size() == 1) return *at == delimiter.front();
  return std::string_view(at, static_cast<size_t>(end_ - at)).starts_with(delimiter);
}

CsvDecoder::Walk CsvDecoder::WalkCell(const char** at, bool* is_last) {
  const char* begin = *at;
  if (spec_.options.trim_spaces) {
    while (begin < end_ && IsBlank(*begin) && !IsDelimiter(begin)) ++begin;
  }
  if (begin < end_ && *begin == spec_.options.quote && spec_.options.quote != '\0') {
    *at = begin;
    return WalkQuoted(at, is_last);
  }
  bool escaped = false;
  const char* resume = begin;  // what is before it cannot end the cell
  for (; mark_ < marks_.count; ++mark_) {
    const char* const mark = text_ + marks_.offsets[mark_];
    if (mark < resume) continue;
    if (IsDelimiter(mark) || *mark == '\n' || *mark == '\r') {
      *at = mark;
      return EndCell(begin, mark, escaped, false, at, is_last);
    }
    if (*mark != spec_.options.escape) continue;  // a quote inside is a character like any other
    if (mark + 1 == end_ && !at_end_) return Walk::kIncomplete;
    if (mark + 1 == end_) {
      return RejectRecord(end_, RejectReason::kUndecodable,
                          "an escape character at the end of the file");
    }
    if (mark[1] == '\n') ++record_lines_;
    escaped = true;
    resume = mark + 2;
  }
  if (!at_end_) return Walk::kIncomplete;
  *at = end_;
  return EndCell(begin, end_, escaped, false, at, is_last);
}

CsvDecoder::Walk CsvDecoder::WalkQuoted(const char** at, bool* is_last) {
  const char* const begin = *at + 1;
  const char quote = spec_.options.quote;
  bool escaped = false;
  const char* resume = begin;
  for (; mark_ < marks_.count; ++mark_) {
    const char* const mark = text_ + marks_.offsets[mark_];
    if (mark < resume) continue;
    const bool has_next = mark + 1 < end_;
    if ((*mark == quote || *mark == spec_.options.escape) && !has_next && !at_end_)
      return Walk::kIncomplete;
    if (*mark == spec_.options.escape && has_next) {
      if (mark[1] == '\n') ++record_lines_;
      escaped = true;
      resume = mark + 2;
    } else if (*mark == quote && has_next && mark[1] == quote) {
      escaped = true;
      resume = mark + 2;
    } else if (*mark == quote) {
      return EndQuoted(begin, mark, escaped, at, is_last);
    } else if (*mark == '\n') {
      ++record_lines_;
    }
  }
  if (!at_end_) return Walk::kIncomplete;
  return RejectRecord(end_, RejectReason::kUndecodable,
                      "a quoted field is not closed before the end of the file");
}

// Blanks behind a closing quote are dropped; anything else there is an error.
CsvDecoder::Walk CsvDecoder::EndQuoted(const char* begin, const char* close, bool escaped,
                                       const char** at, bool* is_last) {
  const char* next = close + 1;
  while (next < end_ && IsBlank(*next) && !IsDelimiter(next)) ++next;
  if (next == end_ && !at_end_) return Walk::kIncomplete;
  if (next < end_ && !IsDelimiter(next) && *next != '\n' && *next != '\r') {
    const std::string_view text(next, static_cast<size_t>(LineEnd(next) - next));
    return RejectRecord(next, RejectReason::kUndecodable,
                        fmt::format("text behind a closing quote: '{}'", Excerpt(text, 16)));
  }
  *at = next;
  return EndCell(begin, close, escaped, true, at, is_last);
}

// `*at` is where the delimiter or the line end stands; moves it behind that, with the marks.
CsvDecoder::Walk CsvDecoder::EndCell(const char* begin, const char* end, bool escaped, bool quoted,
                                     const char** at, bool* is_last) {
  const char* next = *at;
  *is_last = true;
  if (next < end_ && IsDelimiter(next)) {
    *is_last = false;
    next += spec_.options.delimiter.size();
  } else if (next < end_ && *next == '\r') {
    if (next + 1 == end_ && !at_end_) return Walk::kIncomplete;
    next += next + 1 < end_ && next[1] == '\n' ? 2 : 1;
  } else if (next < end_) {
    ++next;
  }
  while (mark_ < marks_.count && text_ + marks_.offsets[mark_] < next) ++mark_;
  *at = next;
  if (spec_.options.trim_spaces && !quoted) {
    while (end > begin && IsBlank(end[-1])) --end;
  }
  if (cells_++ <= fields_) {
    record_.push_back(escaped ? Unescape(begin, end, quoted)
                              : Cell{begin, static_cast<uint32_t>(end - begin)});
  }
  return Walk::kRow;
}

CsvDecoder::Walk CsvDecoder::CheckCells(int row, const char* end) {
  const CsvOptions& options = spec_.options;
  if (end - next_ > spec_.limits.record_bytes) {
    return RejectRecord(end, RejectReason::kTooLarge, TooLargeText(spec_.limits));
  }
  if (marks_.beyond_ascii && !simdjson::validate_utf8(next_, static_cast<size_t>(end - next_))) {
    bad_reason_ = RejectReason::kInvalidEncoding;
    bad_message_ = "bytes that are no UTF-8";
    if (rejects_->fails()) {  // also where errors are ignored: Flink does not decode the line
      bad_end_ = end;
      while (bad_end_ > next_ && (bad_end_[-1] == '\n' || bad_end_[-1] == '\r')) --bad_end_;
      return Walk::kBad;
    }
    return RejectRecord(end, RejectReason::kInvalidEncoding, bad_message_);
  }
  const bool trailing_comma =
      cells_ == fields_ + 1 && record_.back().bytes == 0 && options.allow_trailing_comma;
  if (cells_ > fields_ && !trailing_comma && !options.ignore_trailing_unmappable) {
    return RejectRecord(end, RejectReason::kUndecodable,
                        fmt::format("{} fields, {} expected", cells_, fields_));
  }
  if (cells_ < fields_ && (options.fail_on_missing_columns || !options.ignore_parse_errors)) {
    return RejectRecord(end, RejectReason::kUndecodable,
                        fmt::format("{} fields, {} expected", cells_, fields_));
  }
  for (Wanted& wanted : wanted_) {
    const auto column = static_cast<size_t>(wanted.place);
    const Cell cell = column < record_.size() ? record_[column] : Cell{nullptr, 0};
    wanted.begins[static_cast<size_t>(row)] = cell.begin;
    wanted.bytes[static_cast<size_t>(row)] = cell.bytes;
  }
  places_[static_cast<size_t>(row)] = place_;
  MoveTo(end, record_lines_ + 1);
  ends_[row] = place_.byte;
  return Walk::kRow;
}

// `at` is behind the record when it stands behind a line end, else somewhere inside its last line.
CsvDecoder::Walk CsvDecoder::RejectRecord(const char* at, RejectReason reason,
                                          std::string message) {
  bad_reason_ = reason;
  bad_message_ = std::move(message);
  if (at > next_ && (at[-1] == '\n' || at[-1] == '\r')) --at;
  if (header_is_due_ || (rejects_->fails() && !spec_.options.ignore_parse_errors)) {
    // Said when the whole line is here, so that the message is the same wherever a block ends.
    bad_end_ = LineEnd(at);
    return bad_end_ == end_ && !at_end_ ? Walk::kIncomplete : Walk::kBad;
  }
  const RecordPlace place = place_;
  const char* const begin = next_;
  const Walk walk = SkipLine(at);
  if (walk != Walk::kSkipped) return walk;
  std::string_view record(begin, static_cast<size_t>(next_ - begin));
  while (record.ends_with('\n') || record.ends_with('\r')) record.remove_suffix(1);
  walked_past_.push_back({reason, place, "", bad_message_, "", record});
  return walk;
}

const char* CsvDecoder::LineEnd(const char* at) const {
  while (at < end_ && *at != '\n' && *at != '\r') ++at;
  return at;
}

CsvDecoder::Walk CsvDecoder::SkipLine(const char* at) {
  at = LineEnd(at);
  if (at < end_ && *at == '\r' && at + 1 == end_ && !at_end_) return Walk::kIncomplete;
  if (at == end_ && !at_end_) return Walk::kIncomplete;
  if (at < end_) at += *at == '\r' && at + 1 < end_ && at[1] == '\n' ? 2 : 1;
  while (mark_ < marks_.count && text_ + marks_.offsets[mark_] < at) ++mark_;
  MoveTo(at, record_lines_ + 1);
  return Walk::kSkipped;
}

void CsvDecoder::MoveTo(const char* next, int64_t lines) {
  place_.byte += next - next_;
  if (!IsPlaceOfRecord(place_.line)) place_.line += lines;
  ++place_.record;
  next_ = next;
}

// Doubled quotes become one; an escape makes the next character plain, and \n \r \t \0 what they
// are elsewhere.
CsvDecoder::Cell CsvDecoder::Unescape(const char* begin, const char* end, bool quoted) {
  char* const copy = Room(static_cast<size_t>(end - begin));
  char* out = copy;
  for (const char* from = begin; from < end; ++from) {
    char c = *from;
    if (c == spec_.options.escape && c != '\0' && from + 1 < end) {
      constexpr std::string_view kNames = "nrt0";
      c = *++from;
      const size_t place = kNames.find(c);
      if (place != std::string_view::npos) c = "\n\r\t\0"[place];
    } else if (quoted && c == spec_.options.quote && from + 1 < end && from[1] == c) {
      ++from;
    }
    *out++ = c;
  }
  return {copy, static_cast<uint32_t>(out - copy)};
}

char* CsvDecoder::Room(size_t bytes) {
  constexpr size_t kBlockBytes = 16 << 10;
  if (!copies_ || copied_ + bytes > copies_->size()) {
    copies_ = std::make_shared<Block>(std::max(kBlockBytes, bytes));
    blocks_.insert(blocks_.begin(), copies_);  // the input block stays the last one
    copied_ = 0;
  }
  char* const room = copies_->data() + copied_;
  copied_ += bytes;
  return room;
}

}  // namespace rowtide
