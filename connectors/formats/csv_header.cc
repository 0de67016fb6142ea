#include "connectors/formats/csv_header.h"

#include <algorithm>

namespace rowtide {
namespace {

std::string_view Trimmed(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

bool SameName(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

// The place of the one equal name, else of the one that is equal but for case; -1: none, -2: more
// than one.
int PlaceOf(std::string_view column, const std::vector<std::string>& names) {
  const auto find = [&](auto same) {
    int place = -1;
    for (size_t i = 0; i < names.size(); ++i) {
      if (same(names[i], column)) place = place == -1 ? static_cast<int>(i) : -2;
    }
    return place;
  };
  const int exact = find([](std::string_view a, std::string_view b) { return a == b; });
  return exact != -1 ? exact : find(SameName);
}

}  // namespace

Result<CsvHeader> CsvHeader::Of(std::string_view text, const Schema& schema) {
  std::vector<std::string> names;
  for (size_t end = text.find('\0'); end != text.npos; end = text.find('\0')) {
    names.emplace_back(Trimmed(text.substr(0, end)));
    text.remove_prefix(end + 1);
  }
  CsvHeader header;
  header.fields = static_cast<int>(names.size());
  for (const Field& field : schema.fields()) {
    const int place = PlaceOf(field.name, names);
    if (place == -2) {
      return Status::DataError("line 1: the header has the column {} twice", Quote(field.name));
    }
    if (place == -1) {
      const std::string nearest = Nearest(field.name, names);
      return Status::DataError("line 1: the header has no column {}", Quote(field.name))
          .WithHint(nearest.empty() ? fmt::format("it has: {}", fmt::join(names, ", "))
                                    : fmt::format("the nearest is {}", Quote(nearest)));
    }
    header.places.push_back(place);
  }
  return header;
}

namespace {

// How many cells a record has, and how many of them are names of columns.
struct Likeness {
  int cells = 0;
  int known = 0;
};
Likeness LikenessOf(std::string_view record, const Schema& schema, const CsvOptions& options) {
  int cells = 0, known = 0;
  while (cells < 1000) {
    const size_t end = std::min(record.find(options.delimiter), record.size());
    std::string_view cell = Trimmed(record.substr(0, end));
    if (cell.size() > 1 && cell.front() == options.quote && cell.back() == options.quote)
      cell = cell.substr(1, cell.size() - 2);
    ++cells;
    known += std::any_of(schema.fields().begin(), schema.fields().end(),
                         [&](const Field& field) { return SameName(field.name, cell); });
    if (end == record.size()) break;
    record.remove_prefix(end + options.delimiter.size());
  }
  return {cells, known};
}

}  // namespace

bool IsHeader(std::string_view record, const Schema& schema, const CsvOptions& options) {
  const Likeness likeness = LikenessOf(record, schema, options);
  return likeness.cells == schema.size() && likeness.known == likeness.cells;
}

std::string HeaderHint(std::string_view record, const RecordPlace& place, const Schema& schema,
                       const CsvOptions& options, const TableSettings& settings) {
  if (place.record != 0 || settings.csv_header) return "";
  const Likeness likeness = LikenessOf(record, schema, options);
  if (2 * likeness.known < std::min(likeness.cells, schema.size())) return "";
  return fmt::format(
      "the first line looks like a header: SET 'rowtide.csv.header.{}' = 'true' reads the names "
      "of the columns from it",
      settings.key);
}

}  // namespace rowtide
