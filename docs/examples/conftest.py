"""The fixture of test_mul16.py, and the option --board-options="--port /dev/ttyUSB0"."""

import pathlib

import pytest
from z80call import Z80


def pytest_addoption(parser):
    parser.addoption("--board-options", default="", help="options of hw-tests call for a board")


@pytest.fixture
def z80(request):
    options = request.config.getoption("--board-options").split()
    with Z80(str(pathlib.Path(__file__).with_name("mul16.asm")), board=options) as machine:
        yield machine
