"""What may not happen whatever the files and the SQL are: a crash, lost rows, the user's files overwritten, all memory taken."""
import gzip
import os
import subprocess

LETTERS = "SET 'rowtide.bad-data.t' = 'dead-letter'; SET 'rowtide.dead-letter.t' = '{}'; "
TABLE = "CREATE TABLE t (i BIGINT, s STRING) WITH ('connector' = 'filesystem', 'path' = '{}', 'format' = 'csv'{}); "
ROWS = "1,a\nx,b\n3,c\n"
FILE_BLOCKS = 20000    # no file may become larger than 20 MB: a job that reads what it writes would fill the disk
MEMORY_KB = 6_000_000


class Place:
    """A folder in which the command runs, with a bound on what it may write."""

    def __init__(self, rowtide, lab):
        self.rowtide, self.lab = rowtide, lab

    def put(self, name, data):
        path = os.path.join(self.lab, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data.encode() if isinstance(data, str) else data)
        return path

    def run(self, sql, stdout=subprocess.PIPE, bound_memory=False):
        limit = f"ulimit -f {FILE_BLOCKS}; " + (f"ulimit -v {MEMORY_KB}; " if bound_memory else "") + 'exec "$@"'
        done = subprocess.run(["bash", "-c", limit, "-", self.rowtide, "run", "-c", sql], cwd=self.lab, stdout=stdout,
                              stderr=subprocess.PIPE, timeout=60, check=False)
        return done.returncode, (done.stdout or b"").decode(), done.stderr.decode()


def verdict(done, code, word=""):
    if done[0] == code and word in done[2]:
        return None
    return f"exit {done[0]}, wanted {code} with {word!r}: {done[2][-400:]}"


def check_folders(place):
    place.put("loops/a.csv", "1,a\n")
    for name, target, word in [("itself", "self", "symbolic links"), ("its parent", "..", "contains it")]:
        link = os.path.join(place.lab, "loops", "self")
        os.symlink(target, link)
        yield f"a link to {name}", verdict(place.run(TABLE.format("loops", "") + "SELECT * FROM t"), 4, word)
        os.unlink(link)


def check_gzip(place):
    one = gzip.compress(b"1,a\n" * 1000)
    torn = bytearray(one)
    torn[1] ^= 1
    for name, data, code, word, rows in [
            ("two members and padding", one + one + bytes(100), 0, "", 2000), ("a second head that is damaged", one + bytes(torn) + one, 3, "behind its part 1", 0),
            ("no gzip at all", b"1,a\n", 3, "not in gzip format", 0), ("a stray byte behind", one + b"x", 3, "cut short", 0),
            ("cut short", one[:-3], 3, "cut short", 0), ("an empty member first", gzip.compress(b"") + one, 0, "", 1000)]:
        place.put("packed/a.csv.gz", data)
        done = place.run(TABLE.format("packed/a.csv.gz", "") + "SELECT i FROM t")
        wrong_rows = code == 0 and done[1].count("\n") != rows
        yield f"gzip: {name}", f"{done[1].count(chr(10))} rows" if wrong_rows else verdict(done, code, word)


def check_outputs(place):
    source = place.put("own/a.csv", ROWS)
    os.link(source, os.path.join(place.lab, "hard.csv"))
    os.symlink(source, os.path.join(place.lab, "soft.csv"))
    select = "SELECT * FROM t"
    for path, letters in [("own", "own/letters.ndjson"), ("own", "own/a.csv"), ("own/a.csv", "./own/../own/a.csv"), ("own", "hard.csv"), ("own/*.csv", "soft.csv"),
                          ("own/*.csv", "own/letters.csv")]:
        yield f"dead letters of {path} in {letters}", verdict(place.run(LETTERS.format(letters) + TABLE.format(path, "") + select), 2, "RT5002")
    yield "dead letters elsewhere", verdict(place.run(LETTERS.format("letters.ndjson") + TABLE.format("own", "") + select), 0, "1 of 3 records")
    view = TABLE.format("own/a.csv", "").replace("i BIGINT, s STRING", "i STRING, s STRING, p AS PROCTIME()") + \
        "CREATE VIEW v AS SELECT i, s FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY i ORDER BY p) AS n FROM t) WHERE n = 1; SELECT * FROM v"
    yield "samples of conflicts in the source", verdict(place.run("SET 'rowtide.conflicts.v' = 'own/a.csv'; " + view), 2, "RT5002")
    place.put("twice.csv", "x,1\nx,2\n")
    yield "samples of conflicts onto a full disk", verdict(place.run("SET 'rowtide.conflicts.v' = '/dev/full'; " + view.replace("own/a.csv", "twice.csv")), 4, "No space left")
    watched = TABLE.format("own", ", 'source.monitor-interval' = '1 s'") + TABLE.format("own", "").replace("TABLE t", "TABLE u")
    yield "a sink in the folder that is watched", verdict(place.run(watched + "INSERT INTO u SELECT * FROM t"), 2, "RT5002")
    for name, letters, file in [("standard output in the source folder", "", "own/out.csv"), ("dead letters and rows in one file", LETTERS.format("/dev/stdout"), "both.txt")]:
        with open(os.path.join(place.lab, file), "wb") as out:
            yield name, verdict(place.run(letters + TABLE.format("own", "") + select, stdout=out), 2, "RT5002")
        os.unlink(os.path.join(place.lab, file))
    with open(source, encoding="utf-8") as file:
        yield "the source is as it was", None if file.read() == ROWS else "it was changed"
    for sql in ["SHOW TABLES", "EXPLAIN SELECT 1", "SELECT 1"]:
        with open("/dev/full", "wb") as out:
            yield f"{sql} onto a full disk", verdict(place.run(sql, stdout=out), 4, "RT5000")


