"""`rowtide run --metrics`: what Prometheus and the status page get while a job runs, what strangers get, and the page in a real browser."""
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time

from check_restarts import Trial, STRATEGY
from check_state import FIRST, Lab, differs, says

SAMPLE = re.compile(r'^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{((?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[\\"n])*",?)*)\})? (\S+)$')
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"')


class Page:
    """A job that runs with --metrics, and who asks it."""

    def __init__(self, lab, *words):
        self.process = lab.start("--metrics", "127.0.0.1:0", *words)
        self.lines = []
        self.port = None
        while self.port is None:
            line = self.process.stderr.readline()
            if not line:
                raise RuntimeError("it did not start: " + "".join(self.lines))
            self.lines.append(line)
            found = re.search(r"^status: http://127\.0\.0\.1:(\d+)/ ", line)
            self.port = int(found.group(1)) if found else None

    def ask(self, path, method="GET", body=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.request(method, path, body=body, headers={name.replace("_", "-"): value for name, value in headers.items()})
            answer = connection.getresponse()
            return answer.status, answer.read().decode(), dict(answer.getheaders())
        finally:
            connection.close()

    def status(self):
        return json.loads(self.ask("/status.json")[1])

    def metrics(self):
        return Metrics(self.ask("/metrics")[1])

    def await_metric(self, want, name, **labels):
        end = time.monotonic() + 20
        while (got := self.metrics().get(name, **labels)) != want and time.monotonic() < end:
            time.sleep(0.1)
        return differs(want, got)

    def raw(self, request, wait=5):
        with socket.create_connection(("127.0.0.1", self.port), timeout=wait) as connection:
            try:
                connection.sendall(request)
                answer = b""
                while chunk := connection.recv(65536):
                    answer += chunk
            except OSError:
                pass
            return answer.split(b"\r\n")[0].decode()

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        out, error = self.process.communicate(timeout=60)
        return subprocess.CompletedProcess([], self.process.returncode, out, "".join(self.lines) + error)


class Metrics:
    """The text format, read strictly."""

    def __init__(self, text):
        self.samples, self.faults, self.types = {}, [], {}
        helped, family, seen = set(), None, set()
        for line in text.split("\n")[:-1]:
            head = re.match(r"^# (HELP|TYPE) (\S+) (.+)$", line)
            if head:
                kind, name, rest = head.groups()
                if kind == "HELP":
                    family = name
                    if name in helped:
                        self.faults.append(f"two families {name}")
                    helped.add(name)
                else:
                    self.types[name] = rest
                    if rest not in ("counter", "gauge") or family != name:
                        self.faults.append(line)
                continue
            sample = SAMPLE.match(line)
            if not sample or sample.group(1) != family:
                self.faults.append(f"in {family}: {line}")
                continue
            float(sample.group(3))
            if (line.rsplit(" ", 1)[0]) in seen:
                self.faults.append("twice: " + line)
            seen.add(line.rsplit(" ", 1)[0])
            self.samples.setdefault(family, []).append((dict(LABEL.findall(sample.group(2) or "")), float(sample.group(3))))
        if not text.endswith("\n"):
            self.faults.append("no line end at the end")
        self.faults += [f"{name} is a {kind}" for name, kind in self.types.items() if (kind == "counter") != name.endswith("_total")]

    def get(self, name, **labels):
        found = [value for having, value in self.samples.get(name, []) if labels.items() <= having.items()]
        return found[0] if len(found) == 1 else (sum(found) if found else None)


def figures(lab):
    job = lab.job("monitored.sql", out="monitored")
    page = Page(lab, "--state", "monitored_kept", "--stats", job)
    yield "rows are shown", lab.await_rows(FIRST, "monitored")
    yield "records in", page.await_metric(3, "rowtide_records_in_total")
    yield "records out", page.await_metric(2, "rowtide_records_out_total", operator="Sink", table="s")
    # Lanes put up their counts a few times a second: rows that are in the file may not be counted yet as bytes.
    yield "bytes out", page.await_metric(12, "rowtide_bytes_out_total")
    metrics = page.metrics()
    yield "the format is Prometheus'", "; ".join(metrics.faults) or None
    yield "its type as well", differs("text/plain; version=0.0.4; charset=utf-8", page.ask("/metrics")[2].get("Content-Type"))
    want = {"rowtide_node_rows_in_total": ("Deduplicate", 3), "rowtide_node_state_entries": ("Deduplicate", 2)}
    for name, (operator, value) in want.items():
        yield name, differs(value, metrics.get(name, operator=operator))
    yield "rows out by kind", differs((2, 0), (metrics.get("rowtide_node_rows_out_total", operator="Deduplicate", kind="+I"),
                                               metrics.get("rowtide_node_rows_out_total", operator="Deduplicate", kind="-U")))
    yield "bytes in", differs(85, metrics.get("rowtide_bytes_in_total"))
    late = page.metrics()
    yield "checkpoints", differs(True, late.get("rowtide_checkpoints_completed_total") > 0 and late.get("rowtide_checkpoint_age_seconds") < 20
                                 and late.get("rowtide_checkpoint_bytes") > 0 and late.get("rowtide_checkpoint_duration_seconds") > 0)
    yield "the state of the job", differs((1, 0), (late.get("rowtide_job_state", state="running"), late.get("rowtide_job_state", state="failed")))
    yield "watermark and lag", differs(1767225662, late.get("rowtide_node_watermark_seconds", operator="Sink")) or differs(True, late.get("rowtide_watermark_lag_seconds") > 0)
    yield "what only grows does", differs([], [name for name, kind in late.types.items() if kind == "counter" and metrics.get(name) is not None
                                               and late.get(name) < metrics.get(name)])
    yield "ready", differs((200, "running\n"), page.ask("/readyz")[:2])
    nodes = page.status()["job"]["nodes"]
    yield "the graph", differs(([False, True], "I", [1]), ([nodes[0]["sink"], nodes[-1]["sink"]], nodes[0]["changelog"], nodes[0]["outputs"]))
    yield from strangers(page)
    yield from browser(page)
    done = page.end()
    rows = re.search(r"^Deduplicate +\| *(\d+)|^Deduplicate +(\d+)", done.stderr, re.M)
    yield "--stats says the same at the end", differs("3", rows and (rows.group(1) or rows.group(2))) if rows else done.stderr
    yield "SIGTERM drains and ends with 0", says(done, 0, "all that was read is in a checkpoint")


def strangers(page):
    yield "HEAD has no body", differs((200, ""), page.ask("/metrics", "HEAD")[:2])
    for path in ("/../../etc/passwd", "/%2e%2e/etc/passwd", "/metrics/", "//", "/status.json/x", "/?a=b\\"):
        wanted = 200 if path.startswith("/?") else 404
        yield f"GET {path}", differs(wanted, page.ask(path)[0])
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "TRACE"):
        yield method, differs(405, page.ask("/metrics", method)[0])
    yield "a body", differs("HTTP/1.1 400 Bad Request", page.raw(b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello"))
    yield "a chunked body", differs("HTTP/1.1 400 Bad Request", page.raw(b"GET / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n-2\r\n"))
    yield "two lengths", differs("HTTP/1.1 400 Bad Request", page.raw(b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nContent-Length: 7\r\n\r\n"))
    yield "nonsense", differs("HTTP/1.1 400 Bad Request", page.raw(b"\x00\xff\x16\x03\x01 hello\r\n\r\n"))
    yield "a header without an end", differs(True, page.raw(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 20000) in ("HTTP/1.1 431 Request Header Fields Too Large", ""))
    for host, wanted in (("evil.example", 421), ("127.0.0.1.evil.example:80", 421), ("localhost", 200), ("127.0.0.1:1", 200), ("[::1]:80", 200)):
        yield f"Host: {host}", differs(wanted, page.ask("/metrics", Host=host)[0])
    yield "no Host", differs("HTTP/1.1 421 Misdirected Request", page.raw(b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n"))
    headers = page.ask("/")[2]
    yield "the page may load nothing from elsewhere", differs((True, "nosniff", "no-store"), ("default-src 'none'" in headers.get("Content-Security-Policy", ""),
                                                              headers.get("X-Content-Type-Options"), headers.get("Cache-Control")))
    idle = []
    try:
        for _ in range(600):
            idle.append(socket.create_connection(("127.0.0.1", page.port), timeout=5))
            idle[-1].sendall(b"GET / HT")
        begin = time.monotonic()
        answer = page.ask("/livez")[:2]
        yield "600 connections that say nothing hold nobody up", differs((200, "ok\n"), answer) or differs(True, time.monotonic() - begin < 1)
    finally:
        for connection in idle:
            connection.close()
    yield "the job runs on", differs((200, "running\n"), page.ask("/readyz")[:2])


def browser(page):
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        yield "the page in a browser", "SKIPPED: there is no chromium here; Debian's package of that name, of 400 MB, would do"
        return
    for size in ("1280,900", "390,844"):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([chromium, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}", f"--window-size={size}", "--enable-logging=stderr",
                                   "--virtual-time-budget=4000", "--dump-dom", f"http://127.0.0.1:{page.port}/"], text=True, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, timeout=60, check=False)
        dom = done.stdout
        shown = {"state": ">running</span>", "operator": ">Deduplicate</div>", "rows": ">3 in all<", "changelog": ">+I</b>", "edges": 'marker-end="url(#arrow)"',
                 "checkpoint": ">decided</td>", "watermark": "2026-01-01 00:01:02"}
        missing = [name for name, text in shown.items() if text not in dom]
        errors = [line for line in done.stderr.split("\n") if "CONSOLE" in line]
        yield f"the page in a browser, {size}", differs([], missing + errors)


def failing(lab):
    trial = Trial(lab, "watched", STRATEGY.format("exponential-delay.initial-backoff", "1500 ms"))
    trial.start = lambda *words: None
    page = Page(lab, "--state", "watched_kept", "watched.sql")
    yield "a job shows its first rows", lab.await_rows(FIRST, "watched")
    trial.break_sink()
    trial.more()
    yield "what waits for its restart says so", page.await_metric(1, "rowtide_job_state", state="restarting")
    job = page.status()["job"]
    yield "… and why", differs(True, "is a file" in job["detail"])
    yield "… and is not ready", differs(503, page.ask("/readyz")[0])
    trial.mend_sink()
    yield "restarts are counted", page.await_metric(1, "rowtide_restarts_total")
    yield "… and it runs", page.await_metric(1, "rowtide_job_state", state="running")
    yield "its counts go on", page.await_metric(6, "rowtide_records_in_total")
    yield "it ends", says(page.end(), 0)


def addresses(lab):
    job = lab.job("refused.sql", out="refused")
    for text in ("", "nonsense", "1.2.3.4", ":99999", "::1:80"):
        yield f"--metrics {text!r}", says(lab.call("run", "--metrics", text, job), 2, "no address to listen on")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = lab.call("run", "--metrics", f":{taken.getsockname()[1]}", job)
        yield "a port that is taken", says(done, 4, "cannot listen on 127.0.0.1:", "Address already in use", "choose another port")
    yield "… and nothing was done", differs(False, os.path.exists(os.path.join(lab.folder, "refused")))


def checks(rowtide, folder):
    lab = Lab(rowtide, folder)
    yield from figures(lab)
    yield from failing(lab)
    yield from addresses(lab)
