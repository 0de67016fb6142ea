"""The same jobs by other programs: DuckDB, to compare tables and times; Flink, to compare rates."""

import collections
import json
import os
import re
import shlex
import subprocess
import sys
import venv

from programs import ROOT, WORK, Run, bids_path, generate, job_file, job_text, median, spread

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


def folded_changelog(rowtide, job, rows):
    """What is left of a job's changelog, as a count per row."""
    sql = re.sub(r"INSERT INTO changes\n", "", job_text(job, rows))
    out = subprocess.run([rowtide, "run", "--output", "changelog", "-c", sql], cwd=ROOT, check=True, capture_output=True,
                         text=True).stdout
    table = collections.Counter()
    for line in out.splitlines():
        table[line[3:]] += 1 if line[:2] in ("+I", "+U") else -1
    return +table


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


def compare_folded(rowtide, python, job, rows, writes):
    """Ends the program if ours and DuckDB's tables differ; returns how many rows they have."""
    ours = copied_rows(rowtide, job, rows) if writes else folded_changelog(rowtide, job, rows)
    theirs = collections.Counter(subprocess.run(
        [python, f"{ROOT}/tests/bench/duck.py", "--rows", job, bids_path(rows, "csv")], check=True, capture_output=True,
        text=True).stdout.splitlines())
    if ours != theirs:
        sys.exit(f"{job}: the tables differ\n  only ours   {list((ours - theirs).elements())[:3]}\n"
                 f"  only theirs {list((theirs - ours).elements())[:3]}")
    return sum(ours.values())


def blackhole_file(job, rows, for_flink):
    """A job whose rows go nowhere."""
    sql = re.sub(r"'connector' = 'checksum'[^)]*", "'connector' = 'blackhole'", job_text(job, rows))
    if for_flink:
        sql = re.sub(r"SET 'rowtide[^;]*;\n", "", sql)
    path = os.path.join(WORK, f"{job}-{rows}-{'flink' if for_flink else 'blackhole'}.sql")
    with open(path, "w", encoding="utf-8") as file:
        file.write(sql)
    return path


def measure_flink(rowtide, jobs, rows, rounds, core):
    """Prints rates of ours and Flink's, in rows per second and per processor second; Flink's without what one row takes."""
    command = os.environ.get("ROWTIDE_FLINK")
    if not command:
        sys.exit("set ROWTIDE_FLINK to the command that runs a SQL file with Flink, such as "
                 "\"flink-runner {settings} {file}\"; {settings} becomes --set KEY=VALUE for each")
    generate(rowtide.rpartition("/")[0], 1)
    for job in jobs:
        ours_command = [rowtide, "run", blackhole_file(job, rows, False)]
        for backend, settings in FLINK_BACKENDS.items():
            options = " ".join(f"--set {key}={value}" for key, value in settings.items())

            def flink(file, options=options):
                return shlex.split(command.replace("{settings}", options).replace("{file}", shlex.quote(file)))

            ratios, cpu_ratios, rates = [], [], []
            for _ in range(rounds):
                ours = Run(ours_command, core, drops_output=True)
                start_up = Run(flink(blackhole_file(job, 1, True)), None, drops_output=True)
                whole = Run(flink(blackhole_file(job, rows, True)), None, drops_output=True)
                seconds, cpu = whole.whole - start_up.whole, whole.cpu - start_up.cpu
                ratios.append(seconds / ours.whole)
                cpu_ratios.append(cpu / ours.cpu)
                rates.append((rows / ours.cpu, rows / seconds, rows / cpu))
            ours_rate, flink_rate, flink_cpu_rate = (median([rate[i] for rate in rates]) for i in range(3))
            print(f"{job} to Flink with {backend}: rows/s {spread(ratios)}   rows/CPU s {spread(cpu_ratios)}\n"
                  f"  ours {ours_rate / 1e6:.2f} M rows/CPU s; Flink {flink_rate / 1e3:.0f} K rows/s, "
                  f"{flink_cpu_rate / 1e3:.0f} K rows/CPU s", flush=True)
