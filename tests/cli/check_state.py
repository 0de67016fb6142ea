"""State folders: going on, stopping, savepoints, and every way in which there is nothing sound to go on from."""
import collections
import glob
import importlib.machinery
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tarfile
import time

EVENTS = "a,new,1,2026-01-01 00:00:00\nb,new,5,2026-01-01 00:00:01\na,paid,3,2026-01-01 00:01:02\n"
MORE = "c,new,7,2026-01-01 00:02:00\nb,paid,9,2026-01-01 00:03:00\nd,new,1,2026-01-01 00:09:00\n"
JOB = """SET 'execution.checkpointing.interval' = '200 ms';
CREATE TABLE e (id STRING, st STRING, n INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = 'events', 'format' = 'csv'{watch});
CREATE TABLE s (id STRING, st STRING) WITH ('connector' = 'filesystem', 'path' = '{out}', 'format' = 'csv');
INSERT INTO s SELECT id, st FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY {key} ORDER BY ts) AS rn FROM e) WHERE rn = 1;
"""
WATCH = ", 'source.monitor-interval' = '20 ms', 'scan.watermark.emit.strategy' = 'on-event'"
FIRST, ALL = ["a,new", "b,new"], ["a,new", "b,new", "c,new", "d,new"]


class Lab:
    """A folder with events, jobs over them, and what they leave."""

    def __init__(self, rowtide, lab):
        self.rowtide, self.folder = rowtide, lab
        os.mkdir(os.path.join(lab, "events"))
        self.write("events/1.csv", EVENTS)

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(text)

    def text(self, name):
        with open(os.path.join(self.folder, name), encoding="utf-8") as file:
            return file.read()

    def job(self, name, out="out", key="id", watch=True):
        self.write(name, JOB.format(out=out, key=key, watch=WATCH if watch else ""))
        return name

    def call(self, *words):
        return subprocess.run([self.rowtide, *words], cwd=self.folder, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=60, check=False)

    def start(self, *words):
        return subprocess.Popen([self.rowtide, "run", *words], cwd=self.folder, text=True, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def rows(self, out="out"):
        lines = []
        for name in glob.glob(os.path.join(self.folder, out, "part-*")):
            with open(name, encoding="utf-8") as file:
                lines += file.read().splitlines()
        return sorted(lines)

    def await_rows(self, want, out="out"):
        end = time.monotonic() + 20
        while self.rows(out) != want and time.monotonic() < end:
            time.sleep(0.02)
        return differs(want, self.rows(out))

    def checkpoints(self, kept):
        return sorted(glob.glob(os.path.join(self.folder, kept, "*", "chk-*")), key=lambda path: int(os.path.basename(path).split("-")[1]))


def differs(want, got):
    return None if want == got else f"wanted {want!r}, got {got!r}"


def says(done, code, *texts):
    """What is missing of an exit code and of texts on standard error."""
    missing = [text for text in texts if text not in done.stderr]
    return None if done.returncode == code and not missing else f"{done.returncode}, without {missing}: {done.stderr}"


def ended(process, number):
    process.send_signal(number)
    out, error = process.communicate(timeout=90)
    return subprocess.CompletedProcess(process.args, process.returncode, out, error)


def running(lab):
    job = lab.job("watch.sql")
    process = lab.start("--state", "kept", job)
    yield "rows are shown at a checkpoint", lab.await_rows(FIRST)
    yield "a second process is refused and the first named", says(lab.call("run", "--state", "kept", job), 4, f"process {process.pid} runs this job already")
    control = glob.glob(os.path.join(lab.folder, "kept", "*", "control"))[0]
    yield "the control socket is its owner's alone", differs("0600", f"0{os.stat(control).st_mode & 0o777:o}")
    yield "what is no request changes nothing", differs("error", ask(control, b"savepoint relative\n")[:5]) or differs("error", ask(control, b"\xff\x00" * 6000)[:5])
    done = lab.call("savepoint", "kept", "first")
    yield "savepoint prints where it lies", differs((0, os.path.join(os.path.realpath(lab.folder), "first") + "\n"), (done.returncode, os.path.realpath(done.stdout.strip()) + "\n"))
    yield "a savepoint overwrites nothing", says(lab.call("savepoint", "kept", "first"), 4, "exists already")
    done = lab.call("savepoint", "kept")
    yield "a savepoint without a place lies beside the checkpoints", differs((0, True), (done.returncode, os.path.exists(os.path.join(done.stdout.strip(), "MANIFEST")))) \
        or differs(os.path.realpath(os.path.dirname(control)), os.path.realpath(os.path.dirname(done.stdout.strip())))
    process.kill()
    process.communicate()
    lab.write("placed.sql", "SET 'execution.checkpointing.savepoint-dir' = 'saved';\n" + lab.text("watch.sql"))
    process = lab.start("--state", "kept", "placed.sql")
    end = time.monotonic() + 20
    done = lab.call("savepoint", "kept")
    while done.returncode != 0 and time.monotonic() < end:  # the socket is still that of the one that was killed
        done = lab.call("savepoint", "kept")
    yield "… or where the job says", differs((0, True), (done.returncode, os.path.exists(os.path.join(done.stdout.strip(), "MANIFEST")))) \
        or differs(os.path.realpath(os.path.join(lab.folder, "saved")), os.path.realpath(os.path.dirname(done.stdout.strip())))
    process.kill()
    process.communicate()
    lab.write("events/2.csv", MORE)
    process = lab.start("--state", "kept", job)
    yield "killed and started again it goes on", lab.await_rows(ALL)
    done = ended(process, signal.SIGTERM)
    yield "SIGTERM drains and ends with 0", says(done, 0, "goes on from", "all that was read is in a checkpoint")
    yield "stop without a job says so", says(lab.call("stop", "kept"), 4, "RT6005")
    process = lab.start("--state", "kept", job)
    lab.await_control("kept")
    done = lab.call("stop", "kept", "--savepoint", "last")
    process.communicate(timeout=90)
    yield "stop with a savepoint", differs((0, 0), (done.returncode, process.returncode)) or says(done, 0)
    shutil.move(os.path.join(lab.folder, "first"), os.path.join(lab.folder, "moved"))
    other = lab.job("elsewhere.sql", out="elsewhere")
    process = lab.start("--state", "other", "--restore", "moved", other)
    yield "a savepoint that was moved is restored into another folder", lab.await_rows(ALL[2:], "elsewhere")
    ended(process, signal.SIGINT)
    done = lab.call("state", "ls", "last", "--output", "json")
    yield "state ls of a savepoint", differs((0, True), (done.returncode, '"operator":"Deduplicate"' in done.stdout))
    done = lab.call("state", "ls", "kept", "--output", "csv")
    yield "state ls of a folder", differs((0, "job,path,epoch,taken,kind,lanes,bytes", 3), (done.returncode, done.stdout.split("\n")[0], done.stdout.count("\n")))


def ask(path, request):
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(20)
        where = os.open(os.path.dirname(path), os.O_RDONLY)
        try:
            connection.connect(f"/proc/self/fd/{where}/control")
            connection.sendall(request)
            return connection.recv(200).decode()
        except OSError as error:
            return "error " + str(error)
        finally:
            os.close(where)


def await_control(lab, kept):
    end = time.monotonic() + 20
    while not glob.glob(os.path.join(lab.folder, kept, "*", "control")) and time.monotonic() < end:
        time.sleep(0.02)


Lab.await_control = await_control


def changed(lab):
    other = lab.job("changed.sql", key="id, st")
    done = lab.call("state", "check", other, "kept")
    yield "a changed key is refused by state check, with both", says(done, 2, "RT6004", "key=[id], ", "key=[id, st], ")
    before = [sorted(os.listdir(path)) for path in lab.checkpoints("kept")]
    done = lab.call("run", "--state", "kept", other)
    yield "… and by run", says(done, 2, "RT6004")
    yield "… before anything is touched", differs(before, [sorted(os.listdir(path)) for path in lab.checkpoints("kept")])
    done = lab.call("state", "check", other, "kept", "--allow-non-restored-state")
    yield "… unless that state may be lost", differs((0, True), (done.returncode, "state is dropped" in done.stdout))
    with open(os.path.join(lab.folder, "changed.sql"), encoding="utf-8") as file:
        lab.write("lost.sql", "SET 'execution.state-recovery.ignore-unclaimed-state' = 'true';\n" + file.read())
    done = lab.call("state", "check", "lost.sql", "kept")
    yield "… as the script may say as well", differs((0, True), (done.returncode, "state is dropped" in done.stdout))
    with open(os.path.join(lab.folder, "watch.sql"), encoding="utf-8") as file:
        lab.write("ttl.sql", "SET 'table.exec.state.ttl' = '1 d';\n" + file.read())
    yield "a time-to-live that was not there is refused", says(lab.call("run", "--state", "kept", "ttl.sql"), 2, "RT6004", "has no time-to-live", "RESET")
    done = lab.call("state", "check", "watch.sql", "kept")
    yield "the query as it was fits", differs((0, True), (done.returncode, "goes on from" in done.stdout))


COUNTS = """SET 'execution.checkpointing.interval' = '50 ms';
{set}CREATE TABLE v (id STRING, n INT) WITH ('connector' = 'filesystem', 'path' = 'counted', 'format' = 'csv', 'source.monitor-interval' = '20 ms');
CREATE TABLE c (id STRING, visits BIGINT) WITH ('connector' = 'filesystem', 'path' = 'visited', 'format' = 'debezium-json');
INSERT INTO c SELECT {hint}id, COUNT(*) FROM v GROUP BY id;
"""
HINT = "/*+ STATE_TTL('v' = '1d') */ "


def times(lab):
    """A time-to-live comes and goes with a hint; what has expired goes while no rows come."""
    os.mkdir(os.path.join(lab.folder, "counted"))
    lab.write("counted/1.csv", "a,1\nb,2\n")
    for hint, other, was in (("", HINT, "has no time-to-live"), (HINT, "", "has a time-to-live")):
        kept = f"hinted_{len(hint)}"
        lab.write("hint.sql", COUNTS.format(set="", hint=hint))
        process = lab.start("--state", kept, "hint.sql")
        lab.await_control(kept)
        while process.poll() is None and not lab.checkpoints(kept):
            time.sleep(0.02)
        ended(process, signal.SIGTERM)
        lab.write("other.sql", COUNTS.format(set="", hint=other))
        what = f"a STATE_TTL hint that {'goes' if hint else 'comes'}"
        yield f"{what} is refused by state check", says(lab.call("state", "check", "other.sql", kept), 2, "RT6004", was, "STATE_TTL hint")
        yield "… and by run", says(lab.call("run", "--state", kept, "other.sql"), 2, "RT6004", was, "STATE_TTL hint")
        lab.write("other.sql", COUNTS.format(set="", hint=hint.replace("1d", "2d")))
        what = "another time" if hint else "the query as it was"
        done = lab.call("state", "check", "other.sql", kept)
        yield f"… {what} fits, says state check", differs((0, True), (done.returncode, "goes on from" in done.stdout))
        process = lab.start("--state", kept, "other.sql")
        lab.await_control(kept)
        yield "… and run", says(ended(process, signal.SIGTERM), 0, "goes on from")
    lab.write("idle.sql", COUNTS.format(set="SET 'table.exec.state.ttl' = '1 s';\n", hint=""))
    lab.write("counted/1.csv", "".join(f"key {i},1\n" for i in range(5000)))
    process = lab.start("--state", "idle_kept", "idle.sql")
    end = time.monotonic() + 30
    gone, most = False, 0
    while process.poll() is None and time.monotonic() < end and not gone:
        time.sleep(0.1)
        files = [os.path.getsize(path) for path in glob.glob(os.path.join((lab.checkpoints("idle_kept") or ["none"])[-1], "*.sst"))]
        most = max(most, sum(files))
        gone = most > 20000 and sum(files) < most / 10
    done = ended(process, signal.SIGTERM)
    yield "what has expired goes while no rows come, from disk as well", None if gone else f"{sum(files)} bytes of {most} are left: {done.stderr}"


def forbidden(lab):
    """A state folder that may not be written to."""
    os.chmod(lab.folder, 0o755)
    os.makedirs(os.path.join(lab.folder, "not_mine"), mode=0o555)
    program = shutil.copy(lab.rowtide, os.path.join(lab.folder, "program"))  # where anybody may run it

    def as_nobody():
        if os.geteuid() == 0:
            os.setgid(65534)
            os.setuid(65534)
    done = subprocess.run(["./program", "run", "--state", "not_mine", "watch.sql"], cwd=lab.folder, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False, preexec_fn=as_nobody)
    os.remove(program)
    yield "a state folder that may not be written to is named", says(done, 4, "not_mine", "Permission denied")


def damage(path, name, change):
    with open(os.path.join(path, name), "r+b") as file:
        bytes_before = file.read()
        file.seek(0)
        file.truncate()
        file.write(change(bytes_before))
    return bytes_before


def restored(path, name, content):
    with open(os.path.join(path, name), "wb") as file:
        file.write(content)


def damaged(lab):
    newest = lab.checkpoints("kept")[-1]
    flip = lambda content: content[:60] + bytes([content[60] ^ 1]) + content[61:]
    for name in ("MANIFEST", "lane-0.nodes"):
        for what, change in (("a flipped bit", flip), ("a cut", lambda content: content[:50])):
            content = damage(newest, name, change)
            yield f"{what} in {name} is named", says(lab.call("run", "--state", "kept", "watch.sql"), 1, "RT6002", f"{os.path.basename(newest)}/{name}", "--fresh --restore")
            restored(newest, name, content)
    content = damage(newest, "MANIFEST", lambda old: old[:8] + b"\x63" + old[9:])
    yield "a newer format is refused with both numbers", says(lab.call("run", "--state", "kept", "watch.sql"), 2, "format version 99; this program reads 1 alone")
    yield "… also by state get", says(lab.call("state", "get", newest), 2, "format version 99; this program reads 1 alone")
    restored(newest, "MANIFEST", content)
    content = damage(newest, "MANIFEST", lambda old: old[:8] + b"\0" + old[9:])
    yield "an older one likewise", says(lab.call("run", "--state", "kept", "watch.sql"), 2, "format version 0; this program reads 1 alone")
    restored(newest, "MANIFEST", content)
    os.remove(os.path.join(newest, "lane-0.nodes"))
    yield "a missing file is named", says(lab.call("run", "--state", "kept", "watch.sql"), 1, "RT6002", "lane-0.nodes")
    done = lab.call("run", "--state", "empty", "--restore", "events", "watch.sql")
    yield "a folder that is no checkpoint is named", says(done, 2, "RT6007", "no checkpoint or savepoint events", "rowtide state ls")
    done = lab.call("run", "--state", "empty", "--restore", "kept", "watch.sql")
    yield "… or the newest one in it", says(done, 2, "RT6007", f"the newest one in it is kept/", os.path.basename(newest))
    done = lab.call("run", "--state", "empty", "--restore", "lost", "watch.sql")
    yield "… or the nearest one beside it", says(done, 2, "RT6007", "no checkpoint or savepoint lost", "did you mean last?")
    lab.write("foreign.sql", lab.text("watch.sql").replace("PARTITION BY id", "PARTITION BY st"))
    done = lab.call("run", "--state", "empty", "--restore", "last", "foreign.sql")
    yield "a checkpoint of another query is refused, with both", says(done, 2, "RT6004", "key=[id]", "key=[st]")
    yield "… and nothing is written", differs([], lab.checkpoints("empty"))
    for path in lab.checkpoints("kept"):
        shutil.rmtree(path)
    yield "rows without a checkpoint are no fresh start", says(lab.call("run", "--state", "kept", "watch.sql"), 1, "RT6003", "has no checkpoint", "--fresh")
    process = lab.start("--state", "kept", "--fresh", "watch.sql")
    yield "--fresh writes them again", lab.await_rows(sorted(ALL + ALL))
    ended(process, signal.SIGINT)


def bounded(lab):
    job = lab.job("once.sql", out="once", watch=False)
    done = lab.call("run", "--state", "once_kept", job)
    yield "a job whose input ends", says(done, 0, "starts from the first record") or differs(ALL, lab.rows("once"))
    done = lab.call("run", "--state", "once_kept", job)
    yield "… is over when it runs again", says(done, 0, "has read all of its input") or differs(ALL, lab.rows("once"))
    done = lab.call("run", "--state", "once_kept", "-c", "SELECT 1")
    yield "a SELECT keeps nothing and says so", says(done, 0, "SELECT are not kept")
    done = lab.call("state", "ls", "events")
    yield "a folder without state is named", says(done, 4, "RT6006")


def folded(lab, out):
    """The last row of each key of a table that was written as Debezium's JSON."""
    rows = {}
    names = sorted(glob.glob(os.path.join(lab.folder, out, "part-*")), key=os.path.getmtime)
    for name in names:
        with open(name, encoding="utf-8") as file:
            for line in file:
                change = json.loads(line)
                if change["op"] == "d":
                    rows.pop(change["before"]["id"], None)
                else:
                    rows[change["after"]["id"]] = change["after"]
    return rows


def lanes(lab):
    """State goes from lanes to other numbers of lanes, and from memory into RocksDB."""
    os.mkdir(os.path.join(lab.folder, "visits"))
    keys = [f"key {i}" for i in range(1500)]
    tops = "MAX(n) AS top, COUNT(DISTINCT n) AS kinds"
    job = f"""SET 'execution.checkpointing.interval' = '30 ms';
SET 'rowtide.memory.limit' = '16mb';
CREATE TABLE v (id STRING, n INT) WITH ('connector' = 'filesystem', 'path' = 'visits', 'format' = 'csv', 'source.monitor-interval' = '20 ms');
CREATE TABLE c (id STRING, visits BIGINT, top INT, kinds BIGINT) WITH ('connector' = 'filesystem', 'path' = 'counts', 'format' = 'debezium-json');
CREATE TABLE t (id STRING, n INT, place BIGINT) WITH ('connector' = 'filesystem', 'path' = 'tops', 'format' = 'debezium-json');
CREATE TABLE a (id STRING, visits BIGINT, highest INT) WITH ('connector' = 'filesystem', 'path' = 'sums', 'format' = 'debezium-json');
EXECUTE STATEMENT SET BEGIN
INSERT INTO c SELECT id, COUNT(*), {tops} FROM v GROUP BY id;
INSERT INTO t SELECT id, n, place FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY n DESC) AS place FROM v) WHERE place <= 1;
INSERT INTO a SELECT 'all', COUNT(*), MAX(n) FROM v;
END;
"""
    steps = (("hashmap", 1, "memory, 1 lane"), ("rocksdb", 2, "RocksDB, 2 lanes"), ("rocksdb", 2, "2 again"), ("rocksdb", 3, "3"), ("rocksdb", 1, "1"), ("rocksdb", 2, "2"))
    for step, (backend, count, what) in enumerate(steps, start=1):
        lab.write(f"visits/{step}.csv", "".join(f"{key},{(i * 7 + step * 5) % 11}\n" for i, key in enumerate(keys)))
        seen = [[(i * 7 + past * 5) % 11 for past in range(1, step + 1)] for i in range(len(keys))]
        want = {key: {"id": key, "visits": step, "top": max(ns), "kinds": len(set(ns))} for key, ns in zip(keys, seen)}
        tops = {key: max(ns) for key, ns in zip(keys, seen)}
        total = {"all": {"id": "all", "visits": step * len(keys), "highest": max(max(ns) for ns in seen)}}
        lab.write("lanes.sql", f"SET 'state.backend.type' = '{backend}';\n{job}")
        process = lab.start("--state", "lanes_kept", "--parallelism", str(count), "lanes.sql")
        end = time.monotonic() + 30
        while process.poll() is None and time.monotonic() < end and (folded(lab, "counts") != want or folded(lab, "sums") != total):
            time.sleep(0.03)
        done = ended(process, signal.SIGTERM)
        got_tops = {key: row["n"] for key, row in folded(lab, "tops").items()}
        yield f"state on {what}", says(done, 0, "all that was read is in a checkpoint") or (
            None if folded(lab, "counts") == want and got_tops == tops and folded(lab, "sums") == total else "other rows than wanted")
        newest = lab.checkpoints("lanes_kept")[-1]
        stores = {name.split(".")[0] for name in os.listdir(newest) if name.endswith(".sst")}
        yield f"… {'in files of each lane' if backend == 'rocksdb' else 'without files'}", differs(
            {f"lane-{i}" for i in range(count)} if backend == "rocksdb" else set(), stores)
    name = sorted(name for name in os.listdir(newest) if name.startswith("lane-1.") and name.endswith(".sst"))[0]
    content = damage(newest, name, lambda old: old[:60] + bytes([old[60] ^ 1]) + old[61:])
    yield "a flipped bit in a file of the second lane is named", says(lab.call("run", "--state", "lanes_kept", "lanes.sql"), 1, "RT6002", name)
    restored(newest, name, content)


LOOK = """SET 'execution.checkpointing.interval' = '50 ms';
SET 'state.backend.type' = '{backend}';
CREATE TABLE e (id STRING, st STRING, n INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = 'looked', 'format' = 'csv', 'source.monitor-interval' = '20 ms');
CREATE TABLE s (id STRING, st STRING, n INT) WITH ('connector' = 'print');
CREATE TABLE t (st STRING, c BIGINT, m INT, d BIGINT, l STRING) WITH ('connector' = 'print');
CREATE VIEW newest AS SELECT id, st, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY ts DESC) AS rn FROM e) WHERE rn = 1;
EXECUTE STATEMENT SET BEGIN
INSERT INTO s SELECT id, st, n FROM newest;
INSERT INTO t SELECT st, COUNT(*) AS c, MIN(n) AS m, COUNT(DISTINCT id) AS d, LISTAGG(id) AS l FROM newest GROUP BY st;
INSERT INTO s SELECT id, st, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY st ORDER BY n DESC) AS rn FROM e) WHERE rn <= 2;
END;
"""
KEPT = {
    ("Deduplicate", "rows"): ['{"id":"a","st":"paid","n":3,"ts":"2026-01-01 00:01:02.000"}', '{"id":"b","st":"new","n":5,"ts":"2026-01-01 00:00:01.000"}'],
    ("Rank", "rows"): ['{"id":"a","st":"new","n":1}', '{"id":"a","st":"paid","n":3}', '{"id":"b","st":"new","n":5}'],
    ("GroupAggregate", "groups"): ['{"st":"new","c":1,"m":5,"d":1,"l":"b"}', '{"st":"paid","c":1,"m":3,"d":1,"l":"a"}'],
    ("GroupAggregate", "distinct id"): ['{"id":"a","count":1}', '{"id":"b","count":1}'],
    ("GroupAggregate", "values of n"): ['{"n":3,"count":1}', '{"n":5,"count":1}'],
    ("GroupAggregate", "list of id"): ['{"id":"a"}', '{"id":"b"}'],
}


def kept_rows(text):
    found = {}
    for line in text.splitlines():
        row = json.loads(line)
        found.setdefault((row["operator"], row["state"]), []).append(json.dumps(row["row"], separators=(",", ":")))
    return {state: sorted(rows) for state, rows in found.items()}


def await_kept(lab, kept, want):
    end = time.monotonic() + 20
    while time.monotonic() < end:
        done = lab.call("state", "get", kept)
        if done.returncode == 0 and kept_rows(done.stdout) == want:
            return None
        time.sleep(0.05)
    return differs(want, kept_rows(done.stdout)) or done.stderr


def looked(lab):
    for backend, lanes in (("hashmap", "1"), ("rocksdb", "1"), ("hashmap", "2"), ("rocksdb", "2")):
        kept, what = f"look_{backend}_{lanes}", f"{backend}, {lanes} lanes"
        os.makedirs(os.path.join(lab.folder, "looked"), exist_ok=True)
        lab.write("looked/1.csv", EVENTS)
        lab.write("look.sql", LOOK.format(backend=backend))
        process = lab.start("--state", kept, "-p", lanes, "look.sql")
        yield f"state get while the job runs ({what})", await_kept(lab, kept, KEPT)
        lab.call("savepoint", kept, kept + "_before")
        lab.write("looked/2.csv", "a,sent,4,2026-01-01 00:02:00\nc,new,7,2026-01-01 00:02:01\n")
        end = time.monotonic() + 20
        while lab.call("state", "get", kept, "id=c").stdout == "" and time.monotonic() < end:
            time.sleep(0.05)
        lab.call("savepoint", kept, kept + "_after")
        ended(process, signal.SIGINT)
        os.remove(os.path.join(lab.folder, "looked/1.csv"))
        os.remove(os.path.join(lab.folder, "looked/2.csv"))
        done = lab.call("state", "diff", kept + "_before", kept + "_after", "--operator", "Deduplicate")
        yield f"state diff: changed, then added ({what})", differs((1, [("-", "a", 3), ("+", "a", 4), ("+", "c", 7)]), (done.returncode, changes(done.stdout))) \
            or says(done, 1, "rows: 1 added, 0 gone, 1 changed, 1 the same")
        done = lab.call("state", "diff", kept + "_after", kept + "_before", "--operator", "2", "--output", "csv")
        yield f"state diff: gone, as csv ({what})", differs((1, ["change,node,state,id,st,n,ts", "-,2,rows,c,new,7,2026-01-01 00:02:01.000"]), (done.returncode, [line for line in done.stdout.splitlines() if "change" in line or ",c," in line]))
        done = lab.call("state", "diff", kept + "_after", kept + "_after")
        yield f"state diff: equal ({what})", differs((0, ""), (done.returncode, done.stdout))
    done = lab.call("state", "diff", "look_hashmap_1_after", "look_rocksdb_2_after")
    yield "state diff over backends and lanes", differs((0, ""), (done.returncode, done.stdout))
    done = lab.call("state", "get", "look_rocksdb_1_after", '{"id":"c"}', "--output", "table")
    yield "a key as JSON, in a table", differs((0, True), (done.returncode, "|  c | new | 7 |" in done.stdout))
    done = lab.call("state", "get", "look_rocksdb_1_after", "st=new", "--operator", "Rank", "--limit", "1", "--output", "csv")
    yield "some rows of one operator", differs((0, "node,state,id,st,n\n5,rows,c,new,7\n"), (done.returncode, done.stdout))
    done = lab.call("state", "get", "look_rocksdb_1_after")
    yield "what is no rows is named", says(done, 0, "no rows: in the state of 0 TableSourceScan(e)")
    yield "a misspelt key column", says(lab.call("state", "get", "look_rocksdb_1_after", "idd=c"), 2, "no operator has the key column 'idd'; the nearest is 'id'", "2 Deduplicate has (id)")
    yield "a misspelt operator", says(lab.call("state", "get", "look_rocksdb_1_after", "--operator", "Rnak"), 2, "did you mean 'Rank'?")
    yield "no key at all", says(lab.call("state", "get", "look_rocksdb_1_after", "c"), 2, "'c' is no part of a key", "column=value")
    yield "nothing to compare", says(lab.call("state", "diff", "look_rocksdb_1_after"), 2, "is one checkpoint; two are compared")
    yield "state diff of what is no checkpoint", says(lab.call("state", "diff", "look_rocksdb_1_after", "looked"), 4, "RT6006")


def changes(text):
    rows = sorted((json.loads(line) for line in text.splitlines()), key=lambda row: (row["key"]["id"], row["change"] == "+"))
    return [(row["change"], row["row"]["id"], row["row"]["n"]) for row in rows]


def golden(lab):
    """Checkpoints of each released version of the format go on as they did (tests/state/golden/make)."""
    home = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "state", "golden")
    maker = importlib.machinery.SourceFileLoader("maker", os.path.join(home, "make")).load_module()
    with open(os.path.join(home, "more.txt"), encoding="utf-8") as file:
        want = file.read()
    archives = sorted(glob.glob(os.path.join(home, "v*.tar.gz")))
    yield "there are golden checkpoints", None if archives else "none"
    for archive in archives:
        for lanes in ("1", "2"):
            folder = os.path.join(lab.folder, os.path.basename(archive) + lanes)
            os.mkdir(folder)
            maker.begin(folder)
            with tarfile.open(archive) as packed:
                packed.extractall(folder)
            kind = archive.split("-")[-1].split(".")[0]
            got = maker.going_on(lab.rowtide, folder, kind, "-p", lanes)
            name = os.path.basename(archive).split(".")[0]
            if lanes == "1":
                yield f"{name} goes on", differs(want, got)
            else:
                yield f"{name} goes on, on {lanes} lanes", differs(net(want), net(got))


