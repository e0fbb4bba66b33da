"""What dies between nodes without a sign: one that listens, its notifications, a machine's connection."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.machines.cluster import Watcher, grown, hears_others, start
from tests.machines.deaf import BUS, Pair, running_pair, until_heard
from tests.machines.machines import Hub, equal_logs
from tests.machines.relay import Passage
from tests.store.postgres_server import Server
from tests.waiting import PATIENCE, within
from websockets.asyncio.client import ClientConnection, connect

from bascule.hub.nodes.cluster import LOOK_AT_HEADS_EVERY
from bascule.model.events import TurnEnded
from bascule.store.postgres.bus import ANSWER_SECONDS, LOOK_SECONDS, RETRY_SECONDS

pytestmark = pytest.mark.anyio

READ_SECONDS = 1.0  # from knowing that there is more until a page has it
MISSED_SECONDS = LOOK_SECONDS + ANSWER_SECONDS + RETRY_SECONDS  # until a dead connection is made again


@pytest.fixture(scope="module")
async def pair(module_dir: Path, postgres: Server) -> AsyncIterator[Pair]:
    async with running_pair(module_dir, postgres) as made:
        yield made


class Guest:
    """A page of somebody whose grant is about to be revoked."""

    def __init__(self, socket: ClientConnection, grant: str) -> None:
        self._socket, self._grant = socket, grant

    async def revoked(self, node: Hub) -> None:
        """Revoke it at this node, and wait until its page is closed."""
        assert (await node.http.delete(f"/api/grants/{self._grant}")).status_code == 200
        async with asyncio.timeout(PATIENCE):
            await self._socket.wait_closed()


@contextlib.asynccontextmanager
async def guest_of(pair: Pair, name: str) -> AsyncIterator[Guest]:
    """At the deaf node."""
    made = (await pair.hearing.post("/api/grants", name=name, role="viewer")).json()
    headers = {"authorization": f"Bearer {made['token']}"}
    url = f"{pair.deaf.url.replace('http', 'ws', 1)}/ws"
    await hears_others(pair.deaf)  # a grant that it does not know it reads by that
    async with connect(url, additional_headers=headers, proxy=None) as socket:
        yield Guest(socket, made["grant"]["id"])


@contextlib.asynccontextmanager
async def watched(pair: Pair) -> AsyncIterator[Watcher]:
    """A page at the deaf node of a session whose machine is at the other one."""
    session = await start(pair.hearing, pair.laptop, "slow 100000")
    watcher = Watcher(session, [pair.deaf])
    try:
        await watcher.beyond(3)
        yield watcher
        assert watcher.connected == 1  # it stayed open
        assert (await pair.hearing.http.delete(f"/api/sessions/{session}")).status_code == 200
        rows = await equal_logs(pair.deaf, pair.laptop, session)
        await watcher.beyond(len(rows) - 1)
    finally:
        await watcher.close()


async def until_another(pair: Pair, held: Passage) -> None:
    """Wait until the deaf node has made another connection that listens."""
    async with asyncio.timeout(PATIENCE):
        while all(one is held for one in pair.wire.began_with(BUS)):  # noqa: ASYNC110 - the relay sees it
            await asyncio.sleep(0.02)


@pytest.mark.row("X11")
async def test_a_listening_connection_that_dies_without_a_sign_is_missed_within_seconds(pair: Pair) -> None:
    async with watched(pair) as watcher:
        (held,) = pair.wire.hold_up(BUS)
        with within(MISSED_SECONDS + READ_SECONDS):
            await until_another(pair, held)
            head = await grown(pair.hearing, watcher.session, watcher.last)
            await watcher.beyond(head - 1)
        assert not held.passing.is_set()  # it never came back
        held.revive()


@pytest.mark.row("X11")
async def test_swallowed_notifications_delay_the_next_row_by_a_look_and_a_revocation_by_two_seconds(
    pair: Pair,
) -> None:
    async with watched(pair) as watcher, guest_of(pair, "guest without notices") as guest:
        pair.notices.are_swallowed, before = True, pair.notices.swallowed
        try:
            with within(2.0):
                await guest.revoked(pair.hearing)
            head = await grown(pair.hearing, watcher.session, watcher.last)
            with within(LOOK_AT_HEADS_EVERY * LOOK_SECONDS + READ_SECONDS):
                await watcher.beyond(head - 1)
            assert pair.notices.swallowed > before
        finally:
            pair.notices.are_swallowed = False


@pytest.mark.row("X11")
async def test_a_grant_ends_at_a_node_that_can_neither_listen_nor_look(pair: Pair) -> None:
    async with guest_of(pair, "guest of the cut off") as guest:
        pair.wire.holds_up = BUS
        assert pair.wire.hold_up(BUS)
        try:
            with within(2.0):
                await guest.revoked(pair.hearing)
        finally:
            pair.wire.holds_up = b""
            pair.wire.mend()


@pytest.mark.row("X11", "S38")
@pytest.mark.parametrize("told", ["told", "untold"])
async def test_a_machines_old_connection_that_is_half_open_counts_no_more_once_it_is_at_another_node(
    pair: Pair, told: str
) -> None:
    hearing, deaf, laptop, line, _, notices = pair
    epoch = await pair.attach(deaf)
    session = await start(hearing, laptop, "slow 100000")
    head = await grown(deaf, session, 3)
    (old,) = line.hold_up()
    # Rows that wait in its old connection, and will come by the new one too.
    head = await grown(laptop, session, await grown(laptop, session, head))
    notices.are_swallowed = told == "untold"  # then the old node has to look
    line.target = hearing.url
    old.leave_half_open()
    try:
        newer = await hearing_newer(pair, epoch)
        if told == "untold":
            old.revive()  # before it knows: rows come to both nodes
        await until_heard(old, b"superseded")
        old.revive()
    finally:
        notices.are_swallowed = False
    await grown(deaf, session, head)
    for node in (hearing, deaf):
        status = await node.until_device("d-laptop", online=True, epoch=newer)
        assert status["state"] == "online"
    # What is asked at the old node goes to the new one.
    answer = await deaf.http.delete(f"/api/sessions/{session}")
    assert answer.status_code == 200, answer.text
    other = await start(deaf, laptop, "count 2")
    await hearing.wait_for(other, TurnEnded)
    for node in (hearing, deaf):
        for one in (session, other):
            await equal_logs(node, laptop, one)
        assert (await node.devices())["d-laptop"]["epoch"] == newer
        assert "Traceback" not in node.stderr()


async def hearing_newer(pair: Pair, epoch: int) -> int:
    """Wait until the laptop is at the hearing node; its epoch there."""
    async with asyncio.timeout(PATIENCE):
        while True:
            status = (await pair.hearing.devices())["d-laptop"]
            if status["online"] and status["epoch"] > epoch:
                return status["epoch"]
            await asyncio.sleep(0.02)
