"""Ten thousand malformed, oversized, truncated, wrong-schema and hostile records, among good ones, in every format: none crash,
each is a row or a letter, the good ones are all through, and letters are what was sent. Seeded."""
import json
import os
import random
import re
import struct
import subprocess

from test_formats import BOUNDED, Registry
from test_letters import contents, letters, settings

COLUMNS = "id BIGINT, name STRING, price DOUBLE"
SEED = 20261201
BAD = 1000  # of each format
GOOD = 300
RECORD_BYTES = 20000  # 'rowtide.limits.record-bytes'
SCHEMA = {"type": "record", "name": "record", "fields": [
    {"name": name, "type": ["null", kind], "default": None} for name, kind in (("id", "long"), ("name", "string"), ("price", "double"))]}


def varint(number):
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out + bytearray([number]))


def avro(number, name, price):
    zigzag, text = varint(number << 1), name.encode()
    return b"\x02" + zigzag + b"\x02" + varint(len(text) << 1) + text + b"\x02" + struct.pack("<d", price)


def protobuf(number, name, price):
    text = name.encode()
    return b"\x08" + varint(number) + b"\x12" + varint(len(text)) + text + b"\x19" + struct.pack("<d", price)


def as_json(wrap):
    return lambda *row: json.dumps(wrap(dict(zip(("id", "name", "price"), row)))).encode()


# What a good row is in each format; the options of its table.
FORMATS = {
    "json": (as_json(lambda row: row), {}),
    "csv": (lambda *row: "{},{},{}".format(*row).encode(), {}),
    "raw": (lambda number, name, price: f"{number} {name}".encode(), {}),
    "debezium-json": (as_json(lambda row: {"before": None, "after": row, "op": "c"}), {}),
    "canal-json": (as_json(lambda row: {"data": [row], "type": "INSERT"}), {}),
    "maxwell-json": (as_json(lambda row: {"data": row, "type": "insert"}), {}),
    "ogg-json": (as_json(lambda row: {"after": row, "op_type": "I"}), {}),
    "avro": (avro, {}),
    "avro-confluent": (lambda *row: b"\0\0\0\0\1" + avro(*row), {}),
    "protobuf": (protobuf, {}),
}
# A message may be several records: lines, or elements of an array.
SEVERAL = ("csv", "json")

HOSTILE = [b"\x00" * 40, b"\xff\xfe{}", b"[" * 3000, b"{\"id\":" * 1500, b"{}" * 500, b"9" * 400, b"{\"id\":" + b"9" * 400 + b"}", b"\"", b"{\"id\":1,\"id\":2",
           b"null", b"true", b"[]", b"[{}]", b"\xed\xa0\x80", b"\"\\ud800\"", b"a,b,c\nd,e,f", b"\"open,1,2", b"\x80" * 11, b"\0" + b"\xff" * 30,
           b"\x02" * 60, b"\xff" * 9 + b"\x01", b"\x12\xff\xff\xff\xff\x0f", b"\x0b" * 200, b"${HOME}", b"'; DROP TABLE t; --", b"\r\n\r\n", b"\xef\xbb\xbf1,a,2"]


def bad_value(random_, good, encode):
    """One that is malformed, truncated, too large, of another schema, or meant to do harm."""
    kind = random_.randrange(7)
    if kind == 0:
        return good[:random_.randrange(len(good))]
    if kind == 1:
        changed = bytearray(good)
        for _ in range(random_.randrange(1, 4)):
            changed[random_.randrange(len(changed))] = random_.randrange(256)
        return bytes(changed)
    if kind == 2:
        return random_.randbytes(random_.randrange(1, 60))
    if kind == 3:
        return encode(1, "x" * random_.randrange(RECORD_BYTES, RECORD_BYTES + 50), 1.0) if random_.randrange(10) == 0 else good + good
    if kind == 4:
        other = {"id": random_.choice(["x", [1], {"a": 1}, 1e300, True, None]), "name": random_.choice([7, ["n"], None]), "price": "dear"}
        return json.dumps(random_.choice([other, {"before": other, "after": other, "op": "u"}, {"before": None, "after": other, "op": "u"},
                                          {"data": [other], "old": [other], "type": "UPDATE"}, {"data": other, "type": "delete"},
                                          {"after": other, "op_type": "X"}, [other], {"op": 7, "type": [], "op_type": {}}])).encode()
    if kind == 5:
        at = random_.randrange(len(good) + 1)
        return good[:at] + random_.choice(HOSTILE) + good[at:]
    return random_.choice(HOSTILE)


