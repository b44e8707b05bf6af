"""Runs a program at a terminal of its own, types, and waits for what it says.

Usage: console.py SECONDS STEP... -- COMMAND..., with the steps `see TEXT` and `type TEXT`, in which
Python's escapes stand for control characters, and `signals off`. Ends with the program's exit code, and with 124 if a
text does not come or the program does not end in that time; prints what the terminal showed.
"""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time

ROWS, COLUMNS = 50, 200
# Sequences that move the cursor, colour, and name windows.
CONTROL = re.compile(rb"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[=>78]")


class Terminal:
    """A terminal with a program at it, and all that it has shown."""

    def __init__(self, command, deadline):
        self.deadline, self.shown, self.seen = deadline, b"", 0
        self.process, self.file = pty.fork()
        if self.process == 0:
            os.execvp(command[0], command)
        size = struct.pack("HHHH", ROWS, COLUMNS, 0, 0)
        fcntl.ioctl(self.file, termios.TIOCSWINSZ, size)

    def listen(self):
        """Takes in what the program shows; False at its end."""
        left = max(0, self.deadline - time.monotonic())
        if not select.select([self.file], [], [], left)[0]:
            raise TimeoutError
        try:
            heard = os.read(self.file, 4096)
        except OSError:
            heard = b""  # Linux reports the end of a terminal as a failure.
        self.shown += heard
        return bool(heard)

    def see(self, text):
        """Waits for a text after the one that was seen last."""
        while (at := self.text().find(text, self.seen)) < 0:
            if not self.listen():
                raise TimeoutError
        self.seen = at + len(text)

    def text(self):
        """All that was shown, without what moves the cursor."""
        return CONTROL.sub(b"", self.shown)

    def type(self, text):
        """Presses keys."""
        os.write(self.file, text)

    def signals(self, _off):
        """Has Ctrl-Z and Ctrl-\\ passed on as keys, as Windows' consoles do, and wine's do not."""
        settings = termios.tcgetattr(self.file)
        settings[3] &= ~(termios.ISIG | termios.ECHO)
        termios.tcsetattr(self.file, termios.TCSANOW, settings)

    def ended(self):
        """Waits for the end of the program; its exit code."""
        while self.listen():
            pass
        return os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])


def main():
    """Returns the exit code."""
    seconds, *rest = sys.argv[1:]
    end = rest.index("--")
    steps, command = rest[:end], rest[end + 1 :]
    terminal = Terminal(command, time.monotonic() + float(seconds))
    step = "the end"
    try:
        for what, text in zip(steps[::2], steps[1::2]):
            step = f"{what} {text}"
            getattr(terminal, what)(text.encode().decode("unicode_escape").encode("latin-1"))
        step = "the end"
        return terminal.ended()
    except TimeoutError:
        os.kill(terminal.process, signal.SIGKILL)
        print(f"console.py: waited in vain for {step}", file=sys.stderr)
        return 124
    finally:
        sys.stdout.buffer.write(terminal.text().replace(b"\r\n", b"\n"))
        sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
