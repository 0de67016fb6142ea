"""What becomes of the records of a source: records read = rows emitted + rejected, each left out under a reason; and that a table which is not the
whole result says so."""
import base64
import json
import os
import re
import signal
import subprocess
import time

LONG = 256 << 20


def run(rowtide, lab, *arguments, **options):
    return subprocess.run([rowtide, "run", *arguments], cwd=lab, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, check=False,
                          **options)


def write(lab, name, text):
    with open(os.path.join(lab, name), "w", encoding="utf-8") as file:
        file.write(text)


def table(name, path, columns="id INT, v STRING", form="csv", more=""):
    return f"CREATE TABLE {name} ({columns}) WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = '{form}'{more}); "


def counters(text, node):
    line = next((line for line in text.split("\n") if line.startswith(node)), "")
    return {name: int(count) for name, count in re.findall(r"(\w+)=(\d+)", line)}


def records(text):
    """(read, sign, emitted, rejected) of each source."""
    return [(int(a), sign, int(b), int(c)) for a, sign, b, c in
            re.findall(r"(\d+) records read (!?=) (\d+) rows emitted \+ (\d+) rejected", text)]


def check_accounts(rowtide, lab):
    write(lab, "bad.csv", "1,a\nx,b\n3\n4,d\n,e\n" + "".join(f"{i},row\n" for i in range(2000)))
    write(lab, "bad.ndjson", '{"id":1}\n{"id":"x"}\n{}\n[{"id":4},{"id":5}]\nnonsense\n')
    write(lab, "bad.txt", "1234\n12345\n1234\n")
    skip = "SET 'rowtide.bad-data.t' = 'skip'; "
    cases = [("csv", skip + table("t", "bad.csv"), "SELECT id FROM t WHERE id < 0", 0, (2005, "=", 2002, 3)),
             ("csv, ignoring errors", table("t", "bad.csv", more=", 'csv.ignore-parse-errors' = 'true'"), "SELECT id FROM t WHERE id < 0", 0, None),
             ("json", skip + table("t", "bad.ndjson", form="json"), "SELECT id FROM t", 0, (6, "=", 4, 2)),
             ("raw", skip + table("t", "bad.txt", "n INT", "raw"), "SELECT n FROM t", 0, (3, "=", 2, 1)),
             ("csv that fails", table("t", "bad.csv"), "SELECT id FROM t", 3, (1, "=", 1, 0)),
             ("json that fails", table("t", "bad.ndjson", form="json"), "SELECT id FROM t", 3, (1, "=", 1, 0)),
             ("raw that fails", table("t", "bad.txt", "n INT", "raw"), "SELECT n FROM t", 3, (1, "=", 1, 0)),
             ("a failure behind the source", skip + table("t", "bad.csv"), "SELECT 1 / (id - 4) FROM t", 3, None),
             ("a limit", skip + table("t", "bad.csv"), "SELECT id FROM t LIMIT 5", 0, None)]
    for name, before, query, code, wanted in cases:
        done = run(rowtide, lab, "--stats", "-c", before + query)
        found = records(done.stderr)
        good = done.returncode == code and len(found) == 1 and found[0][1] == "=" and (wanted is None or found[0] == wanted)
        yield f"records read = rows emitted + rejected: {name}", None if good else f"exit {done.returncode}, {found}: {done.stderr}"
    done = run(rowtide, lab, "--errors", "json", "-c", skip + table("t", "bad.csv") + "SELECT id FROM t WHERE id < 0")
    note = json.loads(done.stderr.splitlines()[0])
    good = note == {"rejected": "3 of 2005 records read by TableSourceScan(t): undecodable=1 cast=2"}
    yield "without --stats rejected ones are told, as JSON too", None if good else str(note)