def check_streams(place):
    """Standard input is there once; a header that cannot be read is no bad record."""
    table = TABLE.format("-", "").replace("i BIGINT", "i STRING")
    for name, sql, word in [("twice in a job", table + "SELECT i FROM t UNION ALL SELECT s FROM t", "in 2 places"),
                            ("in two jobs", table + "SELECT i FROM t; SELECT s FROM t", "read already")]:
        done = subprocess.run([place.rowtide, "run", "-c", sql], input="1,a\n", text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False)
        yield f"standard input {name}", None if done.returncode in (2, 4) and word in done.stderr else f"exit {done.returncode}: {done.stderr}"
    for policy in ["fail", "skip", "dead-letter"]:
        place.put("head.csv", '"i,s\n1,a\n2,b\n')
        settings = f"SET 'rowtide.csv.header.t' = 'true'; SET 'rowtide.bad-data.t' = '{policy}'; SET 'rowtide.dead-letter.t' = 'rejects.ndjson'; "
        yield f"a header with an open quote under {policy}", verdict(place.run(settings + TABLE.format("head.csv", "") + "SELECT * FROM t"), 3, "line 1, the header")


def check_terminal_text(place):
    """What others have written commands no terminal: neither names in messages nor those in plans."""
    for sql in ["SELECT `\x1b[31mred` FROM (VALUES (1)) AS t(a)", "CREATE TABLE `\x1b]0;x\x07` (a INT); SHOW CREATE TABLE `\x1b]0;x\x07`",
                "EXPLAIN SELECT a AS `\x1b[2J` FROM (VALUES (1)) AS t(a)", "SELECT 1 \x1b[31m FROM"]:
        done = place.run(sql)
        yield f"escapes in {sql[:16]}", None if "\x1b" not in done[1] + done[2] else (done[1] + done[2])[:300]


def check_sizes(place):
    for sql in ["REPLACE(REPEAT('a', 1000000), 'a', REPEAT('b', 100000))", "REGEXP_REPLACE(REPEAT('a', 100000), 'a', REPEAT('b', 100000))",
                "CONCAT(REPEAT('a', 60000000), REPEAT('a', 60000000))", "HEX(REPEAT('a', 60000000))", "CONCAT_WS(REPEAT('a', 60000000), 'a', 'b', 'c')",
                "REGEXP_EXTRACT('aaa', CONCAT(REPEAT('(', 1000000), REPEAT(')', 1000000)), 0)"]:
        done = place.run(f"SELECT {sql}", bound_memory=True)
        yield f"too much is asked for: {sql[:36]}", verdict(done, 3, "RT4002") or (None if len(done[2]) < 2000 else "the message is as long as the text")
    made = "CREATE TABLE g (a STRING) WITH ('connector' = 'datagen', 'number-of-rows' = '1000'); SELECT CHAR_LENGTH(REPEAT(a, 600000)) FROM g"
    yield "long texts on every row", verdict(place.run(made, bound_memory=True), 3, "RT4002")
    yield "a depth that no stack has", verdict(place.run("SET 'rowtide.limits.json-depth' = '100000000'; SELECT 1"), 2, "1 to 10000")
    largest = 2**63 - 1
    levels = ["CREATE VIEW v0 AS SELECT * FROM (VALUES (1)) AS t(a); "] + [f"CREATE VIEW v{i} AS SELECT CASE WHEN a > 0 THEN a + a ELSE a END AS a FROM v{i - 1}; " for i in range(1, 31)]
    done = place.run("".join(levels) + "SELECT a FROM v30", bound_memory=True)
    yield "thirty views that each use the one below three times", verdict(done, 0) or (None if done[1] == f"+I [{2**30}]\n" else done[1])
    for form in ["csv", "json", "raw"]:
        columns = TABLE.format("mark.sql", "").replace("i BIGINT, s STRING", "b AS 1").replace("'csv'", f"'{form}'")
        yield f"a {form} table of computed columns alone", verdict(place.run(columns + "SELECT * FROM t"), 2, "")
    yield "a limit beyond all numbers", verdict(place.run(f"SELECT * FROM (VALUES (1)) AS t(a) ORDER BY a LIMIT {largest} OFFSET {largest}"), 0)
    script = place.put("mark.sql", b"\xef\xbb\xbfSELECT 1;")
    marked = subprocess.run([place.rowtide, "run", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False)
    yield "a script with a byte order mark", None if marked.stdout == b"+I [1]\n" else marked.stderr.decode()


def checks(rowtide, lab):
    place = Place(rowtide, lab)
    for group in (check_folders, check_gzip, check_outputs, check_streams, check_terminal_text, check_sizes):
        yield from group(place)
