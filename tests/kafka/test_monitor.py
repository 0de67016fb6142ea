"""What `--metrics` shows of topics, what a job says while the broker is away, and that it tells no secret."""
import json
import os
import re
import signal
import time
import urllib.request

ROW = "id BIGINT, v STRING"


class Watched:
    """A job of a topic that never ends, and what it serves."""

    def __init__(self, cluster, topic, **options):
        sql = cluster.table("t", ROW, topic, format="json", **{"scan__startup__mode": "earliest-offset", **options})
        sql += f"CREATE TABLE s ({ROW}) WITH ('connector' = 'blackhole');\nINSERT INTO s SELECT * FROM t;\n"
        self.process, self.lines = cluster.start(sql, "--metrics", "127.0.0.1:0"), []
        while True:
            line = self.process.stderr.readline()
            assert line, "".join(self.lines)
            self.lines.append(line)
            found = re.search(r"^status: (http://\S+/) ", line)
            if found:
                self.url = found.group(1)
                return

    def metric(self, name, label=""):
        with urllib.request.urlopen(self.url + "metrics", timeout=20) as answer:
            lines = [line for line in answer.read().decode().split("\n") if line.startswith(name + "{") and label in line]
        return [float(line.rsplit(" ", 1)[1]) for line in lines]

    def await_metric(self, want, name, label="", seconds=60):
        until = time.monotonic() + seconds
        while (got := self.metric(name, label)) != want:
            assert time.monotonic() < until, f"{name}: wanted {want}, got {got}"
            time.sleep(0.2)

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            error = self.process.communicate(timeout=60)[1]
        finally:
            self.process.kill()
        return "".join(self.lines) + error


def produce(cluster, topic, *numbers):
    cluster.produce(topic, [json.dumps({"id": number, "v": "x"}) for number in numbers])


def test_offsets_that_are_gone(cluster):
    topic = cluster.topic("gone")
    produce(cluster, topic, *range(30))
    cluster.delete_records(topic, 0, 20)
    job = Watched(cluster, topic, scan__startup__mode="specific-offsets", scan__startup__specific_offsets="partition:0,offset:3",
                  properties__auto__offset__reset="earliest")
    job.await_metric([17], "rowtide_skipped_offsets_total")
    assert job.metric("rowtide_records_in_total") == [10]
    # They are no rows that were rejected or set apart.
    assert job.metric("rowtide_node_counted_rows_total", "skipped") == job.metric("rowtide_rejected_records_total", "skipped") == []
    job.end()


def test_lag_and_outage(cluster):
    topic = cluster.topic("watched", partitions=2)
    produce(cluster, topic, *range(40))
    job = Watched(cluster, topic)
    job.await_metric([40], "rowtide_records_in_total")
    for partition in (0, 1):
        job.await_metric([0], "rowtide_consumer_lag_records", f'topic="{topic}",partition="{partition}"')
    assert job.metric("rowtide_bytes_in_total")[0] > 40 * 10
    assert job.metric("rowtide_waiting") == []
    cluster.broker("kill")
    try:
        job.await_metric([1], "rowtide_waiting")
    finally:
        cluster.broker("restart")
    produce(cluster, topic, 40, 41)
    job.await_metric([42], "rowtide_records_in_total")
    job.await_metric([], "rowtide_waiting")
    error = job.end()
    assert re.search(r"^waiting: \S+ waits for " + re.escape(cluster.bootstrap), error, re.M), error
    assert re.search(r"^waiting: \S+ goes on after ", error, re.M), error


def test_secrets(cluster):
    topic = cluster.topic("secret")
    os.environ["ROWTIDE_TEST_PASSWORD"] = "hush-Qx81"
    for options in ({"properties.ssl.key.pem": "${ROWTIDE_TEST_PASSWORD}", "properties.security.protocol": "SSL"},
                    {"properties.sasl.jaas.config": "no.such.Module required password=\"${ROWTIDE_TEST_PASSWORD}\";"},
                    {"properties.sasl.mechanism": "${ROWTIDE_TEST_PASSWORD}"},
                    {"properties.sasl.password": "l1teral-hush", "properties.nonsense": "1"},
                    {"scan.startup.mode": "${ROWTIDE_TEST_PASSWORD}"}):
        sql = cluster.table("t", ROW, topic, format="json", **{"scan__bounded__mode": "latest-offset"})
        given = "".join(f", '{key}' = '{value}'" for key, value in options.items())
        done = cluster.run(sql.replace(");\n", given + ");\n") + "SELECT * FROM t;\n")
        assert done.code != 0, options
        assert "hush" not in done.out + done.error, done.error
