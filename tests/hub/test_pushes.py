"""Pushes on the wire: each has a type of its own, and is what its struct says."""

import msgspec
import pytest

from bascule.api.pushes import DevicesChanged, Problem, PromptsChanged, Push, Resync, SessionEvents, Shutdown
from bascule.api.terminal_messages import TerminalMessage, TerminalSkipped, TerminalUnread
from bascule.hub.feed.feed import Delivery, events_message
from bascule.model.codec import encode
from bascule.store.base import Row

PUSHES = msgspec.json.Decoder[Push](Push)
ROW = b'{"seq":1,"at":"2026-01-01T00:00:00.000Z","event":{"type":"note","text":"Hi","level":"info"}}'


def test_the_rows_of_a_session_go_out_as_they_are_stored() -> None:
    message = events_message(Delivery("s1", [Row(1, ROW)]))
    assert PUSHES.decode(message) == SessionEvents(session_id="s1", entries=[msgspec.Raw(ROW)])


@pytest.mark.parametrize(
    ("push", "message"),
    [
        (Shutdown(), b'{"type":"shutdown"}'),
        (PromptsChanged(), b'{"type":"prompts:changed"}'),
        (
            PromptsChanged(prompt_id="p", version=2),
            b'{"type":"prompts:changed","promptId":"p","version":2}',
        ),
        (
            Resync(session_id="s", after=7, epoch="e", reason="slow"),
            b'{"type":"resync","sessionId":"s","after":7,"epoch":"e","reason":"slow"}',
        ),
        (
            Problem(error={"code": "X", "message": "It broke."}),
            b'{"type":"error","error":{"code":"X","message":"It broke."}}',
        ),
        (DevicesChanged(devices=[]), b'{"type":"agent:status","devices":[]}'),
    ],
)
def test_a_push_leaves_out_what_it_does_not_say(push: Push, message: bytes) -> None:
    assert encode(push) == message
    assert PUSHES.decode(message) == push


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (
            TerminalSkipped(since=1, to=9, prelude=""),
            b'{"type":"skipped","from":1,"to":9,"prelude":""}',
        ),
        (TerminalUnread(waiting=3), b'{"type":"unread","bytes":3}'),
    ],
)
def test_a_terminals_messages_have_the_names_of_the_wire(said: TerminalMessage, message: bytes) -> None:
    assert encode(said) == message
