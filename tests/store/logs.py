"""Logs to test with: steps made easily, and random ones that still look like a session's."""

from collections.abc import Sequence
from hashlib import sha256

import pytest
from hypothesis import strategies as st
from msgspec import Raw

from bascule.model.codec import Logged, decode_logged, encode
from bascule.model.entries import AnyEntry, Fold
from bascule.model.event_values import PermissionOption, Question
from bascule.model.events import (
    AnswerDelivered,
    AnyEvent,
    ArchivedChanged,
    EntryClosed,
    EntryOpened,
    Note,
    PermissionAnswered,
    PermissionRequested,
    PermissionWithdrawn,
    PlanChanged,
    PlanItem,
    PromptQueued,
    PromptSent,
    QuestionAnswered,
    QuestionAsked,
    SessionEnded,
    SessionReady,
    SessionStarted,
    TextAppended,
    TitleChanged,
    ToolChanged,
    ToolStarted,
    TurnEnded,
)
from bascule.store import search_index
from bascule.store.base import Batch, Row
from bascule.store.protocols import Log

AT = "2027-01-15T08:00:00.000Z"
STARTED = SessionStarted("demo", "stream_json", "/home/ana", "ana")


def rest_times(monkeypatch: pytest.MonkeyPatch, times: int) -> None:
    """How long the filler of the search index rests: this many times as long as it worked."""
    for name in ("REST_BESIDE_SESSIONS", "REST_ALONE", "REST_IN_FLOOD"):
        monkeypatch.setattr(search_index, name, times)


def text(words: str = "some words ", entry_id: str = "e") -> TextAppended:
    return TextAppended(entry_id, "assistant", words)


def opened(entry_id: str = "e") -> EntryOpened:
    return EntryOpened(entry_id, "assistant")


def asked(request_id: str = "r1", tool_id: str | None = "t1") -> PermissionRequested:
    given = Raw(b'{ "command":  "ls \\u00e9" }')
    option = PermissionOption("allow", "allow_once", "Allow once")
    digest = sha256(bytes(given)).hexdigest()
    return PermissionRequested(request_id, "Bash", "ls", "execute", given, digest, (option,), tool_id)


def step(first_seq: int, *events: AnyEvent, session_id: str = "s1", at: str = AT, **more: object) -> Batch:
    return Batch(session_id, first_seq, at, list(events), **more)  # type: ignore[arg-type]


async def begin(store: Log, session_id: str = "s1") -> None:
    await store.append(step(1, STARTED, session_id=session_id))


async def append_all(store: Log, events: Sequence[AnyEvent], session_id: str = "s1", size: int = 7) -> None:
    """Events from number 1 on, in steps of `size`, all in flight together."""
    waiting = [
        store.append(step(start + 1, *events[start : start + size], session_id=session_id))
        for start in range(0, len(events), size)
    ]
    for one in waiting:
        await one


def folded(events: Sequence[AnyEvent]) -> list[AnyEntry]:
    """The transcript of these events, from scratch and without any shortcut."""
    fold = Fold()
    entries: dict[int, AnyEntry] = {}
    for seq, event in enumerate(events, 1):
        fold.apply(Logged(seq, AT, event))
        for entry in fold.take_dirty():
            entries[entry.first_seq] = entry
    return [entries[first] for first in sorted(entries)]


def encoded(entries: Sequence[AnyEntry]) -> list[bytes]:
    return [encode(entry) for entry in entries]


def numbers(rows: Sequence[Row]) -> list[int]:
    """Their numbers; each must be the number inside the body too."""
    assert all(decode_logged(row.body).seq == row.seq for row in rows)
    return [row.seq for row in rows]


# Few names, so that they meet: opened twice, closed while closed, answered before asked.
_names = st.sampled_from(["a", "b", "c"])
_words = st.text(max_size=30)

random_event: st.SearchStrategy[AnyEvent] = st.one_of(
    st.builds(text, _words, _names),
    st.builds(text, st.just("x" * 9000), _names),
    st.builds(opened, _names),
    st.builds(EntryClosed, _names),
    st.builds(ToolStarted, _names, st.just("Bash"), _words, st.just("execute"), st.just(Raw(b'{"a": 1}'))),
    st.builds(ToolChanged, _names, st.sampled_from(["running", "done", "failed"]), _words),
    st.builds(PlanChanged, st.lists(st.builds(PlanItem, _words), max_size=3).map(tuple)),
    st.builds(asked, _names, _names),
    st.builds(PermissionAnswered, _names, st.sampled_from(["allow", "deny"]), st.just("ana")),
    st.builds(PermissionWithdrawn, _names, st.just("agent")),
    st.builds(
        QuestionAsked,
        _names,
        st.just((Question("Which?"),)),
        st.just(Raw(b"{}")),
        st.just("0"),
        st.just(None),
    ),
    st.builds(QuestionAnswered, _names, st.just("ana"), st.just({"Which?": "this"})),
    st.builds(AnswerDelivered, _names),
    st.builds(PromptQueued, _names, _words, st.just("ana")),
    st.builds(PromptSent, _names, _words, st.just("ana")),
    st.builds(TurnEnded, st.just("end_turn")),
    st.builds(Note, st.just("retry"), _words),
    st.builds(TitleChanged, _words),
    st.builds(ArchivedChanged, st.booleans(), st.just("ana")),
    st.builds(SessionReady, _names),
    st.builds(SessionEnded, st.just("exited")),
    st.just(STARTED),
)
random_log = st.lists(random_event, min_size=1, max_size=60)
