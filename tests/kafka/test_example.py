"""What examples/kafka shows: its two SQL files, on topics of their own."""
import json
import os
import signal
import time

from cluster import ROOT


def sql_of(cluster, name, topics):
    with open(os.path.join(ROOT, "examples", "kafka", f"{name}.sql"), encoding="utf-8") as file:
        text = file.read()
    assert "127.0.0.1:9092" in text
    text = text.replace("127.0.0.1:9092", cluster.bootstrap).replace("'distinct'", f"'{topics['distinct_events']}'")
    text = text.replace("examples/lab/order_events.csv", os.path.join(ROOT, "examples", "lab", "order_events.csv"))
    for name, topic in topics.items():
        text = text.replace(f"'topic' = '{name}'", f"'topic' = '{topic}'")
    return text


def events(cluster, topic):
    return [(event["order_id"], event["status"]) for event in (json.loads(record.value) for record in cluster.read(topic))]


def await_events(cluster, topic, count):
    until = time.monotonic() + 30
    while len(found := events(cluster, topic)) < count:
        assert time.monotonic() < until, f"{len(found)} events of {count}"
        time.sleep(0.2)
    return found


def test_a_crash_and_what_was_sent_twice(cluster):
    topics = {name: cluster.topic(name.replace("_", "-"), 2) for name in ("order_events", "distinct_events")}
    state = os.path.join(cluster.folder, "example-state")
    job = cluster.start(sql_of(cluster, "distinct", topics), "--state", state)
    try:
        cluster.run_well(sql_of(cluster, "feed", topics))
        await_events(cluster, topics["distinct_events"], 581)
        job.send_signal(signal.SIGKILL)
        job.communicate()
        cluster.run_well(sql_of(cluster, "feed", topics))
        extra = '{"order_id":"o9999","status":"created","amount":1.00,"ts":"2026-01-02 00:00:00"}'
        cluster.produce(topics["order_events"], [("o9999", extra)])
        job = cluster.start(sql_of(cluster, "distinct", topics), "--state", state)
        found = await_events(cluster, topics["distinct_events"], 582)
        job.send_signal(signal.SIGTERM)
        _, error = job.communicate(timeout=30)
        assert "goes on from" in error or "going on from" in error or "chk-" in error, error
    finally:
        job.kill()
    assert len(found) == len(set(found)) == 582
    assert len(events(cluster, topics["order_events"])) == 2 * 622 + 1
