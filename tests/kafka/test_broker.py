"""The broker script itself: what other tests stand on."""
import os
import subprocess

from cluster import HERE


def test_records_go_in_and_out(cluster):
    topic = cluster.topic("plain", 2)
    cluster.produce(topic, [("a", "1"), ("b", None), ("a", "")])
    assert sorted(cluster.console(topic)) == ["a|", "a|1", "b|null"]
    records = {(record.key, record.value) for record in cluster.read(topic)}
    assert records == {("a", "1"), ("b", None), ("a", "")}, records


def test_a_killed_broker_comes_back_with_its_records(cluster):
    topic = cluster.topic("kept")
    cluster.produce(topic, ["1", "2"])
    cluster.broker("kill")
    status = subprocess.run([os.path.join(HERE, "broker"), "status"], stdout=subprocess.PIPE, text=True, check=False)
    assert status.returncode == 1 and status.stdout.startswith("1 down"), status.stdout
    cluster.broker("restart")
    cluster.broker("pause")
    status = subprocess.run([os.path.join(HERE, "broker"), "status"], stdout=subprocess.PIPE, text=True, check=False)
    cluster.broker("resume")  # first, for the tests that follow
    assert status.returncode == 0 and status.stdout.startswith("1 paused"), status.stdout
    assert [record.value for record in cluster.read(topic)] == ["1", "2"]
