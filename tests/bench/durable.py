"""What it costs that a job lasts: checkpoints, stops, bytes, state beyond memory, restarts, lanes.

Jobs run as anybody would run them, with `rowtide run --state`; what only they can see, --stats says. Keep-last over bids
with a checkpoint every five seconds is compared with the same in memory: both have the machine's cores, of which the one
in memory uses one, since what is written is written by threads of their own; the last checkpoint, for which all wait, is
apart. The same on one core is printed beside it.
"""

import contextlib
import glob
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time

import elsewhere
from draws import draws
from figures import Figure
from programs import ROOT, WORK, Run, bids_path, generate, job_file, job_text, median, spread

STATE = os.path.join(WORK, "state")
EVERY_5_S = "SET 'execution.checkpointing.interval' = '5s';\n"
# So many that checkpoints come and go while rows are read.
BIDS, ROUNDS = 40_000_000, 3
# The state of keep_last over so many bids is twenty times the memory that it gets.
BEYOND_BIDS, BEYOND = 5_000_000, 20

# A folder that is watched, so that there is more to come after a restart; a line for each key's first row.
WATCHED = """
SET 'rowtide.stats.conflicts' = 'false';
SET 'execution.checkpointing.interval' = '1h';
CREATE TABLE keys (id BIGINT, price BIGINT, pt AS PROCTIME())
  WITH ('connector' = 'filesystem', 'path' = '{folder}', 'format' = 'csv', 'source.monitor-interval' = '20ms');
CREATE TABLE firsts (id BIGINT, price BIGINT) WITH ('connector' = 'print');
INSERT INTO firsts SELECT id, price
FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY pt ASC) AS n FROM keys) WHERE n = 1;
"""
KEYS = 10_000_000

# No price is that of more than one bid in a thousand.
BY_PRICE = """
FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY price ORDER BY `dateTime` DESC) AS row_num FROM bids)
WHERE row_num <= 1;
"""


def sql_file(name, text):
    path = os.path.join(WORK, f"{name}.sql")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def durable(build, file, core=None):
    shutil.rmtree(STATE, ignore_errors=True)
    run = Run([f"{build}/rowtide", "run", file, "--stats", "--state", STATE], core)
    shutil.rmtree(STATE, ignore_errors=True)
    found = re.search(r"(\d+) checkpoints completed, 0 failed, longest stop ([0-9.]+) ms, last one ([0-9.]+) s", run.text)
    if not found:
        sys.exit(f"{file}: nothing is said about checkpoints, or one has failed:\n{run.text[-2000:]}")
    run.checkpoints, run.stop_ms, run.last = int(found.group(1)), float(found.group(2)), float(found.group(3))
    return run


def in_memory(build, file, core=None):
    return Run([f"{build}/rowtide", "run", file, "--stats"], core)


def measure_checkpoints(build, core):
    """Keep-last with a checkpoint every five seconds, to the same in memory."""
    generate(build, BIDS)
    plain, kept = job_file("keep_last", BIDS), job_file("keep_last", BIDS, EVERY_5_S)
    figures = []
    for cores, name, rounds in (("0,1", "two cores", ROUNDS), (core, "one core", 1)):
        pairs = [(in_memory(build, plain, cores), durable(build, kept, cores)) for _ in range(rounds)]
        if len({run.result for pair in pairs for run in pair}) != 1:
            sys.exit(f"keep_last: the output differs with checkpoints: {[run.result for pair in pairs for run in pair]}")
        if min(ours.checkpoints for _, ours in pairs) < 2:
            sys.exit(f"keep_last: the last checkpoint was the only one in {[ours.own for _, ours in pairs]} s: take more rows")
        ratios = [memory.own / (ours.own - ours.last) for memory, ours in pairs]
        user = [memory.user / ours.user for memory, ours in pairs]
        print(f"keep_last, checkpoints to memory, {name}: {spread(ratios)}   user {spread(user)}   longest stop "
              f"{max(ours.stop_ms for _, ours in pairs):.1f} ms   last checkpoint {median([ours.last for _, ours in pairs]):.2f} s   "
              f"{min(ours.checkpoints for _, ours in pairs)} or more, peak {pairs[0][1].rss_mb} MB, in memory {pairs[0][0].rss_mb} MB", flush=True)
        figures.append(Figure(f"keep_last, checkpoint each 5 s to memory, {name}", median(ratios),
                              0.85 if name == "two cores" else None, aim=0.95, user=median(user)))
    return figures


