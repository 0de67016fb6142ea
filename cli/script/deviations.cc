#include "cli/script/deviations.h"

namespace rowtide {

namespace {

struct DeviationRow {
  const char* row;
  const char* part;  // how the reason begins; "" = any
  CompatAnswer answer;
};

// The first row that fits counts.
constexpr DeviationRow kRows[] = {
    {"1", "", CompatAnswer::kFlink},
    {"2", "", CompatAnswer::kFlink},
    {"3", "", CompatAnswer::kFlink},
    {"4", "", CompatAnswer::kFlink},
    {"5", "", CompatAnswer::kFlink},
    {"6", "", CompatAnswer::kFlink},
    {"7", "", CompatAnswer::kSame},
    {"8", "", CompatAnswer::kFlink},
    {"9", "zeros as keys:", CompatAnswer::kFlink},
    {"9", "", CompatAnswer::kSame},
    {"10", "", CompatAnswer::kFlink},
    {"11", "", CompatAnswer::kSame},
    {"12", "", CompatAnswer::kSame},
    {"13", "", CompatAnswer::kSame},
    {"14", "", CompatAnswer::kSame},
    {"15", "", CompatAnswer::kRefused},
    {"16", "", CompatAnswer::kSame},
    {"17", "", CompatAnswer::kSame},
    {"18", "", CompatAnswer::kSame},
    {"19", "", CompatAnswer::kFlink},
    {"20", "", CompatAnswer::kFlink},
    {"21", "", CompatAnswer::kSame},
    {"22", "", CompatAnswer::kFlink},
    {"23", "", CompatAnswer::kFlink},
    {"24", "", CompatAnswer::kFlink},
    {"25", "", CompatAnswer::kFlink},
    {"26", "", CompatAnswer::kFlink},
    {"27", "", CompatAnswer::kFlink},
    {"28", "", CompatAnswer::kSame},
    {"29", "", CompatAnswer::kSame},
    {"30", "DATE names:", CompatAnswer::kFlink},
    {"30", "", CompatAnswer::kSame},
    {"31", "", CompatAnswer::kFlink},
    {"32", "", CompatAnswer::kFlink},
    {"33", "", CompatAnswer::kFlink},
    {"34", "", CompatAnswer::kSame},
    {"35", "", CompatAnswer::kSame},
    {"x", "", CompatAnswer::kUnasked},
};

}  // namespace

Result<CompatAnswer> CompatAnswerOf(const FlinkDiffers& differs) {
  for (const DeviationRow& row : kRows) {
    if (differs.row == row.row && differs.reason.starts_with(row.part)) return row.answer;
  }
  return Status::InvalidArgument("the table of deviations has no row 15.{}", differs.row);
}

}  // namespace rowtide
