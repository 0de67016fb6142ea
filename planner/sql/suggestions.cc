#include "planner/sql/suggestions.h"

#include <algorithm>
#include <vector>

#include "engine/schema.h"

namespace rowtide {
namespace {

struct Pair {
  std::string_view foreign;
  std::string_view ours;
};

constexpr Pair kTypes[] = {
    {"TEXT", "STRING"},
    {"TINYTEXT", "STRING"},
    {"MEDIUMTEXT", "STRING"},
    {"LONGTEXT", "STRING"},
    {"CLOB", "STRING"},
    {"NCLOB", "STRING"},
    {"UUID", "STRING"},
    {"JSON", "STRING"},
    {"JSONB", "STRING"},
    {"XML", "STRING"},
    {"ENUM", "STRING"},
    {"VARCHAR2", "VARCHAR"},
    {"NVARCHAR", "VARCHAR"},
    {"NVARCHAR2", "VARCHAR"},
    {"NCHAR", "CHAR"},
    {"BPCHAR", "CHAR"},
    {"BOOL", "BOOLEAN"},
    {"BIT", "BOOLEAN"},
    {"INT1", "TINYINT"},
    {"INT2", "SMALLINT"},
    {"INT4", "INT"},
    {"INT8", "BIGINT"},
    {"INT16", "SMALLINT"},
    {"INT32", "INT"},
    {"INT64", "BIGINT"},
    {"UINT8", "SMALLINT"},
    {"UINT16", "INT"},
    {"UINT32", "BIGINT"},
    {"UINT64", "DECIMAL(20, 0)"},
    {"INT128", "DECIMAL(38, 0)"},
    {"HUGEINT", "DECIMAL(38, 0)"},
    {"BYTE", "TINYINT"},
    {"SHORT", "SMALLINT"},
    {"MEDIUMINT", "INT"},
    {"LONG", "BIGINT"},
    {"SERIAL", "INT"},
    {"BIGSERIAL", "BIGINT"},
    {"NUMBER", "DECIMAL"},
    {"BIGDECIMAL", "DECIMAL"},
    {"BIGNUMERIC", "DECIMAL"},
    {"MONEY", "DECIMAL(19, 4)"},
    {"FLOAT4", "FLOAT"},
    {"FLOAT8", "DOUBLE"},
    {"FLOAT32", "FLOAT"},
    {"FLOAT64", "DOUBLE"},
    {"DATETIME", "TIMESTAMP(3)"},
    {"DATETIME2", "TIMESTAMP(3)"},
    {"SMALLDATETIME", "TIMESTAMP(0)"},
    {"TIMESTAMP_NTZ", "TIMESTAMP(3)"},
    {"TIMESTAMPTZ", "TIMESTAMP_LTZ(3)"},
    {"TIMESTAMP_TZ", "TIMESTAMP_LTZ(3)"},
    {"DATETIMEOFFSET", "TIMESTAMP_LTZ(3)"},
    {"BLOB", "BYTES"},
    {"BYTEA", "BYTES"},
    {"IMAGE", "BYTES"},
};

constexpr Pair kFunctions[] = {
    {"LENGTH", "Write CHAR_LENGTH(text)."},
    {"LEN", "Write CHAR_LENGTH(text)."},
    {"NVL", "Write COALESCE(a, b)."},
    {"ISNULL", "Write a IS NULL, or COALESCE(a, b)."},
    {"NVL2", "Write CASE WHEN a IS NOT NULL THEN b ELSE c END."},
    {"IIF", "Write IF(condition, a, b)."},
    {"UCASE", "Write UPPER(text)."},
    {"LCASE", "Write LOWER(text)."},
    {"TO_CHAR", "Write DATE_FORMAT(time, 'yyyy-MM-dd HH:mm:ss'), or CAST(number AS STRING)."},
    {"STRFTIME", "Write DATE_FORMAT(time, 'yyyy-MM-dd HH:mm:ss')."},
    {"FORMAT_TIMESTAMP", "Write DATE_FORMAT(time, 'yyyy-MM-dd HH:mm:ss')."},
    {"STR_TO_DATE", "Write TO_TIMESTAMP(text, 'yyyy-MM-dd HH:mm:ss')."},
    {"STRPTIME", "Write TO_TIMESTAMP(text, 'yyyy-MM-dd HH:mm:ss')."},
    {"PARSE_TIMESTAMP", "Write TO_TIMESTAMP(text, 'yyyy-MM-dd HH:mm:ss')."},
    {"TO_NUMBER", "Write CAST(text AS DECIMAL(10, 2))."},
    {"DATEDIFF", "Write TIMESTAMPDIFF(DAY, earlier, later)."},
    {"DATE_DIFF", "Write TIMESTAMPDIFF(DAY, earlier, later)."},
    {"DATE_ADD", "Write time + INTERVAL '1' DAY."},
    {"DATEADD", "Write time + INTERVAL '1' DAY, or TIMESTAMPADD(DAY, n, time)."},
    {"DATE_SUB", "Write time - INTERVAL '1' DAY."},
    {"DATE_TRUNC", "Write FLOOR(time TO DAY)."},
    {"TIMESTAMP_TRUNC", "Write FLOOR(time TO DAY)."},
    {"TIME_BUCKET", "Write FLOOR(time TO MINUTE)."},
    {"DATE_PART", "Write EXTRACT(DAY FROM time)."},
    {"DATEPART", "Write EXTRACT(DAY FROM time)."},
    {"GETDATE", "Write CURRENT_TIMESTAMP."},
    {"SYSDATE", "Write CURRENT_TIMESTAMP."},
    {"TODAY", "Write CURRENT_DATE."},
    {"CURDATE", "Write CURRENT_DATE."},
    {"STRING_AGG", "Write LISTAGG(text, ',')."},
    {"GROUP_CONCAT", "Write LISTAGG(text, ',')."},
    {"ANY_VALUE", "Write FIRST_VALUE(a)."},
    {"ARG_MAX", "Rank with ROW_NUMBER() OVER (PARTITION BY key ORDER BY a DESC), and keep rank 1."},
    {"MAX_BY", "Rank with ROW_NUMBER() OVER (PARTITION BY key ORDER BY a DESC), and keep rank 1."},
    {"ARG_MIN", "Rank with ROW_NUMBER() OVER (PARTITION BY key ORDER BY a), and keep rank 1."},
    {"MIN_BY", "Rank with ROW_NUMBER() OVER (PARTITION BY key ORDER BY a), and keep rank 1."},
    {"APPROX_DISTINCT", "Write COUNT(DISTINCT a)."},
    {"COUNTIF", "Write COUNT(*) FILTER (WHERE condition)."},
    {"COUNT_IF", "Write COUNT(*) FILTER (WHERE condition)."},
    {"SUM_IF", "Write SUM(a) FILTER (WHERE condition)."},
    {"JSON_EXTRACT", "Write JSON_VALUE(text, '$.name')."},
    {"JSON_EXTRACT_SCALAR", "Write JSON_VALUE(text, '$.name')."},
    {"JSON_EXTRACT_STRING", "Write JSON_VALUE(text, '$.name')."},
    {"GET_JSON_OBJECT", "Write JSON_VALUE(text, '$.name')."},
    {"REGEXP_MATCHES", "Write REGEXP(text, 'pattern')."},
    {"REGEXP_LIKE", "Write REGEXP(text, 'pattern')."},
    {"REGEXP_CONTAINS", "Write REGEXP(text, 'pattern')."},
    {"CONTAINS", "Write POSITION('part' IN text) > 0, or text LIKE '%part%'."},
    {"CHARINDEX", "Write POSITION('part' IN text)."},
    {"STRPOS", "Write POSITION('part' IN text)."},
    {"SPLIT_PART", "Write SPLIT_INDEX(text, ',', 0), which counts from 0."},
    {"SAFE_CAST", "Write TRY_CAST(a AS type)."},
    {"POW", "Write POWER(a, b)."},
};

std::string_view Find(const Pair* begin, const Pair* end, std::string_view word) {
  const Pair* found =
      std::find_if(begin, end, [word](const Pair& pair) { return pair.foreign == word; });
  return found == end ? std::string_view() : found->ours;
}

std::string Sorted(std::string_view word) {
  std::string letters(word);
  std::sort(letters.begin(), letters.end());
  return letters;
}

}  // namespace

std::string MeantKeyword(std::string_view word) {
  constexpr size_t kShortest = 4;  // shorter words are near to too much
  static const std::vector<std::string> kKeywords = {
      "SELECT", "FROM",     "WHERE",    "GROUP",     "HAVING",         "ORDER",    "LIMIT",
      "OFFSET", "QUALIFY",  "UNION",    "JOIN",      "LEFT",           "RIGHT",    "INNER",
      "OVER",   "WITH",     "VALUES",   "PARTITION", "BETWEEN",        "EXISTS",   "LIKE",
      "CASE",   "WHEN",     "THEN",     "ELSE",      "INSERT",         "INTO",     "CREATE",
      "TABLE",  "VIEW",     "DATABASE", "WATERMARK", "PRIMARY",        "COMMENT",  "METADATA",
      "ROWS",   "ENFORCED", "CONFLICT", "TEMPORARY", "CHANGELOG_MODE", "INTERVAL", "DISTINCT"};
  if (word.size() < kShortest ||
      std::find(kKeywords.begin(), kKeywords.end(), word) != kKeywords.end())
    return "";
  const std::string letters = Sorted(word);
  for (const std::string& keyword : kKeywords) {
    if (Sorted(keyword) == letters) return keyword;
  }
  return Nearest(word, kKeywords);
}

std::string_view MeantType(std::string_view upper) {
  return Find(std::begin(kTypes), std::end(kTypes), upper);
}

std::string_view MeantFunction(std::string_view upper) {
  return Find(std::begin(kFunctions), std::end(kFunctions), upper);
}

}  // namespace rowtide
