"""Parts of several nodes that need none: envelopes, wakes, addresses, and how long a node's word counts."""

import asyncio

import msgspec
import pytest
from msgspec import Raw
from tests.waiting import PATIENCE

from bascule.hub.feed.presence import SessionPresence
from bascule.hub.nodes.envelope import Enveloped, Presence, Push, control, enclose, opened
from bascule.model.codec import encode
from bascule.model.errors import StorageFailed
from bascule.notify.page_activity import AtThePage

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("message", [b"\x01\x02 bytes", '{"type":"ping"}', "", b""])
def test_a_message_of_a_link_comes_out_of_its_envelope_as_it_was(message: bytes | str) -> None:
    assert opened(enclose("d-laptop", message)) == Enveloped("d-laptop", message)


@pytest.mark.parametrize("data", [b"", b"\x05abc", b"\x01a", b"\x02\xff\xfet{}"])
def test_what_is_no_envelope_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError):
        opened(data)


@pytest.mark.parametrize("message", [Presence("s1", ("Ana",), ()), Push(Raw(b'{"a":1}'), "s1")])
def test_news_of_a_node_are_read_as_they_were_said(message: Presence | Push) -> None:
    assert encode(control(encode(message))) == encode(message)


def test_a_wake_that_names_too_much_says_everything() -> None:
    pytest.importorskip("asyncpg")
    from bascule.store.postgres.bus import MAX_PAYLOAD, Wake, payload_of

    assert payload_of(Wake("a", {"s1": 7})) == '{"node":"a","sessions":{"s1":7}}'
    much = payload_of(Wake("a", {f"session-{n}": n for n in range(1000)}, books=["grants"]))
    assert much == '{"node":"a","books":["grants"],"everything":true}'
    assert len(much) < MAX_PAYLOAD


class _Server:
    """A connection to PostgreSQL, as the bus uses it: it notes what is sent, and answers when it is let."""

    def __init__(self) -> None:
        self.sent: list[str] = []
        self.answers = asyncio.Event()
        self.asked = asyncio.Event()

    def add_termination_listener(self, ended: object) -> None: ...
    async def add_listener(self, channel: str, heard: object) -> None: ...
    def is_closed(self) -> bool:
        return False

    def terminate(self) -> None: ...

    async def fetch(self, statement: str, *values: str, timeout: float) -> list[object]:
        self.sent.append(values[1])
        self.asked.set()
        await self.answers.wait()
        return []


@pytest.mark.row("X11")
async def test_two_hundred_moves_at_once_are_one_notification_and_those_meanwhile_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("asyncpg")
    from bascule.store.postgres import bus as module

    server, looked = _Server(), asyncio.Event()

    async def connected(*address: object, **options: object) -> _Server:
        return server

    async def look(first: bool) -> None:
        looked.set()

    monkeypatch.setattr(module.asyncpg, "connect", connected)
    bus = module.Bus("", None, "a", woken=lambda wake: None, look=look, lost=lambda why: None)
    running = asyncio.create_task(bus.run())
    try:
        async with asyncio.timeout(PATIENCE):
            await looked.wait()
            for n in range(200):
                bus.moved(f"s{n % 10}", n)
            await server.asked.wait()  # the first is under way: what follows waits for it
            for n in range(200, 400):
                bus.moved(f"s{n % 10}", n)
            server.asked.clear()
            server.answers.set()
            await server.asked.wait()
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
    wakes = [msgspec.json.decode(one, type=module.Wake) for one in server.sent]
    assert [wake.sessions for wake in wakes] == [
        {f"s{n}": first + n for n in range(10)} for first in (190, 390)
    ]


@pytest.mark.parametrize(
    ("chosen", "listening", "seen", "url"),
    [
        ("http://10.0.0.9:1", "http://0.0.0.0:3333", "10.0.0.5", "http://10.0.0.9:1"),
        ("", "http://127.0.0.1:3333", "10.0.0.5", "http://127.0.0.1:3333"),
        ("", "https://0.0.0.0:3333", "10.0.0.5", "https://10.0.0.5:3333"),
        ("", "http://[::]:3333", "fd00::5", "http://[fd00::5]:3333"),
    ],
)
def test_other_nodes_reach_this_one_as_chosen_as_it_listens_or_as_the_database_sees_it(
    chosen: str, listening: str, seen: str, url: str
) -> None:
    pytest.importorskip("asyncpg")
    from bascule.hub.nodes.cluster import node_url

    assert node_url(chosen, listening, seen) == url


class _Viewer:
    def __init__(self) -> None:
        self.got: asyncio.Queue[bytes] = asyncio.Queue()

    def tell(self, message: bytes) -> None:
        self.got.put_nowait(message)


async def test_viewers_of_another_node_count_until_it_is_gone_or_silent() -> None:
    now = 0.0
    presence = SessionPresence(lambda: now)
    said: list[tuple[str, list[str], list[str]]] = []
    presence.send_to_others = lambda *words: said.append(words)
    viewer = _Viewer()
    presence.enter("s1", viewer, "Ana")
    assert b'"viewers":["Ana"]' in await viewer.got.get()
    assert said[-1] == ("s1", ["Ana"], [])
    now = 1.0
    presence.elsewhere("b", "s1", ("Bo",), ("Bo",))
    assert b'"viewers":["Ana","Bo"],"typing":["Bo"]' in await viewer.got.get()
    now = 2.0
    presence.forget_node("b")
    assert b'"viewers":["Ana"],"typing":[]' in await viewer.got.get()
    now = 3.0
    presence.elsewhere("b", "s1", ("Bo",), ())
    assert b'"viewers":["Ana","Bo"]' in await viewer.got.get()
    now = 9.0  # it says nothing any more
    presence.say_again()
    assert b'"viewers":["Ana"]' in await viewer.got.get()
    presence.leave("s1", viewer)
    assert said[-1] == ("s1", [], [])


def test_somebody_at_a_page_of_another_node_counts_for_a_few_seconds() -> None:
    now = 0.0
    pages = AtThePage(lambda: now)
    pages.elsewhere("b", somebody=True)
    assert (pages.here, pages.somebody) == (False, True)
    now = 6.0
    assert not pages.somebody
    pages.elsewhere("b", somebody=True)
    pages.elsewhere("b", somebody=False)
    assert not pages.somebody


class _Closed(_Server):
    """One that was lost: asyncpg says so itself, and the database says nothing."""

    def is_closed(self) -> bool:
        return True

    async def fetch(self, statement: str, *values: str, timeout: float) -> list[object]:
        import asyncpg

        raise asyncpg.InterfaceError("connection is closed")


@pytest.mark.row("X11")
async def test_a_question_over_a_connection_that_was_just_lost_says_that_the_database_is_away() -> None:
    pytest.importorskip("asyncpg")
    from bascule.store.postgres.bus import Bus

    async def look(first: bool) -> None: ...

    bus = Bus("", None, "a", woken=lambda wake: None, look=look, lost=lambda why: None)
    bus._server = _Closed()  # pyright: ignore[reportPrivateUsage]
    with pytest.raises(StorageFailed, match="can't be reached"):
        await bus.fetch("SELECT 1")
