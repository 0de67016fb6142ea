"""Jobs that fail and are started again by themselves, and what is left of those that are stopped."""
import os
import shutil
import signal
import time

from check_state import ALL, FIRST, MORE, Lab, differs, ended, says

STRATEGY = "SET 'restart-strategy.{}' = '{}';\n"
KEEPING = "SET 'execution.checkpointing.externalized-checkpoint-retention' = '{}';\n"
QUICKLY = STRATEGY.format("exponential-delay.initial-backoff", "50 ms")


class Trial:
    """A job of its own in the lab, whose sink can be put out of order."""

    def __init__(self, lab, name, settings):
        self.lab, self.name = lab, name
        job = lab.job(name + ".sql", out=name)
        with open(os.path.join(lab.folder, job), encoding="utf-8") as file:
            text = file.read().replace("'events'", f"'{name}_events'")
        lab.write(job, settings + text)
        os.mkdir(self.path("_events"))
        shutil.copy(os.path.join(lab.folder, "events", "1.csv"), self.path("_events"))

    def path(self, suffix=""):
        return os.path.join(self.lab.folder, self.name + suffix)

    def start(self, *words):
        return self.lab.start("--state", self.name + "_kept", *words, self.name + ".sql")

    def more(self, text=MORE):
        self.lab.write(self.name + "_events/2.csv", text)

    def break_sink(self):
        """No file can be made: its folder is a file."""
        os.rename(self.path(), self.path("_away"))
        self.lab.write(self.name, "")

    def mend_sink(self):
        os.remove(self.path())
        os.rename(self.path("_away"), self.path())

    def broken(self, *words):
        """Shows its first rows, then fails again and again."""
        process = self.start(*words)
        wrong = self.lab.await_rows(FIRST, self.name)
        self.break_sink()
        self.more()
        return process, wrong


def exited(process):
    out, error = process.communicate(timeout=60)
    process.stdout_text, process.stderr = out, error
    return process


def restarting(lab):
    trial = Trial(lab, "mended", QUICKLY)
    process, wrong = trial.broken("--stats")
    yield "a job shows its first rows", wrong
    time.sleep(0.5)
    trial.mend_sink()
    yield "started again until its sink works, it goes on", lab.await_rows(ALL, "mended")
    done = ended(process, signal.SIGTERM)
    yield "… and says each restart", says(done, 0, "state: mended is a file", "restart 1 from the newest checkpoint in 0.1 s", "restart 2 from", "restarts=")
    trial = Trial(lab, "twice", STRATEGY.format("type", "fixed-delay") + STRATEGY.format("fixed-delay.attempts", "2") + STRATEGY.format("fixed-delay.delay", "10 ms"))
    process, wrong = trial.broken()
    yield "fixed-delay has so many attempts", wrong or says(exited(process), 4, "restart 2 from the newest checkpoint in 0.0 s", "2 restarts are as many as", "error[RT5000]: ")
    trial.mend_sink()
    process = trial.start()
    yield "… and the next process goes on", lab.await_rows(ALL, "twice")
    ended(process, signal.SIGINT)
    trial = Trial(lab, "never", STRATEGY.format("type", "none"))
    process, wrong = trial.broken()
    yield "none has none", wrong or says(exited(process), 4, "error[RT5000]: never is a file") or differs(False, "restart" in process.stderr)
    trial = Trial(lab, "waiting", STRATEGY.format("exponential-delay.initial-backoff", "50 s"))
    process, wrong = trial.broken()
    lab.await_control("waiting_kept")
    done = lab.call("savepoint", "waiting_kept", "nothing")
    while done.returncode == 0:  # before it has failed
        shutil.rmtree(os.path.join(lab.folder, "nothing"))
        done = lab.call("savepoint", "waiting_kept", "nothing")
    yield "while it waits there is nothing to save", wrong or says(done, 4, "waits for its restart")
    done = lab.call("stop", "waiting_kept")
    yield "… and stop ends it", says(done, 0) or says(exited(process), 0, "was waiting for its restart")
    trial.mend_sink()
    process = trial.start()
    yield "… and the same command goes on", lab.await_rows(ALL, "waiting")
    ended(process, signal.SIGINT)
    trial = Trial(lab, "bad", QUICKLY)
    process = trial.start()
    yield "rows of a job that will meet bad data", lab.await_rows(FIRST, "bad")
    trial.more("x,y,z,2026-01-01 00:00:00\n")
    yield "bad data is not worth a restart", says(exited(process), 3, "RT4001") or differs(False, "restart" in process.stderr)
    trial = Trial(lab, "first", QUICKLY)
    lab.write("first", "")
    yield "what has never worked fails at once", says(exited(trial.start()), 4, "first is a file") or differs(False, "restart" in process.stderr)


def retention(lab):
    for policy, rows in (("RETAIN_ON_CANCELLATION", FIRST), ("DELETE_ON_CANCELLATION", sorted(FIRST + FIRST)), ("NO_EXTERNALIZED_CHECKPOINTS", sorted(FIRST + FIRST))):
        name = policy.split("_", maxsplit=1)[0].lower()
        trial = Trial(lab, name, KEEPING.format(policy))
        process = trial.start()
        yield f"{policy}: rows", lab.await_rows(FIRST, name)
        deletes = rows != FIRST
        done = ended(process, signal.SIGTERM)
        yield f"{policy}: a stop says what is left", says(done, 0, "its checkpoints are deleted" if deletes else "all that was read is in a checkpoint")
        yield f"{policy}: and it is", differs(deletes, not lab.checkpoints(name + "_kept"))
        process = trial.start()
        lab.await_control(name + "_kept")
        yield f"{policy}: the next run", lab.await_rows(rows, name)
        yield f"{policy}: says where it begins", says(ended(process, signal.SIGINT), 0, "starts from the first record" if deletes else "goes on from")


def blocked(lab):
    """Nobody reads what it prints, so it cannot come to its end."""
    endless = "SET 'rowtide.shutdown.timeout' = '1 s'; CREATE TABLE g (id INT) WITH ('connector' = 'datagen'); SELECT id FROM g"
    for number, code in ((signal.SIGTERM, 143), (signal.SIGINT, 130)):
        process = lab.start("-c", endless)
        time.sleep(1)
        begin = time.monotonic()
        process.send_signal(number)
        try:
            process.wait(20)
            took = time.monotonic() - begin
        finally:
            process.kill()
        process.stdout.close()
        error = process.stderr.read()
        yield f"a job that cannot end leaves with {code}", differs((code, True, True), (process.returncode, 0.8 < took < 10, "'rowtide.shutdown.timeout'" in error))


def checks(rowtide, folder):
    lab = Lab(rowtide, folder)
    for part in (restarting, retention, blocked):
        yield from part(lab)
