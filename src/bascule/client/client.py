"""`Client`: the Python client of a server. The command line is built on it."""

import contextlib
import secrets
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec

from bascule.api.bodies import CreateBody
from bascule.api.request_answers import RequestList, RequestView
from bascule.api.session_answers import (
    CastPage,
    Created,
    DamagedSession,
    EntriesPage,
    Queue,
    SessionList,
    SessionShown,
)
from bascule.client.address import Address, local, parse
from bascule.client.machine_calls import MachineCalls
from bascule.client.prompts import ClientPrompts
from bascule.client.rules import ClientRules
from bascule.client.unlogged import ClientUnlogged
from bascule.link.found import Followed
from bascule.link.listening import Listening
from bascule.model.codec import Logged
from bascule.model.commands import PromptPlaced
from bascule.model.event_values import Decision
from bascule.model.events import PromptQueued
from bascule.model.records import SessionRecord

MAX_PAGE = 200  # sessions in one answer


class Client(MachineCalls):
    """A client of one server. It reconnects by itself.

    Calls raise `bascule.model.errors.Refused` when the server says no, and `Unreachable` when it says
    nothing. A call that only reads is tried again once on a new connection, and so are `start` and `send`,
    which carry a key by which the server knows them again; other commands are not, for they may be done.
    """

    def __init__(
        self, address: Address, *, patience: float = 600, data_dir: str | Path | None = None
    ) -> None:
        super().__init__(address, patience=patience, data_dir=data_dir)
        self.rules = ClientRules(self._request)
        self.prompts = ClientPrompts(self._request)
        self.unlogged = ClientUnlogged(self._request)

    @classmethod
    async def connect(cls, url: str, token: str = "", *, patience: float = 600) -> Self:
        """By address and token, or by a whole link (`http://…/#token=…`)."""
        client = cls(parse(url, token), patience=patience)
        await client._connected()
        return client

    @classmethod
    async def local(cls, data_dir: str | Path, *, patience: float = 600) -> Self:
        """To the server of this machine that keeps its data in `data_dir`."""
        client = cls(local(data_dir), patience=patience, data_dir=data_dir)
        await client._connected()
        return client

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        if self._connection is not None:
            await self._connection.close()
            self._connection = None

    # Sessions ---------------------------------------------------------------------------------------

    async def start(self, wanted: CreateBody) -> Created:
        """Start a session; without an agent, the server's default one."""
        fields = {"permissionMode": wanted.permission_mode, **msgspec.to_builtins(wanted)}
        return await self._keyed("session:create", fields, Created)

    async def send(self, session_id: str, text: str, *, client_message_id: str | None = None) -> PromptPlaced:
        """Say something to a session; while its agent is busy the prompt waits in the queue."""
        fields = {
            "sessionId": session_id,
            "text": text,
            "clientMessageId": client_message_id or secrets.token_hex(8),
        }
        return await self._keyed("session:send", fields, PromptPlaced)

    async def interrupt(self, session_id: str) -> None:
        """Stop the turn. Prompts that wait are held until `release` or `discard`."""
        await self._command("session:interrupt", {"sessionId": session_id})

    async def queue(self, session_id: str) -> list[PromptQueued]:
        return (await self._command("session:queued", {"sessionId": session_id}, Queue)).queue

    async def release(self, session_id: str, prompt_id: str | None = None) -> None:
        """Send what is held: one prompt, or all."""
        fields = {"sessionId": session_id, "op": "release"}
        await self._command("session:queue", fields | ({"promptId": prompt_id} if prompt_id else {}))

    async def discard(self, session_id: str) -> None:
        """Withdraw every prompt that is held."""
        await self._command("session:queue", {"sessionId": session_id, "op": "discard"})

    async def cast(self, session_id: str, *, keep_secrets: bool = False) -> AsyncGenerator[str, None]:
        """A terminal's asciinema recording, in pieces of whole lines; `keep_secrets`: the exact bytes."""
        offset: int | None = None
        while True:
            fields: dict[str, Any] = {"sessionId": session_id, "keepSecrets": keep_secrets}
            fields |= {} if offset is None else {"offset": offset}
            page = await self._command("session:cast", fields, CastPage)
            yield page.text
            if (offset := page.next) is None:
                return

    async def end(self, session_id: str) -> None:
        await self._command("session:end", {"sessionId": session_id})

    async def reconnect(self, session_id: str) -> None:
        """Bring an ended session's agent back, on the same log."""
        await self._command("session:reconnect", {"sessionId": session_id})

    async def set_mode(self, session_id: str, mode: str) -> None:
        await self._command("session:mode", {"sessionId": session_id, "mode": mode})

    async def set_model(self, session_id: str, model: str) -> None:
        await self._command("session:model", {"sessionId": session_id, "model": model})

    async def set_permission_mode(self, session_id: str, mode: str) -> None:
        await self._command("session:permission-mode", {"sessionId": session_id, "mode": mode})

    async def rename(self, session_id: str, title: str) -> None:
        await self._command("session:title", {"sessionId": session_id, "title": title})

    async def archive(self, session_id: str, archived: bool = True) -> None:
        await self._command("session:archive", {"sessionId": session_id, "archived": archived})

    async def sessions(self, *, archived: bool = False, limit: int | None = None) -> list[SessionRecord]:
        """The newest `limit` sessions, the latest activity first; all of them unless said."""
        found: list[SessionRecord] = []
        if limit == 0:
            return found
        async with contextlib.aclosing(self.all_sessions(archived=archived, page=limit)) as sessions:
            async for session in sessions:
                found.append(session)
                if len(found) == limit:
                    break
        return found

    async def all_sessions(
        self, *, archived: bool = False, page: int | None = None
    ) -> AsyncGenerator[SessionRecord, None]:
        """Every session once, the latest activity first, read by pages of at most `page`.

        One that becomes active meanwhile moves above the pages that were read; it comes at the end.
        """
        size = min(page or MAX_PAGE, MAX_PAGE)
        seen: set[str] = set()
        known_to = ""  # the latest activity when the pass before this one began
        while True:
            first = answer = await self._session_page(archived, size, None)
            while True:
                for session in answer.sessions:
                    if session.session_id not in seen:
                        seen.add(session.session_id)
                        yield session
                reached = bool(answer.sessions) and answer.sessions[-1].updated_at < known_to
                if reached or answer.next is None:
                    break
                answer = await self._session_page(archived, size, answer.next)
            # One page is of one moment. Between several, some may have moved up: look there again.
            if answer is first or not first.sessions or first.sessions[0].updated_at <= known_to:
                return
            known_to = first.sessions[0].updated_at

    async def _session_page(self, archived: bool, size: int, cursor: str | None) -> SessionList:
        fields = {"archived": archived or None, "limit": size, "cursor": cursor}
        return await self._read("session:list", fields, SessionList)

    async def damaged(self) -> list[DamagedSession]:
        """Sessions whose record can't be read."""
        return (await self._read("session:list", {"limit": 1}, SessionList)).damaged

    async def session(self, session_id: str) -> SessionRecord:
        return (await self._read("session:show", {"sessionId": session_id}, SessionShown)).session

    async def follow_found(self, session_id: str) -> Followed:
        """Look at a found session's file now; tells whether it is open in a terminal."""
        return await self._read("session:follow", {"sessionId": session_id}, Followed)

    async def listeners(self, session_id: str) -> Listening:
        """Look once which TCP addresses its agent listens on."""
        return await self._read("session:listeners", {"sessionId": session_id}, Listening)

    async def entries(self, session_id: str, *, limit: int = 50, before: int | None = None) -> EntriesPage:
        """A page of the transcript, the newest last, true as of `seq`: then follow `events` after it."""
        fields = {"sessionId": session_id, "limit": limit, "before": before}
        return await self._read("session:open", fields, EntriesPage)

    # Answers ----------------------------------------------------------------------------------------

    async def answer(
        self,
        session_id: str,
        request_id: str,
        decision: Decision,
        *,
        input_sha256: str,
        option: str | None = None,
        remember: bool = False,
        message: str | None = None,
    ) -> None:
        """Answer a permission request; `input_sha256` says which input the person has seen."""
        fields = {
            "sessionId": session_id,
            "requestId": request_id,
            "decision": decision,
            "inputSha256": input_sha256,
            "option": option,
            "remember": remember or None,
            "message": message,
        }
        await self._command("session:permission", fields)

    async def answer_question(
        self,
        session_id: str,
        request_id: str,
        answers: dict[str, str],
        *,
        notes: dict[str, str] | None = None,
        input_sha256: str | None = None,
        message: str | None = None,
    ) -> None:
        """Answer a question by its full text; no answers with a message declines it."""
        fields = {
            "sessionId": session_id,
            "requestId": request_id,
            "answers": answers,
            "notes": notes,
            "inputSha256": input_sha256,
            "message": message,
        }
        await self._command("session:question", fields)

    async def requests(self) -> list[RequestView]:
        """Everything that waits for a person, in all sessions, oldest first."""
        return (await self._read("requests:list", {}, RequestList)).requests

    # Following --------------------------------------------------------------------------------------

    def events(
        self,
        session_id: str,
        after: int = 0,
        *,
        epoch: str = "",
        on_resync: Callable[[str], None] = lambda _: None,
    ) -> AsyncGenerator[Logged, None]:
        """Every entry of a session's log after `after`, past and live, in order, each once, for ever.

        A lost connection is made again; the caller sees only a pause. Raises `Unreachable` when that has
        failed for `patience` seconds, and `Refused` when the server says no. `epoch` is the one of `after`,
        as `entries` returned it. When the log on the machine was replaced, `on_resync` gets a sentence that
        says so, and the entries come again from the first.
        """
        return self._follower.follow(session_id, after, epoch, on_resync, self.patience)
