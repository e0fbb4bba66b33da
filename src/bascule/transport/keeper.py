"""The daemon's client of the keeper: finds or starts it; one method per operation."""

import asyncio
import contextlib
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from bascule.keeper.frames import Message
from bascule.keeper.layout import LOG, SOCKET
from bascule.model import open_files
from bascule.transport.errors import KeeperError, KeeperGone, KeeperNotStarted
from bascule.transport.keeper_connection import Done, FrameProtocol
from bascule.transport.keeper_messages import About, Cage, Hello, Notice, PtySize, SessionState, Spawned
from bascule.transport.keys import Keys
from bascule.transport.position import Position, PositionPost

_START_SECONDS = 20.0
_CONNECT_RETRY = 0.02
UNKNOWN = "unknown_op"  # what a keeper of an earlier version says to a newer question
# All a keeper needs: children get what their spawn names, and no mark of an outer session leaks in.
_ENVIRONMENT = ("HOME", "LANG", "LC_ALL", "PATH", "TMPDIR", "TZ")


async def ensure_keeper(folder: Path) -> None:
    """Return when a keeper answers in `folder`, started detached if there was none."""
    if await _answers(folder):
        return
    complaint = await _start(folder)
    deadline = asyncio.get_running_loop().time() + _START_SECONDS
    while not await _answers(folder):
        if complaint or asyncio.get_running_loop().time() > deadline:
            raise KeeperNotStarted(f"the keeper did not start: {complaint}\n{_log_tail(folder)}".strip())
        await asyncio.sleep(_CONNECT_RETRY)


