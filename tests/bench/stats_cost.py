"""What --stats costs a job: instructions by callgrind, and user times in turn. Resends are not counted."""

import re
import shutil
import subprocess

from figures import Figure
from programs import Run, generate, job_file, median, spread

INSTRUCTION_ROWS = 200_000


def instructions(command):
    out = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *command], capture_output=True,
                         text=True, check=True)
    return int(re.search(r"Collected : (\d+)", out.stderr).group(1))


def measure(build, core, rows, rounds):
    generate(build, rows)
    generate(build, INSTRUCTION_ROWS)
    figures = []
    for job in ("keep_first", "keep_last"):
        pairs = []
        for _ in range(rounds):
            without = Run([f"{build}/rowtide", "run", job_file(job, rows)], core)
            pairs.append((without, Run([f"{build}/rowtide", "run", "--stats", job_file(job, rows)], core)))
        user = [b.user / a.user for a, b in pairs]
        print(f"{job}, with --stats over without: user {spread(user)}", flush=True)
        if shutil.which("valgrind") is None:
            print("  instructions not counted: there is no valgrind")
            continue
        command, path = [f"{build}/rowtide", "run"], job_file(job, INSTRUCTION_ROWS)
        without, with_stats = instructions([*command, path]), instructions([*command, "--stats", path])
        print(f"  {without / INSTRUCTION_ROWS:.1f} and {with_stats / INSTRUCTION_ROWS:.1f} instructions a row", flush=True)
        figures.append(Figure(f"--stats on {job}, instructions", 100 * (with_stats / without - 1), most=1.0, unit="%",
                              user=median(user)))
    return figures
