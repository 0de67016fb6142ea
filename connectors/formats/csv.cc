#include "connectors/formats/csv.h"

#include <simdjson.h>

#include <algorithm>
#include <limits>

#include "engine/base64.h"
#include "engine/java_numbers.h"
#include "connectors/formats/csv_header.h"
#include "connectors/formats/hints.h"

namespace rowtide {
namespace {

// What a cell turned out to be.
enum class Cast : uint8_t { kValue, kNull, kBad };

Cast ValueIf(bool parsed) { return parsed ? Cast::kValue : Cast::kBad; }

// `*value` cut to a multiple of `unit`, towards the past.
void CutTo(int64_t unit, int64_t* value) { *value -= ((*value % unit) + unit) % unit; }

int64_t PowerOfTen(int exponent) {
  int64_t power = 1;
  for (int i = 0; i < exponent; ++i) power *= 10;
  return power;
}

std::string SpecialCharacters(const CsvOptions& options) {
  std::string characters = "\n\r";
  if (options.delimiter.size() == 1) characters += options.delimiter;
  if (options.quote != '\0') characters += options.quote;
  if (options.escape != '\0') characters += options.escape;
  return characters;
}

bool IsBlank(char c) { return c == ' ' || c == '\t'; }

// As much of a value as a message shows.
constexpr size_t kValueBytes = 40;

// A string view of bytes in a block. Requires: 16 readable bytes behind their beginning.
__attribute__((target("sse4.1"))) inline void MakeView(const char* text, uint32_t bytes,
                                                       StringView* view) {
  if (bytes > StringView::kInlineBytes) {
    *view = StringView(text, bytes);
    return;
  }
  alignas(16) static constexpr uint8_t kKeep[32] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                                    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
  __m128i value = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text));
  value =
      _mm_and_si128(value, _mm_loadu_si128(reinterpret_cast<const __m128i*>(kKeep + 16 - bytes)));
  value = _mm_insert_epi32(_mm_slli_si128(value, 4), static_cast<int>(bytes), 0);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(view), value);
}

// More than a reader's block: a record is on its way.
constexpr size_t kLongRecordBytes = 512 << 10;

bool HasLineEnd(std::string_view text) {
  return std::memchr(text.data(), '\n', text.size()) != nullptr ||
         std::memchr(text.data(), '\r', text.size()) != nullptr;
}

}  // namespace

Result<std::unique_ptr<CsvDecoder>> CsvDecoder::Create(CsvDecoderSpec spec, Rejects* rejects) {
  if (spec.schema.size() == 0) return Status::InvalidArgument("a csv table needs a column");
  for (const Field& field : spec.schema.fields()) {
    if (field.type.kind == TypeKind::kNull || field.type.kind == TypeKind::kSymbol ||
        IsInterval(field.type)) {
      return Status::Plan("csv cannot hold column {} of type {}", Quote(field.name),
                          ToString(field.type));
    }
  }
  return std::unique_ptr<CsvDecoder>(new CsvDecoder(std::move(spec), rejects));
}

CsvDecoder::CsvDecoder(CsvDecoderSpec spec, Rejects* rejects)
    : spec_(std::move(spec)),
      scanner_(SpecialCharacters(spec_.options)),
      fields_(spec_.schema.size()),
      has_plain_rows_(!spec_.options.trim_spaces && !spec_.options.allow_comments &&
                      spec_.options.delimiter.size() == 1),
      wanted_(spec_.columns.size()),
      rejects_(rejects) {
  for (size_t i = 0; i < wanted_.size(); ++i) {
    Wanted& wanted = wanted_[i];
    wanted.column = wanted.place = spec_.columns[i];
    wanted.type = spec_.schema.type(wanted.column);
    wanted.layout = LayoutOf(wanted.type);
    if (wanted.type.kind == TypeKind::kBoolean)
      wanted.odd_booleans = rejects->Oddity(kOddBooleans + spec_.schema.name(wanted.column));
  }
}

Status CsvDecoder::Begin(RecordPlace place, std::string_view header) {
  place_ = place;
  block_ = nullptr;
  skips_line_ = false;
  header_ = header;
  header_is_due_ = rejects_->settings().csv_header && header.empty();
  return header.empty() ? Status::Ok() : UseHeader();
}

