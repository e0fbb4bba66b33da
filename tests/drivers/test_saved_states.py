"""Driver states that earlier versions saved are still read, whole: an update must not lose a session.

Each line of `recordings/driver_states` is a state as the database holds it. Add lines when a state gains a
field; never change one that is there.
"""

import json
from pathlib import Path

import pytest

from bascule.drivers.acp.driver import AcpDriver
from bascule.drivers.base import Driver
from bascule.drivers.codex import CodexDriver
from bascule.drivers.plain import PlainDriver
from bascule.drivers.stream_json import StreamJsonDriver

STATES = Path(__file__).parents[1] / "recordings" / "driver_states"
DRIVERS: dict[str, type[Driver]] = {
    "acp": AcpDriver,
    "codex": CodexDriver,
    "plain": PlainDriver,
    "stream_json": StreamJsonDriver,
}
SAVED = [
    pytest.param(DRIVERS[name], line, id=f"{name}-{number}")
    for name in DRIVERS
    for number, line in enumerate((STATES / f"{name}.ndjson").read_bytes().splitlines(), 1)
]


@pytest.mark.parametrize(("driver", "saved"), SAVED)
def test_a_saved_state_is_restored_without_loss(driver: type[Driver], saved: bytes) -> None:
    assert json.loads(driver.restore(saved).state()) == json.loads(saved)