def check_reasons(rowtide, lab):
    write(lab, "keys.csv", "1,a,2026-01-01 00:00:01\n-,b,2026-01-01 00:00:02\n-,c,2026-01-01 00:00:03\n2,-,2026-01-01 00:00:04\n")
    columns = "id INT, v STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts"
    source = table("t", "keys.csv", columns, more=", 'csv.null-literal' = '-'")
    for name, order, number, node in [("Deduplicate by row time", "ts DESC", 1, "Deduplicate"), ("Deduplicate, keep first", "ts", 1, "Deduplicate"),
                                      ("Top-N", "v", 3, "Rank")]:
        done = run(rowtide, lab, "--stats", "-c", source + f"SELECT id, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY {order}) AS n "
                   f"FROM t) WHERE n <= {number}")
        found = counters(done.stderr, node)
        yield f"rows whose key is NULL are counted: {name}", None if found.get("null_key") == 2 else f"{found}: {done.stderr}"
    sink = "CREATE TABLE s (id INT, v STRING NOT NULL, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'print'); "
    done = run(rowtide, lab, "--stats", "-c", source + sink + "SET 'table.exec.sink.not-null-enforcer' = 'DROP'; INSERT INTO s SELECT id, v FROM t")
    found = counters(done.stderr, "ConstraintEnforcer")
    yield "NULLs that a sink leaves out, by reason", None if found == {"null_key": 2, "not_null": 1} else f"{found}: {done.stderr}"
    keyed = table("k", "keys.csv", "id INT, v STRING NOT NULL, ts TIMESTAMP(3), PRIMARY KEY (id) NOT ENFORCED", more=", 'csv.null-literal' = '-'")
    done = run(rowtide, lab, "--stats", "-c", keyed + "SET 'rowtide.bad-data.k' = 'dead-letter'; SET 'rowtide.dead-letter.k' = 'keys.ndjson'; SELECT * FROM k")
    found = counters(done.stderr, "TableSourceScan")
    yield "NULLs in the key of a source, by reason", None if found == {"null_key": 2, "not_null": 1} else f"{found}: {done.stderr}"
    with open(os.path.join(lab, "keys.ndjson"), encoding="utf-8") as file:
        reasons = [json.loads(line)["reason"] for line in file]
    yield "… in the dead letters too", None if reasons == ["null_key", "null_key", "not_null"] else str(reasons)
    write(lab, "claims.csv", "a,1,2026-01-01 00:00:01\na,2,2026-01-01 00:00:01\nb,3,2026-01-01 00:00:05\na,4,2026-01-01 00:00:09\n")
    claims = table("t", "claims.csv", "k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts")
    done = run(rowtide, lab, "--stats", "-c", claims + "CREATE TABLE s (k STRING PRIMARY KEY NOT ENFORCED, v INT) WITH ('connector' = 'blackhole'); "
               "INSERT INTO s SELECT k, v FROM t ON CONFLICT DO NOTHING")
    found = counters(done.stderr, "WatermarkCompactingMaterializer")
    yield "rows that ON CONFLICT DO NOTHING leaves out", None if found == {"conflict": 2} else f"{found}: {done.stderr}"


