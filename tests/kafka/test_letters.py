"""Records that do not decode: into a topic of dead letters, byte for byte, and back out of it and of a file (rowtide requeue)."""
import json
import os
import signal
import subprocess
import time

from test_sources import BOUNDED, ROW, Running, fails, numbered, read, rows, value

OURS = ["rowtide.error", "rowtide.topic", "rowtide.partition", "rowtide.offset"]


def settings(place, table="t"):
    return f"SET 'rowtide.bad-data.{table}' = 'dead-letter';\nSET 'rowtide.dead-letter.{table}' = '{place}';\n"


def contents(record):
    """What requeue must bring back: key, value and headers, as bytes."""
    return (*record.bytes, list(record.headers))


def letters(cluster, topic, **more):
    """(topic, partition, offset, error, contents) of each letter there."""
    found = []
    for record in cluster.read(topic, **more):
        assert [name for name, _ in record.headers[-4:]] == OURS, record.headers
        error, source, partition, offset = (content.decode() for _, content in record.headers[-4:])
        found.append((source, int(partition), int(offset), error, (*record.bytes, record.headers[:-4])))
    return found


BAD = [{"key": "k", "value": "no json", "headers": [("h", b"1"), ("h", None), ("e", b"")]},
       {"key": b"\xff\x00", "value": b'{"id":"\xfe"}'},
       {"value": '{"id":"x"}', "headers": [("rowtide.topic", b"mine"), ("rowtide.offset", b"no number")]},
       {"key": b"", "value": '{"id":' + "[" * 2000},
       {"key": "same", "value": '{"id":1'}, {"key": "same", "value": '{"id":1'}]


def mixed(first=0):
    """Good rows and the bad ones, in turns."""
    records = []
    for number, bad in enumerate(BAD, first):
        records += [value(number, f"r{number}"), bad]
    return records


def contents_of(bad):
    def raw(text):
        return text.encode() if isinstance(text, str) else text
    return (raw(bad.get("key")), raw(bad["value"]), bad.get("headers", []))


def test_letters_are_the_records(cluster):
    topic, dead = cluster.topic("orders"), cluster.topic("dead")
    cluster.produce(topic, mixed())
    assert read(cluster, topic, settings=settings("topic:" + dead)) == rows(*range(len(BAD)))
    found = letters(cluster, dead)
    assert [(source, partition, offset) for source, partition, offset, _, _ in found] == [(topic, 0, 2 * i + 1) for i in range(len(BAD))]
    assert [letter[4] for letter in found] == [contents_of(bad) for bad in BAD], found
    assert found[0][3].startswith("RT4001 undecodable: "), found[0]
    assert found[2][3].startswith("RT4001 cast: column 'id': "), found[2]
    # None are written where none are bad, nor under another policy.
    cluster.produce(topic, numbered(100))
    read(cluster, topic, settings="SET 'rowtide.bad-data.t' = 'skip';\n")
    assert len(letters(cluster, dead)) == len(BAD)


def test_a_key_and_a_value_that_are_bad_make_one_letter(cluster):
    topic, dead = cluster.topic("keyed"), cluster.topic("keyed-dead")
    records = [("{", "{"), ('{"id":1}', "{"), ("{", value(2, "r2")), ('{"id":3}', value(3, "r3")), (None, value(4, "r4")), ("{", None)]
    cluster.produce(topic, records)
    upsert = {"connector": "upsert-kafka", "format": None, "key__format": "json", "value__format": "json", "scan__startup__mode": None}
    found = read(cluster, topic, "id BIGINT, v STRING, PRIMARY KEY (id) NOT ENFORCED", settings=settings("topic:" + dead), **upsert)
    assert found == ['+I [3,"r3"]'], found
    assert sorted(letter[2] for letter in letters(cluster, dead)) == [0, 1, 2, 4, 5]
    assert [letter[4][:2] for letter in sorted(letters(cluster, dead))] == [
        tuple(text and text.encode() for text in records[offset]) for offset in (0, 1, 2, 4, 5)]


def test_where_letters_cannot_go(cluster):
    topic, dead = cluster.topic("orders"), cluster.topic("dead")
    error = fails(cluster, topic, settings=settings("topic:" + dead[:-1]))
    assert "RT2017" in error and f"there is no topic '{dead[:-1]}'" in error and f"did you mean '{dead}'" in error, error
    error = fails(cluster, topic, settings=settings("topic:"))
    assert "names no topic" in error and "topic:NAME" in error, error
    error = fails(cluster, topic, settings=settings("topic:" + topic))
    assert "RT5002" in error and topic in error and "table" in error, error
    sql = settings("topic:" + dead) + cluster.table("t", ROW, topic, format="json", **BOUNDED).replace(f"'topic' = '{topic}'", "'topic-pattern' = '(orders|dead)-.*'")
    done = cluster.run(sql + "SELECT * FROM t;\n")
    assert done.code == 2 and "RT5002" in done.error and dead in done.error, done.error
    done = cluster.run(settings("topic:" + dead) + cluster.rows("t", "id BIGINT", ["x"]) + "SELECT * FROM t;\n")
    assert done.code == 2 and "is none of Kafka's" in done.error, done.error


