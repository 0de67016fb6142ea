"""A program on a pseudo-terminal: what a person would see, and the keys they would press."""
import fcntl
import os
import pty
import re
import select
import struct
import termios
import time


class Session:
    """Starts `command`; `see` waits for text, `keys` types."""

    def __init__(self, command, folder, environment=None, columns=80, stdin=None):
        self.output = ""
        self.seen = 0  # what `see` has already matched
        self.status = None
        settings = dict(os.environ, TERM="xterm", LC_ALL="C.UTF-8", HOME=str(folder))
        settings.pop("NO_COLOR", None)
        settings.update(environment or {})
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            if stdin is not None:
                os.dup2(stdin, 0)
            os.execvpe(command[0], command, settings)
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))

    def keys(self, text):
        time.sleep(0.1)  # libedit draws its prompt just before it takes the terminal's echo over
        os.write(self.terminal, text.encode())

    def _take(self, seconds):
        """Reads what there is; False at the end."""
        ready, _, _ = select.select([self.terminal], [], [], seconds)
        if not ready:
            return True
        try:
            data = os.read(self.terminal, 65536)
        except OSError:
            return False
        self.output += data.decode(errors="replace")
        return bool(data)

    def see(self, pattern, seconds=20):
        """Waits for a regular expression in what has come since the last match; None when it does not come."""
        end = time.time() + seconds
        while True:
            match = re.search(pattern, self.output[self.seen:])
            if match:
                self.seen += match.end()
                return match
            if time.time() > end or not self._take(0.1):
                match = re.search(pattern, self.output[self.seen:])
                return match

    def line(self):
        """The line the cursor is in, as it is shown: moves and erasures applied."""
        self.see(r"\Z(?!)", 0.4)
        shown, column = [], 0
        for number, move, character in re.findall(r"\x1b\[(\d*)([A-Za-z@])|([\s\S])", self.output):
            if move == "G":
                column = int(number or 1) - 1
            elif move == "C":
                column += int(number or 1)
            elif move == "K":
                del shown[column:]
            elif move == "@":
                shown[column:column] = [" "] * int(number or 1)
            elif move == "P":
                del shown[column:column + int(number or 1)]
            elif character == "\n":
                shown, column = [], 0
            elif character == "\r":
                column = 0
            elif character == "\b":
                column = max(column - 1, 0)
            elif character and character != "\a":
                shown += [" "] * (column - len(shown))
                shown[column:column + 1] = [character]
                column += 1
        return "".join(shown)

    def wait(self, seconds=20):
        """The exit code; minus a signal's number; None when it does not end."""
        end = time.time() + seconds
        while time.time() < end:
            more = self._take(0.05)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                while more and self._take(0.05) and select.select([self.terminal], [], [], 0)[0]:
                    pass
                self.status = os.waitstatus_to_exitcode(status)
                return self.status
        return None

    def close(self):
        if self.status is None:
            os.kill(self.pid, 9)
            os.waitpid(self.pid, 0)
        os.close(self.terminal)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
