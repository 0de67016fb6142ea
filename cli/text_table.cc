#include "cli/text_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace rowtide {

namespace {

constexpr int kNarrowest = 6;

struct Range {
  char32_t first;
  char32_t last;
};
// East Asian wide and full-width characters, and emoji.
constexpr Range kWide[] = {{0x1100, 0x115f}, {0x2e80, 0xa4cf},   {0xac00, 0xd7a3},
                           {0xf900, 0xfaff}, {0xfe30, 0xfe6f},   {0xff00, 0xff60},
                           {0xffe0, 0xffe6}, {0x1f300, 0x1faff}, {0x20000, 0x3fffd}};
// Combining marks and joiners.
constexpr Range kZero[] = {{0x300, 0x36f}, {0x200b, 0x200f}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}};

bool IsIn(char32_t c, const Range* begin, const Range* end) {
  return std::any_of(begin, end,
                     [c](const Range& range) { return c >= range.first && c <= range.last; });
}

int WidthOf(char32_t c) {
  if (IsIn(c, std::begin(kZero), std::end(kZero))) return 0;
  return IsIn(c, std::begin(kWide), std::end(kWide)) ? 2 : 1;
}

// Decodes the character at `*at` and moves behind it. A stray byte counts as one character.
char32_t NextCharacter(std::string_view text, size_t* at) {
  const auto lead = static_cast<unsigned char>(text[*at]);
  const size_t bytes = lead < 0xc0 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  char32_t c = bytes == 1 ? lead : lead & (0x7fu >> bytes);
  size_t taken = 1;
  for (; taken < bytes && *at + taken < text.size(); ++taken) {
    const auto next = static_cast<unsigned char>(text[*at + taken]);
    if ((next & 0xc0) != 0x80) break;
    c = (c << 6) | (next & 0x3f);
  }
  *at += taken;
  return c;
}

// As much of the text as fits into `width`, and its width.
std::string_view Cut(std::string_view text, int width, int* cut_width) {
  size_t at = 0;
  *cut_width = 0;
  while (at < text.size()) {
    size_t next = at;
    const int one = WidthOf(NextCharacter(text, &next));
    if (*cut_width + one > width) break;
    *cut_width += one;
    at = next;
  }
  return text.substr(0, at);
}

void AppendCell(const std::string& cell, int width, Align align, std::string* out) {
  int cell_width = DisplayWidth(cell);
  std::string text = cell;
  if (cell_width > width) {
    text = std::string(Cut(cell, width - 3, &cell_width)) + "...";
    cell_width += 3;
  }
  const std::string blanks(static_cast<size_t>(std::max(width - cell_width, 0)), ' ');
  out->append(align == Align::kRight ? blanks + text : text + blanks);
}

std::vector<int> ContentWidths(const std::vector<std::string>& names,
                               const std::vector<std::vector<std::string>>& rows) {
  std::vector<int> widths;
  for (const std::string& name : names) widths.push_back(DisplayWidth(name));
  for (const std::vector<std::string>& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], DisplayWidth(row[i]));
  }
  return widths;
}

}  // namespace

int DisplayWidth(std::string_view utf8) {
  int width = 0;
  for (size_t at = 0; at < utf8.size();) width += WidthOf(NextCharacter(utf8, &at));
  return width;
}

int StreamingWidth(const Type& type, std::string_view name, int width_max) {
  int width = width_max;
  switch (type.kind) {
    case TypeKind::kTinyInt: width = 4; break;
    case TypeKind::kSmallInt: width = 6; break;
    case TypeKind::kInt: width = 11; break;
    case TypeKind::kBigInt: width = 20; break;
    case TypeKind::kDecimal: width = type.precision + 2; break;
    case TypeKind::kBoolean: width = 5; break;
    case TypeKind::kDate: width = 10; break;
    case TypeKind::kTime: width = type.precision == 0 ? 8 : 9 + type.precision; break;
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz:
      width = type.precision == 0 ? 19 : type.precision <= 3 ? 23 : type.precision <= 6 ? 26 : 29;
      break;
    case TypeKind::kChar:
    case TypeKind::kVarChar: width = std::min(type.precision, width_max); break;
    case TypeKind::kNull:
    case TypeKind::kFloat:
    case TypeKind::kDouble:
    case TypeKind::kBinary:
    case TypeKind::kVarBinary:
    case TypeKind::kIntervalMonths:
    case TypeKind::kIntervalMillis:
    case TypeKind::kSymbol: break;
  }
  return std::max({width, kNarrowest, DisplayWidth(name)});
}

void TableLayout::AppendBorder(std::string* out) const {
  for (const int width : widths_) out->append("+").append(static_cast<size_t>(width) + 2, '-');
  out->append("+\n");
}

void TableLayout::AppendRow(const std::vector<std::string>& cells, Align align,
                            std::string* out) const {
  for (size_t i = 0; i < cells.size(); ++i) {
    out->append("| ");
    AppendCell(cells[i], widths_[i], align, out);
    out->append(" ");
  }
  out->append("|\n");
}

std::string ResultTable(const std::vector<std::string>& names,
                        const std::vector<std::vector<std::string>>& rows, Align align) {
  if (rows.empty()) return "Empty set\n";
  const TableLayout layout(ContentWidths(names, rows));
  std::string out;
  layout.AppendBorder(&out);
  layout.AppendRow(names, align, &out);
  layout.AppendBorder(&out);
  for (const std::vector<std::string>& row : rows) layout.AppendRow(row, align, &out);
  layout.AppendBorder(&out);
  out += rows.size() == 1 ? "1 row in set\n" : fmt::format("{} rows in set\n", rows.size());
  return out;
}

std::string PlainTable(const std::vector<std::string>& names,
                       const std::vector<std::vector<std::string>>& rows) {
  const std::vector<int> widths = ContentWidths(names, rows);
  std::string out;
  const auto append = [&](const std::vector<std::string>& row) {
    for (size_t i = 0; i < row.size(); ++i) {
      if (i > 0) out.append("  ");
      AppendCell(row[i], widths[i], i == 0 ? Align::kLeft : Align::kRight, &out);
    }
    while (out.ends_with(' ')) out.pop_back();
    out.append("\n");
  };
  append(names);
  for (const std::vector<std::string>& row : rows) append(row);
  return out;
}

}  // namespace rowtide
