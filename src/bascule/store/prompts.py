"""The prompt library: saved prompts, every version of each, and which sessions used it."""

import secrets
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from msgspec.structs import asdict, replace

from bascule.model.codec import timestamp
from bascule.model.commands import Actor
from bascule.model.errors import CallerError, LimitReached
from bascule.model.prompts import (
    PromptContent,
    PromptHead,
    PromptSource,
    PromptUse,
    PromptVersion,
    SavedPrompt,
    UseKind,
)
from bascule.store import prompt_rows as rows
from bascule.store.connection import Connection
from bascule.store.protocols import BookStore
from bascule.store.transaction import Transaction

T = TypeVar("T")

MAX_PROMPTS = 5000
MAX_VERSIONS = 500  # of one prompt; then the oldest goes
MAX_USES = 1000
EXCERPT = 240
HEAD_FIELDS = PromptHead.__struct_fields__


class PromptChanged(CallerError):
    """Another user saved a newer version than the one this change began from."""

    code = "PROMPT_CHANGED"


class PromptBook:
    """Over the same database as the logs; every change is on disk before it is reported."""

    def __init__(self, store: BookStore) -> None:
        self._store = store

    async def list(self) -> "list[SavedPrompt]":
        """The newest first, removed ones too."""
        found, damaged = await self._store.query(rows.all_heads)
        self._store.remember(damaged)
        return found

    async def get(self, prompt_id: str) -> SavedPrompt:
        """Raises `SavedPromptNotFound`."""
        return await self._store.query(lambda connection: rows.head_of(connection, prompt_id))

    async def content(self, prompt_id: str, version: int) -> PromptContent:
        return await self._store.query(lambda connection: rows.content_of(connection, prompt_id, version))

    async def search(self, text: str, limit: int) -> "dict[str, list[str]]":
        """Ids in the order of their match, each with the text around it. Removed ones may be among them."""
        return await self._store.query(lambda connection: rows.found_in(connection, text, limit))

    async def add(
        self,
        content: PromptContent,
        text: str,
        by: Actor,
        *,
        shared: bool,
        key: str | None = None,
        source: PromptSource | None = None,
    ) -> SavedPrompt:
        """`text` is the content's plain text. The same key again gets the prompt that is there."""
        now = timestamp(self._store.clock())
        prompt = SavedPrompt(
            **_head(content),
            id=secrets.token_hex(8),
            version=1,
            grant_id=by.grant_id,
            shared=shared,
            created_at=now,
            created_by=by.name,
            updated_at=now,
            updated_by=by.name,
            excerpt=_excerpt(text),
            source=source,
        )
        own_key = None if key is None else f"{by.grant_id} {key}"

        def write(transaction: Transaction) -> SavedPrompt:
            connection = transaction.connection
            known = None if own_key is None else rows.head_with_key(connection, own_key)
            if known is not None:
                return known
            if connection.execute(rows.COUNT).fetchone()[0] >= MAX_PROMPTS:
                raise LimitReached(f"The library holds {MAX_PROMPTS:,} prompts already; export some first.")
            rows.insert_head(connection, prompt, own_key)
            rows.add_version(connection, prompt, content)
            rows.index_words(connection, prompt, text)
            return prompt

        return await self._store.transact(write)

    async def save(
        self,
        prompt_id: str,
        base: int,
        content: PromptContent,
        text: str,
        by: Actor,
        *,
        source: PromptSource | None = None,
    ) -> SavedPrompt:
        """A new version after `base`. Raises `PromptChanged` when that is not the newest.

        Saving what is there already is no new version, so a request that is sent twice does no harm.
        """
        now = timestamp(self._store.clock())

        def write(connection: Connection) -> SavedPrompt:
            before = rows.head_of(connection, prompt_id)
            same = rows.content_of(connection, prompt_id, before.version) == content
            if same and source in (None, before.source):
                return before
            if before.version != base and not same:
                raise _changed(before)
            after = replace(
                before,
                **_head(content),
                version=before.version if same else before.version + 1,
                updated_at=now,
                updated_by=by.name,
                excerpt=_excerpt(text),
                source=source or before.source,
            )
            rows.change_head(connection, after)
            if not same:
                _add_version(connection, before, after, content)
                rows.index_words(connection, after, text)
            return after

        return await self._change(write)

    async def mark(
        self,
        prompt_id: str,
        *,
        favourite: bool | None = None,
        shared: bool | None = None,
        removed: bool | None = None,
        owner: Actor | None = None,
        source: PromptSource | None = None,
    ) -> SavedPrompt:
        """What has no versions. A removed prompt stays in the store and can be brought back."""
        now = timestamp(self._store.clock())

        def write(connection: Connection) -> SavedPrompt:
            before = rows.head_of(connection, prompt_id)
            after = replace(
                before,
                favourite=before.favourite if favourite is None else favourite,
                shared=before.shared if shared is None else shared,
                removed_at=before.removed_at if removed is None else now if removed else None,
                grant_id=before.grant_id if owner is None else owner.grant_id,
                source=before.source if source is None else source,
            )
            rows.change_head(connection, after)
            return after

        return await self._change(write)

    async def versions(self, prompt_id: str) -> "list[PromptVersion]":
        """The newest first."""
        return await self._store.query(lambda connection: rows.versions_of(connection, prompt_id))

    async def used(
        self, prompt_id: str, version: int, kind: UseKind, sessions: Sequence[str], by: Actor
    ) -> None:
        """Note that a version was given to agents: to these sessions, or to a terminal without one."""
        now = timestamp(self._store.clock())

        def write(connection: Connection) -> None:
            rows.head_of(connection, prompt_id)
            for session_id in sessions or [None]:
                connection.execute(rows.ADD_USE, (prompt_id, version, kind, session_id, now, by.name))
            connection.execute(rows.TRIM_USES, (prompt_id, prompt_id, MAX_USES))

        await self._change(write)

    async def uses(self, prompt_id: str, limit: int = 100) -> "list[PromptUse]":
        """The newest first."""
        return await self._store.query(lambda connection: rows.uses_of(connection, prompt_id, limit))

    async def _change(self, write: Callable[[Connection], T]) -> T:
        return await self._store.transact(lambda transaction: write(transaction.connection))


def _add_version(
    connection: Connection, before: SavedPrompt, after: SavedPrompt, content: PromptContent
) -> None:
    """A scratch pad is saved while its user types: one version for each day is enough."""
    same_day = before.updated_at[:10] == after.updated_at[:10]
    if after.kind == "scratch" and same_day and before.updated_by == after.updated_by:
        connection.execute(rows.DROP_VERSION, (before.id, before.version))
    rows.add_version(connection, after, content)
    connection.execute(rows.DROP_VERSIONS, (after.id, after.version - MAX_VERSIONS))


def _changed(now: SavedPrompt) -> PromptChanged:
    return PromptChanged(
        f"{now.updated_by} saved version {now.version} of this prompt in the meantime. "
        "Yours is kept; look at both, then save again or keep yours as a copy.",
        version=now.version,
        by=now.updated_by,
        at=now.updated_at,
    )


def _head(content: PromptContent) -> dict[str, Any]:
    return {name: value for name, value in asdict(content).items() if name in HEAD_FIELDS}


def _excerpt(text: str) -> str:
    return " ".join(text[: EXCERPT * 4].split())[:EXCERPT]
