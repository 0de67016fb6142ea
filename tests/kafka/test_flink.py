"""The same rows as Flink gives over the same topics: flink_rows.test has what Flink's Kafka connector gave.

Flink records it anew, over a broker that has these topics, once their names and the address are put in (`fill`).
"""
import os
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))

TOPICS = {
    "fj": ['{"id":1,"v":"a"}', '', None, '[{"id":4,"v":"d"},{"id":5}]', '{"id":"x","v":"e"}', '{\n"id":6,\n"v":"f"}\n', 'null', '7', '{"id":8}}', '{"id":9,"v":"g"}'],
    "fje": ['{"id":1,"v":"a"}', '', '{"id":2,"v":"b"}'],
    "fc": ['1,a', '', None, '2,b\n', '3,c\n4,d', '5,"e\nf"', 'x,g', '6', '7,h,i', '8,j'],
    "fc2": ['1,a', '3,c\n4,d', '2,b'],
    "fc3": ['1,a', '', '2,b'],
    "fr": ['a', '', None, 'b\nc\r\n'],
    "fk": [('{"id":1}','{"v":"a"}'), (None,'{"v":"b"}'), ('{"id":2}',None), ('','{"v":"c"}'), ('{"id":3}','{"v":"d"}')],
    "fu": [('{"id":1}','{"id":1,"v":"a"}'), ('{"id":2}','{"id":2,"v":"b"}'), ('{"id":1}','{"id":1,"v":"c"}'), ('{"id":2}',None), ('{"id":9}',None), (None,'{"id":4,"v":"x"}'), ('{"id":5}','{"id":6,"v":"y"}'), ('{"id":1}','{"id":1,"v":"c"}'), (None,None), ('{"id":1}',None)],
    "fd": ['{"before":null,"after":{"id":1,"v":"a"},"op":"c"}', None, '', '{"before":{"id":1,"v":"a"},"after":{"id":1,"v":"b"},"op":"u"}', '{"before":{"id":1,"v":"b"},"after":null,"op":"d"}', '{"before":null,"after":{"id":2,"v":"z"},"op":"r"}'],
}


def fill(cluster):
    """The script over topics that hold these records."""
    with open(os.path.join(HERE, "flink_rows.test"), encoding="utf-8") as file:
        script = file.read().replace("BOOTSTRAP", cluster.bootstrap)
    for name, records in TOPICS.items():
        topic = cluster.topic(name)
        cluster.produce(topic, records)
        script = script.replace(f"'topic'='{name}'", f"'topic'='{topic}'")
    path = os.path.join(cluster.folder, "flink_rows.test")
    with open(path, "w", encoding="utf-8") as file:
        file.write(script)
    return path


def test_rows_are_those_of_flink(cluster):
    done = subprocess.run([cluster.rowtide, "test", fill(cluster)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout
