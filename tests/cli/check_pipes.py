"""A job between two pipes: a row comes out before the next one is written, and the rest at the end."""
import os
import select
import signal
import subprocess
import time
import zlib

DEADLINE = 60  # for a machine that does something else as well
COLUMNS = "(id BIGINT, name STRING)"


def table(name, form, path="-", more=""):
    return f"CREATE TABLE {name} {COLUMNS} WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = '{form}'{more}); "


class Exchange:
    """The command with a pipe on either side."""

    def __init__(self, rowtide, lab, sql, *options):
        self.process = subprocess.Popen([rowtide, "run", *options, "-c", sql], cwd=lab, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.left = b""

    def give(self, data):
        os.write(self.process.stdin.fileno(), data)

    def line(self):
        """The next line, or what there is of it after the deadline."""
        end = time.monotonic() + DEADLINE
        target = self.process.stdout.fileno()
        while b"\n" not in self.left and select.select([target], [], [], max(end - time.monotonic(), 0))[0]:
            got = os.read(target, 1 << 16)
            if not got:
                break
            self.left += got
        line, _, self.left = self.left.partition(b"\n")
        return line.decode()

    def rest(self):
        out, _ = self.process.communicate(timeout=DEADLINE)
        return (self.left + out).decode(), self.process.returncode

    def stop(self):
        self.process.kill()
        self.process.communicate()


def talk(exchange, rows, header=None):
    """What differs when one row is written, read, and only then the next one is written."""
    try:
        if header is not None:
            exchange.give(rows[0][0])
            if (got := exchange.line()) != header:
                return f"wanted the header {header!r}, got {got!r}"
        for number, (given, wanted) in enumerate(rows):
            if header is None or number > 0:
                exchange.give(given)
            if (got := exchange.line()) != wanted:
                return f"wrote {given!r}, wanted {wanted!r}, got {got!r}"
        if (end := exchange.rest()) != ("", 0):
            return f"at the end {end!r}"
        return None
    finally:
        exchange.stop()


def ends_quietly(rowtide, lab, sql):
    """A job whose reader goes away after a line ends by SIGPIPE and says nothing."""
    process = subprocess.Popen([rowtide, "run", "-c", sql], cwd=lab, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.readline()
    process.stdout.close()
    said = process.stderr.read().decode()
    process.stderr.close()
    ended = process.wait(timeout=60)
    return None if ended == -signal.SIGPIPE and not said else f"{ended}: {said}"


def checks(rowtide, lab):
    csv = [b"1,a\n", b"2,b\n", b"3,\"c\nd\"\n"]
    json = [b'{"id":1,"name":"a"}\n', b'{"id":2,"name":"b"}\n', b'{"id":3,"name":"c\\nd"}\n']
    changelog = ['+I [1,"a"]', '+I [2,"b"]', '+I [3,"c\\nd"]']
    objects = [f'{{"op":"+I","row":{{"id":{i},"name":"{name}"}}}}' for i, name in ((1, "a"), (2, "b"), (3, "c\\nd"))]

    with open(os.path.join(lab, "many.csv"), "w", encoding="utf-8") as file:
        file.writelines(f"{i},value{i}\n" for i in range(300000))
    for threads in "01":
        many = f"SET 'rowtide.sink-threads' = '{threads}'; " + table("t", "csv").replace("'path' = '-'", "'path' = 'many.csv'")
        printed = many + table("s", "csv").replace("'filesystem', 'path' = '-', 'format' = 'csv'", "'print'") + "INSERT INTO s SELECT * FROM t"
        written = many + table("s", "csv") + "INSERT INTO s SELECT * FROM t"
        for name, sql in (("SELECT", many + "SELECT * FROM t"), ("print", printed), ("csv", written)):
            yield f"| head, {name}, sink-threads {threads}", ends_quietly(rowtide, lab, sql)

    for form, given in (("csv", csv), ("json", json)):
        sql = table("t", form) + "SELECT * FROM t"
        yield f"SELECT, {form} in, changelog out", talk(Exchange(rowtide, lab, sql), list(zip(given, changelog)))
        yield f"SELECT, {form} in, json out", talk(Exchange(rowtide, lab, sql, "--output", "json"), list(zip(given, objects)))
        yield f"SELECT, {form} in, csv out", talk(Exchange(rowtide, lab, sql, "--output", "csv"),
                                                  list(zip(given, ("+I,1,a", "+I,2,b"))), "op,id,name")
        sql = table("t", form) + table("s", form) + "INSERT INTO s SELECT * FROM t"
        want = ("1,a", "2,b") if form == "csv" else [row.decode().strip() for row in json]
        yield f"INSERT, {form} in and out", talk(Exchange(rowtide, lab, sql), list(zip(given, want)))

    keep = table("t", "csv") + ("SELECT id, name FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY PROCTIME() DESC) "
                                "AS n FROM t) WHERE n = 1")
    exchange = Exchange(rowtide, lab, keep)
    fault = None
    for given, wanted in ((b"1,a\n", ['+I [1,"a"]']), (b"1,b\n", ['-U [1,"a"]', '+U [1,"b"]'])):
        exchange.give(given)
        got = [exchange.line() for _ in wanted]
        fault = fault or (None if got == wanted else f"wrote {given!r}, wanted {wanted}, got {got}")
    exchange.stop()
    yield "keep-last answers each row", fault

    one = "CREATE TABLE t (id BIGINT) WITH ('connector' = 'filesystem', 'path' = '-', 'format' = 'csv'); SELECT * FROM t"
    yield "a row shorter than a byte order mark", talk(Exchange(rowtide, lab, one), [(b"1\n", "+I [1]"), (b"2\n", "+I [2]")])
    yield "UTF-8 with a mark", talk(Exchange(rowtide, lab, one), [(b"\xef\xbb\xbf1\n", "+I [1]"), (b"2\n", "+I [2]")])
    utf16 = [(b"\xff\xfe" + "1\n".encode("utf-16-le"), "+I [1]"), ("22\n".encode("utf-16-le"), "+I [22]")]
    yield "UTF-16", talk(Exchange(rowtide, lab, one), utf16)

    exchange = Exchange(rowtide, lab, table("t", "csv") + "SELECT * FROM t")
    exchange.give(b"1,a\n2,b")
    got = exchange.line()
    end = exchange.rest()
    yield "a last line without an end comes at the end", None if (got, end) == ('+I [1,"a"]', ('+I [2,"b"]\n', 0)) else f"{got!r}, {end!r}"

    exchange = Exchange(rowtide, lab, table("t", "csv") + "SELECT * FROM t")
    exchange.give(b"1,a\n")
    got = exchange.line()
    exchange.process.send_signal(signal.SIGTERM)
    end = exchange.rest()
    yield "SIGTERM ends the wait for a row", None if (got, end) == ('+I [1,"a"]', ("", 143)) else f"{got!r}, {end!r}"

    threads = "SET 'rowtide.source-threads' = '1'; "
    for form, given in (("csv", csv), ("json", json)):
        sql = threads + table("t", form) + "SELECT * FROM t"
        yield f"SELECT, {form} in, read on a thread", talk(Exchange(rowtide, lab, sql), list(zip(given, changelog)))
    for name, stop, code in (("SIGTERM", signal.SIGTERM, 143), ("SIGINT", signal.SIGINT, 130)):
        exchange = Exchange(rowtide, lab, threads + table("t", "csv") + "SELECT * FROM t")
        exchange.give(b"1,a\n")
        got = exchange.line()
        exchange.process.send_signal(stop)
        end = exchange.rest()
        yield f"{name} ends the wait for a row on a thread", None if (got, end) == ('+I [1,"a"]', ("", code)) else f"{got!r}, {end!r}"
    sql = threads + "CREATE TABLE t (id BIGINT) WITH ('connector' = 'datagen', 'fields.id.kind' = 'sequence', 'fields.id.start' = '1', " \
        "'fields.id.end' = '1000000000', 'rows-per-second' = '1000000000'); SELECT * FROM t"
    got = Exchange(rowtide, lab, sql, "--limit", "2").rest()
    yield "--limit ends a thread that has more", None if got == ("+I [1]\n+I [2]\n", 0) else f"{got!r}"
    with open(os.path.join(lab, "some_bad.csv"), "w", encoding="utf-8") as file:
        file.write("".join(f"{i},n{i}\n" if i % 7 else f"x{i},bad\n" for i in range(1, 9001)))
    both = []
    for sets in ("", threads):
        sql = (sets + "SET 'rowtide.bad-data.t' = 'dead-letter'; SET 'rowtide.dead-letter.t' = 'letters.json'; " +
               table("t", "csv", "some_bad.csv") + "SELECT COUNT(*), SUM(id) FROM t")
        done = subprocess.run([rowtide, "run", "--output", "table", "-c", sql], cwd=lab, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=DEADLINE, check=False)
        letters = os.path.join(lab, "letters.json")
        with open(letters, encoding="utf-8") as file:
            both.append((done.returncode, done.stdout, done.stderr, file.read()))
        os.remove(letters)
    yield "records rejected on a thread are told and kept as without", None if both[0] == both[1] and both[0][3].count("\n") == 1285 else f"{both[1][:3]!r}"
    failing = [subprocess.run([rowtide, "run", "-c", sets + table("t", "csv", "some_bad.csv") + "SELECT * FROM t"], cwd=lab, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=DEADLINE, check=False) for sets in ("", threads)]
    yield "a bad record on a thread ends the job as without", None if (
        failing[0].stdout, failing[0].stderr, failing[0].returncode) == (failing[1].stdout, failing[1].stderr, 3) else failing[1].stderr

    fifo = os.path.join(lab, "rows.csv.gz")
    os.mkfifo(fifo)
    exchange = Exchange(rowtide, lab, table("t", "csv", fifo) + "SELECT * FROM t")
    packer = zlib.compressobj(wbits=31)
    fault = None
    with open(fifo, "wb", buffering=0) as file:
        for given, wanted in zip(csv[:2], changelog):
            file.write(packer.compress(given) + packer.flush(zlib.Z_SYNC_FLUSH))
            got = exchange.line()
            fault = fault or (None if got == wanted else f"wanted {wanted!r}, got {got!r}")
        file.write(packer.flush())
    end = exchange.rest()
    yield "a packed pipe", fault or (None if end == ("", 0) else f"at the end {end!r}")

    rows = 20000
    many = b"".join(b"%d,%s\n" % (i, b"x" * (1 + i % 23)) for i in range(rows))
    sql = table("t", "csv") + table("s", "csv") + "INSERT INTO s SELECT * FROM t"
    done = subprocess.run([rowtide, "run", "-c", sql], cwd=lab, input=many, stdout=subprocess.PIPE, timeout=DEADLINE, check=False)
    yield f"{rows} rows at full speed come out as they went in", None if (done.returncode, done.stdout) == (0, many) else "they differ"
