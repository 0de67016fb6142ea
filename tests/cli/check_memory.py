"""One setting bounds what state takes of memory: RSS of a job whose state is many times larger."""
import os
import re
import shutil
import subprocess
import threading
import time

from draws import draws

LIMIT, KEYS, TIMES = 16 << 20, 1_500_000, 15
WITHOUT_STATE = 6 << 20  # of a lane: batches, stacks, what RocksDB takes for nothing


def anonymous(process):
    """Bytes of memory that are not pages of files, such as the program itself."""
    try:
        with open(f"/proc/{process.pid}/status", encoding="ascii") as file:
            return int(re.search(r"RssAnon:\s+(\d+)", file.read()).group(1)) << 10
    except (AttributeError, OSError):  # it is over
        return 0


def peak(rowtide, lab, rows, lanes=1):
    """Most memory at a time, and what was said, of so many rows."""
    with open(os.path.join(lab, "draws.sql"), "w", encoding="utf-8") as file:
        file.write(draws(rows, KEYS, 160, "2s", f"SET 'rowtide.memory.limit' = '{LIMIT}';\n"))
    command = [rowtide, "run", "--stats", "--parallelism", str(lanes), "--state", "drawn", "draws.sql"]
    most = 0
    with subprocess.Popen(command, cwd=lab, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as job:
        texts = []
        reader = threading.Thread(target=lambda: texts.append(job.stdout.read()))
        reader.start()
        while job.poll() is None:
            most = max(most, anonymous(job))
            time.sleep(0.002)
        reader.join()
    shutil.rmtree(os.path.join(lab, "drawn"), ignore_errors=True)
    return most, job.returncode, texts[0]


def checks(rowtide, lab):
    for lanes in (1, 2):
        small, code, text = peak(rowtide, lab, 2000, lanes)
        yield f"a job with little memory ({lanes} lanes)", None if code == 0 else text
        large, code, text = peak(rowtide, lab, 2 * KEYS, lanes)
        found = re.search(r"(\d+) checkpoints completed, 0 failed", text)
        yield f"… whose state is {TIMES} times as large", None if code == 0 and found else text
        yield "… stays within its bound and a fifth", None if large <= lanes * WITHOUT_STATE + LIMIT * 1.2 else \
            f"{large >> 10} KiB, {small >> 10} KiB with little state; the limit is {LIMIT >> 10} KiB"
