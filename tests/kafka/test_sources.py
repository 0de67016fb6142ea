"""Rows out of topics: where reading begins and ends, metadata, keys, tombstones, bad records, restarts, what is lost."""
import json
import os
import signal
import time

BOUNDED = {"scan__startup__mode": "earliest-offset", "scan__bounded__mode": "latest-offset"}
ROW = "id BIGINT, v STRING"


def value(number, text):
    return json.dumps({"id": number, "v": text}, separators=(",", ":"))


def read(cluster, topic, columns=ROW, query="SELECT * FROM t", settings="", arguments=(), connector="kafka", **options):
    """Lines that a bounded query prints."""
    options = {"format": "json", **BOUNDED, **options}
    options = {key: option for key, option in options.items() if option is not None}
    sql = settings + cluster.table("t", columns, topic, connector, **options) + query + ";\n"
    return cluster.run_well(sql, *arguments).out.splitlines()


def fails(cluster, topic, columns=ROW, query="SELECT * FROM t", settings="", **options):
    options = {"format": "json", **BOUNDED, **options}
    options = {key: option for key, option in options.items() if option is not None}
    done = cluster.run(settings + cluster.table("t", columns, topic, **options) + query + ";\n")
    assert done.code != 0, done.out
    return done.error


def rows(*numbers):
    return [f'+I [{number},"r{number}"]' for number in numbers]


def numbered(*numbers):
    return [value(number, f"r{number}") for number in numbers]


# --- where reading begins and ends ---

def test_from_the_beginning_to_the_end(cluster):
    topic = cluster.topic("all")
    cluster.produce(topic, numbered(1, 2, 3))
    assert read(cluster, topic) == rows(1, 2, 3)


def test_empty_topic(cluster):
    assert read(cluster, cluster.topic("empty")) == []


def test_latest(cluster):
    topic = cluster.topic("latest")
    cluster.produce(topic, numbered(1, 2))
    assert read(cluster, topic, scan__startup__mode="latest-offset") == []


def test_specific_offsets(cluster):
    topic = cluster.topic("offsets")
    cluster.produce(topic, numbered(*range(10)))
    assert read(cluster, topic, scan__startup__mode="specific-offsets", scan__startup__specific_offsets="partition:0,offset:3",
                scan__bounded__mode="specific-offsets", scan__bounded__specific_offsets="partition:0,offset:6") == rows(3, 4, 5)


def test_timestamps(cluster):
    topic = cluster.topic("times")
    now = int(time.time() * 1000)
    cluster.produce(topic, [{"value": value(i, f"r{i}"), "timestamp": now + 1000 * i} for i in range(6)])
    assert read(cluster, topic, scan__startup__mode="timestamp", scan__startup__timestamp_millis=now + 2000,
                scan__bounded__mode="timestamp", scan__bounded__timestamp_millis=now + 4000) == rows(2, 3)
    assert read(cluster, topic, scan__startup__mode="timestamp", scan__startup__timestamp_millis=now + 999000) == []


def test_group_offsets(cluster):
    topic = cluster.topic("group")
    cluster.produce(topic, numbered(1, 2, 3))
    group = topic + "-group"
    error = fails(cluster, topic, scan__startup__mode="group-offsets", properties__group__id=group)
    assert group in error and "properties.auto.offset.reset" in error and "partition 0" in error, error
    assert read(cluster, topic, scan__startup__mode="group-offsets", properties__group__id=group,
                properties__auto__offset__reset="earliest") == rows(1, 2, 3)
    cluster.commit(group, topic, 0, 2)
    assert read(cluster, topic, scan__startup__mode="group-offsets", properties__group__id=group) == rows(3)


def test_several_topics_and_patterns(cluster):
    first, second = cluster.topic("many-a"), cluster.topic("many-b", partitions=2)
    cluster.produce(first, numbered(1))
    cluster.produce(second, [(str(i), value(i, f"r{i}")) for i in (2, 3, 4, 5)])
    assert sorted(read(cluster, f"{first};{second}")) == rows(1, 2, 3, 4, 5)
    pattern = "many-[ab]-(" + first[-8:] + "|" + second[-8:] + ")"
    sql = cluster.table("t", ROW, first, format="json", **BOUNDED).replace(f"'topic' = '{first}'", f"'topic-pattern' = '{pattern}'")
    assert sorted(cluster.run_well(sql + "SELECT * FROM t;").out.splitlines()) == rows(1, 2, 3, 4, 5)


def test_several_lanes(cluster):
    topic = cluster.topic("lanes", partitions=3)
    cluster.produce(topic, [(str(i), value(i, f"r{i}")) for i in range(500)])
    assert sorted(read(cluster, topic, arguments=("--parallelism", "2"))) == sorted(rows(*range(500)))


