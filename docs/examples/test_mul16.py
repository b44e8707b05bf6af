"""Tests of mul16.asm: `pip install ./docs/packaging/pytest-z80-board`, then `pytest docs/examples`."""

import random

import pytest

pytestmark = pytest.mark.z80("mul16.asm")


def test_mul(z80):
    assert z80.call("MUL16", BC=3, DE=7).HL == 21


def test_the_high_word(z80):
    random.seed(1)
    for _ in range(100):
        b, d = random.randrange(0x10000), random.randrange(0x10000)
        outcome = z80.call("MUL16", BC=b, DE=d)
        assert outcome.DE << 16 | outcome.HL == b * d
        assert outcome.cycles is None or outcome.cycles <= 1205  # not counted on boards


def test_memory(z80):
    z80.write(0x9000, b"RET")
    assert z80.read(0x9000, 3) == b"RET"
    z80.reset()
    assert z80.read(0x9000, 1) != b"R"
