"""Idempotency keys: runs a keyed command once, even if it arrives twice at a time or after a restart.

Some commands store their answer with what they did, and know it for a day. The answers of all others are kept
in memory for as long as a hub may repeat a command whose connection was cut.
"""

import asyncio
import hashlib
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any

from msgspec import Struct, structs

from bascule.model.codec import encode
from bascule.model.commands import Command, Envelope, ResumeSession, SessionCommand, StartSession
from bascule.model.errors import KeyReused
from bascule.store.base import StoredReply
from bascule.store.protocols import DaemonStore

AnyEnvelope = Envelope[Any]
KEPT_SECONDS = 120.0  # no command has a deadline that is longer
MAX_KEPT = 1024


def body_sha256(command: Command[Any]) -> str:
    """Of what was asked; a session's new id is not part of that, nor the signature of this one message."""
    if isinstance(command, StartSession):
        command = structs.replace(command, session_id="", signature=None)
    elif isinstance(command, ResumeSession):
        command = structs.replace(command, signature=None)
    return hashlib.sha256(encode(command)).hexdigest()


def scoped(envelope: AnyEnvelope) -> str:
    """The key made unique to who asked, and of which session."""
    command: Command[Any] = envelope.command
    if isinstance(command, StartSession):
        scope = "start"
    elif isinstance(command, SessionCommand):
        scope = command.session_id
    else:
        scope = str(type(command).__struct_config__.tag)
    return f"{scope}:{envelope.by.grant_id}:{envelope.key}"


@dataclass(frozen=True)
class _Kept:
    until: float  # on the steady clock
    body_sha256: str
    answer: bytes


class IdempotencyKeys:
    def __init__(self, store: DaemonStore, steady: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._steady = steady
        self._kept: dict[str, _Kept] = {}  # the oldest first
        self._under_way: dict[str, tuple[str, asyncio.Future[bytes]]] = {}
        self._looking: dict[str, asyncio.Future[None]] = {}  # the last look-up for each session

    async def do(
        self,
        envelope: AnyEnvelope,
        action: Callable[[AnyEnvelope], Awaitable[Struct]],
        *,
        stored: bool = True,
        kept: bool = True,
    ) -> bytes:
        """The encoded answer of `action`, or of the time it was done before.

        `stored`: the answer may be in the store. `kept`: it does not change with time, and is kept in memory.
        """
        if envelope.key is None:
            return encode(await action(envelope))
        key, sha = scoped(envelope), body_sha256(envelope.command)
        before = self._kept.get(key)
        if before is not None and before.until > self._steady():
            _check_same(key, before.body_sha256, sha)
            return before.answer
        if stored:
            envelope = replace(envelope, key=key, body_sha256=sha)
        if key in self._under_way:
            first, reply = self._under_way[key]
            _check_same(key, first, sha)
            return await asyncio.shield(reply)
        future: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        future.add_done_callback(lambda done: done.cancelled() or done.exception())
        self._under_way[key] = (sha, future)
        try:
            result = await self._do_first(key, envelope, action, stored=stored)
        except BaseException as error:
            if isinstance(error, Exception):
                future.set_exception(error)
            else:
                future.cancel()
            raise
        else:
            future.set_result(result)
            if kept:
                self._keep(key, sha, result)
            return result
        finally:
            del self._under_way[key]

    def _keep(self, key: str, sha: str, answer: bytes) -> None:
        now = self._steady()
        self._kept.pop(key, None)
        self._kept[key] = _Kept(now + KEPT_SECONDS, sha, answer)
        while len(self._kept) > MAX_KEPT or next(iter(self._kept.values())).until <= now:
            del self._kept[next(iter(self._kept))]

    async def _do_first(
        self,
        key: str,
        envelope: AnyEnvelope,
        action: Callable[[AnyEnvelope], Awaitable[Struct]],
        *,
        stored: bool,
    ) -> bytes:
        if stored:
            before = await self._look_up(key, envelope.command.session_id)
            if before is not None:
                _check_same(before.key, before.body_sha256, envelope.body_sha256)
                return before.reply
        return encode(await action(envelope))

    async def _look_up(self, key: str, session_id: str) -> StoredReply | None:
        """Commands for one session begin in the order they came, though several threads look keys up."""
        before = self._looking.get(session_id)
        done = self._looking[session_id] = asyncio.get_running_loop().create_future()
        try:
            stored = await self._store.stored_reply(key)
            if before is not None:
                await asyncio.shield(before)
            return stored
        finally:
            done.set_result(None)  # those who wait for it go on after we have begun
            if self._looking[session_id] is done:
                del self._looking[session_id]


def _check_same(key: str, first: str, second: str) -> None:
    if first != second:
        raise KeyReused(key.rsplit(":", 1)[-1])
