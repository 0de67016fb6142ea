// Aligned tables for the terminal, in the layout of Flink's SQL client.
//
//   +----+-------------+         streaming: widths from the types, rows as they come
//   | op |          id |
//   +----+-------------+
//   | +I |           2 |
//   +----+-------------+
//
// Width is counted in columns of the terminal: full-width characters take two, combining marks
// none. What is too long is cut and ends in `...`; control characters are shown as `\n`, `\x1b`.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "engine/schema.h"

namespace rowtide {

inline constexpr int kDefaultColumnWidth = 30;  // table.display.max-column-width

int DisplayWidth(std::string_view utf8);
// The width of a column of that type and name in a streaming table.
int StreamingWidth(const Type& type, std::string_view name, int width_max);

// Narrows the widest of the columns that exceed their `narrowest` width until a table of these
// widths fits into `columns`, or none does. 0 columns: as they are.
void FitWidths(const std::vector<int>& narrowest, int columns, std::vector<int>* widths);

enum class Align : uint8_t { kLeft, kRight };

// One table with widths that are known beforehand.
class TableLayout {
 public:
  explicit TableLayout(std::vector<int> widths) : widths_(std::move(widths)) {}
  void AppendBorder(std::string* out) const;
  // `color`: of the first cell (cli/terminal.h); "" for none.
  void AppendRow(const std::vector<std::string>& cells, Align align, std::string* out,
                 std::string_view color = "") const;

 private:
  std::vector<int> widths_;
};

// A whole table with widths from its content, and `N rows in set` below.
std::string ResultTable(const std::vector<std::string>& names,
                        const std::vector<std::vector<std::string>>& rows, Align align);
// Columns parted by two blanks, without borders: numbers right, the first column left.
std::string PlainTable(const std::vector<std::string>& names,
                       const std::vector<std::vector<std::string>>& rows);

}  // namespace rowtide