def test_aborted_rows_are_not_read(cluster):
    topic = cluster.topic("aborted")
    cluster.produce(topic, numbered(1, 2))
    cluster.produce_in_transaction(topic, numbered(3), commit=False)
    cluster.produce_in_transaction(topic, numbered(4), commit=True)
    cluster.produce_in_transaction(topic, numbered(5), commit=False)
    assert read(cluster, topic) == rows(1, 2, 4)
    assert read(cluster, topic, properties__isolation__level="read_uncommitted") == rows(1, 2, 3, 4, 5)


def test_no_such_topic(cluster):
    topic = cluster.topic("present")
    error = fails(cluster, topic[:-1])
    assert f"there is no topic '{topic[:-1]}'" in error and f"did you mean '{topic}'" in error, error


# --- what a message is ---

def test_metadata(cluster):
    topic = cluster.topic("metadata")
    cluster.produce(topic, [{"value": value(7, "a"), "key": "k", "timestamp": 1700000000123}])
    assert read(cluster, topic, "id BIGINT, `partition` INT METADATA VIRTUAL, `offset` BIGINT METADATA VIRTUAL, topic STRING METADATA VIRTUAL, "
                "`at` TIMESTAMP_LTZ(3) METADATA FROM 'timestamp' VIRTUAL, kind STRING METADATA FROM 'timestamp-type' VIRTUAL, "
                "epoch INT METADATA FROM 'leader-epoch' VIRTUAL",
                "SELECT id, `partition`, `offset`, topic, CAST(`at` AS STRING), kind, epoch FROM t",
                settings="SET 'table.local-time-zone' = 'UTC';\n") == [
                    f'+I [7,0,0,"{topic}","2023-11-14 22:13:20.123","CreateTime",null]']


def test_keys(cluster):
    topic = cluster.topic("keys")
    cluster.produce(topic, [('{"id":1}', '{"v":"a"}'), ('{"id":2}', '{"v":"b"}'), (None, '{"v":"none"}')])
    key = {"key__format": "json", "key__fields": "k_id", "key__fields_prefix": "k_", "value__fields_include": "EXCEPT_KEY"}
    assert read(cluster, topic, "k_id BIGINT, v STRING", **key) == ['+I [1,"a"]', '+I [2,"b"]']
    assert read(cluster, topic, "k_id BIGINT, v STRING", "SELECT k_id FROM t", **key) == ["+I [1]", "+I [2]"]
    assert read(cluster, topic, "k_id BIGINT, v STRING", "SELECT v FROM t", **key)[:2] == ['+I ["a"]', '+I ["b"]']


def test_formats(cluster):
    topic = cluster.topic("formats")
    cluster.produce(topic, ["1,a", '2,"b\nc"', "3,d\n"])
    assert read(cluster, topic, format="csv") == ['+I [1,"a"]', '+I [2,"b\\nc"]', '+I [3,"d"]']
    assert read(cluster, topic, "line STRING", format="raw") == ['+I ["1,a"]', '+I ["2,\\"b\\nc\\""]', '+I ["3,d\\n"]']
    changes = cluster.topic("changes")
    cluster.produce(changes, ['{"before":null,"after":{"id":1,"v":"a"},"op":"c"}', None,
                              '{"before":{"id":1,"v":"a"},"after":{"id":1,"v":"b"},"op":"u"}', '{"before":{"id":1,"v":"b"},"after":null,"op":"d"}'])
    assert read(cluster, changes, format="debezium-json") == ['+I [1,"a"]', '-U [1,"a"]', '+U [1,"b"]', '-D [1,"b"]']


def test_messages_without_a_value(cluster):
    topic = cluster.topic("nulls")
    cluster.produce(topic, [value(1, "r1"), None, value(2, "r2")])
    assert read(cluster, topic) == rows(1, 2)
    assert read(cluster, topic, "line STRING", format="raw")[1] == "+I [null]"


def test_many_messages(cluster):
    topic = cluster.topic("load")
    cluster.produce(topic, [value(i, "x" * (i % 50)) for i in range(30000)], **{"linger.ms": 50})
    assert read(cluster, topic, query="SELECT COUNT(*), SUM(id) FROM t", arguments=("--output", "csv"),
                settings="SET 'execution.runtime-mode' = 'batch';\n")[-1] == f"30000,{sum(range(30000))}"


# --- bad records ---

def test_a_bad_record_fails_the_job(cluster):
    topic = cluster.topic("bad")
    cluster.produce(topic, [("k1", value(1, "r1")), ("k2", '{"id":"x"}')])
    error = fails(cluster, topic)
    for part in (f"topic '{topic}', partition 0, offset 1, key 'k2'", '{"id":"x"}'):
        assert part in error, error