def records_of(name, encode):
    """(records as they are sent, rows that must come out)"""
    random_ = random.Random(f"{SEED} {name}")
    is_good = [True] * GOOD + [False] * BAD
    random_.shuffle(is_good)
    records, rows = [], []
    for offset, good in enumerate(is_good):
        number = 1000000 + offset
        row = (number, f"n{number}", number / 8)
        sent = encode(*row) if good else bad_value(random_, encode(*row), encode)
        if not good and random_.randrange(40) == 0:
            sent = None
        if good:
            rows.append(f'+I ["{number} n{number}",{offset}]' if name == "raw" else f'+I [{number},"n{number}",{number / 8},{offset}]')
        records.append({"key": random_.choice([None, b"", random_.randbytes(4), str(number).encode()]), "value": sent,
                        "headers": [("number", str(number).encode())] if random_.randrange(3) else []})
    return records, rows


def check_format(cluster, name, encode, options):
    topic, dead = cluster.topic("hostile"), cluster.topic("hostile-dead")
    records, rows = records_of(name, encode)
    cluster.produce(topic, [dict(record, partition=0) for record in records])
    sql = (f"SET 'rowtide.limits.record-bytes' = '{RECORD_BYTES}';\n" + settings("topic:" + dead)
           + cluster.table("t", ("name STRING" if name == "raw" else COLUMNS) + ", o BIGINT METADATA FROM 'offset'", topic, format=name,
                           **BOUNDED, **options) + "SELECT * FROM t;\n")
    done = cluster.run_well(sql, "--stats")
    out = done.out.splitlines()
    read, sign, emitted, rejected = re.search(r"(\d+) records read (!?=) (\d+) rows emitted \+ (\d+) rejected", done.error).groups()
    empty = re.search(r"empty_message=(\d+)", done.error)
    empty = 0 if empty is None else int(empty[1])
    counts = f"{name}: {read} {sign} {emitted} + {rejected}, {empty} empty, {len(out)} rows printed"
    # in = out + rejected
    assert sign == "=" and int(emitted) == len(out), counts
    # The good ones are all through, in order.
    left = iter(out)
    missing = [row for row in rows if row not in left]
    assert not missing, f"{counts}: {missing[0]} is missing"
    # A letter is what was sent.
    found = letters(cluster, dead)
    bad = {letter[2] for letter in found}
    assert len(found) == len(bad) <= int(rejected) and (name in SEVERAL or len(bad) == int(rejected)), f"{counts}: {len(found)} letters"
    # Each message is rows, or a letter, or empty.
    seen = bad | {int(row[row.rindex(",") + 1:-1]) for row in out}
    lost = [offset for offset in range(len(records)) if offset not in seen]
    assert len(lost) == empty, f"{counts}: {len(lost)} are nowhere, as {[records[offset]['value'] for offset in lost]}"
    sent = cluster.read(topic)
    for source, partition, offset, error, content in found:
        assert (source, partition) == (topic, 0) and content == contents(sent[offset]), (name, offset, error)
        record = records[offset]
        assert content == (record["key"], record["value"], record["headers"]), (name, offset, error)
    return len(found)


def options_of(cluster, registry):
    path = os.path.join(cluster.folder, "hostile.proto")
    with open(path, "w", encoding="utf-8") as file:
        file.write('syntax = "proto3"; package test; message Row { optional int64 id = 1; optional string name = 2; optional double price = 3; }')
    subprocess.run(["protoc", "--include_imports", f"--descriptor_set_out={path}.desc", f"-I{cluster.folder}", path], check=True)
    registry.schemas.append(json.dumps(SCHEMA))
    return {"protobuf": {"protobuf__descriptor_file": path + ".desc", "protobuf__message_class_name": "test.Row"},
            "avro-confluent": {"avro-confluent__url": registry.url}}


def test_ten_thousand_hostile_records(cluster):
    more = options_of(cluster, Registry())
    assert BAD * len(FORMATS) >= 10000
    kept = {name: check_format(cluster, name, encode, {**options, **more.get(name, {})}) for name, (encode, options) in FORMATS.items()}
    # What is no record of the format makes letters; of raw, only what is too large.
    assert all(count > BAD / 4 for name, count in kept.items() if name != "raw") and 0 < kept["raw"] < BAD / 4, kept