Result<size_t> CsvDecoder::Decode(const BlockPointer& block, size_t begin, size_t end,
                                  bool at_end) {
  if (!skips_line_ && !at_end && end - begin > kLongRecordBytes &&
      !HasLineEnd({block->data() + begin, end - begin})) {
    return PassLongRecord(block, begin, end);
  }
  if (skips_line_ && std::memchr(block->data() + begin, '\n', end - begin) == nullptr) {
    place_.byte += static_cast<int64_t>(end - begin);  // no marks for what is not looked at
    block_ = nullptr;
    return end - begin;
  }
  if (block != block_ || block->data() + begin != next_ || block->data() + end != end_)
    Scan(block, begin, end);
  at_end_ = at_end;
  BeginBatch(block);
  const auto taken = [&] { return static_cast<size_t>(next_ - block->data()) - begin; };
  if (skips_line_ && !SkipRest()) return taken();
  if (header_is_due_) {
    RT_ASSIGN(const bool found, TakeHeader());
    if (!found) return taken();
  }
  if (place_.byte == 0 && place_.record == 0) LookForHeader();
  Walk stop = Walk::kRow;
  while (stop == Walk::kRow && rows_ < kBatchRows && next_ < end_) {
    const int rows_max = std::min(kStepRows, kBatchRows - rows_);
    int rows = 0;
    while (rows < rows_max && next_ < end_) {
      if (!takes_plain_rows_ || !TakePlainRecord(rows)) {
        const Walk walk = WalkRecord(rows);
        if (walk == Walk::kSkipped) continue;
        if (walk != Walk::kRow) {
          stop = walk;
          break;
        }
      }
      ++rows;
    }
    RT_TRY(DecodeStep(rows));
  }
  if (stop == Walk::kBad) {
    const std::string_view record(next_, static_cast<size_t>(bad_end_ - next_));
    std::string hint =
        HeaderHint(record, place_, spec_.schema, spec_.options, rejects_->settings());
    if (hint.empty() && bad_reason_ == RejectReason::kUndecodable)
      hint = DelimiterHint(record, spec_.options.delimiter, cells_, fields_);
    return rejects_->Take({bad_reason_, place_, "", bad_message_, std::move(hint), record});
  }
  if (stop == Walk::kIncomplete && end_ - next_ > spec_.limits.record_bytes) RT_TRY(TooLarge());
  return taken();
}

void CsvDecoder::Scan(const BlockPointer& block, size_t begin, size_t end) {
  block_ = block;
  next_ = text_ = block->data() + begin;
  end_ = block->data() + end;
  mark_ = 0;
  takes_plain_rows_ =
      has_plain_rows_ && static_cast<int64_t>(end - begin) <= spec_.limits.record_bytes;
  scanner_.Find(text_, end - begin, &marks_);
  if (spec_.options.delimiter.size() == 1) return;
  // A delimiter beyond ASCII is looked for on foot, and merged in.
  std::vector<uint32_t> all(marks_.offsets.get(), marks_.offsets.get() + marks_.count);
  const std::string_view text(text_, end - begin);
  for (size_t at = text.find(spec_.options.delimiter); at != text.npos;
       at = text.find(spec_.options.delimiter, at + 1)) {
    all.push_back(static_cast<uint32_t>(at));
  }
  std::sort(all.begin(), all.end());
  std::copy(all.begin(), all.end(), marks_.offsets.get());
  marks_.count = all.size();
}

void CsvDecoder::BeginBatch(const BlockPointer& block) {
  if (rows_ == 0) {  // no row points into what was read so far
    blocks_.clear();
    copies_ = nullptr;
  }
  if (blocks_.empty()) {
    first_record_ = place_.record;
    row_places_ = std::make_shared<Block>(kBatchRows * sizeof(RowPlace));
    for (Wanted& wanted : wanted_) {
      wanted.values = std::make_shared<Block>(static_cast<size_t>(kBatchRows) *
                                              static_cast<size_t>(WidthOf(wanted.layout)));
      wanted.validity = nullptr;
    }
  }
  if (blocks_.empty() || blocks_.back() != block) blocks_.push_back(block);
}