def test_bad_records_are_kept(cluster):
    topic = cluster.topic("letters")
    cluster.produce(topic, [value(1, "r1"), {"key": "k", "value": "no json", "headers": [("h", b"1")]}, value(2, "r2")])
    letters = os.path.join(cluster.folder, topic + ".ndjson")
    settings = f"SET 'rowtide.bad-data.t' = 'dead-letter';\nSET 'rowtide.dead-letter.t' = '{letters}';\n"
    assert read(cluster, topic, settings=settings) == rows(1, 2)
    with open(letters, encoding="utf-8") as file:
        letter = json.loads(file.read())
    assert (letter["topic"], letter["partition"], letter["offset"], letter["text"]) == (topic, 0, 1, "no json")
    assert letter["key"] == "aw==" and letter["headers"] == [{"key": "h", "value": "MQ=="}], letter
    assert read(cluster, topic, settings="SET 'rowtide.bad-data.t' = 'skip';\n") == rows(1, 2)


# --- upsert-kafka ---

UPSERT = {"connector": "upsert-kafka", "format": None, "key__format": "json", "value__format": "json", "scan__startup__mode": None}
KEYED = "id BIGINT, v STRING, PRIMARY KEY (id) NOT ENFORCED"


def test_upserts_and_tombstones(cluster):
    topic = cluster.topic("upsert")
    cluster.produce(topic, [('{"id":1}', value(1, "a")), ('{"id":2}', value(2, "b")), ('{"id":1}', value(1, "c")), ('{"id":2}', None),
                            ('{"id":3}', None), ('{"id":1}', value(1, "c"))])
    assert read(cluster, topic, KEYED, **UPSERT) == ['+I [1,"a"]', '+I [2,"b"]', '-U [1,"a"]', '+U [1,"c"]', '-D [2,"b"]']
    assert read(cluster, topic, KEYED, **UPSERT, value__fields_include="EXCEPT_KEY") == [
        '+I [1,"a"]', '+I [2,"b"]', '-U [1,"a"]', '+U [1,"c"]', '-D [2,"b"]']


# --- jobs that go on ---

class Running:
    """A job that writes rows into files as checkpoints are decided, so that each row is there once."""
    def __init__(self, cluster, topic, name, **options):
        self.cluster, self.state, self.target = cluster, os.path.join(cluster.folder, name), os.path.join(cluster.folder, name + "-rows")
        options = {"format": "json", "scan__startup__mode": "earliest-offset", **options}
        self.sql = ("SET 'execution.checkpointing.interval' = '100 ms';\n" + cluster.table("t", ROW, topic, **options)
                    + f"CREATE TABLE s ({ROW}) WITH ('connector' = 'filesystem', 'path' = '{self.target}', 'format' = 'csv');\n"
                    + "INSERT INTO s SELECT * FROM t;\n")
        self.process = None

    def start(self, *arguments):
        self.process = self.cluster.start(self.sql, "--state", self.state, *arguments)

    def end(self, by=signal.SIGKILL):
        self.process.send_signal(by)
        out, error = self.process.communicate(timeout=30)
        return error

    def ids(self):
        found = []
        for folder, _, files in os.walk(self.target):
            for name in files:
                if not name.startswith((".", "_")):
                    with open(os.path.join(folder, name), encoding="utf-8") as file:
                        found += [int(line.split(",")[0]) for line in file]
        return sorted(found)

    def wait_for(self, count, seconds=20):
        until = time.monotonic() + seconds
        while len(self.ids()) < count:
            assert self.process.poll() is None, self.process.communicate()
            assert time.monotonic() < until, f"{len(self.ids())} of {count} rows came"
            time.sleep(0.05)
        assert self.ids() == list(range(count))


def produce_range(cluster, topic, first, end):
    cluster.produce(topic, [(str(i), value(i, f"r{i}")) for i in range(first, end)])


def test_goes_on_after_kills_on_other_lanes(cluster):
    topic = cluster.topic("restore", partitions=3)
    job = Running(cluster, topic, topic)
    count = 0
    for lanes in (1, 2, 2, 1, 3):
        job.start("--parallelism", str(lanes))
        produce_range(cluster, topic, count, count + 300)
        count += 300
        job.wait_for(count)
        job.end()
    job.start()
    produce_range(cluster, topic, count, count + 10)
    job.wait_for(count + 10)
    job.end(signal.SIGTERM)


def test_offsets_are_committed_with_checkpoints(cluster):
    topic = cluster.topic("commits")
    job = Running(cluster, topic, topic, properties__group__id=topic)
    job.start()
    produce_range(cluster, topic, 0, 20)
    job.wait_for(20)
    until = time.monotonic() + 10
    while cluster.committed(topic, topic, 0) != 20:
        assert time.monotonic() < until, cluster.committed(topic, topic, 0)
        time.sleep(0.1)
    job.end(signal.SIGTERM)


