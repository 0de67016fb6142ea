"""Brokers that ask who one is: SASL and TLS by `properties.*` in Flink's names, refusals that say why, secrets that nobody sees."""
import atexit
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

import confluent_kafka

from cluster import HERE, Cluster

ROW = "id BIGINT, v STRING"
LINES = [{"id": 1, "v": "a"}, {"id": 2, "v": None}, {"id": 3, "v": "c"}]
PLAIN, SCRAM = (f"org.apache.kafka.common.security.{module}LoginModule" for module in ("plain.Plain", "scram.Scram"))

# Of the library that Rowtide uses as well: before it, no password is right for SCRAM with Kafka 4.
DOES_SCRAM = confluent_kafka.libversion()[1] >= 0x02060100


class Secured:
    """A broker of its own that listens in every way, made when the first test here asks for it."""
    made = None

    @classmethod
    def of(cls, cluster):
        cls.made = cls.made or cls(cluster.rowtide)
        return cls.made

    def __init__(self, rowtide):
        self.folder = tempfile.mkdtemp(prefix="rowtide-kafka-secured-")
        atexit.register(self.close)
        self.cluster = Cluster(rowtide, self.script("start", "--secure"))
        self.listeners = {name: self.script("listener", name) for name in ("SASL", "SASLTLS", "TLS", "MTLS")}
        self.password = self.read("password").strip()

    def close(self):
        self.script("stop")
        shutil.rmtree(self.folder, ignore_errors=True)

    def script(self, verb, *arguments):
        return subprocess.run([os.path.join(HERE, "broker"), verb, "--dir", self.folder + "/data", *arguments], check=True,
                              stdout=subprocess.PIPE, text=True).stdout.strip()

    def path(self, name):
        return f"{self.folder}/data/secure/{name}"

    def read(self, name):
        with open(self.path(name), encoding="ascii") as file:
            return file.read()

    # --- options ---
    def trust(self, authority="ca.pem"):
        return {"properties.ssl.truststore.type": "PEM", "properties.ssl.truststore.location": self.path(authority)}

    def login(self, mechanism, module, tls=False, password=None):
        jaas = f'{module} required username="rowtide" password="{password or self.password}";'
        return {"properties.security.protocol": "SASL_SSL" if tls else "SASL_PLAINTEXT", "properties.sasl.mechanism": mechanism,
                "properties.sasl.jaas.config": jaas, **(self.trust() if tls else {})}

    def ssl(self, **more):
        return {"properties.security.protocol": "SSL", **self.trust(), **{key.replace("__", "."): value for key, value in more.items()}}

    def certificate(self):
        return self.ssl(properties__ssl__keystore__type="PEM", properties__ssl__keystore__location=self.path("client.pem"),
                        properties__ssl__key__password=self.password)

    def table(self, name, topic, listener, options, **more):
        return self.cluster.table(name, ROW, topic, format="json",
                                  **{"properties.bootstrap.servers": self.listeners[listener], **options, **more})

    def source(self, topic, listener, options, **more):
        return self.table("source", topic, listener, options, **{"scan.startup.mode": "earliest-offset",
                                                                 "scan.bounded.mode": "latest-offset", **more})

    def filled(self):
        topic = self.cluster.topic("in")
        self.cluster.produce(topic, [json.dumps(line) for line in LINES])
        return topic

    # --- what must hold ---
    def goes_through(self, listener, options, *arguments, **more):
        """A job reads and writes there, and shows no secret."""
        target = self.cluster.topic("out")
        sql = (self.source(self.filled(), listener, options) + self.table("target", target, listener, options, **more)
               + "INSERT INTO target SELECT * FROM source;\n")
        done = self.cluster.run_well(sql, *arguments)
        assert [record.json() for record in self.cluster.read(target)] == LINES
        self.hides(done.out + done.error)

    def hides(self, text):
        for secret in (self.password, self.read("client.key").splitlines()[1]):
            assert secret not in text, text.replace(secret, "[THE SECRET]")

    def is_refused(self, listener, options, *words, source=True):
        """By the source or by the sink, soon, with these words, and not by waiting."""
        topic, began = self.filled(), time.monotonic()
        if source:
            sql = self.source(topic, listener, options) + "SELECT * FROM source;\n"
        else:
            sql = self.table("target", topic, listener, options) + "INSERT INTO target VALUES (1, 'a');\n"
        done = self.cluster.run(sql)
        assert done.code == 2 and "RT5003" in done.error, f"exit code {done.code}: {done.error}"
        for word in words:
            assert re.search(word, done.error), f"no {word} in: {done.error}"
        assert time.monotonic() - began < 15, done.error
        self.hides(done.error)
        assert "wr0ng-hush" not in done.error, done.error
        assert len(self.cluster.read(topic)) == len(LINES)


