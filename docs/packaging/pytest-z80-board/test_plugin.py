"""Tests of the plugin, installed or on PYTHONPATH with PYTEST_PLUGINS=pytest_z80_board."""

pytest_plugins = ["pytester"]

SOURCE = """\
DOUBLE: DAD     H
        RET
        .END
"""
TESTS = """\
import pytest

@pytest.mark.z80("double.asm")
@pytest.mark.parametrize("double", [42, 43])
def test_double(z80, double):
    assert z80.call("DOUBLE", HL=21).HL == double

def test_without_sources(z80):
    pass
"""


def test_the_fixture_calls_routines_and_a_failure_shows_the_requests(pytester):
    pytester.makefile(".asm", double=SOURCE)
    pytester.makepyfile(TESTS)
    result = pytester.runpytest_subprocess("--strict-markers")
    result.assert_outcomes(passed=1, failed=1, errors=1)
    result.stdout.fnmatch_lines_random(
        ["z80 board: simulated", "*z80 requests*", '*"call": "DOUBLE"*', "*the fixture z80 needs sources*"]
    )


def test_a_board_that_is_not_there_is_an_error_of_the_fixture(pytester):
    pytester.makefile(".asm", double=SOURCE)
    pytester.makepyfile(TESTS)
    result = pytester.runpytest_subprocess("--z80-board", "--port /dev/no-such-board")
    result.assert_outcomes(errors=3)
    result.stdout.fnmatch_lines_random(["z80 board: --port /dev/no-such-board", "*no-such-board*"])


# COUNT: INC (HL); RET. COPY: IN A,(10H); OUT (11H),A; RET. STOP: DI; RET. LOOP: JR LOOP.
BINARY = bytes.fromhex("34C9 DB10D311C9 F3C9 18FE")
SYMBOLS = """\
_count: EQU 0x00009000
copy.byte: EQU 0x00009002
STOP: EQU 0x00009007
LOOP: EQU 0x00009009
"""
CALLS = """\
import pytest

pytestmark = pytest.mark.z80(program="build/game.bin", symbols=["build/game.sym"], origin=0x9000)

def test_writes(z80):
    with pytest.raises(AssertionError, match="which nothing has written"):
        z80.call("count", HL=0xA000, writes=[(0xA000, 1)])
    z80.write(0xA000, [7])
    assert z80.call("count", HL=0xA000, writes=[(0xA000, 1)], read=[(0xA000, 1)]).memory == [[8]]
    z80.call("count", HL=0xA002, writes=[(0xA002, 1)], allow=["unwritten"])

def test_a_write_elsewhere(z80):
    with pytest.raises(AssertionError, match="A001H"):
        z80.call("count", HL=0xA001, writes=[(0xA000, 1)])

def test_ports(z80):
    outcome = z80.call("copy.byte", ports={0x10: [7]}, expect={"ports": {"11H": [7]}})
    assert outcome.ports == {"11H": [7]} and outcome.A == 7

def test_interrupts(z80):
    z80.call("STOP", interrupts="any")
    with pytest.raises(AssertionError, match="interrupts"):
        z80.call("STOP")

def test_timeout(z80):
    with pytest.raises(AssertionError, match="did not return within 500 T-states"):
        z80.call("LOOP", timeout=500)

@pytest.mark.z80(program="build/game.bin", symbols="build/game.sym", origin=0x9000, console={"port": 0x11})
def test_console(z80):
    assert z80.call("copy.byte", ports={0x10: [65]}, console="A").console == "A"
    with pytest.raises(AssertionError, match="console"):
        z80.call("copy.byte", ports={0x10: [65]}, console="B")
"""


def test_a_program_of_another_tool_is_called_with_the_keys_of_test_files(pytester):
    folder = pytester.mkdir("build")
    folder.joinpath("game.bin").write_bytes(BINARY)
    folder.joinpath("game.sym").write_text(SYMBOLS)
    pytester.makepyfile(CALLS)
    pytester.runpytest_subprocess("--strict-markers").assert_outcomes(passed=6)
