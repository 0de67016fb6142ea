"""The jobs and what each is measured against: its limit program, DuckDB, another job, two cores.

A ratio is our rows/s over the other's, of one round; the median of the rounds counts, with the lowest and the highest
beside it. "whole" is the process from start to end, "run" its own time without start-up, "user" the processor's time
outside the kernel. A figure counts only if counts and ordered checksum (of a copy: all bytes) are the limit program's and
the table left by 100,000 bids is DuckDB's, and it is valid only if neither program's own times spread by more than 1.5.
"""

import dataclasses
import os
import subprocess
import sys

import elsewhere
from figures import Figure
from programs import ROOT, Run, apart, bids_path, generate, job_file, median, spread

SPREAD_MAX = 1.5
FOLDED_ROWS = 100_000
# What may run on a core of its own, and what must be gained by it.
TWO_CORES = {"source thread": ("SET 'rowtide.source-threads' = '1';\n", 1.4),
             "source and sink threads": ("SET 'rowtide.source-threads' = '1';\nSET 'rowtide.sink-threads' = '1';\n", None)}


@dataclasses.dataclass
class Job:
    limit: list  # the limit program; the bids come last
    least: float = None  # what our rate is to be of the limit program's
    aim: float = None
    duckdb: tuple = None  # least and aim of DuckDB's rate, where it is measured
    faster_than: tuple = None  # another job, and how many times its rate
    writes: bool = False  # to standard output
    form: str = "csv"


JOBS = {
    "keep_first": Job(["limit_keep_first"], 0.5, 0.65, duckdb=(None, 1.0)),
    "keep_last": Job(["limit_keep_last"], 0.5, 0.65, duckdb=(2.0, 3.0)),
    "keep_last_upsert": Job(["limit_keep_last_upsert"], faster_than=("keep_last", 1.2, 1.5)),
    "top10": Job(["limit_top10"], 0.5, 0.6, duckdb=(3.0, 4.0)),
    "top10_ranked": Job(["limit_top10_ranked"], 0.4, 0.6),
    "channel_prices": Job(["limit_channel_prices"], 0.4, 0.6),
    "copy": Job(["limit_copy", "copy"], 0.4, 0.8, writes=True),
    "copy_decimal": Job(["limit_copy", "decimal"], 0.4, 0.8, writes=True),
    "keep_last_json": Job(["limit_keep_last"], form="json"),
}


