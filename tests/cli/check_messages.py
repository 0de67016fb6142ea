"""What the command says to somebody who brings a file of their own: each message names the next step."""
import os
import subprocess

COLUMNS = "(id INT, name STRING, at_ TIMESTAMP(3))"


def run(rowtide, lab, sql):
    return subprocess.run([rowtide, "run", "-c", sql], cwd=lab, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False)


def table(options="", path="people.csv"):
    if path == "late.csv":
        options += ", 'csv.null-literal' = '-'"
    return f"CREATE TABLE people {COLUMNS} WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'csv'{options}); "


def checks(rowtide, lab):
    files = {"people.csv": "id,name,at_\n1,Ann,2026-01-01 00:00:00\n", "gap.csv": "1,Ann,2026-01-01 00:00:00\n,Bob,2026-01-01 00:00:00\n",
             "late.csv": '1,"An\n",2026-01-01 00:00:00\n2,Bob,-\n'}
    for name, text in files.items():
        with open(os.path.join(lab, name), "w", encoding="utf-8") as file:
            file.write(text)
    select = "SELECT * FROM people"
    for name, sql, code, words in [
            ("a header line", table() + select, 3, ["SET 'rowtide.csv.header.people' = 'true'"]),
            ("the header as an option", table(", 'csv.header' = 'true'") + select, 2, ["SET 'rowtide.csv.header.people' = 'true'"]),
            ("a misspelt required option", table().replace("'path'", "'pth'") + select, 2, ["lacks the option 'path'", "'pth'"]),
            ("a setting of a table that is not there", "SET 'rowtide.csv.header.peopl' = 'true'; " + table() + select, 3,
             ["'rowtide.csv.header.peopl' is set, but there is no table 'peopl'", "'people'"]),
            ("a slip in an option of Flink's", "SET 'execution.runtimemode' = 'batch'; SELECT 1", 0, ["has no effect", "Is 'execution.runtime-mode' meant?"]),
            ("and in the last word of one", "SET 'table.exec.state.tll' = '1 h'; SELECT 1", 0, ["Is 'table.exec.state.ttl' meant?"]),
            ("RESET of no option", "RESET 'rowtide.source-thread'", 2, ["there is no option 'rowtide.source-thread'", "'rowtide.source-threads'"]),
            ("records left out without --stats", "SET 'rowtide.bad-data.people' = 'skip'; " + table() + select, 0, ["rejected: 1 of 2 records", "cast=1"]),
            ("an empty field that is no number", table(path="gap.csv") + select, 3, ["line 2", "'csv.null-literal' = ''"]),
            ("a row time that is NULL", table(path="late.csv").replace("(3))", "(3), WATERMARK FOR at_ AS at_)") + "SELECT id FROM people WHERE id > 1", 3,
             ["file late.csv, line 3, byte 28: row time 'at_' is NULL"]),
            ("NULL for NOT NULL", table(path="late.csv") + "CREATE TABLE kept (id INT, at_ TIMESTAMP(3) NOT NULL) WITH ('connector' = 'print'); "
             "INSERT INTO kept SELECT id, at_ FROM people WHERE name <> 'An\n'", 3,
             ["file late.csv, line 3, byte 28: column 'at_' is NOT NULL"]),
            ("dead letters without the policy", "SET 'rowtide.dead-letter.people' = 'rejects.ndjson'; " + table(path="gap.csv") + select, 3,
             ["SET 'rowtide.bad-data.people' = 'dead-letter'"]),
            ("keep-first by a time without a WATERMARK", table() + "CREATE TABLE s (id INT) WITH ('connector' = 'filesystem', 'path' = 'out', 'format' = 'csv'); INSERT INTO s SELECT id FROM "
             "(SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY at_) AS n FROM people) WHERE n = 1", 2, ["in people: WATERMARK FOR at_ AS at_ - INTERVAL '5' SECOND"]),
            ("double quotes", 'SELECT "a"', 2, ["single quotes", "back-ticks"])]:
        done = run(rowtide, lab, sql)
        missing = [word for word in words if word not in done.stderr]
        fault = f"exit {done.returncode}: {done.stderr}" if done.returncode != code or missing else None
        yield name, fault
    yield from check_hints(rowtide, lab)


def check_hints(rowtide, lab):
    """What a record that does not decode says about the declaration; and what decodes, though not as it was meant."""
    for form, record, columns, code, words in [
            ("csv", "1,2026-01-02T03:04:05Z", "a INT, ts TIMESTAMP(3)", 3, "`ts_time` AS TO_TIMESTAMP(`ts`, 'yyyy-MM-dd''T''HH:mm:ss''Z''')"),
            ("csv", "1,1767322800123", "a INT, ts TIMESTAMP(3)", 3, "`ts_time` AS TO_TIMESTAMP_LTZ(`ts`, 3)"),
            ("csv", "1,02/01/2026", "a INT, d DATE", 3, "`d_date` AS CAST(TO_TIMESTAMP(`d`, 'dd/MM/yyyy') AS DATE)"),
            ("csv", "1,2026-01-02T03:04:05Z", "a INT, ts TIMESTAMP_LTZ(3)", 3, "TO_TIMESTAMP_LTZ(`ts`, 'yyyy-MM-dd''T''HH:mm:ss''Z''', 'UTC')"),
            ("csv", "3000000000,x", "a INT, s STRING", 3, "declare the column BIGINT"),
            ("csv", "1.5,x", "a INT, s STRING", 3, "DECIMAL or DOUBLE"),
            ("csv", "1;2;x", "a INT, b INT, s STRING", 3, "'csv.field-delimiter' = ';'"),
            ("csv", "1\t2\tx", "a INT, b INT, s STRING", 3, r"'csv.field-delimiter' = '\t'"),
            ("csv", "\x28\xb5\x2f\xfd,x", "a INT, s STRING", 3, "zstd -dc FILE"),
            ("csv", "yes,1", "f BOOLEAN, a INT", 0, "1 value of column 'f' of t are neither true nor false"),
            ("csv", "id,name", "id STRING, name STRING", 0, "SET 'rowtide.csv.header.t' = 'true'"),
            ("json", '{"ts":"2026-01-02T03:04:05Z"}', "ts TIMESTAMP(3)", 3, "TIMESTAMP_LTZ(3), which takes the zone, with 'json.timestamp-format.standard' = 'ISO-8601'"),
            ("json", '{"ts":"2026-01-02T03:04:05Z"}', "ts TIMESTAMP_LTZ(3)", 3, "'json.timestamp-format.standard' = 'ISO-8601'"),
            ("json", "[", "a INT", 3, "jq -c '.[]' FILE"), ("json", "{", "a INT", 3, "jq -c . FILE"),
            ("json", '{"Id":1}', "id INT", 0, "column 'id' of t is NULL where the record has 'Id'")]:
        with open(os.path.join(lab, "hint." + form), "wb") as file:
            file.write(record.encode("latin-1") + b"\n")
        done = run(rowtide, lab, f"CREATE TABLE t ({columns}) WITH ('connector' = 'filesystem', 'path' = 'hint.{form}', 'format' = '{form}'); SELECT * FROM t")
        good = done.returncode == code and words in done.stderr
        yield f"{form} {record[:30]!r} as {columns}", None if good else f"exit {done.returncode}: {done.stderr}"
