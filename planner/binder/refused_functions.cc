#include "planner/binder/refused_functions.h"

#include <fmt/format.h>

#include <algorithm>

namespace rowtide {
namespace {

struct Family {
  std::string_view construct;  // {} is the function
  std::string_view names;      // with blanks around each
};

constexpr Family kFamilies[] = {
    {"the constructor {}", " ARRAY MAP ROW MULTISET "},
    {"access to an element, as in a[1],", " ITEM "},
    {"access to a field, as in row.f,", " DOT "},
    {"the group window {}", " TUMBLE HOP SESSION "},
    {"the group window function {}",
     " TUMBLE_START TUMBLE_END TUMBLE_ROWTIME TUMBLE_PROCTIME HOP_START HOP_END HOP_ROWTIME "
     "HOP_PROCTIME SESSION_START SESSION_END SESSION_ROWTIME SESSION_PROCTIME "},
    {"the collection function {}",
     " CARDINALITY ELEMENT COLLECT ARRAY_AGG ARRAY_CONTAINS ARRAY_DISTINCT ARRAY_APPEND "
     "ARRAY_CONCAT ARRAY_EXCEPT ARRAY_INTERSECT ARRAY_JOIN ARRAY_MAX ARRAY_MIN ARRAY_POSITION "
     "ARRAY_PREPEND ARRAY_REMOVE ARRAY_REVERSE ARRAY_SLICE ARRAY_SORT ARRAY_UNION MAP_ENTRIES "
     "MAP_FROM_ARRAYS MAP_KEYS MAP_UNION MAP_VALUES STR_TO_MAP SPLIT REGEXP_EXTRACT_ALL "},
    {"function {}",
     " JSON_OBJECTAGG JSON_ARRAYAGG TYPEOF PARSE_JSON TRY_PARSE_JSON GROUPING GROUPING_ID GROUP_ID "
     "PARSE_URL NTILE PERCENT_RANK CUME_DIST NTH_VALUE PERCENTILE PERCENTILE_CONT "
     "APPROX_COUNT_DISTINCT BITMAP_BUILD ELT PRINTF STREAMRECORD_TIMESTAMP "},
};

}  // namespace

std::string RefusedFunction(std::string_view name) {
  const std::string word = fmt::format(" {} ", name);
  for (const Family& family : kFamilies) {
    if (family.names.find(word) != std::string_view::npos)
      return fmt::format(fmt::runtime(family.construct), name);
  }
  return "";
}

}  // namespace rowtide
