"""The shell, typed into through a pseudo-terminal."""
import os
import stat
import subprocess
import time

from pty_session import Session

PROMPT = r"rowtide> $"
TABLE = "CREATE TABLE shipments (id STRING, status STRING, amount INT) WITH ('connector' = 'filesystem', 'path' = 'orders.csv', 'format' = 'csv');\n"


def outcome(session, pattern, seconds=15):
    """None when the pattern comes, else what came instead."""
    return None if session.see(pattern, seconds) else repr(session.output[-700:])


def check_statements(session):
    yield "it greets", outcome(session, r"\\\? is help.*\r\n(.|\r\n)*rowtide> ")
    session.keys("SELECT id,\n")
    yield "the prompt changes within a statement", outcome(session, r"      -> ")
    session.keys("  'it''s;\n")
    yield "and within a string", outcome(session, r"      '> ")
    session.keys("' AS s\n")
    yield "and back", outcome(session, r"      -> ")
    session.keys("FROM (VALUES (1)) AS t(id);\n")
    yield "a statement of four lines runs", outcome(session, r"\+I(.|\r\n)*Received a total of 1 row\r\n(.|\r\n)*rowtide> ")
    session.keys("SELECT amout FROM (VALUES (1)) AS t(amount);\n")
    yield "an error shows its line", outcome(session, r"error\[RT2002\](.|\r\n)*\^\^\^\^\^(.|\r\n)*rowtide> ")
    session.keys("SELEC 1; SELECT 2;\n")
    yield "an error ends neither the shell", outcome(session, r"error\[RT1000\](.|\r\n)*rowtide> ")
    session.keys("SELECT 40 + 2 AS answer;\n")
    yield "nor what comes after", outcome(session, r"42 \|(.|\r\n)*rowtide> ")


def check_commands(session):
    session.keys(TABLE)
    session.see(r"rowtide> ")
    for keys, pattern, name in [
            ("\\?\n", r"\\output FORM", "\\? lists the commands"), ("\\d\n", r"\| +shipments \|", "\\d lists tables"),
            ("\\d shipments\n", r"\| +amount \| +INT \|", "\\d NAME lists columns"),
            ("\\output json\nSELECT 1 AS n;\n", r'\{"op":"\+I","row":\{"n":1\}\}', "\\output json"),
            ("\\output nothing\n", r"there is no form 'nothing'", "\\output of what there is not"),
            ("\\output table\nSELECT 7 AS n;\n", r"1 row in set", "\\output table"),
            ("\\output auto\n\\limit 2\nSELECT * FROM (VALUES (1), (2), (3)) AS t(n);\n", r"total of 2 rows", "\\limit"),
            ("\\limit -2\n", r"'-2' is no number of rows", "\\limit of what is none"),
            ("\\limit off\n\\stats on\nSELECT 1;\n", r"amplification(.|\r\n)*rows/s", "\\stats on"),
            ("\\stats off\nSET 'table.local-time-zone' = 'Asia/Tokyo';\n\\set\n", r"Asia/Tokyo \|", "\\set"),
            ("\\help RT2031\n", r"What to do", "\\help CODE"), ("\\ouput\n", r"did you mean \\output\?", "a misspelt command"),
            ("\\i keep_first.sql\n", r"\+I\[o0152, created", "\\i FILE runs a file")]:
        session.keys(keys)
        yield name, outcome(session, pattern)
        session.see(r"rowtide> ")


