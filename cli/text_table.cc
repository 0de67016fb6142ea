#include "cli/text_table.h"

#include <fmt/format.h>
#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <algorithm>

#include "cli/terminal.h"

namespace rowtide {

namespace {

constexpr int kNarrowest = 6;

int WidthOf(UChar32 c) {
  switch (u_charType(c)) {
    case U_NON_SPACING_MARK:
    case U_ENCLOSING_MARK: return 0;
    case U_FORMAT_CHAR: return c == 0xad ? 1 : 0;  // a soft hyphen is shown
    default: break;
  }
  if (c >= 0x1160 && c <= 0x11ff) return 0;  // Hangul letters that join the one before
  const int width = u_getIntPropertyValue(c, UCHAR_EAST_ASIAN_WIDTH);
  return width == U_EA_WIDE || width == U_EA_FULLWIDTH ? 2 : 1;
}

// Decodes the character at `*at` and moves behind it. A stray byte counts as one character.
UChar32 NextCharacter(std::string_view text, size_t* at) {
  auto next = static_cast<int32_t>(*at);
  UChar32 c = 0;
  U8_NEXT_OR_FFFD(text.data(), next, static_cast<int32_t>(text.size()), c);
  *at = static_cast<size_t>(next);
  return c;
}

// Control characters, which would tear the table or talk to the terminal, as escapes.
std::string Visible(const std::string& cell) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (std::none_of(cell.begin(), cell.end(), is_control)) return cell;
  std::string text;
  for (const char c : cell) {
    if (!is_control(c))
      text.push_back(c);
    else if (c == '\n')
      text += "\\n";
    else if (c == '\t')
      text += "\\t";
    else if (c == '\r')
      text += "\\r";
    else
      text += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return text;
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
  std::string text = Visible(cell);
  int cell_width = DisplayWidth(text);
  if (cell_width > width) {
    text = std::string(Cut(text, width - 3, &cell_width)) + "...";
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
    for (size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], DisplayWidth(Visible(row[i])));
    }
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

void FitWidths(const std::vector<int>& narrowest, int columns, std::vector<int>* widths) {
  if (columns <= 0) return;
  int whole = 1;
  for (const int width : *widths) whole += width + 3;
  while (whole > columns) {
    int widest = -1;
    for (size_t i = 0; i < widths->size(); ++i) {
      const bool shrinks = (*widths)[i] > std::max(narrowest[i], kNarrowest);
      if (shrinks && (widest < 0 || (*widths)[i] > (*widths)[static_cast<size_t>(widest)])) {
        widest = static_cast<int>(i);
      }
    }
    if (widest < 0) return;
    --(*widths)[static_cast<size_t>(widest)];
    --whole;
  }
}

void TableLayout::AppendBorder(std::string* out) const {
  for (const int width : widths_) out->append("+").append(static_cast<size_t>(width) + 2, '-');
  out->append("+\n");
}

void TableLayout::AppendRow(const std::vector<std::string>& cells, Align align, std::string* out,
                            std::string_view color) const {
  for (size_t i = 0; i < cells.size(); ++i) {
    out->append("| ");
    const bool colored = i == 0 && !color.empty();
    if (colored) out->append(color);
    AppendCell(cells[i], widths_[i], align, out);
    if (colored) out->append(kPlain);
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