def test_new_partitions_are_found(cluster):
    topic = cluster.topic("grows")
    job = Running(cluster, topic, topic, scan__topic_partition_discovery__interval="300 ms")
    job.start()
    produce_range(cluster, topic, 0, 50)
    job.wait_for(50)
    cluster.add_partitions(topic, 3)
    produce_range(cluster, topic, 50, 200)
    job.wait_for(200)
    job.end()
    job.start("--parallelism", "2")
    produce_range(cluster, topic, 200, 260)
    job.wait_for(260)
    job.end()


def test_offset_out_of_range(cluster):
    topic = cluster.topic("lost")
    job = Running(cluster, topic, topic)
    job.start()
    produce_range(cluster, topic, 0, 10)
    job.wait_for(10)
    job.end()
    produce_range(cluster, topic, 10, 30)
    cluster.delete_records(topic, 0, 20)
    job.start()
    job.process.wait(timeout=30)
    error = job.process.communicate()[1]
    assert job.process.returncode != 0 and "has no offset 10 any more; there are 20 to 30" in error, error
    error = fails(cluster, topic, scan__startup__mode="specific-offsets", scan__startup__specific_offsets="partition:0,offset:3")
    assert "has no offset 3 any more" in error, error
    assert read(cluster, topic, scan__startup__mode="specific-offsets", scan__startup__specific_offsets="partition:0,offset:3",
                properties__auto__offset__reset="earliest") == rows(*range(20, 30))


def test_topic_vanishes(cluster):
    topic = cluster.topic("vanishes")
    job = Running(cluster, topic, topic, scan__topic_partition_discovery__interval="200 ms")
    job.start()
    produce_range(cluster, topic, 0, 5)
    job.wait_for(5)
    cluster.delete_topic(topic)
    job.process.wait(timeout=60)
    error = job.process.communicate()[1]
    assert job.process.returncode != 0 and f"there is no topic '{topic}'" in error, error


def test_outage(cluster):
    """The job says once that it waits, and goes on by itself."""
    topic = cluster.topic("outage", partitions=2)
    job = Running(cluster, topic, topic)
    job.start()
    produce_range(cluster, topic, 0, 40)
    job.wait_for(40)
    cluster.broker("kill", "1")
    time.sleep(3)
    assert job.process.poll() is None
    cluster.broker("restart", "1")
    produce_range(cluster, topic, 40, 80)
    job.wait_for(80, seconds=40)
    error = job.end(signal.SIGTERM)
    assert job.process.returncode == 0 and error.count("t waits for") == 1 and error.count("t goes on after") == 1, error


def test_starts_before_the_broker(cluster):
    topic = cluster.topic("early")
    produce_range(cluster, topic, 0, 5)
    cluster.broker("kill", "1")
    job = Running(cluster, topic, topic)
    job.start()
    time.sleep(1.5)
    assert job.process.poll() is None
    cluster.broker("restart", "1")
    job.wait_for(5, seconds=40)
    assert "waits for" in job.end(signal.SIGTERM)


# --- watermarks ---

def test_idle_partitions_do_not_hold_back(cluster):
    """A row that waits for the watermark comes out though the other partition never has a row."""
    topic = cluster.topic("idle", partitions=2)
    options = {"format": "json", "scan__startup__mode": "earliest-offset", "scan__watermark__idle_timeout": "300 ms"}
    process = cluster.start("SET 'pipeline.auto-watermark-interval' = '50 ms';\n" + cluster.table("t", TIMED, topic, **options)
                            + "SELECT id, CURRENT_WATERMARK(ts) IS NOT NULL FROM t;\n")
    for number in range(1, 40):
        cluster.produce(topic, [{"value": timed(number, number), "partition": 0}])
        time.sleep(0.2)
    process.send_signal(signal.SIGTERM)
    lines = process.communicate(timeout=20)[0].splitlines()
    assert lines[0] == "+I [1,false]" and "true" in lines[-1], lines


TIMED = "id BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts"


def timed(number, second):
    return json.dumps({"id": number, "ts": f"2026-01-01 00:00:{second:02}"})


def test_watermarks_are_those_of_partitions(cluster):
    """Late rows are dropped by the keep-first; the slower partition holds the watermark back, so none is late."""
    topic = cluster.topic("timed", partitions=2)
    cluster.produce(topic, [{"value": timed(i, 40 + i), "partition": 0} for i in range(5)]
                    + [{"value": timed(i, 10 + i), "partition": 1} for i in range(5)])
    query = "SELECT id, CAST(ts AS STRING) FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY ts) AS n FROM t) WHERE n = 1"
    lines = read(cluster, topic, TIMED, query, scan__watermark__emit__strategy="on-event")
    assert sorted(lines)[0].startswith("+I [0,"), lines
