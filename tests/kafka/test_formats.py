"""Binary formats through a topic: what is written is read again, by the bytes that others write, too."""
import http.server
import json
import os
import subprocess
import threading

BOUNDED = {"scan__startup__mode": "earliest-offset", "scan__bounded__mode": "latest-offset"}
COLUMNS = "id BIGINT, name STRING, price DOUBLE"
LINES = ["1,ann,1.5", "-2,NULL,0.25", "3,\"é \"\"b\"\"\",NULL"]
ROWS = ['+I [1,"ann",1.5]', '+I [-2,null,0.25]', '+I [3,"é \\"b\\"",null]']


class Registry:
    """A schema registry with the calls that matter."""

    def __init__(self):
        self.schemas, self.subjects, self.asked = [], [], 0
        registry = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self, code, content):
                body = json.dumps(content).encode()
                self.send_response(code)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_GET(self):
                registry.asked += 1
                number = int(self.path.rsplit("/", 1)[1])
                found = number <= len(registry.schemas)
                self.answer(200 if found else 404, {"schema": registry.schemas[number - 1]} if found else {"message": "not found"})

            def do_POST(self):
                schema = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["schema"]
                registry.subjects.append(self.path.split("/")[2])
                if schema not in registry.schemas:
                    registry.schemas.append(schema)
                self.answer(200, {"id": registry.schemas.index(schema) + 1})

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_address[1]}"


def round_trip(cluster, name, **options):
    topic = cluster.topic(name)
    cluster.run_well(cluster.rows("source", COLUMNS, LINES) + cluster.table("t", COLUMNS, topic, **options)
                     + "INSERT INTO t SELECT * FROM source;\n")
    read = cluster.table("t", COLUMNS, topic, **BOUNDED, **options) + "SELECT * FROM t;\n"
    return topic, cluster.run_well(read).out.splitlines()


def test_avro(cluster):
    assert round_trip(cluster, "avro", format="avro")[1] == ROWS


def test_avro_as_json(cluster):
    topic, rows = round_trip(cluster, "avro-json", format="avro", avro__encoding="json")
    assert rows == ROWS
    assert [record.value for record in cluster.read(topic)][0] == '{"id":{"long":1},"name":{"string":"ann"},"price":{"double":1.5}}'


def test_avro_with_a_registry(cluster):
    registry = Registry()
    topic, rows = round_trip(cluster, "confluent", format="avro-confluent", **{"avro-confluent__url": registry.url})
    assert rows == ROWS
    assert registry.subjects == [f"{topic}-value"]
    assert registry.asked == 1
    assert json.loads(registry.schemas[0])["fields"][0] == {"name": "id", "type": ["null", "long"], "default": None}


def test_protobuf(cluster):
    path = os.path.join(cluster.folder, "row.proto")
    with open(path, "w", encoding="utf-8") as file:
        file.write('syntax = "proto3"; package test; message Row { optional int64 id = 1; optional string name = 2; optional double price = 3; }')
    subprocess.run(["protoc", "--include_imports", f"--descriptor_set_out={path}.desc", f"-I{cluster.folder}", path], check=True)
    topic, rows = round_trip(cluster, "protobuf", format="protobuf", protobuf__descriptor_file=path + ".desc",
                             protobuf__message_class_name="test.Row")
    assert rows == ROWS
    assert cluster.read(topic)[0].value == "\x08\x01\x12\x03ann\x19" + "\0" * 6 + "\\xf8?"
