"""Where a gap lies: nanoseconds a row of the limit program's phases, beside those of our nodes."""

import os
import re

from programs import WORK, Run, bids_path, job_file, median

PHASES = ("parse", "state", "output")
JOBS = ("keep_first", "keep_last", "top10", "top10_ranked")


def phase_of(node):
    if node.startswith(("TableSourceScan", "WatermarkAssigner")):
        return "parse"
    return "output" if node.startswith("Sink") else "state"


def profile(path):
    """Microseconds of each node, and of the task alone as `waiting`."""
    nodes = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            frames, value = re.fullmatch(r"(.+) (\d+)\n", line).groups()
            names = frames.split(";")
            name = names[-1] if len(names) > 2 else "waiting"
            nodes[name] = nodes.get(name, 0) + int(value)
    return nodes


def print_phases(bench, job, rounds):
    """User time; that of ours is shared out among the nodes as their sampled times are."""
    folded = os.path.join(WORK, f"{job}.folded")
    command = [f"{bench.build}/rowtide", "run", "--profile", folded, job_file(job, bench.rows)]
    obvious = [f"{bench.build}/limit_obvious", job, bids_path(bench.rows, "csv")]
    limits, ours = {"parse": [], "state": [], None: []}, []
    for _ in range(rounds):
        for phase, times in limits.items():
            times.append(bench.limit(job, phase).user / bench.rows * 1e9)
        user = Run(command, bench.core).user / bench.rows * 1e9
        nodes = profile(folded)
        ours.append({name: user * value / sum(nodes.values()) for name, value in nodes.items()})
    upto = [median(times) for times in limits.values()]
    limit = dict(zip(PHASES, (upto[0], upto[1] - upto[0], upto[2] - upto[1])))
    nodes = {name: median([run.get(name, 0) for run in ours]) for name in ours[0]}
    print(f"{job}, ns a row    limit     ours    gap")
    for phase in PHASES:
        mine = {name: value for name, value in nodes.items() if name != "waiting" and phase_of(name) == phase}
        whole = sum(mine.values())
        text = ", ".join(f"{name} {value:.1f}" for name, value in mine.items())
        print(f"  {phase:<12}{limit[phase]:>9.1f}{whole:>9.1f}{whole - limit[phase]:>7.1f}  {text}")
    whole = sum(nodes.values())
    print(f"  {'whole':<12}{upto[2]:>9.1f}{whole:>9.1f}{whole - upto[2]:>7.1f}  of it outside of nodes {nodes.get('waiting', 0):.1f}\n"
          f"  the obvious program, once: {Run(obvious, bench.core).user / bench.rows * 1e9:.1f}", flush=True)
