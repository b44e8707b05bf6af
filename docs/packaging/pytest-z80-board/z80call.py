"""Calls Z80 routines through `hw-tests call`. HW_TESTS is the program, if it is not on the path."""

import json
import os
import subprocess


# Keys of a case of a test file that `Z80.call` passes on; other keywords are registers.
CALL_KEYS = {
    "allow", "as", "check", "expect", "input", "interrupt", "interrupts", "mock", "ports", "reads", "timeout",
    "until", "writes"
}


class Outcome:
    """What a call did: registers and flags as attributes (`HL`, `FC`), `memory`, the `console`'s output,
    bytes written to `ports` (by names such as "10H"), `calls` of mocks, and `cycles` and `stack`, which
    are None where they are not measured."""

    def __init__(self, reply):
        self.__dict__.update(reply["out"])
        for key in ("memory", "console", "ports", "calls", "cycles", "stack"):
            setattr(self, key, reply[key])


class Z80:
    """A program on a machine, with its own process of `hw-tests call`."""

    def __init__(self, *sources, board=(), **options):
        """Loads TDL sources, or with program= and symbols= the output of any assembler or compiler. Options
        are those of a test file, such as origin, defines and console. `board` has options of `hw-tests
        call`, such as --port and a device; else the machine is simulated."""
        command = [os.environ.get("HW_TESTS", "hw-tests"), "call", *board]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
        if sources:
            options["sources"] = list(sources)
        self.symbols = self.request(load=options)["symbols"]

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

    def call(self, routine, read=(), memory=(), console=None, **keys):
        """Calls a label or address. Keywords are registers and flags (`A=3`, `flags="C"`), and keys of a
        case of a test file, with the same meaning: writes, ports, reads, timeout, interrupts, interrupt,
        mock, input, expect, check, until, allow. `read` and `writes` have pairs of address and size, `memory` of
        address and bytes; `console` is what the call must print. Fails if the routine breaks a rule: does
        not return, writes to code, ..."""
        request = {key: keys.pop(key) for key in CALL_KEYS & keys.keys()}
        if "writes" in request:
            request["writes"] = ranges(request["writes"])
        if "ports" in request:
            request["ports"] = {str(port): list(values) for port, values in request["ports"].items()}
        if console is not None:
            request["expect"] = {**request.get("expect", {}), "console": console}
        blocks = [{"at": at, "bytes": list(data)} for at, data in memory]
        reply = self.request(call=routine, read=ranges(read), memory=blocks, **request, **{"in": keys})
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


def ranges(pairs):
    """Addresses and sizes as a request has them."""
    return [{"at": at, "size": size} for at, size in pairs]
