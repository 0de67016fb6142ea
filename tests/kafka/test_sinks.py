"""Rows into topics: formats, keys, tombstones, partitions, metadata, what is refused."""
import json

PEOPLE = "id BIGINT, name STRING, price DECIMAL(10, 2)"
LINES = ["1,ann,1.50", "2,bob,NULL", "3,\"a, \"\"b\"\"\",0.25"]


def insert(source, sink, query="SELECT * FROM {}"):
    return f"INSERT INTO {sink} {query.format(source)};\n"


def job(cluster, topic, columns=PEOPLE, lines=LINES, query="SELECT * FROM {}", connector="kafka", sink_columns=None, **options):
    return (cluster.rows("source", columns, lines) + cluster.table("target", sink_columns or columns, topic, connector, **options)
            + insert("source", "target", query))


def test_json(cluster):
    topic = cluster.topic("json")
    cluster.run_well(job(cluster, topic, format="json"))
    assert [record.value for record in cluster.read(topic)] == [
        '{"id":1,"name":"ann","price":1.50}'.replace("1.50", "1.5"), '{"id":2,"name":"bob","price":null}',
        '{"id":3,"name":"a, \\"b\\"","price":0.25}']
    assert all(record.key is None for record in cluster.read(topic))


def test_csv_without_line_ends(cluster):
    topic = cluster.topic("csv")
    cluster.run_well(job(cluster, topic, format="csv", lines=LINES + ["4,\"two", "lines\",7"]))
    assert [record.value for record in cluster.read(topic)] == ["1,ann,1.5", "2,bob,", '3,"a, ""b""",0.25', '4,"two\nlines",7']


def test_raw_null_is_no_value(cluster):
    topic = cluster.topic("raw")
    cluster.run_well(job(cluster, topic, "line STRING", ["one", "NULL", "two words"], format="raw"))
    assert [record.value for record in cluster.read(topic)] == ["one", None, "two words"]
    assert cluster.console(topic) == ["null|one", "null|null", "null|two words"]


def changes(cluster, topic, name):
    lines = ["a,1", "b,1", "a,2"]
    cluster.run_well(job(cluster, topic, "item STRING, n BIGINT", lines, "SELECT item, SUM(n) FROM {} GROUP BY item", format=name))
    return [record.value for record in cluster.read(topic)]


def test_debezium(cluster):
    assert changes(cluster, cluster.topic("debezium"), "debezium-json") == [
        '{"before":null,"after":{"item":"a","n":1},"op":"c"}', '{"before":null,"after":{"item":"b","n":1},"op":"c"}',
        '{"before":{"item":"a","n":1},"after":null,"op":"d"}', '{"before":null,"after":{"item":"a","n":3},"op":"c"}']


def test_other_formats_of_changes(cluster):
    assert changes(cluster, cluster.topic("canal"), "canal-json")[2:] == [
        '{"data":[{"item":"a","n":1}],"type":"DELETE"}', '{"data":[{"item":"a","n":3}],"type":"INSERT"}']
    assert changes(cluster, cluster.topic("maxwell"), "maxwell-json")[2:] == [
        '{"data":{"item":"a","n":1},"type":"delete"}', '{"data":{"item":"a","n":3},"type":"insert"}']
    assert changes(cluster, cluster.topic("ogg"), "ogg-json")[2:] == [
        '{"before":{"item":"a","n":1},"after":null,"op_type":"D"}', '{"before":null,"after":{"item":"a","n":3},"op_type":"I"}']


def test_keys_and_the_partitions_of_javas_client(cluster):
    """The reference producer of these tests hashes as Java does (murmur2_random)."""
    ours, theirs = cluster.topic("keys", 5), cluster.topic("keys", 5)
    lines = [f"{i},x{i},0" for i in range(200)]
    cluster.run_well(job(cluster, ours, lines=lines, key__format="json", key__fields="id;name", value__format="json",
                         value__fields_include="EXCEPT_KEY"))
    cluster.produce(theirs, [('{"id":%d,"name":"x%d"}' % (i, i), '{"price":0}') for i in range(200)])
    def placed(topic):
        return {(record.key, record.partition) for record in cluster.read(topic)}
    assert placed(ours) == placed(theirs)
    assert len({partition for _, partition in placed(ours)}) == 5
    assert {record.value for record in cluster.read(ours)} == {'{"price":0}'}