def measure_stops(build):
    """How long rows stand still, while all keys change between checkpoints."""
    figures = []
    for keys, rows, most in ((1_000_000, 10_000_000, 5), (KEYS, 15_000_000, 10)):
        file = sql_file(f"uniform-{keys}", draws(rows, keys, 24, "1s"))
        runs = [durable(build, file) for _ in range(2)]
        best = min(runs, key=lambda run: run.stop_ms)
        print(f"keep_last, {keys} uniform keys, checkpoint each second: {best.checkpoints} checkpoints, longest stop "
              f"{', '.join(f'{run.stop_ms:.2f}' for run in runs)} ms, {rows / (best.own - best.last) / 1e6:.2f} M rows/s", flush=True)
        # What else the machine does stops a row as well: the better one of two counts.
        figures.append(Figure(f"longest stop, {keys} keys", best.stop_ms, most=most, unit="ms"))
    return figures


class Watched:
    """A job over a folder; files come one by one, and it is stopped and started again."""

    def __init__(self, build):
        self.folder = os.path.join(WORK, "watched")
        for folder in (self.folder, STATE):
            shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(self.folder)
        self.command = [f"{build}/rowtide", "run", sql_file("watched", WATCHED.format(folder=self.folder)), "--state", STATE]
        self.process = None

    def start(self):
        self.process = subprocess.Popen(self.command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL)

    def add(self, name, keys):
        """Rows of these keys; the file is there all at once."""
        path = os.path.join(self.folder, f".{name}")
        with open(path, "w", encoding="ascii") as file:
            for first in range(keys.start, keys.stop, 100_000 * keys.step):
                part = range(first, min(first + 100_000 * keys.step, keys.stop), keys.step)
                file.write("".join([f"{key},345\n" for key in part]))
        os.rename(path, os.path.join(self.folder, name))

    def read(self, lines):
        """Seconds until the first line was there and until all were."""
        begin, first, seen = time.monotonic(), None, 0
        while seen < lines:
            piece = os.read(self.process.stdout.fileno(), 1 << 20)
            first = first or time.monotonic() - begin
            seen += piece.count(b"\n")
            if not piece:
                sys.exit(f"{shlex.join(self.command)} ended after {seen} of {lines} rows")
        return first, time.monotonic() - begin

    def settle(self):
        """Seconds until it has nothing more to do."""
        begin, quiet = time.monotonic(), 0
        while quiet < 5:
            before = self.processor_ticks()
            time.sleep(0.2)
            quiet = quiet + 1 if self.processor_ticks() - before <= 2 else 0
        return time.monotonic() - begin - quiet * 0.2

    def processor_ticks(self):
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as file:
            return sum(int(value) for value in file.read().split()[13:15])

    def stop(self):
        """Returns the files of the newest checkpoint: bytes by inode."""
        self.process.send_signal(signal.SIGTERM)
        self.process.stdout.read()
        if self.process.wait() != 0:
            sys.exit(f"{shlex.join(self.command)} failed")
        newest = max(glob.glob(f"{STATE}/*/chk-*"), key=os.path.getmtime)
        return {file.inode(): file.stat().st_size for file in os.scandir(newest)}


def measure_restart(build):
    """Ten million keys: bytes of a checkpoint, the first row after a restart, and rows after it as fast as before."""
    job = Watched(build)
    job.add("a", range(0, KEYS))
    job.start()
    job.read(KEYS)
    # The hash table doubles at some 6.7 and 13.4 million keys, which takes longer than anything here: all of it lies in between.
    step = KEYS // 20
    job.add("b", range(KEYS, KEYS + step))
    _, before = job.read(step)
    files = job.stop()
    each = sum(files.values()) / (KEYS + step)
    figures = []
    job.add("c", range(KEYS + step, KEYS + 2 * step))
    job.start()
    first, _ = job.read(step)
    print(f"restart over {KEYS} keys: first row after {first:.3f} s", flush=True)
    figures.append(Figure(f"first row after a restart, {KEYS} keys", first, most=1, unit="s"))
    job.add("d", range(KEYS + 2 * step, KEYS + 3 * step))
    _, cold = job.read(step)
    warm = job.settle()
    job.add("e", range(KEYS + 3 * step, KEYS + 4 * step))
    _, after = job.read(step)
    print(f"  {step} new keys took {before:.2f} s before; {cold:.2f} s after it, and {after:.2f} s when all was read, {warm:.1f} s later", flush=True)
    figures.append(Figure("rows/s after a restart, all read, to before", before / after, least=0.85))
    later = job.stop()
    new = {inode: size for inode, size in later.items() if inode not in files}
    changed = each * 3 * step
    print(f"  {sum(files.values()) / 2**20:.0f} MB of files for {KEYS + step} keys; {sum(new.values()) / 2**20:.0f} MB new for "
          f"{3 * step} keys more", flush=True)
    figures.append(Figure("bytes of a checkpoint to what changed", sum(new.values()) / changed, most=1.3))
    for folder in (job.folder, STATE):
        shutil.rmtree(folder, ignore_errors=True)
    return figures


