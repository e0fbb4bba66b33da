"""What leaves a machine is on its disk, and what a hub acknowledges is on the hub's: by system calls, and by
power cuts. Without this order a machine that lost power would write other rows under numbers the hub has."""

import asyncio
import os
import random
import shutil
from collections import defaultdict
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.machines.machines import Hub, Machine, equal_logs
from tests.machines.scale import scaled
from tests.machines.test_joined_machine import start
from tests.machines.traces import Call, calls, messages, reason_to_skip, traced
from tests.store.power_cut import Machine as Power
from tests.waiting import PATIENCE

from bascule.model.events import PromptSent, SessionEnded, TurnEnded

pytestmark = pytest.mark.anyio

WORDS = "heron-and-stork"
CUTS = scaled(2, 50)


def on_disk_at(trace: list[Call], words: bytes) -> int:
    """When the row with these words was in the log's file and the file on the disk."""
    written = next(one for one in trace if one.name == "pwrite64" and words in one.data)
    assert written.file.endswith("bascule.db-wal")
    syncs = [one for one in trace if one.name in ("fdatasync", "fsync") and one.file == written.file]
    return next(one.done for one in syncs if one.at > written.done)


def sent(trace: list[Call], kind: str) -> list[tuple[dict[str, Any], Call]]:
    """The frames of a kind that the process sent over a socket."""
    by_socket = defaultdict[str, list[Call]](list)
    for call in trace:
        if call.name in ("sendto", "write", "sendmsg", "writev") and call.file.startswith("socket:"):
            by_socket[call.file].append(call)
    found: list[tuple[dict[str, Any], Call]] = []
    for group in by_socket.values():
        for body, call in messages(group):
            if body.startswith(b'{"type":"%s"' % kind.encode()):
                found.append((msgspec.json.decode(body), call))
    return found


@pytest.mark.row("REL-02")
async def test_rows_are_synced_before_they_are_sent_and_acknowledged_after_they_are_synced(
    hub: Hub, laptop: Machine, tmp_path: Path
) -> None:
    if (reason := reason_to_skip()) is not None:
        pytest.skip(reason)
    session = await start(hub, laptop, "count 2")
    first = await hub.wait_for(session, TurnEnded)
    await equal_logs(hub, laptop, session)
    traces = {one: tmp_path / name for one, name in ((hub, "hub"), (laptop, "laptop"))}
    async with traced(hub.pid, traces[hub]), traced(laptop.pid, traces[laptop]):
        await hub.send(session, f"count 2 {WORDS}")
        await hub.wait_for(session, TurnEnded, first.seq)
        prompt = await hub.wait_for(session, PromptSent, first.seq)
        await until_acknowledged(traces[hub], session, prompt.seq)
    machine, at_hub = calls(traces[laptop]), calls(traces[hub])

    outputs = [call for frame, call in sent(machine, "session_output") if WORDS in str(frame)]
    assert outputs
    assert on_disk_at(machine, WORDS.encode()) < min(one.at for one in outputs)

    acks = [call for frame, call in sent(at_hub, "ack") if frame["heads"].get(session, 0) >= prompt.seq]
    assert acks
    assert on_disk_at(at_hub, WORDS.encode()) < min(one.at for one in acks)
    opened = [one.data for one in at_hub if one.name == "openat"]
    assert not [one for one in opened if str(laptop.folder).encode() in one]


async def until_acknowledged(trace: Path, session: str, seq: int) -> None:
    """Wait until the trace has the hub's acknowledgement of a row."""
    async with asyncio.timeout(PATIENCE):
        while True:
            if any(frame["heads"].get(session, 0) >= seq for frame, _ in sent(calls(trace), "ack")):
                return
            await asyncio.sleep(0.05)


@pytest.mark.row("REL-11", "REL-13")
@pytest.mark.timeout(1800)
async def test_after_a_power_cut_the_machine_and_its_hub_have_the_same_log(hub: Hub, short_dir: Path) -> None:
    seed = int(os.environ.get("CHAOS_SEED", random.SystemRandom().randrange(2**32)))
    print(f"CHAOS_SEED={seed}")  # noqa: T201 - shown when it fails
    dice = random.Random(seed)
    power = Power(short_dir)
    folder = short_dir / "l"
    folder.mkdir(mode=0o700)
    laptop = Machine(folder, "d-laptop", env=power.env)
    await laptop.join(hub)
    async with laptop:
        await hub.until_device("d-laptop", online=True)
        await laptop.sessions()  # its own link is used, or the next start would sweep it
        session = await start(hub, laptop, "count 1000000 15")
        for _ in range(CUTS):
            await rows_more(hub, session, dice.randrange(5, 40))
            await laptop.kill()
            lose_power(laptop, power.disk)
            await laptop.start()
            await hub.until_device("d-laptop", online=True)
        answer = await hub.http.delete(f"/api/sessions/{session}")
        assert answer.status_code == 200, answer.text
        await hub.wait_for(session, SessionEnded)
        await equal_logs(hub, laptop, session)
        listed = (await hub.http.get("/api/sessions", params={"archived": True})).json()["sessions"]
        assert [one["id"] for one in listed if "earlier copy" in one["title"]] == []


async def rows_more(hub: Hub, session: str, more: int) -> None:
    """Wait until the hub has so many rows more than now."""
    begin = (await hub.log(session))[-1].seq
    async with asyncio.timeout(PATIENCE):
        async for row in hub.follow(session, begin):
            if row.seq >= begin + more:
                return


def lose_power(laptop: Machine, disk: Path) -> None:
    """Put back what the disk held at the least: each file as it was when it was last synced."""
    # A new database is synced under another name, and renamed.
    if not (disk / "bascule.db").exists():
        (disk / "bascule.db.new").rename(disk / "bascule.db")
    for name in ("bascule.db", "bascule.db-wal", "bascule.db-shm"):
        (laptop.data / name).unlink(missing_ok=True)
        if (disk / name).exists():
            shutil.copy(disk / name, laptop.data / name)
