"""Which of the rows that a deduplication drops or replaces are resends, and which differ.

The lab's events: 622 of 240 orders, 41 of them sent twice; 17 of those are the first event of their order, which is all
that keep-first compares with.
"""
import json
import os
import re
import subprocess

TABLE = """CREATE TABLE order_events (order_id STRING, status STRING, amount DECIMAL(10, 2), ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'filesystem', 'path' = 'order_events.csv', 'format' = 'csv');
CREATE VIEW latest AS SELECT order_id, status, ts FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY order_id ORDER BY ts DESC) AS rn FROM order_events) WHERE rn = 1;
CREATE VIEW plain AS SELECT order_id FROM order_events;
"""
COUNT = "SELECT status, COUNT(*) FROM latest GROUP BY status"


def run(rowtide, lab, *arguments):
    return subprocess.run([rowtide, "run", *arguments], cwd=lab, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60,
                          check=False)


def is_at(row, place, text):
    """Whether the record at that line and byte is the row."""
    rest = text[place["byte"]:]
    return (place["file"] == "order_events.csv" and rest == b"\n".join(text.split(b"\n")[place["line"] - 1:])
            and rest.startswith(f'{row["order_id"]},{row["status"]},'.encode()))


def counters(text):
    line = next((line for line in text.split("\n") if line.startswith("Deduplicate")), "")
    return {name: int(count) for name, count in re.findall(r"(\w+)=(\d+)", line)}


def checks(rowtide, lab):
    for job, resent in [("keep_first", 17), ("keep_last", 41), ("keep_last_proctime", 41)]:
        counted = counters(run(rowtide, lab, "--stats", job + ".sql").stderr)
        rows = counted.get("identical", 0) + counted.get("duplicate", 0) + counted.get("late", 0)
        yield f"{job}: 622 events = 240 orders + resends + rows that differ", None if rows == 622 - 240 else str(counted)
        yield f"{job}: {resent} resends", None if counted.get("identical") == resent else str(counted)
    done = run(rowtide, lab, "-c", TABLE + f"SET 'rowtide.conflicts.latest' = 'conflicts.ndjson'; {COUNT}")
    path = os.path.join(lab, "conflicts.ndjson")
    with open(path, encoding="utf-8") as file:
        samples = [json.loads(line) for line in file]
    yield "samples of the 341 that differ", None if done.returncode == 0 and len(samples) == 341 else f"{len(samples)}: {done.stderr}"
    with open(os.path.join(lab, "order_events.csv"), "rb") as file:
        events = file.read()
    fault = next((str(one) for one in samples if one["kept"] == one["other"] or one["key"]["order_id"] != one["other"]["order_id"]
                  or not is_at(one["kept"], one["kept_at"], events) or not is_at(one["other"], one["other_at"], events)), None)
    yield "each has the key, both rows and their places in the file", fault
    for name, wanted in [("lates", "there is no view 'lates'"), ("plain", "has no deduplication")]:
        done = run(rowtide, lab, "-c", TABLE + f"SET 'rowtide.conflicts.{name}' = 'x'; {COUNT}")
        yield f"a name that does not fit: {name}", None if done.returncode == 2 and wanted in done.stderr else done.stderr
    done = run(rowtide, lab, "-c", TABLE + f"SET 'rowtide.conflicts.latest' = 'nowhere/x'; {COUNT}")
    yield "a path that cannot be written", None if done.returncode == 4 and "nowhere/x" in done.stderr else done.stderr