def test_names_and_passwords(cluster):
    secured = Secured.of(cluster)
    shaded = "org.apache.flink.kafka.shaded." + PLAIN
    for module in (PLAIN, shaded):
        secured.goes_through("SASL", secured.login("PLAIN", module))


def test_scram(cluster):
    secured = Secured.of(cluster)
    for listener, mechanism in (("SASL", "SCRAM-SHA-256"), ("SASL", "SCRAM-SHA-512"), ("SASLTLS", "SCRAM-SHA-512")):
        options = secured.login(mechanism, SCRAM, tls=listener == "SASLTLS")
        if DOES_SCRAM:
            secured.goes_through(listener, options)
        else:
            secured.is_refused(listener, options, "cannot do SCRAM with brokers of Kafka 4", "2.6.1")


def test_encrypted(cluster):
    secured = Secured.of(cluster)
    secured.goes_through("TLS", secured.ssl())
    secured.goes_through("SASLTLS", secured.login("PLAIN", PLAIN, tls=True))


def test_certificates_of_clients(cluster):
    secured = Secured.of(cluster)
    secured.goes_through("MTLS", secured.certificate())
    secured.goes_through("MTLS", secured.ssl(properties__ssl__keystore__type="PKCS12", properties__ssl__keystore__location=secured.path("client.p12"),
                                             properties__ssl__keystore__password=secured.password))


def test_certificates_in_options(cluster):
    secured = Secured.of(cluster)
    secured.goes_through("MTLS", {"properties.security.protocol": "SSL", "properties.ssl.truststore.type": "PEM",
                                  "properties.ssl.truststore.certificates": secured.read("ca.pem"),
                                  "properties.ssl.keystore.type": "PEM", "properties.ssl.keystore.key": secured.read("client.key"),
                                  "properties.ssl.keystore.certificate.chain": secured.read("client.crt")})


def test_names_of_librdkafka(cluster):
    secured = Secured.of(cluster)
    secured.goes_through("SASLTLS", {"properties.security.protocol": "sasl_ssl", "properties.ssl.ca.location": secured.path("ca.pem"),
                                     "properties.sasl.mechanisms": "PLAIN", "properties.sasl.username": "rowtide",
                                     "properties.sasl.password": secured.password})


def test_exactly_once_and_what_is_kept(cluster):
    """The producer, the reader of markers and the questions to brokers; and no secret in the folder of the state."""
    secured = Secured.of(cluster)
    folder = os.path.join(secured.folder, "state")
    for listener, options in (("SASLTLS", secured.login("PLAIN", PLAIN, tls=True)), ("MTLS", secured.certificate())):
        secured.goes_through(listener, options, "--state", os.path.join(folder, listener), **{"sink.delivery-guarantee": "exactly-once",
                                                                     "sink.transactional-id-prefix": listener})
    files = [os.path.join(place, name) for place, _, names in os.walk(folder) for name in names]
    assert any("chk-" in path for path in files), files
    for path in files:
        with open(path, "rb") as file:
            secured.hides(file.read().decode("latin-1"))


def test_wrong_passwords(cluster):
    secured = Secured.of(cluster)
    for mechanism, module in (("PLAIN", PLAIN), ("SCRAM-SHA-256", SCRAM)):
        for source in (True, False):
            secured.is_refused("SASL", secured.login(mechanism, module, password="wr0ng-hush"), "(?i)authentication failed", "sasl.jaas.config",
                               source=source)
    secured.is_refused("SASLTLS", secured.login("PLAIN", PLAIN, tls=True, password="wr0ng-hush"), "(?i)authentication failed")