class KeeperConnection:
    """Methods raise KeeperError (refused) or KeeperGone (connection lost; ids make asking again safe)."""

    def __init__(self, protocol: FrameProtocol, address: str) -> None:
        self._protocol = protocol
        self._address = address
        self._positions = PositionPost(protocol.send)
        self._keys: dict[str, Keys] = {}
        protocol.closed.add_done_callback(self._lost)

    @classmethod
    async def connect(cls, folder: Path) -> "KeeperConnection":
        loop = asyncio.get_running_loop()
        address = os.fspath(folder / SOCKET)
        try:
            _, protocol = await loop.create_unix_connection(FrameProtocol, address)
        except OSError as error:
            raise KeeperGone(f"no keeper answers in {folder}: {error.strerror}") from error
        return cls(protocol, address)

    async def aclose(self) -> None:
        await self._protocol.aclose()

    async def wait_closed(self) -> None:
        """Return when the connection is lost or closed."""
        await asyncio.shield(self._protocol.closed)

    async def hello(self) -> Hello:
        return msgspec.convert(await self._request("hello"), Hello)

    async def spawn(
        self,
        session: str,
        argv: Sequence[str],
        env: Mapping[str, str],
        cwd: str,
        *,
        spawn_id: str,
        pty: PtySize | None = None,
        cwd_stat: tuple[int, int] | None = None,
        spool_cap: int | None = None,
        umask: int | None = None,
        label: str = "",
        cage: Cage | None = None,
    ) -> Spawned:
        """Start an agent; asked again with the same spawn_id it answers the same and starts nothing.

        A keeper that is older than cages refuses a spawn with one: KeeperError, `unknown_op`.
        """
        message: Message = {"session": session, "argv": list(argv), "env": dict(env), "cwd": cwd}
        message |= {"spawn_id": spawn_id, "cwd_stat": list(cwd_stat) if cwd_stat else None, "umask": umask}
        message["pty"] = {"cols": pty.cols, "rows": pty.rows} if pty else None
        if spool_cap is not None:
            message["spool_cap"] = spool_cap
        if label:
            message["label"] = label
        if cage is not None:
            message["cage"] = {"rules": cage.rules, "ports": cage.ports}
        operation = "spawn" if cage is None else "spawn_caged"
        return msgspec.convert(await self._request(operation, message), Spawned)

    async def write(self, session: str, write_id: str, data: bytes) -> None:
        """Return when all bytes are in the agent's stdin; a write_id is written once, however often asked."""
        await self._request("write", {"session": session, "write_id": write_id}, data)

    def post_write(self, session: str, write_id: str, data: bytes, done: Done) -> None:
        """As `write`, of a terminal, without a task or a future: keys go straight into it if it is lent."""
        self._keys_of(session).type(write_id, data, done)

    async def close_stdin(self, session: str) -> None:
        await self._request("close_stdin", {"session": session})

    async def resize(self, session: str, cols: int, rows: int) -> None:
        await self._request("resize", {"session": session, "cols": cols, "rows": rows})

    def post_resize(self, session: str, cols: int, rows: int, done: Done) -> None:
        """As `resize`, without a task or a future, in the order of what is typed."""
        self._keys_of(session).resize(cols, rows, done)

    def close_input(self, session: str) -> None:
        """Nothing will be typed there any more."""
        keys = self._keys.pop(session, None)
        if keys is not None:
            keys.close()

    async def signal(self, session: str, name: str) -> None:
        await self._request("signal", {"session": session, "signal": name})

    async def end(self, session: str, *, grace_stdin: float = 2.0, grace_term: float = 5.0) -> None:
        """Begin the end; the exit comes as a notice."""
        graces = {"grace_stdin": grace_stdin, "grace_term": grace_term}
        await self._request("end", {"session": session, **graces})

    async def position(self, session: str, position: Position) -> None:
        await self._positions.post(session, position)

    def post_position(self, session: str, position: Position) -> None:
        """As `position`, without waiting for the answer."""
        self._positions.post(session, position)

    async def list(self) -> list[SessionState]:
        return msgspec.convert((await self._request("list"))["sessions"], list[SessionState])

    async def about(self, session: str) -> About:
        """What was started there. Empty from a keeper that is older than the question."""
        return msgspec.convert(await self._newer("about", {"session": session}), About)

    async def label(self, session: str, label: str) -> None:
        """Have another label kept from now on. A keeper that is older than this keeps none."""
        await self._newer("label", {"session": session, "label": label})

    async def has_written(self, session: str, write_id: str) -> bool:
        """Whether this write is in the agent's stdin; False when the keeper can't tell."""
        answer = await self._newer("written", {"session": session, "write_id": write_id})
        return bool(answer.get("written"))

    async def unread(self, session: str) -> int | None:
        """Bytes sent to an agent that it has not read; None from a keeper that is older than the question."""
        return (await self._newer("unread", {"session": session})).get("unread")

    async def forget(self, session: str) -> None:
        await self._request("forget", {"session": session})

    async def watch(self, on_notice: Callable[[Notice], None]) -> None:
        """Have the present state of every session, then each change, given to `on_notice`."""
        self._protocol.on_notice = on_notice
        await self._request("watch")

    async def _newer(self, operation: str, message: Message) -> Message:
        """As `_request`, of what a keeper that was started by an earlier version does not know."""
        try:
            return await self._request(operation, message)
        except KeeperError as error:
            if error.code == UNKNOWN:
                return {}
            raise

    async def _request(self, operation: str, message: Message | None = None, blob: bytes = b"") -> Message:
        return await self._protocol.request({"op": operation, **(message or {})}, blob)

    def _keys_of(self, session: str) -> Keys:
        keys = self._keys.get(session)
        if keys is None:
            keys = self._keys[session] = Keys(session, self._address, self._protocol.post)
        return keys

    def _lost(self, _closed: object) -> None:
        # A duplicate that we kept would keep a dead keeper's programs from being hung up on.
        for session in list(self._keys):
            self.close_input(session)


async def _answers(folder: Path) -> bool:
    try:
        connection = await KeeperConnection.connect(folder)
    except KeeperGone:
        return False
    try:
        await connection.hello()
    except KeeperGone:
        return False
    finally:
        await connection.aclose()
    return True


async def _start(folder: Path) -> str:
    """Run the starter, which returns when the keeper serves; its complaint, or nothing."""
    starter = await asyncio.create_subprocess_exec(
        sys.executable,
        "-I",
        "-m",
        "bascule.keeper",
        "--dir",
        os.fspath(folder),
        "--open-files",
        str(open_files.AT_START),
        env={name: os.environ[name] for name in _ENVIRONMENT if name in os.environ},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        _, words = await asyncio.wait_for(starter.communicate(), _START_SECONDS)
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            starter.kill()
        await starter.wait()
        return f"no answer within {_START_SECONDS:.0f} s"
    return words.decode(errors="replace").strip() if starter.returncode else ""


def _log_tail(folder: Path, lines: int = 20) -> str:
    try:
        text = (folder / LOG).read_text(errors="replace")
    except OSError:
        return "(it wrote no log)"
    return "\n".join(text.splitlines()[-lines:])
