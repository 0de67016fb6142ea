"""`rowtide run --profile FILE`: every node of the plan is in it, the times add up, and it overwrites nothing that is read."""
import os
import signal
import re
import subprocess
import time

TABLE = "CREATE TABLE {} (id BIGINT, v STRING, p AS PROCTIME()) WITH ('connector' = 'filesystem', 'path' = '{}', 'format' = 'csv'); "
SINK = "CREATE TABLE {} (id BIGINT, v STRING) WITH ('connector' = 'blackhole'); "
KEPT = "SELECT id, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY p DESC) AS n FROM t) WHERE n = 1"


def run(rowtide, lab, *arguments, **options):
    return subprocess.run([rowtide, "run", *arguments], cwd=lab, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, check=False,
                          **options)


def read(lab, name):
    with open(os.path.join(lab, name), encoding="utf-8") as file:
        return file.read()


def stacks(lab, name):
    """(frames, microseconds) of each line; one that is none of the form ends the check."""
    found = []
    for line in read(lab, name).splitlines():
        frames, value = re.fullmatch(r"(.+) (\d+)", line).groups()
        found.append((frames.split(";"), int(value)))
    return found


def planned_nodes(rowtide, lab, sql):
    """The nodes of the execution plan; an exchange is no node of a job on one lane."""
    plan = subprocess.run([rowtide, "explain", "-c", sql], cwd=lab, text=True, stdout=subprocess.PIPE, timeout=60, check=True).stdout
    plan = plan.split("== Optimized Execution Plan ==")[1].split("\n== ")[0]
    return set(re.findall(r"(?m)^[\s:+-]*(\w+)\(", plan)) - {"Exchange", "Reused"}


def check_nodes(rowtide, lab):
    with open(os.path.join(lab, "rows.csv"), "w", encoding="utf-8") as file:
        file.writelines(f"{i % 50000},row number {i}\n" for i in range(400000))
    start = TABLE.format("t", "rows.csv") + SINK.format("s") + SINK.format("u")
    jobs = [("keep-last", "INSERT INTO s " + KEPT),
            ("a union of the table with itself", "INSERT INTO s SELECT id, v FROM t WHERE id > 7 UNION ALL SELECT id + 1, v FROM t"),
            ("several sinks", "EXECUTE STATEMENT SET BEGIN INSERT INTO s " + KEPT + "; INSERT INTO u SELECT id, v FROM t; END"),
            ("no rows at all", "INSERT INTO s SELECT id, v FROM t WHERE id < 0"),
            ("a query in batch mode", "SELECT v, COUNT(*) AS n FROM t WHERE id < 3 GROUP BY v")]
    for name, job in jobs:
        sql = ("SET 'execution.runtime-mode' = 'batch'; " if "batch" in name else "") + start + job
        begin = time.monotonic()
        done = run(rowtide, lab, "--profile", "job.folded", "-c", sql)
        took = (time.monotonic() - begin) * 1e6
        if done.returncode != 0:
            yield name, done.stderr
            continue
        found = stacks(lab, "job.folded")
        missing = planned_nodes(rowtide, lab, sql) - {frame.split("(")[0] for frames, _ in found for frame in frames}
        yield f"every node of the plan: {name}", f"{missing} in none of {found}" if missing else None
        total = sum(value for _, value in found)
        yield f"the times add up: {name}", None if 0.6 * took - 20000 < total < 1.3 * took else f"{total} of {took:.0f} us: {found}"
        tops = {";".join(frames[:2]) for frames, _ in found}
        yield f"one job, one task: {name}", None if len(tops) == 1 and next(iter(tops)).endswith("(-c:1);task 1") else f"{tops}"


