"""Jobs from one topic to another beside a program that hands the messages on as they are, on a real broker of this machine.

    pass_through   limit/pass_through.cc: consume, produce, nothing looked at
    keep_first     the first bid of each bidder on each auction, kafka -> kafka
    keep_last      the last one, kafka -> upsert-kafka
    kept           keep_last with a checkpoint each second, at least once
    exact          … exactly once: a transaction each second

Broker and program share the cores, so a rate is that of both together; processor time is the program's alone, and what a
record costs it. A figure counts only if the topic then holds what it must: so many records, and the same sum over the table
that they fold to. With $ROWTIDE_FLINK the same SQL is run by Flink on the same topic, and must leave the same.
"""

import dataclasses
import os
import shutil
import subprocess
import sys
import tempfile

import elsewhere
import kafka_latency
from figures import Figure
from programs import ROOT, WORK, Run, generate, job_text, median, spread

SPREAD_MAX = 1.5
BIDS = 2_000_000
FLINK_ROUNDS = 3
STATE = os.path.join(WORK, "kafka-state")
COLUMNS = "auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, `dateTime` TIMESTAMP(3), extra STRING"
TIMES = "seen AS PROCTIME(), WATERMARK FOR `dateTime` AS `dateTime` - INTERVAL '4' SECOND"
EXTRA_LETTERS = 35  # so that a record has some 150 bytes
# What ours does by itself, said for Flink's sake.
SINK = {"properties.compression.type": "lz4", "properties.linger.ms": "5", "properties.batch.size": "1000000"}
EACH_SECOND = "SET 'execution.checkpointing.interval' = '1 s';\n"


@dataclasses.dataclass
class Job:
    order: str  # the bid of a pair that counts comes first in it
    fold: str  # how its topic is folded
    guarantee: str = ""  # with a state folder


JOBS = {
    "keep_first": Job("seen ASC", "all"),
    "keep_last": Job("`dateTime` DESC", "last"),
    "kept": Job("`dateTime` DESC", "last", "at-least-once"),
    "exact": Job("`dateTime` DESC", "last", "exactly-once"),
}


class Broker:
    """One, with the topic of bids; gone with all that it holds when the block is left."""

    def __init__(self, build):
        self.build = build
        self.folder = tempfile.mkdtemp(prefix="rowtide-kafka-bench-")
        self.cluster = None

    def __enter__(self):
        # Not at the head of the file: the other parts need no Kafka.
        sys.path.append(os.path.join(ROOT, "tests/kafka"))
        from cluster import Cluster
        try:
            self.cluster = Cluster(f"{self.build}/rowtide", self.script("start", "--heap", "1g").strip())
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self.cluster:
            self.cluster.close()
        self.script("stop")
        shutil.rmtree(self.folder, ignore_errors=True)

    def script(self, verb, *arguments):
        command = [f"{ROOT}/tests/kafka/broker", verb, "--dir", f"{self.folder}/data", *arguments]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout

    @property
    def address(self):
        return self.cluster.bootstrap

    def fold(self, topic, which):
        """What the topic holds: its records, the rows that they fold to, their sum; and the bytes of all values."""
        command = [f"{self.build}/limit_pass_through", "fold", self.address, topic, which]
        text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        found = dict(field.split("=") for field in text.split())
        return {name: int(value, 0) for name, value in found.items()}