def test_key_prefix(cluster):
    topic = cluster.topic("prefix")
    cluster.run_well(job(cluster, topic, "k_id BIGINT, id STRING", ["7,x"], key__format="json", key__fields="k_id", key__fields_prefix="k_",
                         value__format="json", value__fields_include="EXCEPT_KEY"))
    assert [(record.key, record.value) for record in cluster.read(topic)] == [('{"id":7}', '{"id":"x"}')]


UPSERT = {"connector": "upsert-kafka", "key__format": "json", "value__format": "json",
          "sink_columns": "item STRING, n BIGINT, PRIMARY KEY (item) NOT ENFORCED"}


def test_upsert_writes_tombstones(cluster):
    """A condition on what changes takes the row before back, as in Flink: a tombstone each time."""
    topic = cluster.topic("upsert", 3)
    query = "SELECT item, n FROM (SELECT item, SUM(n) AS n FROM {} GROUP BY item) WHERE n < 10"
    cluster.run_well(job(cluster, topic, "item STRING, n BIGINT", ["a,1", "b,2", "a,3", "b,20", "c,50"], query, **UPSERT))
    by_key = {}
    for line in cluster.console(topic):
        key, value = line.split("|")
        by_key.setdefault(key, []).append(value)
    assert by_key == {'{"item":"a"}': ['{"item":"a","n":1}', "null", '{"item":"a","n":4}'],
                      '{"item":"b"}': ['{"item":"b","n":2}', "null"]}, by_key


def test_upsert_buffer_keeps_the_last_of_each_key(cluster):
    topic = cluster.topic("buffer")
    lines = [f"{'abc'[i % 3]},1" for i in range(300)]
    cluster.run_well(job(cluster, topic, "item STRING, n BIGINT", lines, "SELECT item, SUM(n) FROM {} GROUP BY item",
                         sink__buffer_flush__max_rows=1000, sink__buffer_flush__interval="1 min", **UPSERT))
    assert sorted(record.value for record in cluster.read(topic)) == [f'{{"item":"{item}","n":100}}' for item in "abc"]


def test_order_of_each_key_on_two_lanes(cluster):
    topic = cluster.topic("order", 4)
    lines = [f"k{i % 50},1" for i in range(20000)]
    cluster.run_well("SET 'parallelism.default' = '2';\n" + job(cluster, topic, "item STRING, n BIGINT", lines,
                     "SELECT item, SUM(n) FROM {} GROUP BY item", **UPSERT))
    seen = {}
    for record in cluster.read(topic):
        row = record.json()
        assert row["n"] == seen.get(row["item"], 0) + 1, record.value
        seen[row["item"]] = row["n"]
    assert seen == {f"k{i}": 400 for i in range(50)}


def test_fixed_and_round_robin_partitions(cluster):
    fixed, turns = cluster.topic("fixed", 3), cluster.topic("turns", 3)
    lines = [f"{i},x,0" for i in range(5000)]
    cluster.run_well(job(cluster, fixed, lines=lines, format="csv", sink__partitioner="fixed"))
    cluster.run_well(job(cluster, turns, lines=lines, format="csv", sink__partitioner="round-robin"))
    assert {record.partition for record in cluster.read(fixed)} == {0}
    assert {record.partition for record in cluster.read(turns)} == {0, 1, 2}


def test_metadata_timestamp_and_topic(cluster):
    one, two = cluster.topic("one"), cluster.topic("two")
    columns = "item STRING, t TIMESTAMP_LTZ(3)"
    sink = "item STRING, t TIMESTAMP_LTZ(3) METADATA FROM 'timestamp', `to` STRING METADATA FROM 'topic'"
    query = f"SELECT item, t, CASE item WHEN 'a' THEN '{one}' ELSE '{two}' END FROM {{}}"
    cluster.run_well(job(cluster, f"{one};{two}", columns, ["a,2026-01-01 00:00:01Z", "b,2026-01-01 00:00:02Z"], query,
                         sink_columns=sink, format="json"))
    assert [(record.value, record.timestamp) for record in cluster.read(one)] == [('{"item":"a"}', 1767225601000)]
    assert [(record.value, record.timestamp) for record in cluster.read(two)] == [('{"item":"b"}', 1767225602000)]
    bad = cluster.run(job(cluster, f"{one};{two}", columns, ["a,2026-01-01 00:00:01Z"], "SELECT item, t, 'other' FROM {}", sink_columns=sink, format="json"))
    assert bad.code == 3 and "Expected topic to be in" in bad.error and "other" in bad.error, bad.error