RowBatch CsvDecoder::Finish() {
  RowBatch batch;
  batch.rows = rows_;
  batch.first_record = first_record_;
  batch.places = std::move(row_places_);
  for (Wanted& wanted : wanted_) {
    batch.columns.emplace_back(wanted.layout, std::move(wanted.values), std::move(wanted.validity));
  }
  batch.blocks = std::move(blocks_);
  blocks_.clear();
  copies_ = nullptr;
  rows_ = 0;
  if (dropped_.empty()) return batch;
  std::vector<int32_t> kept;
  for (int row = 0; row < batch.rows; ++row) {
    if (!dropped_[static_cast<size_t>(row)]) kept.push_back(row);
  }
  dropped_.clear();
  return Select(batch, kept);
}

// --- records -------------------------------------------------------------------------------------

bool CsvDecoder::TakePlainRecord(int row) {
  const auto fields = static_cast<size_t>(fields_);
  if (marks_.count - mark_ < fields) return false;
  const uint32_t* const marks = marks_.offsets.get() + mark_;
  const char delimiter = spec_.options.delimiter.front();
  for (size_t i = 0; i + 1 < fields; ++i) {
    if (text_[marks[i]] != delimiter) return false;
  }
  const char* const end = text_ + marks[fields - 1];
  if (*end != '\n') return false;
  if (marks_.beyond_ascii && !simdjson::validate_utf8(next_, static_cast<size_t>(end - next_)))
    return false;
  for (Wanted& wanted : wanted_) {
    const auto column = static_cast<size_t>(wanted.place);
    const char* const begin = column == 0 ? next_ : text_ + marks[column - 1] + 1;
    wanted.begins[static_cast<size_t>(row)] = begin;
    wanted.bytes[static_cast<size_t>(row)] = static_cast<uint32_t>(text_ + marks[column] - begin);
  }
  places_[static_cast<size_t>(row)] = place_;
  mark_ += fields;
  MoveTo(end + 1, 1);
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
  place_.line += lines;
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

// --- columns -------------------------------------------------------------------------------------

Status CsvDecoder::DecodeStep(int rows) {
  const bool has_null_text = spec_.options.null_literal || spec_.options.empty_string_as_null;
  Trouble trouble;
  for (Wanted& wanted : wanted_) {
    if (has_null_text) MarkNulls(wanted, rows);
    DecodeColumn(wanted, rows, &trouble);
  }
  auto* const row_places = reinterpret_cast<RowPlace*>(row_places_->data()) + rows_;
  for (int row = 0; row < rows; ++row) row_places[row] = {places_[row].line, places_[row].byte};
  rows_ += std::min(rows, trouble.row);
  if (trouble.row < rows) {
    rejects_->CountRead(trouble.row);
    return rejects_->Take(RejectOf(trouble));
  }
  rejects_->CountRead(rows + static_cast<int64_t>(walked_past_.size()));
  return troubles_.empty() && walked_past_.empty() ? Status::Ok() : HandOver();
}

void CsvDecoder::MarkNulls(Wanted& wanted, int rows) const {
  for (size_t i = 0; i < static_cast<size_t>(rows); ++i) {
    if (wanted.begins[i] == nullptr) continue;
    const std::string_view text(wanted.begins[i], wanted.bytes[i]);
    if ((spec_.options.empty_string_as_null && text.empty()) ||
        text == spec_.options.null_literal) {
      wanted.begins[i] = nullptr;
    }
  }
}

template <typename T, typename Parse>
void CsvDecoder::DecodeCells(Wanted& wanted, int rows, Trouble* trouble, Parse parse) {
  T* const out = reinterpret_cast<T*>(wanted.values->data()) + rows_;
  for (int i = 0; i < rows; ++i) {
    const char* const begin = wanted.begins[static_cast<size_t>(i)];
    const Cast cast = begin == nullptr
                          ? Cast::kNull
                          : parse(begin, wanted.bytes[static_cast<size_t>(i)], &out[i]);
    if (cast == Cast::kValue) [[likely]]
      continue;
    out[i] = T{};
    if (cast == Cast::kNull) {
      SetNull(wanted, i, trouble);
    } else {
      BadCell(wanted, i, trouble);
    }
  }
}

void CsvDecoder::DecodeColumn(Wanted& wanted, int rows, Trouble* trouble) {
  const Type& type = wanted.type;
  const auto integers = [&]<typename T>(T) {
    DecodeCells<T>(wanted, rows, trouble, [](const char* text, uint32_t bytes, T* out) {
      int64_t value;
      const bool parsed = CsvInteger(text, bytes, std::numeric_limits<T>::min(),
                                     std::numeric_limits<T>::max(), &value);
      *out = static_cast<T>(value);
      return ValueIf(parsed);
    });
  };
  const auto decimals = [&]<typename T>(T) {
    DecodeCells<T>(wanted, rows, trouble, [&type](const char* text, uint32_t bytes, T* out) {
      int128 value;
      bool fits = true;
      if (!ParseJavaDecimal({text, bytes}, type.precision, type.scale, &value, &fits))
        return Cast::kBad;
      *out = static_cast<T>(value);
      return fits ? Cast::kValue : Cast::kNull;
    });
  };
  switch (type.kind) {
    case TypeKind::kBoolean:
      return DecodeCells<uint8_t>(wanted, rows, trouble,
                                  [&wanted](const char* text, uint32_t bytes, uint8_t* out) {
                                    *out = CsvBoolean({text, bytes});
                                    if (!*out) *wanted.odd_booleans += !CsvIsFalse({text, bytes});
                                    return Cast::kValue;
                                  });
    case TypeKind::kTinyInt: return integers(int8_t{});
    case TypeKind::kSmallInt: return integers(int16_t{});
    case TypeKind::kInt: return integers(int32_t{});
    case TypeKind::kBigInt: return integers(int64_t{});
    case TypeKind::kFloat:
      return DecodeCells<float>(wanted, rows, trouble,
                                [](const char* text, uint32_t bytes, float* out) {
                                  return ValueIf(ParseJavaFloat({text, bytes}, out));
                                });
    case TypeKind::kDouble:
      return DecodeCells<double>(wanted, rows, trouble,
                                 [](const char* text, uint32_t bytes, double* out) {
                                   return ValueIf(ParseJavaDouble({text, bytes}, out));
                                 });
    case TypeKind::kDecimal:
      return wanted.layout == Layout::kInt64 ? decimals(int64_t{}) : decimals(int128{});
    case TypeKind::kChar:
    case TypeKind::kVarChar:
      return DecodeCells<StringView>(wanted, rows, trouble,
                                     [](const char* text, uint32_t bytes, StringView* out) {
                                       MakeView(text, bytes, out);
                                       return Cast::kValue;
                                     });
    case TypeKind::kBinary:
    case TypeKind::kVarBinary:
      return DecodeCells<StringView>(
          wanted, rows, trouble, [this](const char* text, uint32_t bytes, StringView* out) {
            if (!ParseBase64({text, bytes}, &scratch_)) return Cast::kBad;
            char* const copy = Room(scratch_.size());
            std::memcpy(copy, scratch_.data(), scratch_.size());
            *out = StringView(copy, static_cast<uint32_t>(scratch_.size()));
            return Cast::kValue;
          });
    case TypeKind::kDate:
      return DecodeCells<int32_t>(wanted, rows, trouble,
                                  [](const char* text, uint32_t bytes, int32_t* out) {
                                    return ValueIf(CsvDate({text, bytes}, out));
                                  });
    case TypeKind::kTime:
      return DecodeCells<int32_t>(wanted, rows, trouble,
                                  [&type](const char* text, uint32_t bytes, int32_t* out) {
                                    return ValueIf(CsvTime({text, bytes}, type.precision, out));
                                  });
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz: return DecodeTimestamps(wanted, rows, trouble);
    case TypeKind::kNull:
    case TypeKind::kIntervalMonths:
    case TypeKind::kIntervalMillis:
    case TypeKind::kSymbol: return;  // refused by Create
  }
}

void CsvDecoder::DecodeTimestamps(Wanted& wanted, int rows, Trouble* trouble) {
  const bool zoned = wanted.type.kind == TypeKind::kTimestampLtz;
  const int precision = wanted.type.precision;
  if (precision == 3) {
    CsvMillis& millis = wanted.millis;
    return DecodeCells<int64_t>(wanted, rows, trouble,
                                [&millis, zoned](const char* text, uint32_t bytes, int64_t* out) {
                                  return ValueIf(millis.Parse(text, bytes, zoned, out));
                                });
  }
  if (wanted.layout == Layout::kInt64) {
    const int64_t unit = PowerOfTen((precision <= 3 ? 3 : 6) - precision);
    return DecodeCells<int64_t>(
        wanted, rows, trouble, [=](const char* text, uint32_t bytes, int64_t* out) {
          WideTime time;
          if (!CsvTimestamp({text, bytes}, zoned, &time)) return Cast::kBad;
          *out = precision <= 3 ? time.millis : time.millis * 1000 + time.nanos / 1000;
          CutTo(unit, out);
          return Cast::kValue;
        });
  }
  const auto unit = static_cast<int32_t>(PowerOfTen(9 - precision));
  DecodeCells<WideTime>(wanted, rows, trouble,
                        [=](const char* text, uint32_t bytes, WideTime* out) {
                          if (!CsvTimestamp({text, bytes}, zoned, out)) return Cast::kBad;
                          out->nanos -= out->nanos % unit;
                          return Cast::kValue;
                        });
}

void CsvDecoder::SetNull(Wanted& wanted, int row, Trouble* trouble) {
  if (!wanted.type.nullable && !spec_.trusts_not_null)
    return Drop(wanted, row, trouble, RejectReason::kNotNull, "NULL in a NOT NULL column");
  const int at = rows_ + row;
  if (!wanted.validity) {
    wanted.validity = std::make_shared<Block>(kBatchRows / 8);
    std::memset(wanted.validity->data(), 0xff, wanted.validity->size());
  }
  char& byte = wanted.validity->data()[at >> 3];
  byte = static_cast<char>(byte & ~(1 << (at & 7)));
}

void CsvDecoder::BadCell(Wanted& wanted, int row, Trouble* trouble) {
  if (!spec_.options.ignore_parse_errors) {
    const auto at = static_cast<size_t>(row);
    const std::string_view cell{wanted.begins[at], wanted.bytes[at]};
    Drop(wanted, row, trouble, RejectReason::kCast,
         fmt::format("no {}: '{}'", ToString(wanted.type.Nullable()), Excerpt(cell, kValueBytes)));
    if (trouble->row == row && trouble->column == wanted.column)
      trouble->hint =
          CastHint(cell, spec_.schema.name(wanted.column), wanted.type, TextFormat::kCsv);
    return;
  }
  rejects_->CountNulled();
  SetNull(wanted, row, trouble);
}

// The row is bad: it ends the job, or is left out and counted.
void CsvDecoder::Drop(const Wanted& wanted, int row, Trouble* trouble, RejectReason reason,
                      std::string message) {
  if (rejects_->fails()) {
    if (row < trouble->row) *trouble = {row, wanted.column, reason, std::move(message)};
    return;
  }
  if (dropped_.empty()) dropped_.resize(kBatchRows);
  uint8_t& dropped = dropped_[static_cast<size_t>(rows_ + row)];
  if (!dropped) troubles_.push_back({row, wanted.column, reason, std::move(message)});
  dropped = 1;
}

Status CsvDecoder::HandOver() {
  for (const Trouble& trouble : troubles_) walked_past_.push_back(RejectOf(trouble));
  troubles_.clear();
  std::sort(walked_past_.begin(), walked_past_.end(),
            [](const Reject& a, const Reject& b) { return a.place.byte < b.place.byte; });
  for (const Reject& reject : walked_past_) RT_TRY(rejects_->TakeQuietly(reject));
  walked_past_.clear();
  return Status::Ok();
}

Reject CsvDecoder::RejectOf(const Trouble& trouble) const {
  const RecordPlace& place = places_[static_cast<size_t>(trouble.row)];
  const std::string_view record = RecordOf(trouble.row);
  std::string hint = HeaderHint(record, place, spec_.schema, spec_.options, rejects_->settings());
  if (hint.empty()) hint = trouble.hint;
  return {trouble.reason,  place,           spec_.schema.name(trouble.column),
          trouble.message, std::move(hint), record};
}

std::string_view CsvDecoder::RecordOf(int row) const {
  const int64_t begin = places_[static_cast<size_t>(row)].byte;
  std::string_view record(next_ - (place_.byte - begin), static_cast<size_t>(ends_[row] - begin));
  while (record.ends_with('\n') || record.ends_with('\r')) record.remove_suffix(1);
  return record;
}

// --- headers and records without end -------------------------------------------------------------

// A header that decodes as a row, since all columns are texts.
void CsvDecoder::LookForHeader() {
  if (rejects_->settings().csv_header) return;
  for (const Field& field : spec_.schema.fields()) {
    if (!IsCharacter(field.type)) return;
  }
  const std::string_view line(next_, static_cast<size_t>(LineEnd(next_) - next_));
  if (IsHeader(line, spec_.schema, spec_.options)) ++*rejects_->Oddity(kHeaderAsRow);
}

// False: more bytes are needed.
Result<bool> CsvDecoder::TakeHeader() {
  const std::string packed =
      place_.byte == 0 ? PackedHint({next_, static_cast<size_t>(end_ - next_)}) : "";
  if (!packed.empty()) return BadHeader("it is no text").WithHint(packed);
  while (next_ < end_) {
    const size_t first_mark = mark_;
    const char* at = next_;
    if (spec_.options.allow_comments && *at == '#') {
      if (SkipLine(at) == Walk::kIncomplete) return false;
      continue;
    }
    record_.clear();
    cells_ = 0;
    record_lines_ = 0;
    fields_ = std::numeric_limits<int>::max();  // all cells are kept
    const Walk walk = WalkCells(&at);
    // Without its header the file cannot be read, whatever becomes of bad records.
    if (walk == Walk::kBad) return BadHeader(bad_message_);
    if (walk != Walk::kRow) {
      mark_ = first_mark;
      if (end_ - next_ > spec_.limits.record_bytes) return BadHeader(TooLargeText(spec_.limits));
      return false;
    }
    for (const Cell& cell : record_) {
      header_.append(cell.begin, cell.bytes);
      header_ += '\0';
    }
    MoveTo(at, record_lines_ + 1);
    header_is_due_ = false;
    RT_TRY(UseHeader());
    return true;
  }
  return false;
}

Status CsvDecoder::BadHeader(const std::string& why) const {
  return Status::DataError("line {}, the header: {}", place_.line, why)
      .WithHint(fmt::format("RESET 'rowtide.csv.header.{}' if the file has none",
                            rejects_->settings().key));
}

Status CsvDecoder::UseHeader() {
  RT_ASSIGN(const CsvHeader header, CsvHeader::Of(header_, spec_.schema));
  fields_ = header.fields;
  for (Wanted& wanted : wanted_) {
    wanted.place = header.places[static_cast<size_t>(wanted.column)];
  }
  return Status::Ok();
}

// Of the first record so much is here, without an end; it is looked into when it is whole.
Result<size_t> CsvDecoder::PassLongRecord(const BlockPointer& block, size_t begin, size_t end) {
  if (static_cast<int64_t>(end - begin) <= spec_.limits.record_bytes) return 0;
  if (header_is_due_) {
    return Status::DataError("the line of the header is {}", TooLargeText(spec_.limits))
        .WithErrorCode("RT4004");
  }
  BeginBatch(block);
  block_ = nullptr;  // no marks are there
  marks_.count = mark_ = 0;
  text_ = next_ = block->data() + begin;
  end_ = block->data() + end;
  RT_TRY(TooLarge());
  return end - begin;
}

Status CsvDecoder::TooLarge() {
  const std::string_view record(next_, static_cast<size_t>(end_ - next_));
  RT_TRY(rejects_->Take(
      {RejectReason::kTooLarge, place_, "", TooLargeText(spec_.limits), "", record}));
  rejects_->CountRead(1);
  mark_ = marks_.count;
  MoveTo(end_, std::count(record.begin(), record.end(), '\n'));
  skips_line_ = true;
  return Status::Ok();
}

// Whether the end of the line was found; what is before it is taken anyway.
bool CsvDecoder::SkipRest() {
  const char* const line =
      static_cast<const char*>(std::memchr(next_, '\n', static_cast<size_t>(end_ - next_)));
  const char* const to = line != nullptr ? line + 1 : end_;
  while (mark_ < marks_.count && text_ + marks_.offsets[mark_] < to) ++mark_;
  MoveTo(to, line != nullptr);
  --place_.record;  // no record of its own
  skips_line_ = line == nullptr;
  return line != nullptr;
}

}  // namespace rowtide
