"""Tests of the installed plugin, by .ci/release/make-pytest-plugin."""

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