def check_files(rowtide, lab):
    for name, folder in (("rows.csv", "."), ("kept.csv", "folder"), ("script.sql", ".")):
        os.makedirs(os.path.join(lab, folder), exist_ok=True)
        with open(os.path.join(lab, folder, name), "w", encoding="utf-8") as file:
            file.write("1,a\n" if name.endswith("csv") else "SELECT 1")
    query = TABLE.format("t", "rows.csv") + "SELECT id, v FROM t"
    two = TABLE.format("t", "rows.csv") + "SELECT id FROM t;\nSELECT v FROM t"
    written = TABLE.format("t", "rows.csv") + SINK.format("s").replace("'blackhole'", "'filesystem', 'path' = 'out', 'format' = 'csv'") + "INSERT INTO s SELECT id, v FROM t"
    letters = "SET 'rowtide.bad-data.t' = 'dead-letter'; SET 'rowtide.dead-letter.t' = 'letters.ndjson'; "
    os.symlink("rows.csv", os.path.join(lab, "link.csv"))
    cases = [("the table's own file", "rows.csv", query, "RT5002"), ("by another name", "./folder/../rows.csv", query, "RT5002"), ("through a link", "link.csv", query, "RT5002"),
             ("a new file in a folder that is read", "folder/job.folded", query.replace("rows.csv", "folder"), "RT5002"),
             ("the file of dead letters", "letters.ndjson", letters + query, "RT5002"), ("the folder of a sink", "out/job.folded", written, "RT5002")]
    for name, file, sql, code in cases:
        before = {path: read(lab, path) for path in ("rows.csv", "folder/kept.csv")}
        done = run(rowtide, lab, "--profile", file, "-c", sql)
        good = done.returncode == 2 and code in done.stderr and "profile" in done.stderr and not done.stdout
        good = good and all(read(lab, path) == text for path, text in before.items()) and os.listdir(os.path.join(lab, "folder")) == ["kept.csv"]
        yield f"refused: {name}", None if good else f"exit {done.returncode}: {done.stdout}{done.stderr}"
    done = run(rowtide, lab, "--profile", "script.sql", "script.sql")
    yield "refused: the script", None if done.returncode == 2 and "RT5002" in done.stderr and read(lab, "script.sql") == "SELECT 1" else done.stderr
    for name, file, code, word in (("a folder that is not there", "nowhere/job.folded", 4, "No such file"), ("a folder", "folder", 4, "Is a directory"), ("no file", "-", 2, "a file is wanted")):
        done = run(rowtide, lab, "--profile", file, "-c", query)
        yield f"before any row: {name}", None if done.returncode == code and word in done.stderr and not done.stdout else f"exit {done.returncode}: {done.stdout}{done.stderr}"
    done = run(rowtide, lab, "--profile", "/dev/full", "-c", query)
    yield "onto a full disk", None if done.returncode == 4 and "No space left" in done.stderr and done.stdout else f"exit {done.returncode}: {done.stdout}{done.stderr}"
    done = run(rowtide, lab, "--profile", "two.folded", "-c", two)
    found = {frames[0] for frames, _ in stacks(lab, "two.folded")} if done.returncode == 0 else done.stderr
    yield "two jobs in one file", None if found == {"collect (-c:1)", "collect (-c:2)"} else f"{found}"
    for name, text in (("big.csv", "1,a\n" * 200000), ("kept.folded", "older\n" * 1000)):
        with open(os.path.join(lab, name), "w", encoding="utf-8") as file:
            file.write(text)
    reader, writer = os.pipe()
    os.close(reader)
    ended = subprocess.run([rowtide, "run", "--profile", "kept.folded", "-c", query.replace("rows.csv", "big.csv")], cwd=lab, stdout=writer,
                           stderr=subprocess.DEVNULL, timeout=120, check=False).returncode
    os.close(writer)
    kept = read(lab, "kept.folded") == "older\n" * 1000
    yield "a run that a closed pipe ends leaves the older one", None if ended == -signal.SIGPIPE and kept else f"{ended}, kept {kept}"
    done = run(rowtide, lab, "--profile", "kept.folded", "-c", query)
    yield "an older one is replaced", None if done.returncode == 0 and "older" not in read(lab, "kept.folded") else done.stderr
    done = run(rowtide, lab, "--profile", "failed.folded", "-c", query.replace("SELECT id", "SELECT 1 / (id - 1)"))
    yield "of a job that failed", None if done.returncode == 3 and stacks(lab, "failed.folded") else f"exit {done.returncode}: {done.stderr}"


def checks(rowtide, lab):
    yield from check_nodes(rowtide, lab)
    yield from check_files(rowtide, lab)
