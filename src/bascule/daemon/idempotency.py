"""A command with a key is carried out once, however often it arrives: twice at a time, or after a restart."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable

from msgspec.structs import replace

from bascule.model.codec import encode
from bascule.model.commands import Actor, AnyCommand, StartSession
from bascule.model.errors import KeyReused
from bascule.store.base import EventStore

NOBODY = Actor("")


def body_sha256(command: AnyCommand) -> str:
    """What was asked, without who asked and under which new id."""
    session_id = "" if isinstance(command, StartSession) else command.session_id
    return hashlib.sha256(encode(replace(command, by=NOBODY, key=None, session_id=session_id))).hexdigest()


def scoped(command: AnyCommand) -> str:
    """The command's key made unique to who asked, and of which session."""
    scope = "start" if isinstance(command, StartSession) else command.session_id
    return f"{scope}:{command.by.grant_id}:{command.key}"


class IdempotencyKeys:
    def __init__(self, store: EventStore) -> None:
        self._store = store
        self._under_way: dict[str, tuple[str, asyncio.Future[bytes]]] = {}

    async def do(self, command: AnyCommand, action: Callable[[AnyCommand, str], Awaitable[bytes]]) -> bytes:
        """The reply of `action`, or of the time it was done before."""
        if command.key is None:
            return await action(command, "")  # nothing will be compared
        key = scoped(command)
        command = replace(command, key=key)
        sha = body_sha256(command)
        if key in self._under_way:
            first, reply = self._under_way[key]
            _check_same(key, first, sha)
            return await asyncio.shield(reply)
        future: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        future.add_done_callback(lambda done: done.cancelled() or done.exception())
        self._under_way[key] = (sha, future)
        try:
            result = await self._do_first(command, sha, action)
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
        self, command: AnyCommand, sha: str, action: Callable[[AnyCommand, str], Awaitable[bytes]]
    ) -> bytes:
        stored = await self._store.stored_reply(command.key or "")
        if stored is not None:
            _check_same(stored.key, stored.body_sha256, sha)
            return stored.reply
        return await action(command, sha)


def _check_same(key: str, first: str, second: str) -> None:
    if first != second:
        raise KeyReused(key.rsplit(":", 1)[-1])
