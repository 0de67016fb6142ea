"""How cost grows with keys and skew, what a key costs in memory, and how long a row waits in a pipe."""

import os
import re
import select
import subprocess
import sys
import time

from figures import Figure
from programs import ROOT, median, spread

DRAWS = 5_000_000
PAIRS = 3
SKEWS = {"one": "one key", "zipf": "keys by Zipf's law", "ascending": "ascending prices"}


def run_growth(build, core, job, keys, distribution, draws=DRAWS):
    out = subprocess.run(["taskset", "-c", str(core), f"{build}/bench_growth", job, str(keys), str(draws), distribution],
                         check=True, capture_output=True, text=True).stdout
    return {name: float(value) for name, value in re.findall(r"(\w+)=([0-9.]+)", out)}


def measure_growth(build, core):
    """Nanoseconds a row over a million keys and over as many as fit, in turn; then skewed keys over uniform ones."""
    figures = []
    print(f"{'job':<12}{'keys':>12}{'fill ns':>10}{'draw ns':>10}{'B a key':>10}")
    for job, exponents in (("keep_first", range(4, 9)), ("keep_last", range(4, 8))):
        runs = {exponent: [] for exponent in exponents}
        for _ in range(PAIRS):
            for exponent in exponents:
                runs[exponent].append(run_growth(build, core, job, 10**exponent, "uniform"))
        for exponent in exponents:
            fill, draw, state = (median([run[name] for run in runs[exponent]])
                                 for name in ("fill_ns", "draw_ns", "state_bytes_per_key"))
            print(f"{job:<12}{10**exponent:>12}{fill:>10.1f}{draw:>10.1f}{state:>10.1f}")
        most = max(exponents)
        for name in ("fill_ns", "draw_ns"):
            ratios = [a[name] / b[name] for a, b in zip(runs[most], runs[6])]
            print(f"  {name} at 10^{most} over 10^6: {spread(ratios)}", flush=True)
            figures.append(Figure(f"{job}, {name.replace('_', ' ')} at 10^{most} keys over 10^6", median(ratios), most=4, aim=2.5))
    for job in ("keep_first", "keep_last", "top10"):
        distributions = ["one", "zipf"] + (["ascending"] if job == "top10" else [])
        runs = {name: [] for name in ["uniform", *distributions]}
        for _ in range(PAIRS):
            for name, all_runs in runs.items():
                all_runs.append(run_growth(build, core, job, 1_000_000 if job != "top10" else 100_000, name))
        for name in distributions:
            ratios = [a["draw_ns"] / b["draw_ns"] for a, b in zip(runs[name], runs["uniform"])]
            print(f"  {job}, {SKEWS[name]} over uniform keys: {spread(ratios)}, "
                  f"{median([run['draw_ns'] for run in runs[name]]):.1f} ns a row", flush=True)
            figures.append(Figure(f"{job}, {SKEWS[name]} over uniform keys", median(ratios), most=3, aim=1))
    return figures


def measure_memory(build, core):
    """State at ten million keys, as the engine counts it and as the process grew, over what the rows need packed."""
    figures = []
    for job in ("keep_last", "keep_first"):
        empty = run_growth(build, core, job, 1, "one", 1)["peak_mb"]
        run = run_growth(build, core, job, 10_000_000, "uniform", 1)
        packed, state = run["packed_bytes_per_key"], run["state_bytes_per_key"]
        grown = (run["peak_mb"] - empty) * 2**20 / 10_000_000
        print(f"{job}, 10^7 keys: {state:.1f} B a key counted, {grown:.1f} B of process memory at its peak; "
              f"packed {packed:.0f} B: {state / packed:.2f} and {grown / packed:.2f} times", flush=True)
        most = max(state, grown)
        if job == "keep_last":
            figures.append(Figure("keep_last at 10^7 keys, memory to packed", most / packed, most=1.5, aim=1.2))
        else:
            figures.append(Figure("keep_first at 10^7 keys, an entry", most, most=40, aim=24, unit="B"))
    return figures


LATENCY_SQL = """
SET 'rowtide.stats.conflicts' = 'false';
CREATE TABLE events (id BIGINT, price BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
  WITH ('connector' = 'filesystem', 'path' = '-', 'format' = 'csv');
CREATE TABLE changes (id BIGINT, price BIGINT, ts TIMESTAMP(3))
  WITH ('connector' = 'filesystem', 'path' = '-', 'format' = 'csv');
INSERT INTO changes SELECT id, price, ts FROM events;
"""


def measure_latency(build, core, seconds, rate=10_000):
    """Open loop: row i is due at start + i / rate, whether or not the ones before have come out; p50 to the maximum."""
    path = os.path.join(ROOT, "build/bench/latency.sql")
    with open(path, "w", encoding="utf-8") as file:
        file.write(LATENCY_SQL)
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {1 - core})
    process = subprocess.Popen(["taskset", "-c", str(core), f"{build}/rowtide", "run", path], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE)
    source, target = process.stdin.fileno(), process.stdout.fileno()
    os.set_blocking(source, False)  # a full pipe must not keep us from emptying the other one
    os.set_blocking(target, False)
    rows, sent, arrived, waits, unsent = int(rate * seconds), 0, 0, [], b""
    row = b"%d,345,2026-01-01 00:00:00.123\n"
    start = time.monotonic() + 1  # the program is up by then
    while arrived < rows:
        now = time.monotonic()
        due = min(int((now - start) * rate) + 1, rows) if now >= start else 0
        if sent < due:
            unsent += b"".join(row % i for i in range(sent, due))
            sent = due
        if unsent:
            try:
                unsent = unsent[os.write(source, unsent):]
            except BlockingIOError:
                pass
            if not unsent and sent == rows:
                process.stdin.close()
        if select.select([target], [], [], 0)[0]:
            lines = os.read(target, 1 << 20).count(b"\n")
            now = time.monotonic()
            waits += [now - start - i / rate for i in range(arrived, arrived + lines)]
            arrived += lines
            if lines == 0:
                sys.exit(f"the job ended after {arrived} of {rows} rows")
    process.wait()
    os.sched_setaffinity(0, cores)
    waits = sorted(waits[rows // 10:])  # a warm-up of a tenth
    p50, p99, p999 = (waits[int(len(waits) * share)] * 1e6 for share in (0.5, 0.99, 0.999))
    print(f"stdin to stdout, {rate} rows/s for {seconds} s, {rows} rows: p50 {p50:.0f} us, p99 {p99:.0f} us, "
          f"p99.9 {p999:.0f} us, maximum {waits[-1] * 1e6:.0f} us", flush=True)
    return [Figure(f"stdin to stdout at {rate} rows/s, p99", p99 / 1000, most=1, unit="ms")]
