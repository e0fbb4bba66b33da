"""Index of the found sessions, by the place they are kept and by their id here."""

import re
from collections.abc import Iterator

from msgspec import Struct

from bascule.daemon.found.history_import import Noted, decode_noted
from bascule.link.found import FoundItem, OpenTerminal
from bascule.model.records import SessionRecord
from bascule.store.base import Committed, FoundSession

PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


class KnownSession(Struct):
    """One found session: its import state, and its record in the store."""

    record: SessionRecord
    noted: Noted

    @property
    def conversation(self) -> tuple[str, str]:
        return self.record.agent, self.record.agent_session_id or ""


class FoundCatalogue:
    def __init__(self) -> None:
        self._by_key: dict[str, KnownSession] = {}
        self._by_id: dict[str, KnownSession] = {}
        # Files that hold no session of their own, with the stamp they had: no reason to read them again.
        self.nothing: dict[str, str] = {}

    def load(self, sessions: list[FoundSession]) -> None:
        for record, _, state in sessions:
            noted = decode_noted(state)
            if noted is not None:
                self.put(KnownSession(record, noted))

    def put(self, shown: KnownSession) -> None:
        self._by_key[shown.noted.key] = shown
        self._by_id[shown.record.session_id] = shown

    def drop(self, shown: KnownSession) -> None:
        if self._by_key.get(shown.noted.key) is shown:
            del self._by_key[shown.noted.key]
        self._by_id.pop(shown.record.session_id, None)

    def kept_at(self, key: str) -> KnownSession | None:
        return self._by_key.get(key)

    def get(self, session_id: str) -> KnownSession | None:
        return self._by_id.get(session_id)

    def __iter__(self) -> Iterator[KnownSession]:
        return iter(list(self._by_key.values()))

    def committed(self, committed: Committed) -> None:
        """Called on every commit, so that changes people make (a title, a message) show at once."""
        shown = self._by_id.get(committed.record.session_id)
        if shown is None:
            return
        if committed.record.found:
            shown.record = committed.record
        else:
            self.drop(shown)  # continued here, it is one of ours

    def listed(
        self, terminals: dict[tuple[str, str], OpenTerminal], commands: dict[str, str], limit: int
    ) -> list[FoundItem]:
        """Those open in a terminal first, then the newest."""
        newest = sorted(self, key=lambda one: one.record.updated_at, reverse=True)
        newest.sort(key=lambda one: one.conversation not in terminals)
        return [_item(one, terminals.get(one.conversation), commands) for one in newest[:limit]]

    def __len__(self) -> int:
        return len(self._by_key)


def command_for(shown: KnownSession, commands: dict[str, str]) -> str:
    """The shell command that resumes it in a terminal; none if the id is not a plain word to a shell."""
    agent, conversation = shown.conversation
    known = commands.get(agent, "")
    return known.replace("{value}", conversation) if PLAIN.fullmatch(conversation) else ""


def _item(shown: KnownSession, terminal: OpenTerminal | None, commands: dict[str, str]) -> FoundItem:
    record = shown.record
    return FoundItem(
        session_id=record.session_id,
        agent=record.agent,
        title=record.title,
        cwd=record.cwd,
        created_at=record.created_at,
        updated_at=record.updated_at,
        messages=shown.noted.messages,
        cost_usd=record.cost_usd,
        model=record.model,
        phase=record.phase.value,
        queued=record.queued,
        archived=record.archived,
        terminal=terminal,
        command=command_for(shown, commands),
    )
