"""A broker, and Rowtide's jobs on it, as the tests of this folder see them."""
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import uuid

from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


class Done:
    """What a job left: its exit code and what it said."""
    def __init__(self, code, out, error):
        self.code, self.out, self.error = code, out, error


class Record:
    """A record as it lies in a topic; key and value are text, or None."""
    def __init__(self, message):
        def text(content):
            return None if content is None else content.decode("utf-8", "backslashreplace")
        self.topic, self.partition, self.offset = message.topic(), message.partition(), message.offset()
        self.key, self.value = text(message.key()), text(message.value())
        self.bytes = (message.key(), message.value())
        self.timestamp = message.timestamp()[1]
        self.headers = message.headers() or []

    def json(self):
        return json.loads(self.value)


class Cluster:
    def __init__(self, rowtide, bootstrap=None):
        self.rowtide = os.path.abspath(rowtide)
        self.bootstrap = bootstrap or os.environ["KAFKA_BOOTSTRAP"]
        self.admin = AdminClient(self.client())
        self.folder = tempfile.mkdtemp(prefix="rowtide-kafka-test-")

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def client(self, **settings):
        """What a client of the library takes; it shall not write to the screen."""
        return {"bootstrap.servers": self.bootstrap, "log_level": 0, **settings}

    # --- topics and records ---
    def topic(self, name, partitions=1, **config):
        """Makes a topic of a name that no other test has, and returns it."""
        name = f"{name}-{uuid.uuid4().hex[:8]}"
        made = self.admin.create_topics([NewTopic(name, partitions, 1, config={key.replace("_", "."): str(value) for key, value in config.items()})])
        for future in made.values():
            future.result()
        # The broker hears of it a moment later than the controller; on a busy machine a job may ask in between.
        until = time.monotonic() + 30
        while name not in self.admin.list_topics(timeout=10).topics:
            assert time.monotonic() < until, f"topic {name} does not appear"
            time.sleep(0.01)
        return name

    def produce(self, topic, records, rate=None, **settings):
        """Each record is a value or (key, value) or a dict of what Producer.produce takes; `rate`: so many a second."""
        producer = Producer(self.client(**{"linger.ms": 5, "partitioner": "murmur2_random", **settings}))
        failed = []
        began = time.monotonic()
        for number, record in enumerate(records):
            if rate and number % 100 == 0:
                time.sleep(max(0, number / rate - (time.monotonic() - began)))
                producer.poll(0)
            if isinstance(record, dict):
                fields = dict(record)
            elif isinstance(record, tuple):
                fields = {"key": record[0], "value": record[1]}
            else:
                fields = {"value": record}
            while True:
                try:
                    producer.produce(topic, on_delivery=lambda error, _: error and failed.append(error), **fields)
                    break
                except BufferError:
                    producer.poll(0.1)
        assert producer.flush(60) == 0, "not all records could be written"
        assert not failed, failed

    def read(self, topic, committed=True, seconds=30):
        """All records of the topic up to its end as of now, partition by partition."""
        consumer = Consumer(self.client(**{"group.id": "test-reader", "enable.auto.commit": False, "enable.partition.eof": True,
                                           "auto.offset.reset": "earliest",
                                           "isolation.level": "read_committed" if committed else "read_uncommitted"}))
        try:
            partitions = consumer.list_topics(topic, 10).topics[topic].partitions
            ends = {}
            for partition in partitions:
                low, high = consumer.get_watermark_offsets(TopicPartition(topic, partition), 10)
                if high > low:
                    ends[partition] = high
            consumer.assign([TopicPartition(topic, partition, 0) for partition in ends])
            records, open_ones, until = [], set(ends), time.monotonic() + seconds
            while open_ones:
                assert time.monotonic() < until, f"the end of {topic} was not reached in {seconds} s"
                message = consumer.poll(0.2)
                if message is None:
                    continue
                if message.error() is None:
                    records.append(Record(message))
                elif message.error().code() == KafkaError._PARTITION_EOF:
                    open_ones.discard(message.partition())
                else:
                    raise AssertionError(message.error())
            return sorted(records, key=lambda record: (record.partition, record.offset))
        finally:
            consumer.close()

    def produce_in_transaction(self, topic, values, commit):
        producer = Producer(self.client(**{"transactional.id": uuid.uuid4().hex}))
        producer.init_transactions(30)
        producer.begin_transaction()
        for value in values:
            producer.produce(topic, value=value)
        producer.flush(30)
        if commit:
            producer.commit_transaction(30)
        else:
            producer.abort_transaction(30)

    def add_partitions(self, topic, count):
        for future in self.admin.create_partitions([NewPartitions(topic, count)]).values():
            future.result()

    def delete_topic(self, topic):
        for future in self.admin.delete_topics([topic]).values():
            future.result()

    def delete_records(self, topic, partition, before):
        path = os.path.join(self.folder, f"delete-{uuid.uuid4().hex[:8]}.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"version": 1, "partitions": [{"topic": topic, "partition": partition, "offset": before}]}, file)
        self.tool("delete-records", "--offset-json-file", path)

    # --- offsets of a group ---
    def commit(self, group, topic, partition, offset):
        consumer = Consumer(self.client(**{"group.id": group}))
        consumer.commit(offsets=[TopicPartition(topic, partition, offset)], asynchronous=False)
        consumer.close()

    def committed(self, group, topic, partition):
        consumer = Consumer(self.client(**{"group.id": group}))
        try:
            return consumer.committed([TopicPartition(topic, partition)], 10)[0].offset
        finally:
            consumer.close()

    def tool(self, name, *arguments):
        """One of Kafka's own, which shares no code with the client library. A JVM: about a second."""
        done = subprocess.run([os.path.join(HERE, "broker"), "tool", name, *arguments], check=False, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def console(self, topic, committed=True):
        """Lines `key|value` as Kafka's console consumer prints them; no value is `null`. It gives up when nothing comes for
        so long; on a busy machine that says nothing about the end, so it is asked again if it has fewer than there are."""
        wanted = len(self.read(topic, committed))
        for patience in ("3000", "15000", "60000"):
            lines = self.tool("console-consumer", "--topic", topic, "--from-beginning", "--timeout-ms", patience,
                              "--isolation-level", "read_committed" if committed else "read_uncommitted",
                              "--formatter-property", "print.key=true", "--formatter-property", "key.separator=|").splitlines()
            if len(lines) >= wanted:
                break
        return lines

    def broker(self, *arguments):
        subprocess.run([os.path.join(HERE, "broker"), *arguments], check=True)

    # --- jobs ---
    def table(self, name, columns, topic, connector="kafka", **options):
        """CREATE TABLE; in the names of options a double underscore is a dot and a single one a dash."""
        given = {"connector": connector, "topic": topic, "properties.bootstrap.servers": self.bootstrap}
        given.update({key.replace("__", ".").replace("_", "-"): str(value) for key, value in options.items()})
        listed = ", ".join(f"'{key}' = '{value}'" for key, value in given.items())
        return f"CREATE TABLE {name} ({columns}) WITH ({listed});\n"

    def rows(self, name, columns, lines):
        """CREATE TABLE of a csv file with these lines."""
        path = os.path.join(self.folder, f"{name}-{uuid.uuid4().hex[:8]}.csv")
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(line + "\n" for line in lines)
        return f"CREATE TABLE {name} ({columns}) WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'csv', 'csv.null-literal' = 'NULL');\n"

    def start(self, sql, *arguments):
        path = os.path.join(self.folder, f"job-{uuid.uuid4().hex[:8]}.sql")
        with open(path, "w", encoding="utf-8") as file:
            file.write(sql)
        return subprocess.Popen([self.rowtide, "run", *arguments, path], cwd=self.folder, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run(self, sql, *arguments, seconds=60):
        process = self.start(sql, *arguments)
        try:
            out, error = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            out, error = process.communicate()
            raise AssertionError(f"the job did not end in {seconds} s: {error}") from None
        return Done(process.returncode, out, error)

    def run_well(self, sql, *arguments, seconds=60):
        done = self.run(sql, *arguments, seconds=seconds)
        assert done.code == 0, f"exit code {done.code}: {done.error}"
        return done
