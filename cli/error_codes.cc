#include "cli/error_codes.h"

#include <algorithm>
#include <cctype>
#include <iterator>

#include "cli/verb_text.h"

namespace rowtide {

namespace {

constexpr ErrorCode kCodes[] = {
    {"RT1000", "The text is not a SQL statement.",
     "The parser met a word or a character that does not fit at the marked place. The message says "
     "what was expected.",
     "SELECT order FROM (VALUES (1)) AS t(n);",
     "Look at the marked place and the word before it. A reserved word that names a column or a "
     "table needs back-ticks: `order`. Strings take single quotes, names none or back-ticks."},
    {"RT1001", "There is no ; between two statements.",
     "The second one begins where the first may not go on.", "SELECT 1 SELECT 2;",
     "Put ; between the statements."},
    {"RT2000", "A name, a type or an option does not fit.",
     "The statement is well formed, but what it says does not go together: types that have no "
     "common one, an option with a value it cannot have, a column in the wrong place.",
     "SELECT n FROM (VALUES (1)) AS t(n) ORDER BY 2 LIMIT 1;",
     "The message names the part and what would fit."},
    {"RT2001", "There is no such table.",
     "No table or view of that name is in the current database, or FROM does not name it.",
     "SELECT * FROM order_event;",
     "Names are case-sensitive. The hint names the nearest one; SHOW TABLES lists all. Tables live "
     "as long as the session: each script starts with its CREATE TABLE."},
    {"RT2002", "There is no such column.", "No table in FROM has a column of that name.",
     "SELECT amout FROM (VALUES (1)) AS t(amount);",
     "Names are case-sensitive. The hint names the nearest one; DESCRIBE lists the columns of a "
     "table. A column that SELECT computes has its name outside of that SELECT only."},
    {"RT2003", "There is no such function.", "Flink SQL has no function of that name.",
     "SELECT UPPPER('a');", "The hint names the nearest one."},
    {"RT2004", "There is no such data type.", "",
     "CREATE TABLE t (a INTT) WITH ('connector' = 'print');",
     "The hint names the nearest one. Texts are STRING, times TIMESTAMP(3), exact numbers "
     "DECIMAL(10, 2)."},
    {"RT2005", "A column is neither in GROUP BY nor in an aggregate.",
     "The rows of a group may differ in it, so it has no one value for the group.",
     "SELECT item, price FROM (VALUES ('a', 1)) AS t(item, price) GROUP BY item;",
     "Add it to GROUP BY, or put it into an aggregate such as MAX. For the whole row that has the "
     "highest value, rank with ROW_NUMBER() and keep rank 1."},
    {"RT2006", "The types do not go together.",
     "An operator, a function, CASE or a condition has a value of a type that it does not take. A "
     "text and a number are not compared by =; a condition is BOOLEAN.",
     "SELECT id FROM (VALUES ('a', 1)) AS t(name, id) WHERE name = id;",
     "CAST brings a value to a type that fits, a text to a number by CAST(x AS DECIMAL(10, 2)) and "
     "a number to a text by CAST(x AS STRING). DESCRIBE lists the types of a table's columns."},
    {"RT2007", "There is no such cast.",
     "Values of the one type do not become values of the other.",
     "SELECT CAST(DATE '2026-01-31' AS INT);",
     "Cast by way of STRING, or use a function, such as EXTRACT for parts of a time."},
    {"RT2008", "A function cannot stand here.",
     "Aggregate functions stand in SELECT, HAVING, QUALIFY and ORDER BY, and not inside each "
     "other; "
     "ranking functions need OVER (…).",
     "SELECT n FROM (VALUES (1)) AS t(n) WHERE COUNT(*) > 1;",
     "Conditions on aggregates go into HAVING, those on rankings into a WHERE around the query. An "
     "aggregate of an aggregate needs a sub-query."},
    {"RT2009", "NULL has no type here.", "Nothing says of which type this NULL is.",
     "SELECT CONCAT('a', NULL);", "Write CAST(NULL AS type), such as CAST(NULL AS STRING)."},
    {"RT2010", "The table has an option that its connector or format does not know.", "",
     "CREATE TABLE t (a INT) WITH ('connector' = 'print', 'print-identifer' = 'out');\n"
     "INSERT INTO t VALUES (1);",
     "The hint names the nearest option, or all of them. Options of Rowtide alone are not written "
     "in WITH but set: SET 'rowtide.…' = '…'."},
    {"RT2011", "SET names an option that does not exist.",
     "It is neither one of Flink's nor one of Rowtide's.",
     "SET 'rowtide.flink-compatible' = 'true';", "The hint names the nearest one."},
    {"RT2012", "The connector or format is unknown.", "",
     "CREATE TABLE t (a INT) WITH ('connector' = 'filesytem', 'path' = 'sales.csv', 'format' = "
     "'csv');\nSELECT * FROM t;",
     "The hint names what there is."},
    {"RT2013", "The table lacks an option that its connector or format needs.", "",
     "CREATE TABLE t (a INT) WITH ('connector' = 'filesystem', 'path' = 'sales.csv');\n"
     "SELECT * FROM t;",
     "Write it into WITH (…). The hint names an option that may be a misspelling of it."},
    {"RT2014", "A name stands for two things.",
     "A table, a column or a view of this name is there already, or two columns have it.",
     "CREATE TABLE t (a INT, a STRING) WITH ('connector' = 'print');",
     "Choose another name. CREATE TABLE IF NOT EXISTS leaves a table that is there; AS gives a "
     "column of a query another name."},
    {"RT2015", "The PRIMARY KEY does not fit.",
     "Rowtide, as Flink, takes a key as a promise and does not check it; a table has one at most, "
     "of physical columns.",
     "CREATE TABLE t (a INT, PRIMARY KEY (a)) WITH ('connector' = 'print');",
     "Write PRIMARY KEY (a) NOT ENFORCED."},
    {"RT2016", "The WATERMARK does not fit.",
     "A watermark is for one column of the table, whose type is TIMESTAMP or TIMESTAMP_LTZ with 0 "
     "to 3 digits after the second.",
     "CREATE TABLE t (ts TIMESTAMP(6), WATERMARK FOR ts AS ts) WITH ('connector' = 'print');",
     "Declare the column as TIMESTAMP(3). A text becomes one in a computed column: ts AS "
     "TO_TIMESTAMP(text)."},
    {"RT2017", "The table cannot be read, or cannot be written.",
     "Its connector is for writing only (print, blackhole) or for reading only (datagen), or it is "
     "a view.",
     "CREATE TABLE t (a INT) WITH ('connector' = 'print');\nSELECT * FROM t;",
     "Use 'connector' = 'filesystem', which reads and writes."},
    {"RT2018", "The option has a value that it cannot have.", "",
     "SET 'table.exec.state.ttl' = 'soon';",
     "The message names what it takes; durations are written as '5 s', '10 min' or '1 d'."},
    {"RT2019", "Columns do not match in number or type.",
     "The branches of a UNION, the rows of VALUES, or a list of names and the columns it is for.",
     "SELECT 1 UNION ALL SELECT 2, 3;",
     "Give both sides as many columns, of types that go together; CAST changes a type."},
    {"RT2021", "A length, precision or scale is out of its range.", "",
     "CREATE TABLE t (a DECIMAL(40, 2)) WITH ('connector' = 'print');",
     "DECIMAL has up to 38 digits, times up to 9 after the second."},
    {"RT2022", "The function does not take so many arguments.", "", "SELECT UPPER('a', 'b');",
     "Give it as many as it takes; an optional argument stands at the end."},
    {"RT2023", "There is no such catalog or database.", "", "USE shop;",
     "SHOW CATALOGS and SHOW DATABASES list them."},
    {"RT2024", "There is no such unit of time here.", "",
     "SELECT EXTRACT(FORTNIGHT FROM DATE '2026-01-31');",
     "Units are YEAR, QUARTER, MONTH, WEEK, DAY, HOUR, MINUTE, SECOND; TIME has those from HOUR "
     "on."},
    {"RT2025", "A pattern or path is not well formed.",
     "A LIKE or SIMILAR TO pattern, a regular expression, or a JSON path.",
     "SELECT JSON_VALUE('{}', 'name');",
     "A JSON path begins with $, as in '$.name'; regular expressions are RE2's, without "
     "look-around "
     "and back-references."},
    {"RT2026", "The literal has no value.", "It is too long, too large, or not of its form.",
     "SELECT 12345678901234567890123456789;",
     "Numbers have 19 digits, or a CAST from a text in quotes."},
    {"RT2027", "The ranking has no order.",
     "ROW_NUMBER, RANK and DENSE_RANK number rows in an order, which OVER has to name.",
     "SELECT * FROM (SELECT n, ROW_NUMBER() OVER (PARTITION BY n) AS r FROM (VALUES (1)) AS t(n)) "
     "WHERE r = 1;",
     "Add ORDER BY with a column: OVER (PARTITION BY id ORDER BY ts DESC)."},
    {"RT2028", "What a value refers to is not there.",
     "${NAME} in a value of WITH, OPTIONS or SET stands for an environment variable, ${file:/path} "
     "for the text of a file; $${ is the text ${.",
     "SET 'pipeline.name' = '${NO_SUCH_VARIABLE}';",
     "Set the variable where rowtide is started, or name a file that can be read."},
    {"RT2029", "The connector has no such metadata column.", "",
     "CREATE TABLE t (a INT, f STRING METADATA FROM 'file.nam') WITH ('connector' = 'filesystem', "
     "'path' = 'sales.csv', 'format' = 'csv');\nSELECT * FROM t;",
     "Those of 'filesystem' are file.path, file.name, file.size and file.modification-time."},
    {"RT2031", "The sink cannot take the changes that the query makes.",
     "A sink or an operator takes rows of some kinds only, for example inserts alone, and the "
     "named node produces others: it corrects rows it has given before.",
     "CREATE TABLE s (item STRING, n BIGINT) WITH ('connector' = 'filesystem', 'path' = 'out', "
     "'format' = 'csv');\n"
     "INSERT INTO s SELECT item, COUNT(*) FROM (VALUES ('a'), ('a')) AS t(item) GROUP BY item;",
     "For the final rows alone: SET 'execution.runtime-mode' = 'batch', which writes them when the "
     "input has ended. For every correction: write into a sink that takes updates, such as print. "
     "Keeping the first row by a time attribute (ORDER BY ts ASC) is insert-only, but another "
     "answer than keeping the last. EXPLAIN CHANGELOG_MODE shows what every node produces."},
    {"RT2032", "The columns of the query are not those of the sink.",
     "INSERT goes by position: the first column of the query into the first one of the table. They "
     "differ in number, or two of them in type.",
     "CREATE TABLE s (item STRING, n INT) WITH ('connector' = 'print');\n"
     "INSERT INTO s SELECT 1;",
     "Name the columns that are written, INSERT INTO s (item) SELECT …, or give the query the "
     "columns and types of the sink; CAST changes a type."},
    {"RT2040", "The query's key is not the sink's primary key.",
     "Rows of different keys of the query can meet under one primary key of the sink, and nothing "
     "says which of them is to win.",
     "CREATE TABLE s (item STRING, n BIGINT, PRIMARY KEY (n) NOT ENFORCED) WITH ('connector' = "
     "'collect', 'changelog-mode' = 'I,UA,D');\n"
     "INSERT INTO s SELECT item, COUNT(*) FROM (VALUES ('a'), ('a')) AS t(item) GROUP BY item;",
     "Add ON CONFLICT DO DEDUPLICATE, DO ERROR or DO NOTHING to the INSERT, give the sink the key "
     "of the query, or set 'table.exec.sink.require-on-conflict' to 'false'."},
    {"RT2041", "Two tables cannot be written exactly once by one job.",
     "One transaction makes the rows of all of them visible, and it is on one cluster, with one "
     "prefix and one producer.",
     "",
     "Give both the same 'properties.*' and 'sink.transactional-id-prefix', or write one of them "
     "in a job of its own, or with 'sink.delivery-guarantee' = 'at-least-once'."},
    {"RT2800", "The command line does not fit.",
     "A verb or an option does not exist, or has a value that it cannot have.", "",
     "rowtide --help lists the verbs, rowtide help VERB the options of one."},
    {"RT2900", "The statement cannot be run this way.",
     "The statement is sound, but there is no way to run it on a stream.",
     "SELECT n FROM (VALUES (1)) AS t(n) ORDER BY n OFFSET 1 ROWS;",
     "The message names the part, the hint what would do."},
    {"RT2901", "A stream cannot be sorted by this.",
     "Sorting all rows would mean waiting for the last one. Only a time attribute, in ascending "
     "order, comes with watermarks that say how long to wait.",
     "SELECT n FROM (VALUES (1)) AS t(n) ORDER BY n;",
     "Add LIMIT n to keep the first n rows; or SET 'execution.runtime-mode' = 'batch', which gives "
     "the final rows alone and sorts them by anything."},
    {"RT2902", "RANK and DENSE_RANK have no bound.",
     "Rows that tie share a rank, so rank <= N may hold any number of rows.",
     "SELECT * FROM (SELECT n, RANK() OVER (ORDER BY n) AS r FROM (VALUES (1)) AS t(n)) WHERE r <= "
     "2;",
     "Use ROW_NUMBER(), which numbers ties in the order of their arrival."},
    {"RT3000", "Rowtide does not have this yet.",
     "The construct is part of Flink SQL and is understood, but Rowtide cannot run it.",
     "SELECT COUNT(*) OVER (ORDER BY PROCTIME()) FROM (VALUES (1)) AS t(n);",
     "The same file runs on Apache Flink 2.3."},
    {"RT3001", "Joins are not supported yet.", "",
     "SELECT a.n FROM (VALUES (1)) AS a(n) JOIN (VALUES (1)) AS b(n) ON a.n = b.n;",
     "The same file runs on Apache Flink 2.3."},
    {"RT3002", "This LATERAL sub-query is not supported yet.",
     "A LATERAL sub-query runs where it is a Top-N per key of one table.", "",
     "Write the ranking with ROW_NUMBER() in a sub-query of its own."},
    {"RT4000", "The data stopped the job.",
     "A row, a file's form or a constraint. The message names the place and the values.", "",
     "Correct the input, or make the query tolerate it."},
    {"RT4001", "A record does not decode.",
     "The bytes of a file do not have the form that the table declares. The message has file, "
     "line, byte, column and text. Reasons that are counted: undecodable (no csv or JSON record), "
     "cast (a field is no value of its type), invalid_encoding (no UTF-8), missing_field, "
     "not_null, "
     "too_large, too_deep. A quote that is not closed takes all lines up to the next one.",
     "CREATE TABLE t (category INT, product STRING, amount DECIMAL(10, 2), ts TIMESTAMP(3)) WITH "
     "('connector' = 'filesystem', 'path' = 'sales.csv', 'format' = 'csv');\nSELECT * FROM t;",
     "Is the column's type right? A line of names at the top of a csv file is read with SET "
     "'rowtide.csv.header.t' = 'true'. SET 'rowtide.bad-data.t' = 'skip' leaves bad records out "
     "and "
     "counts them; 'dead-letter' keeps them in the file, or the topic, of SET "
     "'rowtide.dead-letter.t'."},
    {"RT4002", "An expression failed on a row.",
     "A cast of a text that is none, a division by zero, a number out of range.",
     "SELECT CAST(s AS INT) FROM (VALUES ('x')) AS t(s);",
     "TRY_CAST gives NULL where CAST fails; CASE WHEN d <> 0 THEN n / d END divides where it can."},
    {"RT4003", "Two rows claim one primary key.",
     "The INSERT has ON CONFLICT DO ERROR, and rows of different keys of the query came under one "
     "key of the sink.",
     "",
     "ON CONFLICT DO DEDUPLICATE keeps the latest, DO NOTHING the first; or find out why the query "
     "has two."},
    {"RT4004", "A record is larger or deeper than the limit.",
     "A quote or a brace that is never closed makes the rest of a file one record.", "",
     "SET 'rowtide.limits.record-bytes' or 'rowtide.limits.json-depth' if the record is meant to "
     "be "
     "so; SET 'rowtide.bad-data.t' = 'skip' leaves it out."},
    {"RT4005", "A NULL came for a NOT NULL column of the sink.", "",
     "CREATE TABLE s (n INT NOT NULL) WITH ('connector' = 'print');\n"
     "INSERT INTO s SELECT TRY_CAST(t AS INT) FROM (VALUES ('1'), ('x')) AS v(t);",
     "SET 'table.exec.sink.not-null-enforcer' = 'DROP' leaves such rows out and counts them; "
     "COALESCE gives them another value."},
    {"RT5000", "A file or the network failed.", "The operating system's reason is in the message.",
     "", "Running the job again may help."},
    {"RT5002", "A job would write into what it reads.",
     "A file of dead letters or of conflict samples, a profile, or standard output, is one of the "
     "files of a source, or lies where a source looks for files; or a topic of dead letters is one "
     "of its topics: what is written would be read again.",
     "SET 'rowtide.bad-data.e' = 'dead-letter';\n"
     "SET 'rowtide.dead-letter.e' = 'order_events.csv';\n"
     "CREATE TABLE e (id STRING) WITH ('connector' = 'filesystem', 'path' = 'order_events.csv', "
     "'format' = 'csv');\n"
     "SELECT * FROM e;",
     "Name a file, or a topic, outside of what the job reads."},
    {"RT5001", "There is no such file.", "",
     "CREATE TABLE t (a INT) WITH ('connector' = 'filesystem', 'path' = 'nowhere.csv', 'format' = "
     "'csv');\nSELECT * FROM t;",
     "A relative path starts at the folder that rowtide was started in."},
    {"RT5003", "A broker does not let this client in.",
     "It does not accept name and password, or one side does not know who signed the other's "
     "certificate. The message has the broker's own words.",
     "",
     "The options of the table that begin with 'properties.sasl.' and 'properties.ssl.' say who "
     "this client is and whom it believes."},
    {"RT5100", "A file that Rowtide wrote is damaged.",
     "A snapshot does not have the form it was written in, or is of another job.", "",
     "Use an older snapshot, or start anew."},
    {"RT6001", "Another process runs this job already.",
     "Two processes would write the same state and the same files.", "",
     "Stop the other one, whose process id is in the message, or give this one a state folder of "
     "its own."},
    {"RT6002", "The newest checkpoint is damaged, and an older one would show rows twice.",
     "Files have been published up to the damaged checkpoint.", "",
     "Repair the disk or bring the checkpoint back from a copy. --fresh --restore OLDER goes on "
     "from an older one and writes the rows since then again; --fresh begins anew."},
    {"RT6003", "No checkpoint can be restored.", "All that are in the state folder are damaged.",
     "", "--fresh begins from the first record, without state."},
    {"RT6004", "The query does not fit the state that is to be restored.",
     "State is found again by what each operator does: key, order, range, columns. The message "
     "lists what has changed.",
     "",
     "Run the query as it was, or drop that state (--allow-non-restored-state), or begin anew "
     "(--fresh)."},
    {"RT6005", "No process runs the job.",
     "A savepoint or a stop is asked of the process that runs a job with a state folder.", "",
     "`rowtide state ls` lists what the folder holds; `rowtide run --state` goes on from it."},
    {"RT6006", "The folder holds no state of a job.", "", "",
     "Name the folder that was given to `rowtide run --state`, or one job's folder in it."},
    {"RT6007", "There is no checkpoint or savepoint at that place.",
     "--restore and 'execution.state-recovery.path' name one: the folder with its MANIFEST.", "",
     "`rowtide state ls` lists the checkpoints of a state folder."},
    {"RT6010", "Exactly-once needs checkpoints.",
     "Rows become visible together with the checkpoint that holds them, and the job takes none.",
     "",
     "Give the job a state folder: rowtide run --state DIR. A SELECT and batch mode have no "
     "checkpoints."},
    {"RT6011", "Another instance of the job has taken over.",
     "Its transactional id is in use by a process that was started later. This one has written "
     "nothing that can be seen since then.",
     "", "Nothing, if the other one is meant to run; else stop it, and start this one again."},
    {"RT6012", "The checkpoint that was decided is not there.",
     "The marker topic names the checkpoint up to which rows can be read. The state folder does "
     "not have it, or another one of that number.",
     "",
     "Bring the state folder back. --fresh --restore CHECKPOINT goes on from another one and may "
     "write rows twice or leave some out; --fresh begins from the first record."},
    {"RT6013", "The topic of decisions is not as it should be.",
     "It has one partition, is compacted, and only its own job writes to it.", "",
     "Look at it with Kafka's own tools. Deleting it makes the job begin anew (--fresh)."},
    {"RT6014", "A transaction hangs.",
     "A broker has lost the end of a transaction, so nothing behind it can be read.", "",
     "Kafka's kafka-transactions.sh find-hanging shows it. Whether its rows count is for people to "
     "say: the message has what is known."},
    {"RT6015", "The transaction time-out does not fit.",
     "A transaction lasts from one checkpoint to the next, and the broker gives up those that last "
     "longer than it allows.",
     "",
     "Take checkpoints more often, or raise transaction.max.timeout.ms on the brokers or "
     "'properties.transaction.timeout.ms' of the table."},
    {"RT9000", "Rowtide has a bug.", "", "", "Please report it with the statement that shows it."},
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

std::span<const ErrorCode> ErrorCodes() { return kCodes; }

const ErrorCode* FindErrorCode(std::string_view code) {
  const auto same = [](char a, char b) { return std::toupper(static_cast<unsigned char>(a)) == b; };
  const auto* found = std::find_if(std::begin(kCodes), std::end(kCodes), [&](const ErrorCode& one) {
    const std::string_view known = one.code;
    return std::equal(code.begin(), code.end(), known.begin(), known.end(), same);
  });
  return found == std::end(kCodes) ? nullptr : found;
}

std::string ErrorCodeText(const ErrorCode& code) {
  std::string text = fmt::format("{}: {}\n", code.code, code.title);
  const auto add = [&text](const char* title, const std::string& body) {
    if (body != "") text += fmt::format("\n{}\n", title) + Wrapped(body, 2);
  };
  add("Cause", code.cause);
  if (*code.example != '\0') text += "\nExample\n" + Wrapped(code.example, 4);
  add("What to do", code.remedy);
  return text;
}

std::string ErrorCodeList() {
  std::string text;
  for (const ErrorCode& one : kCodes) text += fmt::format("  {}  {}\n", one.code, one.title);
  return text;
}

}  // namespace rowtide
