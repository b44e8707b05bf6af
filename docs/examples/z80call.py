"""Calls Z80 routines through `hw-tests call`. HW_TESTS is the program, if it is not on the path."""

import json
import os
import subprocess


class Outcome:
    """What a call did: registers and flags as attributes (`HL`, `FC`), `memory`, and `cycles` and
    `stack`, which are None where they are not measured."""

    def __init__(self, reply):
        self.__dict__.update(reply["out"])
        self.memory = reply["memory"]
        self.cycles = reply["cycles"]
        self.stack = reply["stack"]


class Z80:
    """A program on a machine, with its own process of `hw-tests call`."""

    def __init__(self, *sources, board=(), **options):
        """Loads sources; options are those of a test file, such as origin and defines. `board` has
        options of `hw-tests call`, such as --port and a device; else the machine is simulated."""
        command = [os.environ.get("HW_TESTS", "hw-tests"), "call", *board]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
        self.symbols = self.request(load={"sources": list(sources), **options})["symbols"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()

    def request(self, **request):
        """Sends a request of docs/call.schema.json, and returns its reply."""
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        reply = json.loads(self.process.stdout.readline() or '{"error": "hw-tests has ended"}')
        if "error" in reply:
            raise ValueError(reply["error"])
        return reply

    def call(self, routine, read=(), memory=(), **registers):
        """Calls a label or address. `read` has pairs of address and size, `memory` of address and
        bytes. Fails if the routine breaks a rule: does not return, writes to code, ..."""
        reply = self.request(
            call=routine,
            read=[{"at": at, "size": size} for at, size in read],
            memory=[{"at": at, "bytes": list(data)} for at, data in memory],
            **{"in": registers},
        )
        assert not reply["findings"], "; ".join(reply["findings"])
        return Outcome(reply)

    def read(self, at, size):
        """Returns bytes at a label or address."""
        return bytes(self.request(read=[{"at": at, "size": size}])["memory"][0])

    def write(self, at, data):
        """Writes bytes at a label or address."""
        self.request(write=[{"at": at, "bytes": list(data)}])

    def reset(self):
        """Loads the program again, and restores other memory; on a board what tests wrote."""
        self.request(reset=True)
