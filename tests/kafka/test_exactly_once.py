"""'sink.delivery-guarantee' = 'exactly-once': what holds without faults. Faults are in tests/drills/kafka."""
import json
import os
import shutil


def options(cluster, topic, **more):
    return {"format": "json", "sink__delivery_guarantee": "exactly-once", "sink__transactional_id_prefix": f"test-{topic}", **more}


def job(cluster, topic, rows=20000, interval="50 ms", **more):
    return (f"SET 'execution.checkpointing.interval' = '{interval}';\n" + cluster.rows("source", "id BIGINT", [str(i) for i in range(rows)])
            + cluster.table("target", "id BIGINT", topic, **options(cluster, topic, **more)) + "INSERT INTO target SELECT * FROM source;\n")


def ids(cluster, topic):
    return [json.loads(record.value)["id"] for record in cluster.read(topic)]


def markers(cluster, topic):
    name = f"__rowtide.test-{topic}.insert-into_default_catalog.default_database.target.commits"
    return [json.loads(record.value) for record in cluster.read(name)]


def state(cluster, topic):
    return os.path.join(cluster.folder, topic + "-state")


def test_all_rows_once_and_a_marker_an_epoch(cluster):
    topic = cluster.topic("exact", 2)
    cluster.run_well(job(cluster, topic, rows=100000), "--state", state(cluster, topic))
    assert sorted(ids(cluster, topic)) == list(range(100000))
    found = markers(cluster, topic)
    assert [marker["epoch"] for marker in found] == list(range(1, len(found) + 1)) and len({marker["run"] for marker in found}) == 1
    kept = [name for folder, names, _ in os.walk(state(cluster, topic)) for name in names if name.startswith("chk-")]
    assert f"chk-{found[-1]['epoch']}-{found[-1]['run']}" in kept, (kept, found[-1])
    # It has read all: nothing happens when it is run again.
    done = cluster.run_well(job(cluster, topic, rows=100000), "--state", state(cluster, topic))
    assert "over" in done.error or "read all" in done.error, done.error
    assert markers(cluster, topic)[-1] == found[-1]


def test_on_two_lanes(cluster):
    topic = cluster.topic("lanes", 3)
    sql = ("SET 'execution.checkpointing.interval' = '30 ms';\nSET 'parallelism.default' = '2';\n"
           + cluster.rows("source", "id BIGINT", [str(i) for i in range(100000)])
           + cluster.table("target", "k BIGINT, c BIGINT", topic, **options(cluster, topic, format="debezium-json"))
           + "INSERT INTO target SELECT MOD(id, 100), COUNT(*) FROM source GROUP BY MOD(id, 100);\n")
    cluster.run_well(sql, "--state", state(cluster, topic))
    counts = {}
    for record in cluster.read(topic):
        change = record.json()
        if change["op"] == "c":
            counts[change["after"]["k"]] = max(counts.get(change["after"]["k"], 0), change["after"]["c"])
    assert counts == {k: 1000 for k in range(100)}


def test_nothing_is_made_for_a_topic_that_is_not_there(cluster):
    topic = cluster.topic("missing")
    sql = job(cluster, topic).replace(f"'topic' = '{topic}'", f"'topic' = '{topic[:-1]}'")
    done = cluster.run(sql, "--state", state(cluster, topic))
    assert done.code == 2 and "RT2017" in done.error and f"did you mean '{topic}'" in done.error, done.error
    made = [name for name in cluster.admin.list_topics(timeout=10).topics if f"test-{topic}" in name]
    assert not made, made


def test_it_needs_a_state_folder(cluster):
    topic = cluster.topic("stateless")
    done = cluster.run(job(cluster, topic))
    assert done.code == 2 and "RT6010" in done.error and "--state" in done.error, done.error


def test_a_time_out_that_the_broker_does_not_allow(cluster):
    topic = cluster.topic("timeout")
    done = cluster.run(job(cluster, topic, properties__transaction__timeout__ms="3600000"), "--state", state(cluster, topic))
    assert done.code == 2 and "RT6015" in done.error and "3600000" in done.error and "900000" in done.error, done.error
    done = cluster.run(job(cluster, topic, interval="20 s", properties__transaction__timeout__ms="5000"), "--state", state(cluster, topic))
    assert done.code == 2 and "RT6015" in done.error and "5000" in done.error and "20000" in done.error, done.error


def test_two_clusters_are_refused_by_explain(cluster):
    topic = cluster.topic("clusters")
    other = cluster.table("other", "id BIGINT", topic, **options(cluster, topic)).replace(cluster.bootstrap, "127.0.0.1:1")
    sql = job(cluster, topic).rsplit("INSERT", 1)[0] + other
    both = "STATEMENT SET BEGIN INSERT INTO target SELECT * FROM source; INSERT INTO other SELECT * FROM source; END;\n"
    for statement in ("EXPLAIN " + both, "EXECUTE " + both):
        done = cluster.run(sql + statement)
        assert done.code == 2 and "RT2041" in done.error and "127.0.0.1:1" in done.error, done.error


def test_fresh_begins_anew_and_epochs_go_on(cluster):
    topic = cluster.topic("fresh")
    cluster.run_well(job(cluster, topic), "--state", state(cluster, topic))
    before = markers(cluster, topic)
    cluster.run_well(job(cluster, topic), "--state", state(cluster, topic), "--fresh")
    assert sorted(ids(cluster, topic)) == sorted(2 * list(range(20000)))
    epochs = [marker["epoch"] for marker in markers(cluster, topic)]
    assert len(epochs) > len(before) and epochs == sorted(set(epochs))


def test_a_state_folder_that_is_gone(cluster):
    topic = cluster.topic("gone")
    cluster.run_well(job(cluster, topic), "--state", state(cluster, topic))
    shutil.rmtree(state(cluster, topic))
    done = cluster.run(job(cluster, topic), "--state", state(cluster, topic))
    assert done.code == 1 and "RT6012" in done.error and "--fresh" in done.error, done.error
    assert len(ids(cluster, topic)) == 20000


def test_a_folder_of_a_job_that_was_not_exact(cluster):
    """What its checkpoints hold was never decided by a transaction: nobody guesses."""
    topic = cluster.topic("was-not")
    cluster.run_well(job(cluster, topic, sink__delivery_guarantee="at-least-once"), "--state", state(cluster, topic))
    done = cluster.run(job(cluster, topic), "--state", state(cluster, topic))
    assert done.code == 1 and "RT6012" in done.error and "--restore" in done.error, done.error


def test_the_marker_topic_is_as_it_has_to_be(cluster):
    topic = cluster.topic("markers")
    name = f"__rowtide.test-{topic}.insert-into_default_catalog.default_database.target.commits"
    cluster.broker("topic", "create", f"{name}:2")
    done = cluster.run(job(cluster, topic), "--state", state(cluster, topic))
    assert done.code == 2 and "RT6013" in done.error and name in done.error, done.error


def test_witness_in_the_groups_offsets(cluster):
    topic = cluster.topic("witness")
    cluster.run_well(job(cluster, topic), "--state", state(cluster, topic))
    last = markers(cluster, topic)[-1]
    pipeline = f"test-{topic}.insert-into_default_catalog.default_database.target"
    described = cluster.tool("groups", "--describe", "--group", pipeline)
    line = next(line.split() for line in described.splitlines() if ".commits" in line)
    assert int(line[3]) == last["epoch"], described
