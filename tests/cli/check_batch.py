"""Batch mode: the final rows alone, to files and to standard output."""
import glob
import os
import subprocess

EVENTS = "a,new,1,2026-01-01 00:00:00\nb,new,5,2026-01-01 00:00:01\na,paid,3,2026-01-01 00:00:02\n"
TABLES = ("CREATE TABLE e (id STRING, st STRING, n INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) "
          "WITH ('connector' = 'filesystem', 'path' = 'batch_events.csv', 'format' = 'csv'); "
          "CREATE TABLE s (id STRING, st STRING) WITH ('connector' = 'filesystem', 'path' = 'batch_out', 'format' = 'csv'); "
          "CREATE TABLE f (id STRING, st STRING) WITH ('connector' = 'filesystem', 'path' = 'batch_events.csv', 'format' = 'csv'); ")
BATCH = "SET 'execution.runtime-mode' = 'batch'; "
LAST = "SELECT id, st FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY ts DESC) AS rn FROM e) WHERE rn = 1"


def checks(rowtide, lab):
    def run(sql, *options):
        return subprocess.run([rowtide, "run", *options, "-c", sql], cwd=lab, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=60, check=False)

    def held():
        lines = []
        for name in glob.glob(os.path.join(lab, "batch_out", "part-*")):
            with open(name, encoding="utf-8") as file:
                lines += file.read().splitlines()
        return sorted(lines)

    def differs(want, got):
        return None if want == got else f"wanted {want!r}, got {got!r}"

    with open(os.path.join(lab, "batch_events.csv"), "w", encoding="utf-8") as file:
        file.write(EVENTS)
    done = run(TABLES + "INSERT INTO s " + LAST)
    yield "keep-last into files as it streams is refused and names batch mode", differs(
        (2, True), (done.returncode, "SET 'execution.runtime-mode' = 'batch'" in done.stderr))
    done = run(TABLES + BATCH + "INSERT INTO s " + LAST)
    yield "keep-last into files", differs((0, ["a,paid", "b,new"]), (done.returncode, held()))
    done = run(TABLES + BATCH + "INSERT INTO s " + LAST)
    yield "a second INSERT INTO adds, and says so", differs(
        (["a,paid", "a,paid", "b,new", "b,new"], True), (held(), "holds 1 file of earlier jobs" in done.stderr))
    done = run(TABLES + BATCH + "INSERT OVERWRITE s " + LAST)
    yield "INSERT OVERWRITE replaces", differs((0, ["a,paid", "b,new"], ""), (done.returncode, held(), done.stderr))
    done = run(TABLES + BATCH + "INSERT OVERWRITE s SELECT id, st FROM e WHERE n > 100")
    yield "INSERT OVERWRITE without rows empties", differs((0, []), (done.returncode, held()))
    for form, want in [("csv", "id,st\nb,new\na,paid\n"), ("json", '{"id":"b","st":"new"}\n{"id":"a","st":"paid"}\n'),
                       ("changelog", '+I ["b","new"]\n+I ["a","paid"]\n')]:
        yield f"final rows as {form}", differs(want, run(TABLES + BATCH + LAST, "--output", form).stdout)
    yield "rows are sorted", differs("st,n\nnew,5\npaid,3\nnew,1\n",
                                     run(TABLES + BATCH + "SELECT st, n FROM e ORDER BY n DESC", "--output", "csv").stdout)
    done = run(TABLES + "SELECT st, n FROM e ORDER BY n DESC")
    yield "a stream that cannot be sorted names batch mode", differs(
        (2, True), (done.returncode, "SET 'execution.runtime-mode' = 'batch'" in done.stderr))
    done = run(BATCH + "CREATE TABLE g (a INT) WITH ('connector' = 'datagen'); SELECT * FROM g")
    yield "input without an end is refused", differs((2, True), (done.returncode, "'number-of-rows'" in done.stderr))
    done = run(TABLES + BATCH + "CREATE TABLE p (id STRING) WITH ('connector' = 'print'); INSERT OVERWRITE p SELECT id FROM e")
    yield "OVERWRITE of what is no folder is refused", differs((2, True), (done.returncode, "'print'" in done.stderr))
    done = run(TABLES + "INSERT INTO f SELECT id, st FROM e")
    yield "a file where a folder is wanted", differs((4, True), (done.returncode, "is a file" in done.stderr))