def check_partial(rowtide, lab):
    write(lab, "two.csv", "1,a\n2,b\nx,c\n")
    query = table("t", "two.csv") + "SELECT * FROM t"
    done = run(rowtide, lab, "--output", "table", "-c", query)
    good = done.returncode == 3 and "|  2 | b |" in done.stdout and done.stdout.endswith("PARTIAL: the query ended before its input, these are the rows so far\n")
    good = good and done.stderr.splitlines()[-1].startswith("partial: ")
    yield "the table of a job that failed", None if good else f"{done.stdout}{done.stderr}"
    done = run(rowtide, lab, "--output", "table", "--stats", "--limit", "1", "-c", "SET 'rowtide.bad-data.t' = 'skip'; " + query)
    good = done.returncode == 0 and done.stdout.endswith("PARTIAL: there is more, left out by --limit\n") and done.stderr.splitlines()[-1].startswith("partial: ")
    yield "the table that --limit cuts", None if good else f"{done.stdout}{done.stderr}"
    done = run(rowtide, lab, "--output", "table", "-c", "SET 'rowtide.bad-data.t' = 'skip'; " + query)
    yield "the whole table says nothing", None if done.returncode == 0 and "partial" not in (done.stdout + done.stderr).lower() else done.stderr
    job = subprocess.Popen([rowtide, "run", "--output", "table", "-c", table("t", "-") + "SELECT * FROM t"], cwd=lab, text=True, stdin=subprocess.PIPE,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    job.stdin.write("1,a\n")
    job.stdin.flush()
    time.sleep(1)
    job.send_signal(signal.SIGINT)
    output, error = job.communicate(timeout=20)
    good = job.returncode == 130 and "|  1 | a |" in output and "PARTIAL: " in output and error.splitlines()[-1].startswith("partial: ")
    yield "the table of a job that was stopped", None if good else f"{job.returncode}: {output}{error}"


def check_long_records(rowtide, lab):
    """Fed through a pipe: the records before and behind are read, the long one is told, and little memory and time is used."""
    for form, line in [("csv", ","), ("csv", "7"), ("json", "["), ("json", "x"), ("raw", ",")]:
        before, behind = ('{"v":"a"}\n', '\n{"v":"b"}\n') if form == "json" else ("a\n", "\nb\n")
        feed = subprocess.Popen(["bash", "-c", f"printf '%s' '{before}'; head -c {LONG} /dev/zero | tr '\\0' '{line}'; printf '%s' '{behind}'"],
                                stdout=subprocess.PIPE)
        job = subprocess.Popen([rowtide, "run", "--stats", "-c", "SET 'rowtide.bad-data.t' = 'skip'; " + table("t", "-", "v STRING", form) + "SELECT * FROM t"],
                               cwd=lab, text=True, stdin=feed.stdout, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        feed.stdout.close()
        output, error = job.stdout.read(), job.stderr.read()
        _, status, usage = os.wait4(job.pid, 0)
        job.returncode = os.waitstatus_to_exitcode(status)
        feed.wait()
        megabytes, seconds = usage.ru_maxrss >> 10, usage.ru_utime + usage.ru_stime
        good = job.returncode == 0 and output == '+I ["a"]\n+I ["b"]\n' and records(error) == [(3, "=", 2, 1)] and "too_large=1" in error
        good = good and megabytes < 80 and seconds < 2
        yield f"{LONG >> 20} MiB of {line} as {form}: {megabytes} MB, {seconds:.1f} s", None if good else f"{job.returncode}: {output[:200]}{error[:2000]}"


def check_writers(rowtide, lab):
    """What is kept of a long record; whose unpublished files are left over."""
    record = "z," + "a" * 70000
    write(lab, "long.csv", record + "\n")
    letters = "SET 'rowtide.bad-data.long' = 'dead-letter'; SET 'rowtide.dead-letter.long' = 'long.ndjson'; "
    done = run(rowtide, lab, "-c", letters + table("long", "long.csv") + "SELECT * FROM long")
    with open(os.path.join(lab, "long.ndjson"), encoding="utf-8") as file:
        letter = json.loads(file.read())
    whole = base64.b64decode(letter["raw_bytes"]).decode() == record and letter["text"] == record
    yield "a long record is kept whole", None if done.returncode == 0 and whole else f"exit {done.returncode}: {len(letter['text'])} bytes"
    both = "EXECUTE STATEMENT SET BEGIN INSERT INTO s SELECT 1, 'a'; INSERT INTO s SELECT 2, 'b'; END;"
    done = run(rowtide, lab, "-c", table("s", "twice") + both)
    yield "a file of the same job is no left-over", None if done.returncode == 0 and "note" not in done.stderr else done.stderr
    write(lab, "twice/.part-x.inprogress", "")
    done = run(rowtide, lab, "-c", table("s", "twice") + "INSERT INTO s SELECT 3, 'c'")
    yield "one of a job that is gone is", None if "1 file of jobs that did not end" in done.stderr else done.stderr


def checks(rowtide, lab):
    yield from check_accounts(rowtide, lab)
    yield from check_writers(rowtide, lab)
    yield from check_reasons(rowtide, lab)
    yield from check_partial(rowtide, lab)
    yield from check_long_records(rowtide, lab)
