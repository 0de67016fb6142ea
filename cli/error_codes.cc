#include "cli/error_codes.h"

#include <algorithm>
#include <iterator>

namespace rowtide {

namespace {

constexpr ErrorCode kCodes[] = {
    {"RT1000", "The text is not a SQL statement.",
     "The parser met a word or a character that does not fit. The message says what was expected "
     "at\n"
     "the marked place. Reserved words that name a column or a table need back-ticks: `order`."},
    {"RT2000", "A name, a type or an option does not fit.",
     "The statement is well formed, but it names something that does not exist, combines types "
     "that\n"
     "do not go together, or sets an option to a value it cannot have. Names of tables and columns "
     "are\n"
     "case-sensitive; the hint names the nearest one."},
    {"RT2031", "The sink cannot take the changes that the query makes.",
     "A sink or an operator takes rows of some kinds only, for example inserts alone, and the "
     "named\n"
     "node produces others. Either write into a sink that takes updates and deletes, or make the "
     "query\n"
     "insert-only: keep the first row by a time attribute instead of the last one.\n"
     "EXPLAIN CHANGELOG_MODE shows what every node produces."},
    {"RT2040", "The query's key is not the sink's primary key.",
     "Rows of different keys of the query can meet under one primary key of the sink, and nothing "
     "says\n"
     "which of them is to win. Add ON CONFLICT DO DEDUPLICATE, DO ERROR or DO NOTHING to the "
     "INSERT,\n"
     "give the sink the key of the query, or set 'table.exec.sink.require-on-conflict' to "
     "'false'."},
    {"RT2900", "The statement cannot be run this way.",
     "The statement is sound, but there is no way to run it on a stream without an end: a sort "
     "without\n"
     "a limit, a ranking without a bound, an update without a key. The message names the part."},
    {"RT3000", "Rowtide does not have this yet.",
     "The construct is part of Flink SQL and is understood, but Rowtide cannot run it. The same "
     "file\n"
     "runs on Apache Flink 2.3."},
    {"RT3001", "Joins are not supported yet.", "The same file runs on Apache Flink 2.3."},
    {"RT3002", "This LATERAL sub-query is not supported yet.",
     "A LATERAL sub-query runs where it is a Top-N per key of one table."},
    {"RT4000", "A row stopped the job.",
     "A record that does not decode, an expression that fails on a row, such as 1/0 or CAST('x' AS "
     "INT),\n"
     "or a violated constraint. The message names the place and the values. Records that do not "
     "decode\n"
     "are skipped with SET 'rowtide.bad-data.<table>' = 'skip'; TRY_CAST gives NULL where CAST "
     "fails."},
    {"RT5000", "A file or the network failed.",
     "The operating system's reason is in the message. Running the job again may help."},
    {"RT5100", "A file that Rowtide wrote is damaged.",
     "A snapshot does not have the form it was written in, or is of another job."},
    {"RT9000", "Rowtide has a bug.", "Please report it with the statement that shows it."},
};

const char* CodeOfKind(const Status& error) {
  switch (error.code()) {
    case StatusCode::kOk: return "";
    case StatusCode::kInvalidArgument:
      if (error.kind() == ErrorKind::kParse) return "RT1000";
      return error.kind() == ErrorKind::kPlan ? "RT2900" : "RT2000";
    case StatusCode::kNotFound: return "RT2000";
    case StatusCode::kUnsupported: return "RT3000";
    case StatusCode::kDataError: return "RT4000";
    case StatusCode::kExternal: return "RT5000";
    case StatusCode::kCorruption: return "RT5100";
    case StatusCode::kInternal: return "RT9000";
  }
  return "";
}

}  // namespace

std::string CodeOf(const Status& error) {
  return error.error_code().empty() ? CodeOfKind(error) : error.error_code();
}

const ErrorCode* FindErrorCode(std::string_view code) {
  const auto* found = std::find_if(std::begin(kCodes), std::end(kCodes),
                                   [&](const ErrorCode& one) { return one.code == code; });
  return found == std::end(kCodes) ? nullptr : found;
}

std::string ErrorCodeList() {
  std::string text;
  for (const ErrorCode& one : kCodes) text += fmt::format("  {}  {}\n", one.code, one.title);
  return text;
}

}  // namespace rowtide
