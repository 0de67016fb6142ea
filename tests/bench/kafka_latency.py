"""A record's way from topic to topic through a job, in an open loop: `kafka_latency.cc` writes and reads, each record carries
when it was due. First the rate is looked for that the machine can keep up with, generator and broker and reader included;
then a minute at half of it.
"""

import subprocess
import sys

from figures import Figure

SEARCH_SECONDS = 4
RATES = [20_000 * 2**i for i in range(6)]
BEHIND_MS = 200  # a rate is kept up with if the last records take less than that
COLUMNS = "id BIGINT, sent BIGINT, filler STRING"
QUERY = """INSERT INTO newest SELECT id, sent, filler
FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY seen DESC) AS row_num FROM events) WHERE row_num <= 1;
"""


class Way:
    """The job, and two topics."""

    def __init__(self, broker):
        self.broker, cluster = broker, broker.cluster
        self.events, self.newest = cluster.topic("events"), cluster.topic("newest")
        sql = cluster.table("events", COLUMNS + ", seen AS PROCTIME()", self.events, format="json",
                            **{"scan.startup.mode": "earliest-offset"})
        sql += cluster.table("newest", COLUMNS + ", PRIMARY KEY (id) NOT ENFORCED", self.newest, "upsert-kafka",
                             **{"key.format": "json", "value.format": "json"})
        self.job = cluster.start(sql + QUERY)

    def send(self, rate, seconds):
        """Milliseconds by share of the records: p50, p90, p99, …, max; tail is the median of the last tenth."""
        command = [f"{self.broker.build}/bench_kafka_latency", self.broker.address, self.events, self.newest, str(rate), str(seconds)]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        if self.job.poll() is not None:
            sys.exit(f"the job ended: {self.job.communicate()[1]}")
        if done.returncode != 0:
            return None
        return {name: float(value) for name, value in (field.split("=") for field in done.stdout.split())}

    def keeps_up(self, rate):
        """In one of two tries: something else may have been at work."""
        return any(found and found["tail"] < BEHIND_MS for found in (self.send(rate, SEARCH_SECONDS) for _ in range(2)))

    def sustainable_rate(self):
        """Between the highest of RATES that is kept up with and the next, once in the middle."""
        for _ in range(2):  # the JVM's and the job's first seconds
            self.send(RATES[0], SEARCH_SECONDS)
        kept = 0
        for rate in RATES:
            if not self.keeps_up(rate):
                break
            kept = rate
        if kept and kept != RATES[-1] and self.keeps_up(kept * 3 // 2):
            kept = kept * 3 // 2
        return kept

    def end(self):
        self.job.terminate()
        self.job.communicate()


def measure(broker, seconds):
    way = Way(broker)
    try:
        most = way.sustainable_rate()
        if most == 0:
            sys.exit(f"kafka latency: not even {RATES[0]} rows/s are kept up with")
        found = way.send(most // 2, seconds)
    finally:
        way.end()
    if found is None:
        sys.exit(f"kafka latency: half of {most} rows/s is not kept up with")
    print(f"  kafka to kafka, {most // 2} rows/s for {seconds} s, half of what is kept up with: p50 {found['p50']:.2f} ms, p90 "
          f"{found['p90']:.2f} ms, p99 {found['p99']:.2f} ms, p99.9 {found['p999']:.2f} ms, maximum {found['max']:.1f} ms", flush=True)
    return [Figure("kafka to kafka at half the rate, p50", found["p50"], most=5, unit="ms"),
            Figure("kafka to kafka at half the rate, p99", found["p99"], most=30, unit="ms")]