def test_read_only_metadata_is_refused(cluster):
    topic = cluster.topic("readonly")
    bad = cluster.run(job(cluster, topic, "item STRING, p INT", ["a,1"], sink_columns="item STRING, p INT METADATA FROM 'partition'", format="json"))
    assert bad.code == 2 and "'partition'" in bad.error and "VIRTUAL" in bad.error, bad.error


def test_changes_into_a_table_of_inserts_are_refused(cluster):
    topic = cluster.topic("inserts")
    bad = cluster.run(job(cluster, topic, "item STRING, n BIGINT", ["a,1"], "SELECT item, SUM(n) FROM {} GROUP BY item", format="json"))
    assert bad.code == 2 and "update" in bad.error and cluster.read(topic) == [], bad.error


def test_a_topic_that_is_not_there(cluster):
    topic = cluster.topic("nearly-right")
    bad = cluster.run(job(cluster, topic.replace("nearly", "nearky"), format="json"))
    assert bad.code == 2 and "there is no topic" in bad.error and topic in bad.error, bad.error


def test_a_record_that_is_too_large(cluster):
    topic = cluster.topic("large")
    query = "SELECT id, REPEAT(name, 500000), price FROM {}"
    bad = cluster.run(job(cluster, topic, lines=["77,abc,1"], query=query, key__format="json", key__fields="id", value__format="json"))
    assert bad.code == 3 and "too large" in bad.error and '{"id":77}' in bad.error and "1500" in bad.error, bad.error


def test_a_broker_that_allows_less_than_the_client(cluster):
    topic = cluster.topic("small", max_message_bytes=2000)
    query = "SELECT id, REPEAT(name, 2000), price FROM {}"
    bad = cluster.run(job(cluster, topic, lines=["77,abc,1"], query=query, key__format="json", key__fields="id", value__format="json",
                          properties__compression__type="none"))
    assert bad.code == 3 and "too large" in bad.error and '{"id":77}' in bad.error, bad.error


def test_no_guarantee_still_writes_all(cluster):
    topic = cluster.topic("none")
    lines = [f"{i},x,0" for i in range(3000)]
    cluster.run_well(job(cluster, topic, lines=lines, format="csv", sink__delivery_guarantee="none", properties__compression__type="zstd"))
    assert [record.value for record in cluster.read(topic)] == [f"{i},x,0" for i in range(3000)]


def test_at_least_once_with_checkpoints(cluster):
    topic = cluster.topic("once")
    state = f"{cluster.folder}/{topic}-state"
    lines = [f"{i},x,0" for i in range(50000)]
    cluster.run_well("SET 'execution.checkpointing.interval' = '20 ms';\n" + job(cluster, topic, lines=lines, format="json"), "--state", state)
    assert [json.loads(record.value)["id"] for record in cluster.read(topic)] == list(range(50000))


def test_halves_of_an_update_as_one_message(cluster):
    topic = cluster.topic("pairs")
    lines = ["a,1", "b,1", "a,2", "c,60", "a,50", "b,1"]
    query = "SELECT item, SUM(n) FROM {} GROUP BY item HAVING SUM(n) < 50"  # the last change of a takes a row back for good
    cluster.run_well("SET 'rowtide.encode.update-pairs' = 'true';\n"
                     + job(cluster, topic, "item STRING, n BIGINT", lines, query, format="debezium-json"))
    assert [record.value for record in cluster.read(topic)] == [
        '{"before":null,"after":{"item":"a","n":1},"op":"c"}', '{"before":null,"after":{"item":"b","n":1},"op":"c"}',
        '{"before":{"item":"a","n":1},"after":{"item":"a","n":3},"op":"u"}', '{"before":{"item":"a","n":3},"after":null,"op":"d"}',
        '{"before":{"item":"b","n":1},"after":{"item":"b","n":2},"op":"u"}']


def test_pairs_across_batches(cluster):
    topic = cluster.topic("many-pairs")
    lines = [f"{i % 700},1" for i in range(5000)]
    cluster.run_well("SET 'rowtide.encode.update-pairs' = 'true';\n" + job(cluster, topic, "item STRING, n BIGINT", lines,
                     "SELECT item, SUM(n) FROM {} GROUP BY item", key__format="raw", key__fields="item", value__format="debezium-json"))
    ops = [record.json()["op"] for record in cluster.read(topic)]
    assert ops.count("u") == 4300 and ops.count("c") == 700 and len(ops) == 5000