class Bench:
    def __init__(self, build, rows, rounds, attempts, core, wants_duckdb):
        self.build, self.rows, self.rounds, self.attempts, self.core = build, rows, rounds, attempts, core
        self.python = elsewhere.duckdb_python() if wants_duckdb else None

    def ours(self, job, before="", core=None, **kinds):
        return Run([f"{self.build}/rowtide", "run", job_file(job, self.rows, before), "--stats"],
                   self.core if core is None else core, **kinds)

    def limit(self, job, phase=None, **kinds):
        program, *arguments = JOBS[job].limit
        return Run([f"{self.build}/{program}", *arguments, bids_path(self.rows, "csv"), *([phase] if phase else [])],
                   self.core, **kinds)

    def check_output(self, job):
        """What both print, which must be the same."""
        kinds = {"hashes_output": True} if JOBS[job].writes else {}
        limit, ours = self.limit(job, **kinds), self.ours(job, **kinds)
        if limit.result != ours.result or not ours.result:
            sys.exit(f"{job}: the output differs\n  limit {limit.result}\n  ours  {ours.result or ours.text}")
        return ours.result

    def check_folded(self, job):
        """The table that 100,000 bids leave, against DuckDB's."""
        if self.python is None or job == "copy_decimal":
            return "not compared"
        generate(self.build, FOLDED_ROWS)
        generate(self.build, FOLDED_ROWS, JOBS[job].form)
        count = apart(elsewhere.compare_folded, f"{self.build}/rowtide", self.python, job, FOLDED_ROWS, JOBS[job].writes)
        return f"{count} rows of {FOLDED_ROWS} bids, as DuckDB has them"

    def measure(self, job):
        """Prints one job's rates and returns its figures, after as many attempts as it takes for the machine to be calm."""
        print(f"{job}: {self.check_output(job)}\n  table           {self.check_folded(job)}", flush=True)
        for attempt in range(self.attempts):
            runs = self.measured_runs(job)
            figures = self.ratios(job, runs)
            self.print_rates(runs)
            if JOBS[job].form == "json":
                figures.append(self.bytes_rate(job, runs["ours"]))
            unsteady = {name: (min(wholes), max(wholes)) for name in ("limit", "ours")
                        for wholes in [[run.whole for run in runs[name]]] if max(wholes) > SPREAD_MAX * min(wholes)}
            if not unsteady:
                break
            again = ", once more" if attempt + 1 < self.attempts else ""
            took = ", ".join(f"{name} took {least:.3f} to {most:.3f} s" for name, (least, most) in unsteady.items())
            print(f"  NOT VALID: {took}; the machine is too busy{again}", flush=True)
            for figure in figures:
                figure.valid = not figure.name.endswith(" to limit")
        return figures

    def measured_runs(self, job):
        """The runs of each program, in turn."""
        spec = JOBS[job]
        kinds = {"drops_output": True} if spec.writes else {}
        runs = {"limit": [], "ours": []}
        for _ in range(self.rounds):
            runs["limit"].append(self.limit(job, **kinds))
            runs["ours"].append(self.ours(job, **kinds))
            if spec.duckdb and self.python:
                runs.setdefault("DuckDB", []).append(
                    Run([self.python, f"{ROOT}/tests/bench/duck.py", job, bids_path(self.rows, "csv")], self.core))
            if spec.faster_than:
                runs.setdefault(spec.faster_than[0], []).append(self.ours(spec.faster_than[0]))
        return runs

    def ratios(self, job, runs):
        spec, figures = JOBS[job], []
        bounds = {"limit": (spec.least, spec.aim), "DuckDB": spec.duckdb}
        if spec.faster_than:
            bounds[spec.faster_than[0]] = spec.faster_than[1:]
        for name, others in runs.items():
            if name == "ours":
                continue
            # DuckDB's start-up is Python's, which is not its fault: its own time against our whole one.
            whole = "own" if name == "DuckDB" else "whole"
            ratios = [getattr(a, whole) / b.whole for a, b in zip(others, runs["ours"])]
            run, user = ([getattr(a, kind) / getattr(b, kind) for a, b in zip(others, runs["ours"])]
                         for kind in ("own", "user"))
            print(f"  ours to {name:<16}whole {spread(ratios)}   run {spread(run)}   user {spread(user)}")
            least, aim = bounds[name]
            figures.append(Figure(f"{job} to {name}", median(ratios), least, aim=aim, user=median(user)))
        return figures

    def print_rates(self, runs):
        for name, all_runs in runs.items():
            whole, cpu = median([run.whole for run in all_runs]), median([run.cpu for run in all_runs])
            print(f"  {name:<16}{self.rows / whole / 1e6:6.2f} M rows/s, {self.rows / cpu / 1e6:.2f} M rows/CPU s, "
                  f"peak {max(run.rss_mb for run in all_runs)} MB")
        for node in runs["ours"][0].state():
            print(f"  state           {node}")

    def bytes_rate(self, job, runs):
        rates = [os.path.getsize(bids_path(self.rows, "json")) / run.whole / 1e9 for run in runs]
        print(f"  json            {spread(rates)} GB/s", flush=True)
        return Figure(f"{job}, of JSON", median(rates), 0.6, aim=1.2, unit="GB/s")

    def measure_two_cores(self, job="keep_last"):
        """Threads of their own on two cores, against one core without; what is no setting yet is left out."""
        figures = []
        for name, (settings, least) in TWO_CORES.items():
            known = subprocess.run([f"{self.build}/rowtide", "run", "-c", settings], capture_output=True, check=False)
            if known.returncode != 0:
                print(f"{job}, {name}: not measured, there is no such setting")
                continue
            one, two = self.ours(job), self.ours(job, settings, "0,1")
            if one.result != two.result:
                sys.exit(f"{job}, {name}: the output differs\n  one core  {one.result}\n  two cores {two.result}")
            pairs = [(self.ours(job), self.ours(job, settings, "0,1")) for _ in range(self.rounds)]
            ratios = [one.whole / two.whole for one, two in pairs]
            cpu = [one.cpu / two.cpu for one, two in pairs]
            print(f"{job}, {name} on two cores to one core: whole {spread(ratios)}   rows/CPU s {spread(cpu)}", flush=True)
            figures.append(Figure(f"{job}, {name}, two cores to one", median(ratios), least, aim=1.7))
        return figures