def state_bytes(run):
    """What the operator that holds most has in memory."""
    return max(int(count) * int(each) for count, each in (re.search(r"(\d+) entries, (\d+) B", node).groups() for node in run.state()))


def measure_beyond(build, core):
    """Keep-last whose state is twenty times the memory it may take."""
    generate(build, BEYOND_BIDS)
    plain = in_memory(build, job_file("keep_last", BEYOND_BIDS), core)
    bytes_held = state_bytes(plain)
    limit = bytes_held // BEYOND
    small = job_text("keep_last", BEYOND_BIDS).replace(bids_path(BEYOND_BIDS, "csv"), bids_path(20_000, "csv"))
    generate(build, 20_000)
    bound = f"SET 'rowtide.memory.limit' = '{limit}';\nSET 'execution.checkpointing.interval' = '30s';\n"
    empty = durable(build, sql_file("beyond-small", bound + small), core)
    ours = durable(build, sql_file("beyond", bound + job_text("keep_last", BEYOND_BIDS)), core)
    if ours.result != plain.result:
        sys.exit(f"keep_last: the output differs with little memory\n  {plain.result}\n  {ours.result}")
    grown = (ours.rss_mb * 2**20 - empty.rss_mb * 2**20 + state_bytes(empty)) / limit
    print(f"keep_last, {bytes_held >> 20} MB of state in {limit >> 20} MB: {BEYOND_BIDS / ours.own / 1e3:.0f} K rows/s, "
          f"{BEYOND_BIDS / ours.cpu / 1e3:.0f} K rows/CPU s (in memory {BEYOND_BIDS / plain.own / 1e3:.0f} K rows/s), peak {ours.rss_mb} MB, "
          f"{empty.rss_mb} MB over 20,000 rows", flush=True)
    figures = [Figure("state 20x the memory, process over bound", grown, most=1.2)]
    if os.environ.get("ROWTIDE_FLINK"):
        figures += measure_flink_beyond(build, ours, limit)
    return figures


def measure_flink_beyond(build, ours, limit):
    """The same by Flink with as much memory for RocksDB."""
    generate(build, 1)
    settings = {"state.backend.type": "rocksdb", "state.backend.rocksdb.memory.fixed-per-slot": f"{limit >> 10}kb",
                "parallelism.default": "1"}
    options = " ".join(f"--set {key}={value}" for key, value in settings.items())
    file = elsewhere.blackhole_file("keep_last", BEYOND_BIDS, True)
    command = shlex.split(os.environ["ROWTIDE_FLINK"].replace("{settings}", options).replace("{file}", shlex.quote(file)))
    start_up = command[:-1] + [elsewhere.blackhole_file("keep_last", 1, True)]
    idle, whole = Run(start_up, None), Run(command, None)
    seconds, cpu = whole.whole - idle.whole, whole.cpu - idle.cpu
    print(f"  Flink {BEYOND_BIDS / seconds / 1e3:.1f} K rows/s, {BEYOND_BIDS / cpu / 1e3:.1f} K rows/CPU s, peak {whole.rss_mb} MB", flush=True)
    return [Figure("state 20x the memory, to Flink, CPU s", cpu / ours.cpu, 8, aim=15)]


def measure_lanes(build):
    """Two lanes to one, over keys of which none is frequent."""
    generate(build, BEYOND_BIDS)
    text = re.sub(r"\nFROM \((.|\n)*", BY_PRICE, job_text("keep_last", BEYOND_BIDS))
    runs = {}
    for lanes in (1, 2):
        runs[lanes] = sql_file(f"by-price-{lanes}", f"SET 'parallelism.default' = '{lanes}';\n" + text)
    pairs = [(in_memory(build, runs[1]), in_memory(build, runs[2])) for _ in range(ROUNDS)]
    unordered = {re.search(r"\+I .*unordered=\S+", run.text).group(0).split(" ordered")[0] for pair in pairs for run in pair}
    if len(unordered) != 1:
        sys.exit(f"two lanes: the output differs: {unordered}")
    ratios = [one.own / two.own for one, two in pairs]
    cpu = [one.cpu / two.cpu for one, two in pairs]
    print(f"keep_last by price, two lanes to one: {spread(ratios)}   rows/CPU s {spread(cpu)}   "
          f"{BEYOND_BIDS / median([one.own for one, _ in pairs]) / 1e6:.2f} and {BEYOND_BIDS / median([two.own for _, two in pairs]) / 1e6:.2f} M rows/s",
          flush=True)
    return [Figure("two lanes to one, uniform keys", median(ratios), 1.3, aim=1.7, user=median(cpu))]


def measure(build, core):
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, STATE, ignore_errors=True)
        return (measure_checkpoints(build, core) + measure_stops(build) + measure_restart(build) + measure_beyond(build, core)
                + measure_lanes(build))
