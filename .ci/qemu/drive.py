"""Starts a simulated board and a guest with an FTDI adapter on it, and plugs as the guest asks.

Usage: drive.py SECONDS HW-TESTS KERNEL INITRAMFS. Ends with 0 if the guest said @end in that time.
"""

import json
import os
import selectors
import socket
import subprocess
import sys
import tempfile
import time


class Lines:
    """The lines of a process, with a deadline."""

    def __init__(self, process, deadline):
        self.file, self.deadline, self.kept = process.stdout.fileno(), deadline, b""
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.file, selectors.EVENT_READ)

    def next(self):
        """The next line, or None if the process has ended."""
        while b"\n" not in self.kept:
            if not self.selector.select(max(0, self.deadline - time.monotonic())):
                raise TimeoutError("out of time")
            read = os.read(self.file, 4096)
            if not read:
                return None
            self.kept += read
        line, self.kept = self.kept.split(b"\n", 1)
        return line.decode("utf-8", "replace").rstrip("\r")


class Machine:
    """QEMU's monitor protocol, QMP."""

    def __init__(self, path, deadline):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(30)
        while True:
            try:
                self.socket.connect(path)
                break
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
        self.file = self.socket.makefile("rw")
        self.file.readline()
        self.do("qmp_capabilities")

    def do(self, command, **arguments):
        """Has a command executed, and waits for its answer; events are passed over."""
        self.file.write(json.dumps({"execute": command, "arguments": arguments}) + "\n")
        self.file.flush()
        while True:
            answer = json.loads(self.file.readline())
            if "error" in answer:
                raise RuntimeError(f"{command}: {answer['error']}")
            if "return" in answer:
                return

    def plug(self):
        """Puts the adapter in, with the board at its other end, as soon as QEMU has let go of it."""
        adapter = {"driver": "usb-serial", "id": "adapter", "chardev": "board", "bus": "usb.0"}
        deadline = time.monotonic() + 30
        while True:
            try:
                return self.do("device_add", **adapter)
            except RuntimeError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)

    def unplug(self):
        """Pulls the adapter out; the board stays on."""
        self.do("device_del", id="adapter")


def guest(kernel, initramfs, board, monitor):
    """The command that starts the guest: an emulated processor, so that it needs no rights.

    A busy host lets the emulated timer come too late for the kernel's check of it.
    """
    address, port = board.removeprefix("tcp://").rsplit(":", 1)
    return [
        "qemu-system-x86_64", "-accel", "tcg", "-cpu", "max", "-smp", "2", "-m", "1024",
        "-nodefaults", "-no-reboot", "-display", "none", "-serial", "stdio",
        "-kernel", kernel, "-initrd", initramfs,
        "-append", "console=ttyS0 quiet panic=-1 no_timer_check",
        "-qmp", f"unix:{monitor},server=on,wait=off", "-device", "qemu-xhci,id=usb",
        "-chardev", f"socket,id=board,host={address},port={port}",
    ]


def converse(lines, machine):
    """Does what the guest asks for; whether all is well in the end."""
    while (line := lines.next()) is not None:
        word = line.split(" ", 1)[0]
        if word == "@unplug":
            machine.unplug()
        elif word == "@plug":
            machine.plug()
        elif word == "@end":
            return True
        elif word == "@failed":
            print(line, flush=True)
            return False
        print(line.removeprefix("@say "), flush=True)
    return False


def main():
    """Returns the exit code."""
    seconds, hw_tests, kernel, initramfs = sys.argv[1:]
    deadline = time.monotonic() + float(seconds)
    piped = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE}
    started = []
    with tempfile.TemporaryDirectory() as folder:
        try:
            started.append(subprocess.Popen([hw_tests, "simulate", "board", "--listen", "0"], **piped))
            board = Lines(started[0], deadline).next()
            monitor = os.path.join(folder, "qmp")
            started.append(subprocess.Popen(guest(kernel, initramfs, board, monitor), **piped))
            machine = Machine(monitor, deadline)
            machine.plug()
            return 0 if converse(Lines(started[1], deadline), machine) else 1
        except TimeoutError as error:
            print(f"the guest: {error}", file=sys.stderr)
            return 1
        finally:
            for process in started:
                process.kill()
                process.wait()


if __name__ == "__main__":
    sys.exit(main())
