"""The same jobs by other programs: DuckDB, to compare tables and times; Flink, to compare rates."""

import collections
import json
import os
import re
import shlex
import subprocess
import sys
import venv

from figures import Figure
from programs import ROOT, WORK, Run, apart, bids_path, generate, job_file, job_text, median, spread

FLINK_FOLDED_ROWS = 20_000
# One task, and enough memory for RocksDB: with its default the job is slower by six.
FLINK_BACKENDS = {
    "heap": {"state.backend.type": "hashmap", "parallelism.default": "1"},
    "rocksdb": {"state.backend.type": "rocksdb", "state.backend.rocksdb.memory.fixed-per-slot": "1gb",
                "parallelism.default": "1"},
}


def duckdb_python():
    """The interpreter of an environment that has DuckDB, made once."""
    python = os.path.join(WORK, "duckdb/bin/python")
    if subprocess.run([python, "-c", "import duckdb"], capture_output=True, check=False).returncode != 0 \
            if os.path.exists(python) else True:
        print("installing DuckDB under build/bench/duckdb, once", file=sys.stderr)
        venv.create(os.path.join(WORK, "duckdb"), with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "duckdb"], check=True)
    return python


def folded(changelog):
    """What is left of a changelog, as a count per row."""
    table = collections.Counter()
    for line in changelog.splitlines():
        table[line[3:]] += 1 if line[:2] in ("+I", "+U") else -1
    return +table


def query_text(job, rows):
    """The job's query, whose changelog is printed."""
    return re.sub(r"INSERT INTO changes\n", "", job_text(job, rows))


def folded_changelog(rowtide, job, rows):
    command = [rowtide, "run", "--output", "changelog", "-c", query_text(job, rows)]
    return folded(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout)


def copied_rows(rowtide, job, rows):
    """What a job that writes csv has written, as a count per row."""
    out = subprocess.run([rowtide, "run", job_file(job, rows)], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    table = collections.Counter()
    for line in out.splitlines():
        auction, bidder, price, channel, url, time, extra = line.replace('"', "").split(",")
        second, _, fraction = time.partition(".")
        values = [int(auction), int(bidder), int(price), channel, url, f"{second}.{fraction:0<3}", extra]
        table[json.dumps(values, separators=(",", ":"))] += 1
    return table


def same_tables(job, ours, theirs):
    """Ends the program if they differ; returns how many rows they have."""
    if ours != theirs:
        sys.exit(f"{job}: the tables differ\n  only ours   {list((ours - theirs).elements())[:3]}\n"
                 f"  only theirs {list((theirs - ours).elements())[:3]}")
    return sum(ours.values())


def compare_folded(rowtide, python, job, rows, writes):
    ours = copied_rows(rowtide, job, rows) if writes else folded_changelog(rowtide, job, rows)
    theirs = collections.Counter(subprocess.run(
        [python, f"{ROOT}/tests/bench/duck.py", "--rows", job, bids_path(rows, "csv")], check=True, capture_output=True,
        text=True).stdout.splitlines())
    return same_tables(job, ours, theirs)


def sql_file(name, sql, for_flink):
    """Rowtide's own settings are none of Flink's."""
    path = os.path.join(WORK, f"{name}{'-flink' if for_flink else ''}.sql")
    with open(path, "w", encoding="utf-8") as file:
        file.write(re.sub(r"SET 'rowtide[^;]*;\n", "", sql) if for_flink else sql)
    return path


def blackhole_file(job, rows, for_flink):
    """A job whose rows go nowhere."""
    sql = re.sub(r"'connector' = 'checksum'[^)]*", "'connector' = 'blackhole'", job_text(job, rows))
    return sql_file(f"{job}-{rows}-blackhole", sql, for_flink)


def flink_command(backend, file):
    """What $ROWTIDE_FLINK says: it runs a SQL file, and prints the changelog of a query as script text."""
    options = " ".join(f"--set {key}={value}" for key, value in FLINK_BACKENDS[backend].items())
    return shlex.split(os.environ["ROWTIDE_FLINK"].replace("{settings}", options).replace("{file}", shlex.quote(file)))


def compare_with_flink(rowtide, job):
    """The table that 20,000 bids leave, against Flink's."""
    generate(os.path.dirname(rowtide), FLINK_FOLDED_ROWS)
    command = flink_command("heap", sql_file(f"{job}-{FLINK_FOLDED_ROWS}-query", query_text(job, FLINK_FOLDED_ROWS), True))
    theirs = folded(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout)
    return same_tables(job, folded_changelog(rowtide, job, FLINK_FOLDED_ROWS), theirs)


def measure_flink(rowtide, jobs, rows, rounds, core):
    """Rates of ours and Flink's, in rows per second and per processor second; Flink's without what one row takes."""
    if not os.environ.get("ROWTIDE_FLINK"):
        sys.exit("set ROWTIDE_FLINK to the command that runs a SQL file with Flink, such as "
                 "\"flink-runner {settings} {file}\"; {settings} becomes --set KEY=VALUE for each")
    for count in (1, rows):
        generate(os.path.dirname(rowtide), count)
    figures = []
    for job in jobs:
        print(f"{job}: {apart(compare_with_flink, rowtide, job)} rows of {FLINK_FOLDED_ROWS} bids, as Flink has them", flush=True)
        for backend in FLINK_BACKENDS:
            runs = []
            for _ in range(rounds):
                ours = Run([rowtide, "run", blackhole_file(job, rows, False)], core)
                start_up = Run(flink_command(backend, blackhole_file(job, 1, True)), None)
                whole = Run(flink_command(backend, blackhole_file(job, rows, True)), None)
                runs.append((ours, whole.whole - start_up.whole, whole.cpu - start_up.cpu, whole.rss_mb))
            ratios = [seconds / ours.whole for ours, seconds, _, _ in runs]
            cpu_ratios = [cpu / ours.cpu for ours, _, cpu, _ in runs]
            rates = [median(values) for values in zip(*[(rows / ours.whole, rows / ours.cpu, rows / seconds, rows / cpu)
                                                        for ours, seconds, cpu, _ in runs])]
            print(f"  to Flink with {backend:<8}rows/s {spread(ratios)}   rows/CPU s {spread(cpu_ratios)}\n"
                  f"    ours {rates[0] / 1e6:.2f} M rows/s, {rates[1] / 1e6:.2f} M rows/CPU s, peak {max(run[0].rss_mb for run in runs)} MB; "
                  f"Flink {rates[2] / 1e3:.0f} K rows/s, {rates[3] / 1e3:.0f} K rows/CPU s, peak {max(run[3] for run in runs)} MB", flush=True)
            must, aim = (20, 50) if backend == "rocksdb" else (None, None)
            figures.append(Figure(f"{job} to Flink with {backend}, CPU s", median(cpu_ratios), must, aim=aim))
    return figures