class Bench:
    def __init__(self, broker, rows):
        self.broker, self.rows = broker, rows
        self.bids = self.fill(rows)
        every, first, last = (broker.fold(self.bids, which) for which in ("all", "first", "last"))
        self.must_hold = {"pass_through": every, "keep_first": {**first, "records": first["rows"]},
                          **{name: last for name in ("keep_last", "kept", "exact")}}
        print(f"kafka: {rows} bids of {every['bytes'] / rows:.0f} bytes, {first['rows']} pairs of auction and bidder", flush=True)

    def table(self, name, topic, connector="kafka", more="", **options):
        return self.broker.cluster.table(name, COLUMNS + more, topic, connector, **options)

    def fill(self, rows):
        """A topic of that many of the generated bids."""
        topic = self.broker.cluster.topic("bids")
        generate(self.broker.build, rows)
        source = job_text("copy", rows).split(";\n")[0]
        self.run_file("fill", source + ";\n" + self.table("topic_of_bids", topic, format="json")
                      + "INSERT INTO topic_of_bids SELECT auction, bidder, price, channel, `dateTime`, "
                      f"SUBSTRING(extra, 1, {EXTRA_LETTERS}) FROM bids;\n")
        return topic

    def run_file(self, name, sql, *arguments):
        path = elsewhere.sql_file(f"kafka-{name}", sql, False)
        return Run([f"{self.broker.build}/rowtide", "run", path, *arguments], None)

    def sql(self, name, source, target):
        job = JOBS[name]
        options = {"sink.delivery-guarantee": job.guarantee} if job.guarantee else {}
        if name == "exact":
            options["sink.transactional-id-prefix"] = target
        bids = self.table("bids", source, more=f", {TIMES}", format="json",
                          **{"scan.startup.mode": "earliest-offset", "scan.bounded.mode": "latest-offset"})
        if name == "keep_first":
            changes = self.table("changes", target, format="json", **SINK, **options)
        else:
            changes = self.table("changes", target, "upsert-kafka", ", PRIMARY KEY (auction, bidder) NOT ENFORCED",
                                 **{"key.format": "json", "value.format": "json"}, **SINK, **options)
        return (EACH_SECOND if job.guarantee else "") + bids + changes + (
            "INSERT INTO changes SELECT auction, bidder, price, channel, `dateTime`, extra FROM (\n"
            f"  SELECT *, ROW_NUMBER() OVER (PARTITION BY auction, bidder ORDER BY {job.order}) AS row_num FROM bids\n"
            ") WHERE row_num <= 1;\n")

    def run(self, name):
        """One program from the topic of bids to a new one, which then must hold what it must."""
        target = self.broker.cluster.topic(name.replace("_", "-"))
        if name == "pass_through":
            run = Run([f"{self.broker.build}/limit_pass_through", "copy", self.broker.address, self.bids, target], None)
        else:
            shutil.rmtree(STATE, ignore_errors=True)
            state = ["--state", STATE] if JOBS[name].guarantee else []
            run = self.run_file(name, self.sql(name, self.bids, target), *state)
            shutil.rmtree(STATE, ignore_errors=True)
        self.check(name, target)
        self.broker.cluster.delete_topic(target)
        return run

    def check(self, name, topic):
        must = self.must_hold[name]
        holds = self.broker.fold(topic, JOBS[name].fold if name in JOBS else "all")
        for field in ("records", "rows", "checksum"):
            if holds[field] != must[field]:
                sys.exit(f"kafka {name}: the topic holds {holds}, and must hold {must}")

    def rounds_of(self, names, rounds):
        runs = {name: [] for name in names}
        for _ in range(rounds):
            for name in names:
                runs[name].append(self.run(name))
        return runs

    # --- figures ---

    def measure_rates(self, rounds, attempts):
        """Rates and processor time beside the limit program's, after as many attempts as it takes for the machine to be calm."""
        for name in ("pass_through", *JOBS):  # the broker's first runs are slower, as any JVM's
            self.run(name)
        for attempt in range(attempts):
            runs = self.rounds_of(("pass_through", *JOBS), rounds)
            for name, of in runs.items():
                whole, cpu = median([run.whole for run in of]), median([run.cpu for run in of])
                print(f"  {name:<14}{self.rows / whole / 1e6:6.2f} M rows/s, {cpu / self.rows * 1e6:.2f} us of processor time a row, "
                      f"peak {max(run.rss_mb for run in of)} MB", flush=True)
            figures = [figure for name in ("keep_first", "keep_last") for figure in self.to_limit(name, runs)]
            figures += [self.ratio("kafka exactly once to at least once", runs["kept"], runs["exact"], 0.9, 0.95),
                        self.ratio("kafka exactly once to without checkpoints", runs["keep_last"], runs["exact"])]
            wholes = [run.whole for run in runs["pass_through"]]
            if max(wholes) <= SPREAD_MAX * min(wholes):
                break
            again = ", once more" if attempt + 1 < attempts else ""
            print(f"  NOT VALID: pass_through took {min(wholes):.2f} to {max(wholes):.2f} s; the machine is too busy{again}", flush=True)
            for figure in figures:
                figure.valid = False
        return figures

    def ratio(self, name, others, ours, least=None, aim=None):
        ratios = [other.whole / our.whole for other, our in zip(others, ours)]
        print(f"  {name}: {spread(ratios)}", flush=True)
        return Figure(name, median(ratios), least, aim=aim)

    def to_limit(self, name, runs):
        rate = self.ratio(f"kafka {name} to pass-through", runs["pass_through"], runs[name], 0.7, 0.9)
        cpu = [ours.cpu / limit.cpu for ours, limit in zip(runs[name], runs["pass_through"])]
        print(f"  kafka {name}, processor time to pass-through's: {spread(cpu)}", flush=True)
        return [rate, Figure(f"kafka {name}, CPU s to pass-through's", median(cpu), most=1.6, aim=1.3)]

    def run_flink(self, name, source, target):
        path = elsewhere.sql_file(f"kafka-{name}", self.sql(name, source, target), True)
        return Run(elsewhere.flink_command("heap", path), None)

    def measure_flink(self, rounds=FLINK_ROUNDS):
        """The same SQL by Flink, without what it takes for one bid."""
        one, figures = self.fill(1), []
        for name in ("keep_first", "keep_last"):
            runs = []
            for _ in range(rounds):
                ours = self.run(name)
                targets = [self.broker.cluster.topic("flink") for _ in range(2)]
                start_up = self.run_flink(name, one, targets[0])
                whole = self.run_flink(name, self.bids, targets[1])
                self.check(name, targets[1])
                for target in targets:
                    self.broker.cluster.delete_topic(target)
                runs.append((ours, whole.whole - start_up.whole, whole.cpu - start_up.cpu))
            rates = [seconds / ours.whole for ours, seconds, _ in runs]
            cpu = [flink / ours.cpu for ours, _, flink in runs]
            print(f"  kafka {name} to Flink: rows/s {spread(rates)}   rows/CPU s {spread(cpu)}   Flink "
                  f"{self.rows / median([seconds for _, seconds, _ in runs]) / 1e3:.0f} K rows/s, "
                  f"{self.rows / median([flink for _, _, flink in runs]) / 1e3:.0f} K rows/CPU s", flush=True)
            figures.append(Figure(f"kafka {name} to Flink, CPU s", median(cpu), 5))
        return figures


def measure(build, rows, rounds, attempts, seconds):
    """All of it; a minute of latency, or `seconds`."""
    with Broker(build) as broker:
        bench = Bench(broker, rows)
        figures = bench.measure_rates(rounds, attempts)
        figures += kafka_latency.measure(broker, seconds)
        if os.environ.get("ROWTIDE_FLINK"):
            figures += bench.measure_flink()
        else:
            print("kafka: Flink is not measured, ROWTIDE_FLINK is not set")
        return figures
