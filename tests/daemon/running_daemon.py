"""A host on a real store and a real keeper, asked like the hub asks it, stopped and started at will."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import msgspec
from tests.daemon.scripted import Scripted
from tests.store.following import follow
from tests.waiting import PATIENCE

from bascule.daemon.device import Device
from bascule.daemon.found.places import Place
from bascule.daemon.host import Host
from bascule.daemon.reconnecting.reconnecting import PAUSES
from bascule.daemon.starts.start_notices import StartNotices
from bascule.link.frames import AnyFrame, Ask, DeviceCommand, Reply
from bascule.model.codec import Logged, decode_logged
from bascule.model.commands import Actor, Command, StartSession
from bascule.model.errors import Refused
from bascule.model.events import AnyEvent, StartOptions
from bascule.model.settings import Limits, Settings
from bascule.store.comparisons import ComparisonBook
from bascule.store.limits import LimitsBook
from bascule.store.rules import RuleBook
from bascule.store.sqlite import SqliteStore

ANA = Actor("ana", "grant-1", "127.0.0.1", "test")


class RunningDaemon:
    """One machine: state folder, agents, a host. `crash` drops the host as kill -9 would."""

    def __init__(self, folder: Path, limits: Limits, launcher: Scripted) -> None:
        self.folder = folder
        self.work = folder / "repo"
        self.work.mkdir(exist_ok=True)
        self.launcher = launcher
        self.settings = Settings(
            data_dir=str(folder / "data"),
            config_dir=str(folder / "config"),
            limits=limits,
            keep_awake=False,
        )
        self.notices: StartNotices | None = None  # of starts from elsewhere; nobody is told unless set
        self.pauses = PAUSES  # before each try to have a lost agent back
        self.heard: list[AnyFrame] = []  # what was told unasked
        self.histories: tuple[Place, ...] = ()  # where agents keep sessions that were begun without us
        self.shift = 0.0  # seconds the wall clock is ahead
        self.clock: Callable[[], float] = lambda: time.time() + self.shift
        self._count = 0
        self._waiting: dict[int, asyncio.Future[Reply]] = {}

    async def open(self) -> None:
        loop = asyncio.get_running_loop()
        self.store = SqliteStore.open(self.folder / "data" / "bascule.db", clock=self.clock, loop=loop)
        self.limits = LimitsBook(self.folder / "data", self.settings.limits)
        self.host = Host(
            self.store,
            await RuleBook.open(self.store),
            ComparisonBook(self.store),
            self.launcher,
            self.settings,
            Device("here", "here"),
            self.clock,
            time.monotonic,
            self.histories,
            self.pauses,
            self.limits,
            self.notices,
        )
        await self.host.open()
        self.line = self.host.attach(self._heard)

    async def close(self) -> None:
        await self.host.close()
        await self.store.close()

    async def restart(self) -> None:
        await self.close()
        await self.open()

    def keeper_pid(self) -> int:
        text = (self.folder / "data" / "keeper" / "keeper.lock").read_text()
        return int(msgspec.json.decode(text)["pid"] if text.startswith("{") else text.split()[0])

    async def kill_keeper(self, sign: signal.Signals) -> None:
        pid = self.keeper_pid()
        watch = os.pidfd_open(pid)
        os.kill(pid, sign)
        gone = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().add_reader(watch, lambda: gone.done() or gone.set_result(None))
        try:
            await asyncio.wait_for(gone, PATIENCE)
        finally:
            asyncio.get_running_loop().remove_reader(watch)
            os.close(watch)

    async def ask(self, command: Command[Any], *, by: Actor = ANA, key: str | None = None) -> Any:
        """The answer, decoded loosely; raises `Refused`."""
        self._count += 1
        future = self._waiting[self._count] = asyncio.get_running_loop().create_future()
        self.line.receive(Ask(self._count, cast("DeviceCommand", command), by, key))
        reply = await asyncio.wait_for(future, PATIENCE)
        if reply.refusal is not None:
            raise Refused(reply.refusal)
        return msgspec.json.decode(reply.result)

    async def start(self, session_id: str = "s1", prompt: str | None = None, **more: Any) -> str:
        key = more.pop("key", None)
        options = {name: more.pop(name) for name in StartOptions.__struct_fields__ if name in more}
        fields = {"agent": "mini", "cwd": str(self.work), "options": StartOptions(**options), **more}
        await self.ask(StartSession(session_id=session_id, prompt=prompt, **fields), key=key)
        return session_id

    async def log(self, session_id: str = "s1") -> list[Logged]:
        return [decode_logged(row.body) for row in await self.store.read(session_id, 0, 100_000)]

    async def events(self, kind: type[AnyEvent], session_id: str = "s1") -> list[Any]:
        return [one.event for one in await self.log(session_id) if isinstance(one.event, kind)]

    async def until(
        self, wanted: type[AnyEvent] | Callable[[AnyEvent], bool], session_id: str = "s1", times: int = 1
    ) -> Any:
        """The event that is (of) what is wanted, the `times`-th of them."""
        seen = 0
        async with asyncio.timeout(PATIENCE):
            async for rows in follow(self.store, session_id):
                for row in rows:
                    event = decode_logged(row.body).event
                    hit = isinstance(event, wanted) if isinstance(wanted, type) else wanted(event)
                    seen += hit
                    if hit and seen == times:
                        return event
        raise AssertionError("the log ended")

    async def over(self, session_id: str = "s1") -> None:
        """Wait until the host has let go of a session that ended."""
        async with asyncio.timeout(PATIENCE):
            while session_id in self.host.sessions.live:  # noqa: ASYNC110 - the registry tells nobody, by design
                await asyncio.sleep(0.005)

    def _heard(self, frame: AnyFrame) -> None:
        if isinstance(frame, Reply):
            self._waiting.pop(frame.ask).set_result(frame)
        else:
            self.heard.append(frame)


@asynccontextmanager
async def running_daemon(
    folder: Path,
    *,
    scripts: dict[str, Sequence[str]] | None = None,
    histories: tuple[Place, ...] = (),
    pauses: tuple[float, ...] = PAUSES,
    **limits: int,
) -> AsyncIterator[RunningDaemon]:
    bounds = {"sessions": 0, "inputs_per_minute": 100_000, **limits}
    made = RunningDaemon(folder, Limits(**bounds), Scripted(folder, scripts))
    made.histories, made.pauses = histories, pauses
    await made.open()
    try:
        yield made
    finally:
        await made.close()
        await made.kill_keeper(signal.SIGTERM)
