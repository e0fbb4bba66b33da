"""A hub and machines that have joined it: real processes, each with a state folder of its own."""

import asyncio
import contextlib
import hashlib
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import msgspec
from tests.live import LiveServer
from tests.waiting import PATIENCE

from bascule.state_folder import HubNote, prepare, write_hub_note


class Hub(LiveServer):
    """`bascule hub`: it runs no agents."""

    def __init__(self, folder: Path, **options: Any) -> None:
        super().__init__(folder, command="hub", **options)

    async def devices(self) -> dict[str, dict[str, Any]]:
        answer = await self.http.get("/api/daemon/status")
        return {one["device"]: one for one in answer.json()["devices"]}

    async def until_device(self, device: str, **wanted: Any) -> dict[str, Any]:
        """Wait until the hub says this of a machine."""
        async with asyncio.timeout(PATIENCE):
            while True:
                status = (await self.devices()).get(device)
                if status is not None and all(status[name] == value for name, value in wanted.items()):
                    return status
                await asyncio.sleep(0.02)

    async def until_here(self, *sessions: str) -> None:
        """Wait until the hub knows what a machine began: its first row comes a moment after the answer."""
        missing = set(sessions)
        async with asyncio.timeout(PATIENCE):
            while True:
                for one in list(missing):
                    if (await self.http.get(f"/api/sessions/{one}/events?limit=1")).status_code != 404:
                        missing.remove(one)
                if not missing:
                    return
                await asyncio.sleep(0.02)

    async def follow_bytes(self, session: str, after: int = 0) -> AsyncGenerator[bytes]:
        await self.until_here(session)
        async with contextlib.aclosing(super().follow_bytes(session, after)) as rows:
            async for row in rows:
                yield row


class Machine(LiveServer):
    """`bascule` on another machine. `device` is its identity."""

    def __init__(self, folder: Path, device: str, **options: Any) -> None:
        super().__init__(folder, **options)
        self.hub = None  # it joins one that the test has, in split mode too
        self.device = device
        prepare(self.data)
        (self.data / "device").write_text(f"{device}\n")

    async def join(self, hub: LiveServer, url: str | None = None) -> None:
        """With a grant as the pairing would make it. Before its start, or while it runs."""
        made = await hub.post("/api/grants", name=self.device, role="daemon", device=self.device)
        assert made.status_code == 200, made.text
        token = made.json()["token"]
        if self.process is None or self.process.returncode is not None:
            write_hub_note(self.data, HubNote(url or hub.url, token))
        else:
            await self.post("/api/uplink", url=url or hub.url, token=token)


@contextlib.asynccontextmanager
async def asking_laptop(folder: Path, hub: Hub) -> AsyncGenerator[Machine]:
    """It has joined the hub, with an agent that asks and notes in the file `asked` what it was told."""
    folder.mkdir(mode=0o700)
    made = Machine(folder, "d-laptop")
    made.add_agent("asks", "asks_many.py", "1", str(folder / "asked"))
    await made.join(hub)
    async with made:
        await hub.until_device("d-laptop", online=True)
        yield made


class _Rows(msgspec.Struct):
    events: list[msgspec.Raw]


async def rows_of(server: LiveServer, session: str) -> list[bytes]:
    """Every row of a log, as its bytes are."""
    rows: list[bytes] = []
    while True:
        answer = await server.http.get(
            f"/api/sessions/{session}/events", params={"after": len(rows), "limit": 1000}
        )
        assert answer.status_code == 200, answer.text
        page = msgspec.json.decode(answer.content, type=_Rows).events
        if not page:
            return rows
        rows += [bytes(one) for one in page]


def digest(rows: list[bytes]) -> str:
    whole = hashlib.sha256()
    for row in rows:
        whole.update(row + b"\n")
    return whole.hexdigest()


async def equal_logs(hub: LiveServer, machine: LiveServer, session: str) -> list[bytes]:
    """Wait until the hub has all that the machine has; every byte must be the same."""
    async with asyncio.timeout(PATIENCE):
        while True:
            own, copied = await rows_of(machine, session), await rows_of(hub, session)
            if len(copied) >= len(own):
                assert digest(copied[: len(own)]) == digest(own)
                return copied
            await asyncio.sleep(0.05)