def net(text):
    """How often each row of the tables that take rows back is there in the end; `lasts:2> -U[a, paid, 2.50]`."""
    rows = collections.Counter()
    for table, kind, row in re.findall(r"(?m)^(\w+)(?::\d)?> ([+-])\w(.*)$", text):
        if table in ("lasts", "best", "sums"):
            rows[table + row] += 1 if kind == "+" else -1
    return {row: count for row, count in rows.items() if count != 0}


REJECTS = """SET 'execution.checkpointing.interval' = '5 ms';
SET 'rowtide.bad-data.e' = 'dead-letter';
SET 'rowtide.dead-letter.e' = 'letters.ndjson';
SET 'rowtide.source-threads' = '{threads}';
CREATE TABLE e (n INT, v INT) WITH ('connector' = 'filesystem', 'path' = 'bad', 'format' = 'csv');
CREATE TABLE s (n INT, v INT) WITH ('connector' = 'filesystem', 'path' = '{out}', 'format' = 'csv');
INSERT INTO s SELECT n, v FROM e;
"""
RECORDS, BAD_EVERY = 60000, 7  # in each of two files


def rejects(lab):
    """Killed again and again: each rejected record has one letter, and counts are of the whole life."""
    os.mkdir(os.path.join(lab.folder, "bad"))
    for file in (1, 2):
        lab.write(f"bad/{file}.csv", "".join(f"{n},{'x' if n % BAD_EVERY == 0 else n % 97}\n" for n in range(RECORDS)))
    bad = {(f"bad/{file}.csv", line + 1) for file in (1, 2) for line in range(0, RECORDS, BAD_EVERY)}
    for lanes, threads in (("1", "0"), ("2", "0"), ("1", "1")):
        out, what = f"good_{lanes}_{threads}", f"{lanes} lanes, {threads} source threads"
        lab.write("rejects.sql", REJECTS.format(out=out, threads=threads))
        other = '{"job":"another","table_name":"default_catalog.default_database.e","file":"bad/1.csv","line":1,"byte":0}'
        lab.write("letters.ndjson", other + "\n")
        kills = 0
        for life in range(40):
            process = lab.start("--stats", "--state", "kept_" + out, "-p", lanes, "rejects.sql")
            try:
                error = process.communicate(timeout=0.05 + 0.02 * life)[1]
                break
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                kills += 1
        with open(os.path.join(lab.folder, "letters.ndjson"), encoding="utf-8") as file:
            lines = file.read().splitlines()
        letters = collections.Counter((letter["file"], letter["line"]) for letter in map(json.loads, lines[1:]))
        yield f"each rejected record has one letter ({what}, {kills} kills)", differs((0, 0, 0, len(bad), True), (process.returncode, len(bad - set(letters)), len(set(letters) - bad), sum(letters.values()), kills > 0))
        yield f"letters of other jobs stay ({what})", differs(other, lines[0])
        total, rejected = 2 * RECORDS, len(bad)
        yield f"counts are of the whole life ({what})", differs(True, "has read all of its input" in error or f"{total} records read = {total - rejected} rows emitted + {rejected} rejected" in error) and error
        yield f"rows are there once ({what})", differs(total - rejected, len(lab.rows(out)))


