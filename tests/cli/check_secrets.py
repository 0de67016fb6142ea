"""${NAME} and ${file:/path} in values of options; and that no secret is in anything the command prints, serves or writes down."""
import json
import os
import signal

from check_monitor import Page
from check_state import FIRST, Lab, differs, ended, says

SECRETS = {"variable": "v4r-hush-Xy7", "file": "f1l3-hush-Qz8", "literal": "l1t-hush-Kw9", "inner": "1nn3r-hush-Jp2"}
JAAS = f"org.apache.kafka.common.security.plain.PlainLoginModule required username=\"app\" password=\"{SECRETS['inner']}\";"


def environment(lab):
    os.environ.update(ROWTIDE_TEST_SECRET=SECRETS["variable"], ROWTIDE_TEST_EVENTS="events", ROWTIDE_TEST_NUMBER="many")
    os.environ.pop("ROWTIDE_TEST_UNSET", None)
    lab.write("secret.txt", SECRETS["file"] + "\r\n")


def leaks(*texts):
    found = [name for name, secret in SECRETS.items() for text in texts if secret in text]
    return f"the secret of a {found[0]} is in it" if found else None


def sql(lab, text, *words):
    return lab.call("run", *words, "-c", text)


def table(options, columns="id STRING, st STRING"):
    return f"CREATE TABLE t ({columns}) WITH ('connector' = 'filesystem', 'format' = 'csv', {options});\n"


def references(lab):
    columns = "id STRING, st STRING, n INT, ts TIMESTAMP(3)"
    done = sql(lab, table("'path' = '${ROWTIDE_TEST_EVENTS}/1.csv'", columns) + "SELECT id FROM t WHERE n = 5")
    yield "a variable within a value", differs((0, '+I ["b"]\n'), (done.returncode, done.stdout)) if done.returncode == 0 else done.stderr
    lab.write("data.csv", f"{SECRETS['file']},1\nx,${{HOME}}\n")
    done = sql(lab, table("'path' = 'data.csv', 'csv.null-literal' = '${file:secret.txt}'") + "SELECT * FROM t")
    yield "a file, without its line end", differs((0, '+I [null,"1"]\n+I ["x","${HOME}"]\n'), (done.returncode, done.stdout))
    done = sql(lab, table("'path' = 'data.csv', 'csv.null-literal' = '$${HOME}'") + "SELECT st FROM t WHERE id = 'x' AND '${HOME}' = '$' || '{HOME}'")
    yield "$${ is text, and queries are not touched", differs((0, "+I [null]\n"), (done.returncode, done.stdout))
    done = sql(lab, table("'path' = 'data.csv'") + "SELECT st FROM t /*+ OPTIONS('csv.null-literal' = '${ROWTIDE_TEST_ONE}') */ WHERE id = 'x'")
    yield "a hint whose variable is not set", says(done, 2, "RT2028", "ROWTIDE_TEST_ONE is not set", "csv.null-literal")
    done = sql(lab, "SET 'table.exec.state.ttl' = '${ROWTIDE_TEST_UNSET}'")
    yield "SET whose variable is not set, with place and caret", says(done, 2, "error[RT2028]: the environment variable ROWTIDE_TEST_UNSET is not set", "-c:1:30", "| " + " " * 29 + "^")
    done = sql(lab, table("\n'path' = '${file:nowhere.txt}'"))
    yield "WITH whose file is not there, with place and caret", says(done, 2, "error[RT2028]: ", "nowhere.txt", "No such file", "-c:2:10", "|          ^")
    for text in ("${", "${a b}", "${file:}", "${1}", "x${HOME"):
        yield f"'{text}' is no reference", says(sql(lab, f"SET 'pipeline.name' = '{text}'"), 2, "RT2028", "$${ is the text ${")
    done = sql(lab, "SET 'table.exec.state.ttl' = '${ROWTIDE_TEST_SECRET}'")
    yield "a wrong value is named by its reference", says(done, 2, "takes a duration", "'${ROWTIDE_TEST_SECRET}'") or leaks(done.stderr)
    done = sql(lab, table("'path' = 'data.csv', 'source.monitor-interval' = '${ROWTIDE_TEST_NUMBER}'") + "SELECT * FROM t")
    yield "… in WITH as well", says(done, 2, "'${ROWTIDE_TEST_NUMBER}'") or differs(False, "many" in done.stderr)


