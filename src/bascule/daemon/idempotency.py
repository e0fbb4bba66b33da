"""Idempotency keys: runs a keyed command once, even if it arrives twice at a time or after a restart."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from msgspec import Struct, structs

from bascule.model.codec import encode
from bascule.model.commands import Command, Envelope, ResumeSession, SessionCommand, StartSession
from bascule.model.errors import KeyReused
from bascule.store.base import StoredReply
from bascule.store.protocols import DaemonStore

AnyEnvelope = Envelope[SessionCommand[Any]]


def body_sha256(command: Command[Any]) -> str:
    """Of what was asked; a session's new id is not part of that, nor the signature of this one message."""
    if isinstance(command, StartSession):
        command = structs.replace(command, session_id="", signature=None)
    elif isinstance(command, ResumeSession):
        command = structs.replace(command, signature=None)
    return hashlib.sha256(encode(command)).hexdigest()


def scoped(envelope: AnyEnvelope) -> str:
    """The key made unique to who asked, and of which session."""
    command = envelope.command
    scope = "start" if isinstance(command, StartSession) else command.session_id
    return f"{scope}:{envelope.by.grant_id}:{envelope.key}"


class IdempotencyKeys:
    def __init__(self, store: DaemonStore) -> None:
        self._store = store
        self._under_way: dict[str, tuple[str, asyncio.Future[bytes]]] = {}
        self._looking: dict[str, asyncio.Future[None]] = {}  # the last look-up for each session

    async def do(self, envelope: AnyEnvelope, action: Callable[[AnyEnvelope], Awaitable[Struct]]) -> bytes:
        """The encoded answer of `action`, or of the time it was done before."""
        if envelope.key is None:
            return encode(await action(envelope))
        key, sha = scoped(envelope), body_sha256(envelope.command)
        envelope = replace(envelope, key=key, body_sha256=sha)
        if key in self._under_way:
            first, reply = self._under_way[key]
            _check_same(key, first, sha)
            return await asyncio.shield(reply)
        future: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        future.add_done_callback(lambda done: done.cancelled() or done.exception())
        self._under_way[key] = (sha, future)
        try:
            result = await self._do_first(key, envelope, action)
        except BaseException as error:
            if isinstance(error, Exception):
                future.set_exception(error)
            else:
                future.cancel()
            raise
        else:
            future.set_result(result)
            return result
        finally:
            del self._under_way[key]

    async def _do_first(
        self, key: str, envelope: AnyEnvelope, action: Callable[[AnyEnvelope], Awaitable[Struct]]
    ) -> bytes:
        stored = await self._look_up(key, envelope.command.session_id)
        if stored is not None:
            _check_same(stored.key, stored.body_sha256, envelope.body_sha256)
            return stored.reply
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