def watermarks(lab):
    """As in Flink, an assigner keeps nothing: one with another delay begins anew, and what is behind it goes on."""
    os.mkdir(os.path.join(lab.folder, "marks"))
    lab.write("marks/1.csv", EVENTS)
    text = JOB.format(out="marked", key="id", watch=WATCH).replace("'events'", "'marks'")
    lab.write("marks.sql", text)
    lab.write("delayed.sql", text.replace("WATERMARK FOR ts AS ts", "WATERMARK FOR ts AS ts - INTERVAL '1' SECOND"))
    process = lab.start("--state", "marks_kept", "marks.sql")
    yield "a job with a watermark", lab.await_rows(FIRST, "marked")
    ended(process, signal.SIGINT)
    lab.write("marks/2.csv", MORE)
    process = lab.start("--state", "marks_kept", "delayed.sql")
    yield "… goes on with another delay: nothing is shown again, and the last row waits", lab.await_rows(ALL[:3], "marked")
    time.sleep(0.5)
    yield "… goes on, still", differs(ALL[:3], lab.rows("marked")) or says(ended(process, signal.SIGINT), 0, "goes on from")


def checks(rowtide, folder):
    lab = Lab(rowtide, folder)
    for part in (running, changed, damaged, forbidden, times, bounded, lanes, looked, golden, rejects, watermarks):
        yield from part(lab)
