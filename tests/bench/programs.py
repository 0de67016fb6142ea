"""Programs under the clock: what one run of one took, what it printed, and the bids that all of them read."""

import concurrent.futures
import hashlib
import os
import re
import shlex
import subprocess
import sys
import time

from ballast import HELD_BYTES, MARGIN_BYTES, Ballast

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WORK = os.path.join(ROOT, "build/bench")
JOB_BIDS = "build/bench/bids-2000000-42"  # what the jobs name
SEED = 42


def bids_path(rows, form):
    return os.path.join(WORK, f"bids-{rows}-{SEED}.{form}")


def generate(build, rows, form="csv"):
    """The file of bids, made once and read into the page cache."""
    path = bids_path(rows, form)
    if not os.path.exists(path):
        os.makedirs(WORK, exist_ok=True)
        command = [f"{build}/rowtide", "bench", "generate", str(rows), "--seed", str(SEED), "--format", form]
        subprocess.run([*command, "--file", path + ".new"], check=True)
        os.rename(path + ".new", path)
    with open(path, "rb") as bids:
        while bids.read(1 << 22):
            pass
    return path


def job_text(job, rows):
    """A job's SQL over that many bids."""
    with open(os.path.join(ROOT, f"tests/bench/jobs/{job}.sql"), encoding="utf-8") as file:
        return file.read().replace(JOB_BIDS, os.path.join(WORK, f"bids-{rows}-{SEED}"))


def job_file(job, rows, before=""):
    """The same as a file, behind these settings."""
    path = os.path.join(WORK, f"{job}-{rows}{'-set' if before else ''}.sql")
    with open(path, "w", encoding="utf-8") as file:
        file.write(before + job_text(job, rows))
    return path


def apart(work, *arguments):
    """Calls it in a process of its own: what this one takes in memory would count as the peak of every program it starts."""
    with concurrent.futures.ProcessPoolExecutor(1) as pool:
        return pool.submit(work, *arguments).result()


class Run:
    """One run of one program on one core (None: on any).

    `whole` and `user` are seconds of the process from start to end, `own` what it prints as its time without start-up.
    `result` is the line of counts and checksum, or with `hashes_output` a hash of all that it wrote on standard output;
    with `drops_output` there is none.
    """

    ballast = None
    peaks = {}  # bytes that a command took when it ran before

    def __init__(self, command, core, hashes_output=False, drops_output=False):
        prefix = [] if core is None else ["taskset", "-c", str(core)]
        program = tuple(command)
        Run.ballast = Run.ballast or Ballast()
        with Run.ballast.makes_room(Run.peaks.get(program, HELD_BYTES)):
            begin = time.monotonic()
            with open(os.devnull, "wb") as null:
                process = subprocess.Popen([*prefix, *command], cwd=ROOT, stdin=subprocess.DEVNULL,
                                           stdout=null if drops_output else subprocess.PIPE, stderr=subprocess.PIPE)
            out = b""
            if hashes_output:
                digest, lines = hashlib.sha256(), 0
                while block := process.stdout.read(1 << 20):
                    digest.update(block)
                    lines += block.count(b"\n")
                self.result = f"{lines} lines, sha256 {digest.hexdigest()[:16]}"
            elif not drops_output:
                out = process.stdout.read()
            err = process.stderr.read()
            _, status, usage = os.wait4(process.pid, 0)
            self.whole = time.monotonic() - begin
        Run.peaks[program] = usage.ru_maxrss * 1024 + MARGIN_BYTES
        self.text = (out + err).decode(errors="replace")
        if status != 0:
            sys.exit(f"{shlex.join(command)} failed:\n{self.text[-2000:]}")
        self.user = usage.ru_utime
        self.cpu = usage.ru_utime + usage.ru_stime
        self.rss_mb = usage.ru_maxrss // 1024
        own = re.search(r"rows emitted by sources in ([0-9.]+) s", self.text) or re.search(r"seconds=([0-9.]+)", self.text)
        self.own = float(own.group(1)) if own else self.whole
        if not hashes_output and not drops_output:
            found = re.search(r"\+I \d+ -U \d+ \+U \d+ -D \d+ ordered=0x[0-9a-f]+", self.text)
            self.result = found.group(0) if found else ""

    def state(self):
        """`Deduplicate 637464 entries, 234 B each` of every node with state."""
        nodes = []
        for line in self.text.splitlines():
            cells = re.split(r"\s{2,}", line.strip())
            if len(cells) > 9 and cells[7].isdigit() and int(cells[7]) > 0:
                nodes.append(f"{cells[0]} {cells[7]} entries, {int(cells[8]) / int(cells[7]):.0f} B each")
        return nodes


def median(values):
    return sorted(values)[len(values) // 2]


def spread(values):
    return f"{median(values):.3f} ({min(values):.3f} to {max(values):.3f})"
