"""On a terminal: the table, its colours and widths, the progress line, signals; and output piped into head."""
import os
import re
import shutil
import signal
import subprocess
import time

from pty_session import Session

QUERY = "SELECT * FROM (VALUES ('漢字', 1), ('e\u0301', 2)) AS t(word, n)"
KEEP_LAST = """CREATE TABLE e (id STRING, v INT, ts TIMESTAMP(3)) WITH ('connector' = 'filesystem', 'path' = '-', 'format' = 'csv');
"""
COUNT_LINES = KEEP_LAST + "SELECT id, COUNT(*) AS n FROM e GROUP BY id HAVING COUNT(*) < 0;"
COPY = KEEP_LAST + """CREATE TABLE copy (id STRING, v INT, ts TIMESTAMP(3)) WITH ('connector' = 'filesystem', 'path' = 'copied', 'format' = 'csv');
INSERT INTO copy SELECT * FROM e;"""
ENDLESS_LINES = "for i in $(seq 1 400); do seq -f 'k%g,1,2026-01-01 00:00:00.000' 1 2000; sleep 0.05; done"


def check_table(rowtide, lab):
    with Session([rowtide, "run", "-c", QUERY], lab) as session:
        code = session.wait()
        text = session.output
    good = code == 0 and "| \x1b[32m+I\x1b[0m |" in text and "Received a total of 2 rows" in text
    yield "a table with coloured kinds", None if good else repr(text)
    rows = [line for line in re.sub(r"\x1b\[\d+m", "", text).split("\r\n") if line.startswith("|")]
    widths = {sum(2 if "\u2e80" < c < "\uffff" else 0 if c == "\u0301" else 1 for c in row) for row in rows}
    yield "wide and combining characters are counted as they are shown", None if len(widths) == 1 else repr(rows)
    for name, options, environment in [("NO_COLOR", [], {"NO_COLOR": "1"}), ("--color never", ["--color", "never"], {}),
                                       ("TERM=dumb", [], {"TERM": "dumb"})]:
        with Session([rowtide, "run", *options, "-c", QUERY], lab, environment) as session:
            session.wait()
            yield f"{name}: no colour", None if "\x1b" not in session.output else repr(session.output)
    with Session([rowtide, "run", "-c", "SELECT a, b, a AS c FROM (VALUES ('x', 12345678901)) AS t(a, b)"], lab, columns=60) as session:
        session.wait()
        lines = session.output.replace("\x1b[32m", "").replace("\x1b[0m", "").split("\r\n")
        good = max(map(len, lines)) <= 60 and "12345678901" in session.output
        yield "columns fit the terminal, numbers are whole", None if good else session.output
    done = subprocess.run([rowtide, "run", "-c", QUERY], cwd=lab, text=True, stdout=subprocess.PIPE, check=False)
    yield "script text in a pipe", None if done.stdout.startswith('+I ["漢字",1]\n') else done.stdout
    done = subprocess.run([rowtide, "run", "--color", "always", "--output", "tableau", "-c", QUERY], cwd=lab, text=True,
                          stdout=subprocess.PIPE, check=False)
    yield "--color always colours a pipe", None if "\x1b[32m+I" in done.stdout else done.stdout
    with Session([rowtide, "run", "-c", "SELECT 1,"], lab) as session:
        code = session.wait()
        yield "errors are coloured", None if code == 2 and "\x1b[1;31merror[RT1000]\x1b[0m" in session.output else session.output
    done = subprocess.run([rowtide, "run", "-c", "SELECT 'a\x1b[31mb' || CHR(10) AS s", "--output", "table"], cwd=lab, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    yield "control characters do not reach the terminal", None if "\\x1b[31mb\\n" in done.stdout else repr(done.stdout)


def check_insert(rowtide, lab):
    with Session([rowtide, "run", "keep_first.sql"], lab) as session:
        session.wait()
        yield "an INSERT says when it is done", None if "done: 622 rows emitted by sources in 0." in session.output else session.output[-300:]


def check_progress(rowtide, lab):
    feed = subprocess.Popen(["bash", "-c", ENDLESS_LINES], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        started = time.time()
        with Session([rowtide, "run", "-c", COUNT_LINES], lab, stdin=feed.stdout.fileno()) as session:
            drawn = session.see(r"\r\x1b\[K[\d,]+ rows  [\d.]+ (k |M |)rows/s  state [\d.]+ [KMG]?i?B", 15)
            took = time.time() - started
            yield "a progress line after two seconds", None if drawn and took > 1.8 else f"{took:.1f} s: {session.output[-300:]!r}"
            again = session.see(r"\r\x1b\[K[\d,]+ rows", 5)
            yield "it is drawn anew", None if again else repr(session.output[-300:])
            os.kill(session.pid, signal.SIGINT)
            code = session.wait()
            left = session.output.split("\x1b[K")[-1]
            good = "rows/s" not in left and "Query terminated" in left
            yield "it is wiped before the end is told", None if good else repr(session.output[-500:])
            yield "a bounded query that was stopped exits with 130", None if code == 130 else str(code)
    finally:
        os.killpg(feed.pid, signal.SIGKILL)
        feed.wait()


def stopped_copy(rowtide, lab, which):
    folder = os.path.join(lab, "copied")
    shutil.rmtree(folder, ignore_errors=True)
    feed = subprocess.Popen(["bash", "-c", ENDLESS_LINES], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True)
    job = subprocess.Popen([rowtide, "run", "-c", COPY], cwd=lab, stdin=feed.stdout, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           text=True)
    deadline = time.time() + 20
    while time.time() < deadline and not (os.path.isdir(folder) and os.listdir(folder)):
        time.sleep(0.05)
    started = time.time()
    job.send_signal(which)
    output, error = job.communicate(timeout=20)
    os.killpg(feed.pid, signal.SIGKILL)
    feed.wait()
    return job.returncode, output + error, time.time() - started


def check_signals(rowtide, lab):
    for which, wanted in [(signal.SIGINT, 130), (signal.SIGTERM, 143)]:
        code, text, took = stopped_copy(rowtide, lab, which)
        files = os.listdir(os.path.join(lab, "copied"))
        good = code == wanted and "temporary names" in text and files and all(name.startswith(".") for name in files) and took < 5
        yield f"{which.name} leaves the files under temporary names and exits with {wanted}", \
            None if good else f"exit {code} after {took:.1f} s, {files}: {text}"
    # A statement whose plan takes long: nothing runs yet that would have to end well.
    slow = KEEP_LAST + "SELECT " + ", ".join(f"SUM(v + {i}) AS c{i}" for i in range(6000)) + " FROM e;"
    with open(os.path.join(lab, "slow.sql"), "w", encoding="utf-8") as file:
        file.write(slow)
    for which, wanted in [(signal.SIGINT, 130), (signal.SIGTERM, 143)]:
        job = subprocess.Popen([rowtide, "run", "slow.sql"], cwd=lab, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        time.sleep(0.7)
        early = job.poll() is not None
        started = time.time()
        job.send_signal(which)
        try:
            output, _ = job.communicate(timeout=5)
        except subprocess.TimeoutExpired:
            job.kill()
            output, _ = job.communicate()
        took = time.time() - started
        good = not early and job.returncode == wanted and took < 0.5 and output == b""
        yield f"{which.name} ends a statement that is being planned", None if good else f"early {early}, exit {job.returncode} after {took:.1f} s: {output[:200]}"
    # A job that cannot look: its input is a named pipe without a writer.
    os.mkfifo(os.path.join(lab, "quiet.csv"))
    job = subprocess.Popen([rowtide, "run", "-c", COUNT_LINES.replace("'-'", "'quiet.csv'")], cwd=lab, stdin=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    time.sleep(0.5)
    job.send_signal(signal.SIGINT)
    time.sleep(0.3)
    if job.poll() is None:
        job.send_signal(signal.SIGINT)
    job.communicate(timeout=10)
    yield "a second signal leaves at once", None if job.returncode == 130 else str(job.returncode)
    for preparation, name in [("", "head"), ("trap '' PIPE; ", "head, with SIGPIPE ignored by the caller")]:
        command = f"{preparation}'{rowtide}' run -c \"SELECT * FROM e\" | head -n 1"
        sql = "CREATE TABLE e (a STRING, b STRING, c STRING, d STRING) WITH ('connector' = 'filesystem', 'path' = 'big.csv', 'format' = 'csv');"
        with open(os.path.join(lab, "big.csv"), "w", encoding="utf-8") as file:
            file.write("a,b,c,d\n" * 200000)
        done = subprocess.run(["bash", "-c", command.replace("SELECT", sql + " SELECT")], cwd=lab, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=60, check=False)
        good = done.stdout == '+I ["a","b","c","d"]\n' and done.stderr == "" and done.returncode == 0
        yield f"piped into {name} it ends quietly", None if good else f"{done.returncode}: {done.stdout!r} {done.stderr!r}"


def check_limit(rowtide, lab):
    for form, lines in [("changelog", 5), ("json", 5), ("csv", 6)]:
        done = subprocess.run([rowtide, "run", "--output", form, "--limit", "5", "-c",
                               "SELECT * FROM (VALUES (1),(2),(3),(4),(5),(6),(7)) AS t(n)"], cwd=lab, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False)
        good = done.returncode == 0 and done.stdout.count("\n") == lines
        yield f"--limit 5 with --output {form}", None if good else done.stdout
    done = subprocess.run([rowtide, "run", "--output", "table", "--limit", "2", "-c", "SELECT * FROM (VALUES (1),(2),(3)) AS t(n)"],
                          cwd=lab, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    yield "--limit 2 with --output table", None if "2 rows in set\nPARTIAL: there is more, left out by --limit\npartial: " in done.stdout else done.stdout
    done = subprocess.run([rowtide, "run", "--output", "table", "--limit", "1", "-c", "SELECT a, COUNT(*) AS n FROM (VALUES (1), (2), (1)) AS t(a) GROUP BY a"],
                          cwd=lab, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    yield "--limit 1 of a table that is corrected", None if "| 2 | 1 |" in done.stdout and "PARTIAL: 1 more, left out by --limit" in done.stdout else done.stdout
    done = subprocess.run([rowtide, "run", "--output", "table", "--limit", "3", "-c", "CREATE TABLE g (n INT) WITH ('connector' = 'datagen'); SELECT * FROM g"],
                          cwd=lab, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=60, check=False)
    yield "--limit 3 of rows without end", None if "3 rows in set" in done.stdout else done.stdout
    done = subprocess.run([rowtide, "run", "--limit", "0", "-c", "SELECT 1"], cwd=lab, text=True, stdout=subprocess.PIPE, check=False)
    yield "--limit 0", None if done.returncode == 0 and done.stdout == "" else done.stdout


def checks(rowtide, lab):
    yield from check_table(rowtide, lab)
    yield from check_limit(rowtide, lab)
    yield from check_insert(rowtide, lab)
    yield from check_progress(rowtide, lab)
    yield from check_signals(rowtide, lab)
