#include "connectors/formats/csv.h"

#include <algorithm>
#include <limits>

#include "connectors/formats/csv_header.h"
#include "connectors/formats/hints.h"

namespace rowtide {
namespace {

std::string SpecialCharacters(const CsvOptions& options) {
  std::string characters = "\n\r";
  if (options.delimiter.size() == 1) characters += options.delimiter;
  if (options.quote != '\0') characters += options.quote;
  if (options.escape != '\0') characters += options.escape;
  return characters;
}

// Of the rows that follow so many have to be plain for a step of their own.
constexpr int kPlainRowsMin = 32;

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
  const bool is_message = IsPlaceOfRecord(place_.line);  // of one record, good or bad
  const int64_t offset = place_.byte;
  bool is_over = false;
  Walk stop = Walk::kRow;
  while (stop == Walk::kRow && rows_ < rows_max_ && next_ < end_ && !is_over) {
    const int rows_max = std::min(kStepRows, rows_max_ - rows_);
    if (takes_plain_rows_ && !HasNullText()) {
      const int plain_rows = FindPlainRows(rows_max);
      if (plain_rows == rows_max || plain_rows >= kPlainRowsMin) {
        RT_TRY(DecodePlainStep(plain_rows));
        is_over = is_message;
        continue;
      }
    }
    int rows = 0;
    while (rows < rows_max && next_ < end_) {
      if (!takes_plain_rows_ || !TakePlainRecord(rows)) {
        const Walk walk = WalkRecord(rows);
        if (walk == Walk::kSkipped && is_message && !walked_past_.empty()) break;
        if (walk == Walk::kSkipped) {
          if (is_message) place_.byte = offset;  // behind a comment it is the same message
          continue;
        }
        if (walk != Walk::kRow) {
          stop = walk;
          break;
        }
      }
      ++rows;
    }
    is_over = is_message && (rows > 0 || !walked_past_.empty());
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

// A message is a file of one record; Flink reads no second one.
Status CsvDecoder::Decode(const Records& records, RecordCursor* at) {
  if (!records.bytes.empty()) BeginBatch(records.block);
  const auto count = static_cast<int32_t>(records.bytes.size());
  for (; rows_ < kBatchRows && at->record < count; ++at->record, at->rows = 0) {
    const RecordBytes& one = records.bytes[static_cast<size_t>(at->record)];
    if (one.kind != RecordBytes::Kind::kBytes || at->rows > 0) {
      if (one.kind == RecordBytes::Kind::kNull) rejects_->CountEmpty();
      continue;
    }
    place_ = PlaceOfRecord(records, at->record);
    place_.record = ++records_;
    block_ = nullptr;
    if (one.bytes == 0) {
      const Reject reject{RejectReason::kUndecodable, place_, "", "an empty message", "", ""};
      RT_TRY(spec_.options.ignore_parse_errors ? rejects_->TakeQuietly(reject)
                                               : rejects_->Take(reject));
      rejects_->CountRead(1);
      continue;
    }
    // The line end behind it makes it a plain record, as long as it is none of its own.
    const size_t end = one.begin + one.bytes;
    const bool has_end = records.block->data()[end - 1] == '\n';
    rows_max_ = rows_ + 1;
    const Status taken = Decode(records.block, one.begin, end + (has_end ? 0 : 1), true).status();
    rows_max_ = kBatchRows;
    RT_TRY(taken);
  }
  return Status::Ok();
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
  std::vector<uint32_t> all(marks_.offsets, marks_.offsets + marks_.count);
  const std::string_view text(text_, end - begin);
  for (size_t at = text.find(spec_.options.delimiter); at != text.npos;
       at = text.find(spec_.options.delimiter, at + 1)) {
    all.push_back(static_cast<uint32_t>(at));
  }
  std::sort(all.begin(), all.end());
  std::copy(all.begin(), all.end(), marks_.offsets);
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
