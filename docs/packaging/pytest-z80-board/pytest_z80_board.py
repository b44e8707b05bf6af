"""Tests of Z80 routines on a simulated machine, or with --z80-board on a board.

    @pytest.mark.z80("mul16.asm", origin=0x8400)
    def test_mul(z80):
        assert z80.call("MUL16", BC=3, DE=7).HL == 21

    @pytest.mark.z80(program="build/game.bin", symbols="build/game.map", origin=0x8000)
    def test_score(z80):
        z80.call("add_score", A=5, writes=[("score", 2)])

The first has TDL sources, the second what any assembler or compiler built. Paths are relative to the
test's file. HW_TESTS is the program hw-tests, if it is not on the path.
"""

import collections
import json
import shlex

import pytest
from z80call import Z80

MAX_REQUESTS_SHOWN = 10
MACHINE = pytest.StashKey()


# Options of the mark that are paths.
PATHS = ("program", "symbols", "objects", "layout", "include")


class RecordedZ80(Z80):
    """A machine that remembers its last requests and replies."""

    def __init__(self, *sources, **options):
        self.requests = collections.deque(maxlen=MAX_REQUESTS_SHOWN)
        super().__init__(*sources, **options)

    def request(self, **request):
        line = json.dumps(request)
        self.requests.append(line)
        reply = super().request(**request)
        self.requests[-1] = f"{line}\n-> {json.dumps(reply)}"
        return reply


def pytest_addoption(parser):
    text = "options of `hw-tests call` for a board, as '--port /dev/ttyUSB0'; else a simulated machine"
    parser.getgroup("z80-board").addoption("--z80-board", default="", metavar="OPTIONS", help=text)


def pytest_configure(config):
    text = "z80(*sources, program=..., symbols=..., origin=...): what the fixture z80 loads"
    config.addinivalue_line("markers", text)


def pytest_report_header(config):
    return f"z80 board: {config.getoption('--z80-board') or 'simulated'}"


@pytest.fixture
def z80(request):
    """The program of the test's mark z80, newly loaded."""
    mark = request.node.get_closest_marker("z80")
    if mark is None or not (mark.args or mark.kwargs):
        raise pytest.UsageError(
            'the fixture z80 needs sources or a program, as in @pytest.mark.z80("mul16.asm") or '
            '@pytest.mark.z80(program="game.hex", symbols="game.sym")'
        )
    folder = request.path.parent
    options = {key: located(folder, value) if key in PATHS else value for key, value in mark.kwargs.items()}
    board = shlex.split(request.config.getoption("--z80-board"))
    with RecordedZ80(*located(folder, mark.args), board=board, **options) as machine:
        request.node.stash[MACHINE] = machine
        yield machine


def located(folder, paths):
    """Returns a path, or a list of them, in a folder."""
    if isinstance(paths, (list, tuple)):
        return [str(folder / path) for path in paths]
    return str(folder / paths)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    report = (yield).get_result()
    machine = item.stash.get(MACHINE, None)
    if report.failed and machine is not None:
        report.sections.append(("z80 requests", "\n".join(machine.requests)))
