"""A driver that is given the same output again, cut elsewhere, comes to the same state.

A session relies on it: after a crash its driver reads again from its last stored state to the end of the log.
"""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.drivers import recorded, test_rpc_recordings
from tests.drivers.damage import mutated

from bascule.drivers.base import Driver, DriverLaunch
from bascule.drivers.plain import PlainDriver
from bascule.drivers.stream_json import StreamJsonDriver

NAMES = [*(f"claude/{name}" for name in recorded.NAMES), *test_rpc_recordings.NAMES]


def begun(name: str) -> tuple[Driver, bytes]:
    """A driver as its session begins, and all that its agent says."""
    if name.startswith("claude/"):
        return StreamJsonDriver(), recorded.output_of(name.removeprefix("claude/"))
    return test_rpc_recordings.started(name), b"".join(test_rpc_recordings.output_of(name))


def check_reading_again(driver: Driver, output: bytes, chance: random.Random) -> None:
    """Read in pieces, storing the state now and then, and always with a reply, as a session does."""
    assert driver.repeatable
    stored, stored_at, at = driver.state(), 0, 0
    while at < len(output):
        piece = output[at : at + chance.randint(1, 3000)]
        at += len(piece)
        driver.receive(piece)
        if driver.owes or chance.random() < 0.05:
            driver.data_to_send()
            stored, stored_at = driver.state(), driver.consumed
        if chance.random() < 0.3:
            again = type(driver).restore(stored)
            again.receive(output[stored_at : driver.consumed])
            assert not again.owes
            assert again.consumed == driver.consumed - stored_at
            assert again.state() == driver.state()


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(NAMES), st.integers(0, 2**32))
def test_output_read_again_from_a_stored_state_leads_to_the_same_state(name: str, seed: int) -> None:
    check_reading_again(*begun(name), random.Random(seed))


@pytest.mark.row("REL-31")
@settings(max_examples=100, deadline=None)
@given(st.sampled_from(NAMES), st.integers(0, 2**32))
def test_damaged_output_does_so_too(name: str, seed: int) -> None:
    driver, output = begun(name)
    chance = random.Random(seed)
    check_reading_again(driver, mutated(output, chance), chance)


def test_a_plain_text_agent_is_not_read_again() -> None:
    assert not PlainDriver(DriverLaunch()).repeatable