def shown(lab):
    every = (f"'path' = 'data.csv', 'csv.null-literal' = '${{ROWTIDE_TEST_SECRET}}', 'properties.sasl.password' = '{SECRETS['literal']}', "
             f"'properties.ssl.key.password' = '${{file:secret.txt}}', 'properties.sasl.jaas.config' = '{JAAS}'")
    done = sql(lab, table(every) + "SHOW CREATE TABLE t")
    yield "SHOW CREATE TABLE", leaks(done.stdout, done.stderr) or differs((0, True, True, True), (done.returncode, "'${ROWTIDE_TEST_SECRET}'" in done.stdout,
                               "'properties.sasl.password' = '******'" in done.stdout, "'properties.ssl.key.password' = '${file:secret.txt}'" in done.stdout))
    done = sql(lab, f"SET 'security.password' = '{SECRETS['literal']}'; SET 'pipeline.name' = '${{ROWTIDE_TEST_SECRET}}'; SET")
    yield "SET lists no secret", leaks(done.stdout, done.stderr) or differs(True, "${ROWTIDE_TEST_SECRET}" in done.stdout and "******" in done.stdout)
    hint = f"/*+ OPTIONS('csv.null-literal' = '${{ROWTIDE_TEST_SECRET}}') */"
    done = sql(lab, table("'path' = 'data.csv'") + f"EXPLAIN CHANGELOG_MODE SELECT * FROM t {hint}")
    yield "EXPLAIN", leaks(done.stdout, done.stderr) or differs((0, True), (done.returncode, "csv.null-literal=${ROWTIDE_TEST_SECRET}" in done.stdout))
    done = sql(lab, table("'path' = 'data.csv'") + f"CREATE VIEW v AS SELECT * FROM t /*+ OPTIONS('api.token' = '{SECRETS['literal']}') */; SHOW CREATE VIEW v")
    yield "SHOW CREATE VIEW", leaks(done.stdout, done.stderr) or says(done, 0)
    # Errors quote what they were given, and show lines of SQL.
    for form in ("text", "json"):
        for name, text in {"an option that is not known": table(every) + "SELECT * FROM t",
                           "a missing comma behind it": f"CREATE TABLE t (a INT) WITH ('x.password' = '{SECRETS['literal']}' 'path' = 'p')",
                           "a text without an end": f"SELECT 1; SET 'x.password' = '{SECRETS['literal']}",
                           "what is no SQL in front of it": f"SELECT ? ° 1; SET 'x.password' = '{SECRETS['literal']}'; SELECT",
                           "a file that is not there": table("'path' = '${ROWTIDE_TEST_SECRET}/${file:secret.txt}'") + "SELECT * FROM t",
                           "a hint": table("'path' = 'data.csv'") + f"SELECT * FROM t /*+ OPTIONS('x.token' = '{SECRETS['literal']}') */ WHERE nothing"}.items():
            done = sql(lab, text, "--errors", form)
            yield f"errors as {form}: {name}", leaks(done.stdout, done.stderr) or differs(True, done.returncode in (2, 4))


def kept(lab):
    job = lab.job("secret.sql", out="secret_out")
    with open(os.path.join(lab.folder, job), encoding="utf-8") as file:
        text = file.read()
    settings = f"SET 'security.password' = '{SECRETS['literal']}';\nSET 'pipeline.name' = '${{ROWTIDE_TEST_SECRET}}';\n"
    lab.write(job, settings + text.replace("'format' = 'csv'", "'format' = 'csv', 'csv.null-literal' = '${ROWTIDE_TEST_SECRET}'")
              .replace("FROM e)", "FROM e /*+ OPTIONS('csv.null-literal' = '${file:secret.txt}') */)"))
    page = Page(lab, "--state", "secret_kept", "--stats", job)
    yield "a job with secrets", lab.await_rows(FIRST, "secret_out")
    page.await_metric(1, "rowtide_job_state", state="running")
    served = [page.ask(path)[1] for path in ("/", "/status.json", "/metrics")]
    yield "the status page and metrics", leaks(*served) or differs("running", json.loads(served[1])["job"]["state"])
    done = lab.call("savepoint", "secret_kept", "secret_saved")
    yield "a savepoint", says(done, 0)
    ended_job = page.end(signal.SIGTERM)
    yield "what it has said", leaks(ended_job.stdout, ended_job.stderr) or says(ended_job, 0)
    for name in ("secret_kept", "secret_saved"):
        found = [path for at, _, names in os.walk(os.path.join(lab.folder, name)) for path in (os.path.join(at, one) for one in names)
                 if any(secret.encode() in open(path, "rb").read() for secret in SECRETS.values())]
        yield f"files of {name}", differs([], found)
    del os.environ["ROWTIDE_TEST_SECRET"]
    done = lab.call("state", "get", "secret_kept")
    yield "state can be looked at where the variable is not set", says(done, 0) or differs(True, '"a"' in done.stdout)
    done = lab.call("run", "--state", "secret_kept", job)
    yield "… but the job does not start", says(done, 2, "ROWTIDE_TEST_SECRET is not set")
    os.environ["ROWTIDE_TEST_SECRET"] = SECRETS["variable"]
    process = lab.start("--state", "secret_kept", job)
    lab.await_control("secret_kept")
    yield "with it, it goes on", says(ended(process, signal.SIGTERM), 0, "goes on from")


def checks(rowtide, folder):
    lab = Lab(rowtide, folder)
    environment(lab)
    yield from references(lab)
    yield from shown(lab)
    yield from kept(lab)
