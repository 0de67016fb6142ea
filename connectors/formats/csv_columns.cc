// Fields of a step become values, a column at a time; what is no value, and whom it is told.
#include <algorithm>
#include <limits>

#include "connectors/formats/csv.h"
#include "connectors/formats/csv_header.h"
#include "connectors/formats/hints.h"
#include "engine/base64.h"
#include "engine/java_numbers.h"

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

// As much of a value as a message shows.
constexpr size_t kValueBytes = 40;

}  // namespace

Status CsvDecoder::DecodePlainStep(int rows) {
  plain_marks_ = marks_.offsets + mark_;
  plain_place_ = place_;
  mark_ += static_cast<size_t>(fields_) * static_cast<size_t>(rows);
  const char* const end = text_ + PlainBegin(rows);
  place_.byte += end - next_;
  place_.line += rows;
  place_.record += rows;
  next_ = end;
  const Status status = DecodeStep(rows);
  plain_marks_ = nullptr;
  return status;
}

RecordPlace CsvDecoder::PlaceOf(int row) const {
  if (plain_marks_ == nullptr) return places_[static_cast<size_t>(row)];
  RecordPlace place = plain_place_;
  place.byte += PlainBegin(row) - PlainBegin(0);
  place.line += row;
  place.record += row;
  return place;
}

int64_t CsvDecoder::EndOf(int row) const {
  return plain_marks_ == nullptr ? ends_[static_cast<size_t>(row)] : PlaceOf(row + 1).byte;
}

Status CsvDecoder::DecodeStep(int rows) {
  Trouble trouble;
  for (Wanted& wanted : wanted_) {
    if (HasNullText()) MarkNulls(wanted, rows);
    DecodeColumn(wanted, rows, &trouble);
  }
  auto* const row_places = reinterpret_cast<RowPlace*>(row_places_->data()) + rows_;
  for (int row = 0; row < rows; ++row) {
    const RecordPlace place = PlaceOf(row);
    row_places[row] = {place.line, place.byte};
  }
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

// As DecodeCells, without a detour over the places of the cells; none of them is NULL before it is
// parsed.
template <typename T, typename Parse>
void CsvDecoder::DecodePlainCells(Wanted& wanted, int first, int end, Trouble* trouble,
                                  Parse parse) {
  T* const out = reinterpret_cast<T*>(wanted.values->data()) + rows_;
  const char* const text = text_;
  const auto fields = static_cast<size_t>(fields_);
  const uint32_t* mark = plain_marks_ + wanted.place + static_cast<size_t>(first) * fields;
  for (int i = first; i < end; ++i, mark += fields) {
    const uint32_t begin = mark[-1] + 1;
    const uint32_t bytes = *mark - begin;
    const Cast cast = parse(text + begin, bytes, &out[i]);
    if (cast == Cast::kValue) [[likely]]
      continue;
    out[i] = T{};
    wanted.begins[i] = text + begin;
    wanted.bytes[i] = bytes;
    if (cast == Cast::kNull) {
      SetNull(wanted, i, trouble);
    } else {
      BadCell(wanted, i, trouble);
    }
  }
}

// As DecodePlainCells of BIGINTs, two at a time where both are in their usual spelling.
template <typename Parse>
__attribute__((target("avx2"))) void CsvDecoder::DecodePlainLongs(Wanted& wanted, int rows,
                                                                  Trouble* trouble, Parse parse) {
  int64_t* const out = reinterpret_cast<int64_t*>(wanted.values->data()) + rows_;
  const char* const text = text_;
  const auto fields = static_cast<size_t>(fields_);
  const uint32_t* mark = plain_marks_ + wanted.place;
  int row = 0;
  for (; row + 2 <= rows; row += 2, mark += 2 * fields) {
    if (!QuickIntegerPair(text, mark, fields, out + row)) [[unlikely]]
      DecodePlainCells<int64_t>(wanted, row, row + 2, trouble, parse);
  }
  DecodePlainCells<int64_t>(wanted, row, rows, trouble, parse);
}

template <typename T, typename Parse>
void CsvDecoder::DecodeCells(Wanted& wanted, int rows, Trouble* trouble, Parse parse) {
  if (plain_marks_ != nullptr) return DecodePlainCells<T>(wanted, 0, rows, trouble, parse);
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
    const auto parse = [](const char* text, uint32_t bytes, T* out) {
      int64_t value;
      const bool parsed = CsvInteger(text, bytes, std::numeric_limits<T>::min(),
                                     std::numeric_limits<T>::max(), &value);
      *out = static_cast<T>(value);
      return ValueIf(parsed);
    };
    if constexpr (std::is_same_v<T, int64_t>) {
      if (plain_marks_ != nullptr && __builtin_cpu_supports("avx2"))
        return DecodePlainLongs(wanted, rows, trouble, parse);
    }
    DecodeCells<T>(wanted, rows, trouble, parse);
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
  const RecordPlace place = PlaceOf(trouble.row);
  const std::string_view record = RecordOf(trouble.row);
  std::string hint = HeaderHint(record, place, spec_.schema, spec_.options, rejects_->settings());
  if (hint.empty()) hint = trouble.hint;
  return {trouble.reason,  place,           spec_.schema.name(trouble.column),
          trouble.message, std::move(hint), record};
}

std::string_view CsvDecoder::RecordOf(int row) const {
  const int64_t begin = PlaceOf(row).byte;
  std::string_view record(next_ - (place_.byte - begin), static_cast<size_t>(EndOf(row) - begin));
  while (record.ends_with('\n') || record.ends_with('\r')) record.remove_suffix(1);
  return record;
}

}  // namespace rowtide
