"""What a session's processes listen on: found when asked, in the whole tree, and counted to nobody else."""

import asyncio
import contextlib
import os
import signal
import sys
from pathlib import Path

import pytest
from tests.daemon.running_daemon import running_daemon
from tests.live import FAKES
from tests.waiting import PATIENCE

from bascule.daemon.processes import listeners
from bascule.link.listening import FindListeners
from bascule.model.commands import EndSession
from bascule.model.errors import Refused

pytestmark = pytest.mark.anyio
ASK = FindListeners(session_id="s1")


async def noted(folder: Path) -> list[tuple[int, int]]:
    """The port and pid of each listener, once all of them listen."""
    async with asyncio.timeout(PATIENCE):
        while not (folder / "ports").exists():  # noqa: ASYNC110 - it is another process
            await asyncio.sleep(0.02)
    lines = (folder / "ports").read_text().splitlines()
    return [(int(port), int(pid)) for port, pid in (line.split() for line in lines)]


@pytest.mark.row("S11")
async def test_listeners_of_escaped_and_hidden_processes_are_found_and_only_those(
    short_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = short_dir / "notes"
    folder.mkdir()
    argv = [sys.executable, str(FAKES / "listens.py"), str(folder), "hides"]
    async with running_daemon(short_dir, scripts={"listens": argv}) as daemon:
        with pytest.raises(Refused, match="s1"):
            await daemon.ask(ASK)
        looks = 0

        def counted(*args: object, **more: object) -> object:
            nonlocal looks
            looks += 1
            return look(*args, **more)  # type: ignore[arg-type]

        look = listeners.look
        monkeypatch.setattr("bascule.daemon.sessions.listening.look", counted)
        await daemon.start(agent="listens", prompt="hello")
        own, network, hidden = await noted(folder)
        try:
            answer = await daemon.ask(ASK)
            assert answer["running"]
            assert not answer["unseen"]
            found = [
                (one["port"], one["pid"], one["address"], one["loopback"]) for one in answer["listeners"]
            ]
            assert found[0] == (*network, "0.0.0.0", False)
            assert set(found[1:]) == {(*own, "127.0.0.1", True), (*hidden, "127.0.0.1", True)}
            # A name that is no text is made one, and the rest is left for those who show it to escape.
            assert answer["listeners"][0]["process"] == "web\x1b[2J\u202e?"
            # With two sessions nobody can tell whose an orphan without a mark is: it is given to neither.
            await daemon.start("s2")
            ports = {one["port"] for one in (await daemon.ask(ASK))["listeners"]}
            assert ports == {own[0], network[0]}
            assert (await daemon.ask(FindListeners(session_id="s2")))["listeners"] == []
            assert looks == 3  # one for each question, and none for turns and events
            monkeypatch.setattr(listeners, "MAX_LISTENERS", 1)
            bounded = await daemon.ask(ASK)
            assert [one["port"] for one in bounded["listeners"]] == [network[0]]
            assert bounded["cut"]
            await daemon.ask(EndSession(session_id="s1"))
            await daemon.over()
            assert await daemon.ask(ASK) == {
                "running": False,
                "listeners": [],
                "cut": False,
                "shared": False,
                "unseen": 0,
            }
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.kill(hidden[1], signal.SIGKILL)


@pytest.mark.row("S11")
def test_a_process_that_may_not_be_looked_into_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    import psutil

    def denied(*_: object, **__: object) -> object:
        raise psutil.AccessDenied(os.getpid())

    # No test can make a process of its own that it must not look into, if it runs as root.
    monkeypatch.setattr(psutil.Process, "net_connections", denied)
    me = listeners.Family(frozenset((os.getpid(),)), frozenset(("none",)))
    found = listeners.look(me)
    assert (found.running, found.listeners, found.unseen >= 1) == (True, (), True)


@pytest.mark.parametrize(
    ("address", "loopback"),
    [
        *((one, True) for one in ("127.0.0.1", "127.8.0.1", "::1", "::ffff:127.0.0.1")),
        *((one, False) for one in ("0.0.0.0", "::", "10.0.0.1", "::ffff:10.0.0.1", "fe80::1")),
    ],
)
def test_loopback_is_told_apart(address: str, loopback: bool) -> None:
    assert listeners._is_loopback(address) is loopback
