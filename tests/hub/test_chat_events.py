"""Each of our events under the chat API's name, or its own."""

import msgspec
import pytest
from msgspec import Raw

from bascule.hub.feed.feed import Delivery
from bascule.hub.live.chat_events import sse_encoder, status_now
from bascule.model.codec import encode_logged
from bascule.model.events import (
    AnyEvent,
    Bell,
    PermissionRequested,
    PromptSent,
    SessionEnded,
    SessionFailed,
    SessionStarted,
    StderrWritten,
    TextAppended,
    TextKind,
    TextSaid,
    Unrecognised,
)
from bascule.model.lifecycle import Phase
from bascule.model.records import SessionRecord
from bascule.store.base import Row

EPOCH = "0123456789abcdef"
SSE = sse_encoder(EPOCH)
ASKED = PermissionRequested(
    "r1", "Bash", "Bash", "execute", Raw(b'{"command":\n"ls"}'), "ab", (), "t1", suggestions=(Raw(b"{}"),)
)
CASES: list[tuple[AnyEvent, str, dict[str, object]]] = [
    (SessionStarted(agent="a", driver="d", cwd="/", by="ana"), "session_status", {"status": "starting"}),
    (SessionEnded("exited", 1, 9), "session_status", {"status": "exited", "code": 1, "signal": 9}),
    (SessionEnded("closed"), "session_status", {"status": "closed"}),
    (
        SessionFailed("missing", "not installed"),
        "session_status",
        {"status": "error", "error": "not installed"},
    ),
    (PromptSent("p", "hi", "ana", "m1"), "user_message", {"text": "hi", "clientMessageId": "m1"}),
    (PromptSent("p", "hi", "ana"), "user_message", {"text": "hi"}),
    (TextAppended("e", "assistant", "a\nb"), "assistant_text", {"text": "a\nb"}),
    (StderrWritten("oops"), "claude_stderr", {"message": "oops"}),
    (TextAppended("e", "thinking", "hm"), "text_appended", {"type": "text_appended", "entry_id": "e"}),
    (Bell(), "bell", {"type": "bell"}),
    (Unrecognised("{", "bad JSON"), "error", {"line": "{"}),
    (
        ASKED,
        "permission_request",
        {
            "requestId": "r1",
            "toolName": "Bash",
            "input": {"command": "ls"},
            "suggestions": [{}],
            "toolUseId": "t1",
        },
    ),
]


@pytest.mark.row("C3")
@pytest.mark.parametrize(("event", "name", "data"), CASES)
def test_each_event_becomes_one_message_with_the_chat_apis_name(
    event: AnyEvent, name: str, data: dict[str, object]
) -> None:
    delivery = Delivery("s", [Row(7, encode_logged(7, "2026-01-01T00:00:00.000Z", event))])
    head, kind, body, *rest = SSE(delivery).decode().split("\n")
    assert (head, kind, rest) == (f"id: 7-{EPOCH}", f"event: {name}", ["", ""])
    assert msgspec.json.decode(body.removeprefix("data: ")).items() >= data.items()


def test_an_event_of_a_newer_version_goes_out_under_its_own_name() -> None:
    row = Row(3, b'{"seq":3,"at":"x","event":{"type":"teleported","to":"mars"}}')
    assert (
        SSE(Delivery("s", [row]))
        == b'id: 3-0123456789abcdef\nevent: teleported\ndata: {"type":"teleported","to":"mars"}\n\n'
    )


@pytest.mark.row("C3")
@pytest.mark.parametrize("kind", ["assistant", "thinking"])
def test_a_whole_text_is_told_like_one_that_was_streamed_and_only_its_end_moves_the_position(
    kind: TextKind,
) -> None:
    whole = TextSaid("e", kind, "a\nb", "t")
    streamed = [encode_logged(7, "2026-01-01T00:00:00.000Z", piece) for piece in whole.in_pieces()]
    *before, last = [SSE(Delivery("s", [Row(7, row)])) for row in streamed]
    told = SSE(Delivery("s", [Row(7, encode_logged(7, "2026-01-01T00:00:00.000Z", whole))]))
    assert told == b"".join(one.partition(b"\n")[2] for one in before) + last


@pytest.mark.row("C3")
def test_a_stream_opens_with_the_current_status() -> None:
    record = SessionRecord("s", phase=Phase.FAILED, end_message="gone", code=2)
    assert (
        status_now(record) == b'event: session_status\ndata: {"status":"error","code":2,"error":"gone"}\n\n'
    )
