"""A slow line with much to send: what a person types goes first.

A key's echo waits for a part of what is copied, and for nothing else: no more is ever under way.
"""

import time

import pytest
from tests.machines.far_apart import NOISE, Rig
from tests.machines.machines import rows_of
from tests.machines.scale import FULL
from tests.terminal.viewing import Viewer, terminal, viewing
from tests.waiting import MUCH_PATIENCE, stretched

from bascule.link.pace import LEAST_PART
from bascule.model.events import TurnEnded

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(not FULL, reason="a slow line takes long: make machines")]

BITS = 256_000  # a second
ECHOES = 20
HEADERS = 200  # bytes, of a part and the ping behind it


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
    # Half as much again; but where that is less, the parts that are under way: each has a header of its own.
    parts = 3 * (LEAST_PART + HEADERS) * 8 / BITS
    assert beside[ECHOES // 2] < max(1.5 * quiet[ECHOES // 2], quiet[ECHOES // 2] + parts * max(busy)), beside
    status = (await hub.devices())["d-laptop"]
    assert (status["state"], status["epoch"]) == ("online", epoch)  # no ping was lost behind it