def bad_ones(first, end):
    """Good rows with a bad one behind each; the bad ones have numbers as well."""
    return [record for i in range(first, end) for record in ((str(i), value(i, f"r{i}")), (str(i), f"bad {i}"))]


def test_no_letter_is_lost_when_a_job_is_killed(cluster):
    topic, dead = cluster.topic("killed", partitions=2), cluster.topic("killed-dead")
    job = Running(cluster, topic, topic)
    job.sql = settings("topic:" + dead) + job.sql
    for run in range(3):
        job.start()
        cluster.produce(topic, bad_ones(200 * run, 200 * run + 200))
        job.wait_for(200 * run + 200)
        job.end(signal.SIGTERM if run == 2 else signal.SIGKILL)
    wanted = {f"bad {i}".encode() for i in range(600)}
    found = [letter[4][1] for letter in letters(cluster, dead)]
    assert set(found) == wanted, (len(found), wanted - set(found))
    # Those behind the last checkpoint are there again, and no others.
    assert len(found) < 2 * len(wanted)


def test_letters_are_in_the_transaction_of_their_rows(cluster):
    topic, dead, target = cluster.topic("exact", partitions=2), cluster.topic("exact-dead"), cluster.topic("exact-target")
    state = os.path.join(cluster.folder, topic)
    exact = {"sink__delivery_guarantee": "exactly-once", "sink__transactional_id_prefix": topic}
    sql = ("SET 'execution.checkpointing.interval' = '100 ms';\nSET 'rowtide.source-threads' = '1';\n" + settings("topic:" + dead)
           + cluster.table("t", ROW, topic, format="json", scan__startup__mode="earliest-offset")
           + cluster.table("s", ROW, target, format="json", **exact) + "INSERT INTO s SELECT * FROM t;\n")
    count = 0
    for run in range(4):
        process = cluster.start(sql, "--state", state)
        until = time.monotonic() + 30
        for _ in range(3):
            cluster.produce(topic, bad_ones(count, count + 150))
            count += 150
            time.sleep(0.15)
        while run == 3 and len(cluster.read(target)) < count:
            assert process.poll() is None and time.monotonic() < until, process.communicate()
            time.sleep(0.1)
        process.send_signal(signal.SIGTERM if run == 3 else signal.SIGKILL)
        error = process.communicate(timeout=30)[1]
    assert process.returncode == 0, error
    assert sorted(record.json()["id"] for record in cluster.read(target)) == list(range(count))
    found = sorted(int(letter[4][1].split()[1]) for letter in letters(cluster, dead))
    assert found == list(range(count)), f"{len(found)} letters of {count}"


# --- back ---

