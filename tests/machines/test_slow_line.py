"""A slow line with much to send: what a person types goes first.

A key's echo waits for what the kernel and the router have taken already, and for nothing else.
"""

import time

import pytest
from tests.machines.far_apart import NOISE, Rig
from tests.machines.machines import rows_of
from tests.machines.scale import FULL
from tests.terminal.viewing import Viewer, terminal, viewing
from tests.waiting import MUCH_PATIENCE, stretched

from bascule.link.wire import AHEAD
from bascule.model.events import TurnEnded

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(not FULL, reason="a slow line takes long: make machines")]

BITS = 256_000  # a second
ECHOES = 20


async def echoes(viewer: Viewer) -> list[float]:
    """Seconds from a key to its echo, the shortest first."""
    took: list[float] = []
    for _ in range(ECHOES):
        place, began = len(viewer.data), time.monotonic()
        await viewer.type("x")
        await viewer.shows(b"x", after=place)
        took.append(time.monotonic() - began)
    return sorted(took)


@pytest.mark.row("R2", "P7")
@pytest.mark.timeout(1800)
async def test_the_echo_of_a_key_comes_before_what_waits_to_be_copied(rig: Rig) -> None:
    hub, laptop = rig.hub, rig.laptop
    shell = await terminal(hub, cwd=str(laptop.work), device="d-laptop")
    await rig.net.slow(rig.there, BITS)
    epoch = (await hub.devices())["d-laptop"]["epoch"]
    async with viewing(hub, shell) as viewer:
        quiet = await echoes(viewer)
        noise = await laptop.create("go", agent="noise")
        await laptop.wait_for(noise, TurnEnded, seconds=MUCH_PATIENCE)
        with stretched() as busy:
            beside = await echoes(viewer)
    copied = sum(map(len, await rows_of(hub, noise)))
    print(f"echo p50 {quiet[ECHOES // 2]:.3f} s, beside {NOISE} MB {beside[ECHOES // 2]:.3f} s")  # noqa: T201
    assert copied < NOISE << 19, "less than half of it has come, so all echoes were beside it"
    # A message that is handed over, those in our buffer and in the kernel's, and what the router holds.
    ahead = 5 * AHEAD * 8 / BITS
    assert beside[ECHOES // 2] < quiet[ECHOES // 2] + ahead * max(busy), beside
    status = (await hub.devices())["d-laptop"]
    assert (status["state"], status["epoch"]) == ("online", epoch)  # no ping was lost behind it