def test_wrong_password_exactly_once(cluster):
    secured = Secured.of(cluster)
    options = secured.login("SCRAM-SHA-512", SCRAM, password="wr0ng-hush")
    sql = secured.table("target", secured.filled(), "SASL", options, **{"sink.delivery-guarantee": "exactly-once",
                                                                        "sink.transactional-id-prefix": "wrong"})
    done = secured.cluster.run(sql + "INSERT INTO target VALUES (1, 'a');\n", "--state", os.path.join(secured.folder, "wrong-state"))
    assert done.code == 2 and "RT5003" in done.error and "wr0ng-hush" not in done.error, done.error


def test_authorities_that_one_side_does_not_know(cluster):
    secured = Secured.of(cluster)
    for source in (True, False):
        secured.is_refused("TLS", {"properties.security.protocol": "SSL", **secured.trust("unknown.pem")}, "certificate verify failed",
                           "ssl.truststore.location", source=source)
    secured.is_refused("TLS", {"properties.security.protocol": "SSL"}, "certificate verify failed")
    stranger = secured.ssl(properties__ssl__keystore__type="PEM", properties__ssl__keystore__location=secured.path("stranger.pem"))
    secured.is_refused("MTLS", stranger, "ssl.keystore.location")
    secured.is_refused("MTLS", secured.ssl(), "ssl.keystore.location")


def test_a_broker_that_asks_and_a_job_that_says_nothing(cluster):
    """Brokers end such connections without a word: it may be the network, so it is waited for, with a hint."""
    secured = Secured.of(cluster)
    for listener in ("SASL", "TLS"):
        job = secured.cluster.start(secured.source(secured.filled(), listener, {}) + "SELECT * FROM source;\n")
        try:
            line = job.stderr.readline()
            assert line.startswith("waiting: ") and "security.protocol" in line, line
        finally:
            job.kill()
            job.communicate()


def test_what_is_shown(cluster):
    secured = Secured.of(cluster)
    options = secured.login("PLAIN", PLAIN, tls=True)
    source = secured.source(secured.filled(), "SASLTLS", options, **{"scan.bounded.mode": "unbounded"})
    target = secured.table("target", secured.cluster.topic("out"), "SASLTLS", options)
    insert = "INSERT INTO target SELECT * FROM source;\n"
    for statement in ("SHOW CREATE TABLE source;\n", "EXPLAIN " + insert, "DESCRIBE source;\n"):
        done = secured.cluster.run_well(source + target + statement)
        secured.hides(done.out + done.error)
    job, lines = secured.cluster.start(source + target + insert, "--metrics", "127.0.0.1:0", "--stats"), []
    try:
        while not (found := re.search(r"^status: (http://\S+/) ", lines[-1] if lines else "")):
            lines.append(job.stderr.readline())
            assert lines[-1], "".join(lines)
        for page in ("", "metrics", "status.json", "readyz"):
            try:
                answer = urllib.request.urlopen(found.group(1) + page, timeout=20)
            except urllib.error.HTTPError as error:  # not ready yet
                answer = error
            with answer:
                secured.hides(answer.read().decode())
        job.send_signal(signal.SIGTERM)
        secured.hides("".join(lines) + "".join(job.communicate(timeout=60)))
    finally:
        job.kill()


def test_stores_of_java_are_refused(cluster):
    secured = Secured.of(cluster)
    for options, instead in (({"properties.ssl.truststore.location": "x.jks", "properties.ssl.truststore.password": "hush-Qx81"}, "ssl.ca.location"),
                             ({"properties.ssl.keystore.location": "x.jks", "properties.ssl.keystore.password": "hush-Qx81"},
                              "ssl.certificate.location"),
                             ({"properties.sasl.jaas.config": "com.sun.security.auth.module.Krb5LoginModule required keyTab=\"hush-Qx81\";"},
                              "sasl.kerberos.principal")):
        done = secured.cluster.run(secured.source("none", "TLS", {"properties.security.protocol": "SSL", **options}) + "SELECT * FROM source;\n")
        assert done.code == 2 and "is refused" in done.error and instead in done.error and "hush" not in done.error, done.error