def requeue(cluster, sql, *arguments):
    path = os.path.join(cluster.folder, "requeue.sql")
    with open(path, "w", encoding="utf-8") as file:
        file.write(sql)
    return subprocess.run([cluster.rowtide, "requeue", path, *arguments], cwd=cluster.folder, check=False, timeout=60,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def puts_back(cluster, sql, wanted, *arguments):
    done = requeue(cluster, sql, *arguments)
    assert done.returncode == 0 and done.stdout == wanted + "\n", (done.stdout, done.stderr)
    return done.stderr


def script(cluster, topic, place):
    return settings(place) + cluster.table("t", ROW, topic, format="json", **BOUNDED) + "SELECT * FROM t;\n"


def back_and_not_twice(cluster, topic, place):
    """What both forms of letters must do; `topic` has the records of mixed(), and their letters are written."""
    sql, name = script(cluster, topic, place), f"topic '{topic}'"
    before = cluster.read(topic)
    puts_back(cluster, sql, f"{len(BAD)} records of table 't' would go back into {name}", "--dry-run")
    assert len(cluster.read(topic)) == len(before)
    puts_back(cluster, sql, f"{len(BAD)} records of table 't' are back in {name}", "t")
    after = cluster.read(topic)
    assert sorted(map(repr, map(contents, after[len(before):]))) == sorted(map(repr, map(contents_of, BAD))), after[len(before):]
    puts_back(cluster, sql, "no record of table 't' to put back")
    assert len(cluster.read(topic)) == len(after)


def test_out_of_a_topic(cluster):
    topic, dead = cluster.topic("back", partitions=3), cluster.topic("back-dead", partitions=2)
    cluster.produce(topic, [{"partition": 1, **(record if isinstance(record, dict) else {"value": record})} for record in mixed()])
    read(cluster, topic, settings=settings("topic:" + dead))
    back_and_not_twice(cluster, topic, "topic:" + dead)
    assert {record.partition for record in cluster.read(topic)} == {1}
    # They are bad still: their letters are new ones.
    assert read(cluster, topic, settings=settings("topic:" + dead)) == rows(*range(len(BAD)))
    assert len(letters(cluster, dead)) == 3 * len(BAD)
    puts_back(cluster, script(cluster, topic, "topic:" + dead), f"{2 * len(BAD)} records of table 't' are back in topic '{topic}'")


def test_many_out_of_a_topic(cluster):
    topic, dead = cluster.topic("many"), cluster.topic("many-dead")
    cluster.produce(topic, [f"bad {i}" for i in range(2500)])
    assert read(cluster, topic, settings=settings("topic:" + dead)) == []
    puts_back(cluster, script(cluster, topic, "topic:" + dead), f"2500 records of table 't' are back in topic '{topic}'")
    assert sorted(record.value for record in cluster.read(topic)) == sorted(2 * [f"bad {i}" for i in range(2500)])


def test_out_of_a_file(cluster):
    topic = cluster.topic("file")
    path = os.path.join(cluster.folder, topic + ".ndjson")
    cluster.produce(topic, mixed())
    read(cluster, topic, settings=settings(path))
    back_and_not_twice(cluster, topic, path)
    # Records are known by their places and bytes: the file may be written anew, in any order.
    with open(path, encoding="utf-8") as file:
        lines = file.readlines()
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(reversed(lines[1:]))
    said = puts_back(cluster, script(cluster, topic, path), "no record of table 't' to put back")
    assert f"{len(BAD) - 1} records were put back before" in said, said


def test_letters_of_a_bad_key_have_the_value(cluster):
    topic = cluster.topic("keys")
    path = os.path.join(cluster.folder, topic + ".ndjson")
    cluster.produce(topic, [("{", value(1, "r1")), ("{", None)])
    upsert = {"connector": "upsert-kafka", "key__format": "json", "value__format": "json", "scan__bounded__mode": "latest-offset"}
    sql = settings(path) + cluster.table("t", "id BIGINT, v STRING, PRIMARY KEY (id) NOT ENFORCED", topic, **upsert) + "SELECT * FROM t;\n"
    assert cluster.run_well(sql).out == ""
    puts_back(cluster, sql, f"2 records of table 't' are back in topic '{topic}'")
    found = [contents(record) for record in cluster.read(topic)]
    assert found[2:] == found[:2], found


def test_letters_that_are_left(cluster):
    topic, other, dead = cluster.topic("mine"), cluster.topic("other"), cluster.topic("shared-dead")
    for name in (topic, other):
        cluster.produce(name, ["bad"])
        read(cluster, name, settings=settings("topic:" + dead))
    cluster.produce(dead, ["no letter"])
    said = puts_back(cluster, script(cluster, topic, "topic:" + dead), f"1 record of table 't' is back in topic '{topic}'")
    assert "1 letter is about records of topics that the table is not read from" in said, said
    assert f"topic '{dead}', partition 0, offset 2" in said and "rowtide.error" in said, said
    puts_back(cluster, script(cluster, other, "topic:" + dead), f"1 record of table 't' is back in topic '{other}'")
    path = os.path.join(cluster.folder, dead + ".ndjson")
    with open(path, "w", encoding="utf-8") as file:
        file.write('{"file":"a.csv","line":1}\nno json\n' + json.dumps({"topic": topic, "partition": 0, "offset": 0, "truncated": True}) + "\n")
    said = puts_back(cluster, script(cluster, topic, path), "no record of table 't' to put back")
    assert f"3 letters cannot be put back; the first: {path}, line 1: the record stood in a file" in said, said


def test_requeue_says_what_is_wrong(cluster):
    topic, dead = cluster.topic("wrong"), cluster.topic("wrong-dead")
    sql = script(cluster, topic, "topic:" + dead)
    for text, arguments, code, parts in (
            (sql, ["u"], 2, ["makes no table 'u'"]),
            (sql.replace("rowtide.dead-letter.t", "rowtide.dead-letter.u"), ["t"], 2, ["table 't' has no dead letters", "rowtide.dead-letter"]),
            (cluster.table("t", ROW, topic, format="json"), [], 2, ["has no dead letters"]),
            (sql + settings("x.ndjson", "r") + cluster.rows("r", "id INT", ["1"]), [], 2, ["several tables have dead letters: r, t", "name one"]),
            (settings("x.ndjson", "r") + cluster.rows("r", "id INT", ["1"]), [], 2, ["table 'r'", "'filesystem'"]),
            (script(cluster, topic, "topic:" + dead[:-1]), [], 2, ["RT2017", f"did you mean '{dead}'"]),
            (script(cluster, topic, "nowhere.ndjson"), [], 4, ["RT5001", "nowhere.ndjson"]),
            ("CREATE TABLE", [], 2, ["requeue.sql:1"])):
        done = requeue(cluster, text, *arguments)
        assert done.returncode == code and all(part in done.stderr for part in parts), (parts, done.returncode, done.stderr)
