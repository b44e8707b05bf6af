"""The fixture of test_mul16.py."""

import pathlib

import pytest
from z80call import Z80


@pytest.fixture
def z80():
    with Z80(str(pathlib.Path(__file__).with_name("mul16.asm"))) as machine:
        yield machine