def check_completion(session):
    for keys, shown, name in [
            ("SELEC\t", "rowtide> SELECT ", "a keyword"), ("* FROM shi\t", "rowtide> SELECT * FROM shipments ", "a table"),
            ("WHERE s\t", "FROM shipments WHERE s", "nothing that is not certain"),
            ("tat\t", "FROM shipments WHERE stat", "no more than is certain"),
            ("u\t", "FROM shipments WHERE status ", "a column"), ("is not nu\t", "WHERE status is not null", "words in their case")]:
        session.keys(keys)
        line = session.line()
        yield f"Tab completes {name}", None if line.endswith(shown) else repr(line)
    session.keys(" AND \t")
    yield "Tab alone lists what there may be", outcome(session, r"amount(.|\r\n)*status", 5)
    session.keys("\x03")
    yield "Ctrl-C forgets what was typed", outcome(session, r"\^C\r\nrowtide> ", 5)
    for keys, shown, name in [("\\outp\t", "rowtide> \\output ", "commands"), ("js\t", "\\output json ", "their words"),
                              ("SET 'rowtide.flink\t", "SET 'rowtide.flink-compat ", "keys of SET"),
                              ("SELECT s.am FROM shipments AS s\x01" + "\x06" * 11 + "\t",
                               "SELECT s.amount  FROM shipments AS s", "columns of an alias behind the cursor")]:
        if not keys.startswith("js"):
            session.keys("\x03")
            session.see(r"\^C\r\nrowtide> ")
        session.keys(keys)
        line = session.line()
        yield f"Tab completes {name}", None if line.endswith(shown) else repr(line)
    session.keys("\x03")
    session.see(r"\^C\r\nrowtide> ")


def check_interrupt(session, lab):
    os.mkfifo(os.path.join(lab, "slow.csv"))
    feed = subprocess.Popen(["bash", "-c", "while true; do echo 1; sleep 0.05; done > slow.csv"], cwd=lab, stderr=subprocess.DEVNULL)
    session.keys("CREATE TABLE slow (n INT) WITH ('connector' = 'filesystem', 'path' = 'slow.csv', 'format' = 'csv');\n")
    session.see(r"rowtide> ")
    session.keys("SELECT COUNT(*) AS n FROM slow;\n")
    time.sleep(1)
    session.keys("\x03")
    yield "Ctrl-C stops the statement", outcome(session, r"Query terminated(.|\r\n)*rowtide> ", 10)
    feed.kill()
    feed.wait()
    session.keys("SELECT 'still here' AS s;\n")
    yield "and not the shell", outcome(session, r"still here \|(.|\r\n)*rowtide> ", 10)


def check_history(rowtide, lab):
    file = os.path.join(lab, ".rowtide_history")
    mode = stat.S_IMODE(os.stat(file).st_mode) if os.path.exists(file) else None
    yield "the history is a file of the user alone", None if mode == 0o600 else f"{mode}"
    with Session([rowtide], lab) as session:
        session.see(r"rowtide> ")
        session.keys("\x1b[A")
        yield "the next shell remembers", outcome(session, r"SELECT 'still here' AS s;", 5)
        session.keys("\n")
        yield "and runs it again", outcome(session, r"still here \|", 5)
        session.see(r"rowtide> ")
        session.keys("\x04")
        yield "Ctrl-D ends the shell", None if session.wait() == 0 else "it goes on"


def check_ends(rowtide, lab):
    for keys in ["\\q\n", "exit\n", "QUIT;\n"]:
        with Session([rowtide], lab, {"ROWTIDE_HISTORY": ""}) as session:
            session.see(r"rowtide> ")
            session.keys(keys)
            yield f"{keys.strip()} ends the shell", None if session.wait() == 0 else "it goes on"
    with Session([rowtide], lab, {"ROWTIDE_HISTORY": ""}) as session:
        session.see(r"rowtide> ")
        os.kill(session.pid, 15)
        code = session.wait()
        yield "SIGTERM ends the shell with 143", None if code == 143 else str(code)
    done = subprocess.run([rowtide], cwd=lab, input="SELECT 1 AS a;\nSELECT 2 AS a;\n", text=True, stdout=subprocess.PIPE, check=False)
    yield "standard input that is no terminal is a script", None if done.stdout == "+I [1]\n+I [2]\n" else done.stdout


def checks(rowtide, lab):
    with Session([rowtide], lab) as session:
        yield from check_statements(session)
        yield from check_commands(session)
        yield from check_completion(session)
        yield from check_interrupt(session, lab)
        session.keys("\\q\n")
        session.wait()
    yield from check_history(rowtide, lab)
    yield from check_ends(rowtide, lab)
