"""Requests and sessions as commits report them, for tests of what is told of them."""

from typing import Any

import msgspec
from msgspec.structs import replace

from bascule.model.codec import encode_logged
from bascule.model.events import GuardAnswered, PermissionAnswered
from bascule.model.lifecycle import Phase
from bascule.model.records import RequestRecord, SessionRecord
from bascule.notify.notice import Notice
from bascule.store.base import Committed, Row

COMMAND = "rm -r build && ANTHROPIC_API_KEY=" + "sk-ant-api03" + "-Zq8vT2kLm4Np6Rs8Tu0Vw1 make"

NOTICE = Notice(
    tag="request s1 r1",
    kind="approval",
    title="Fix the shop: needs approval",
    body="claude-code wants to use a tool in shop",
    detail="Bash: rm -r build",
    at="2026-01-01T00:00:00Z",
    session_id="s1",
    request_id="r1",
    input_sha256="0" * 64,
    project="/srv/ana/shop",
    device="d-laptop",
    path="/sessions/s1",
)


class Clock:
    def __init__(self) -> None:
        self.at = 1000.0

    def __call__(self) -> float:
        return self.at


def record(session_id: str = "s1", phase: Phase = Phase.RUNNING, **fields: Any) -> SessionRecord:
    return SessionRecord(
        session_id, agent="claude-code", cwd="/srv/ana/shop", title="Fix the shop", phase=phase, **fields
    )


def asked(request_id: str = "r1", session_id: str = "s1", kind: Any = "permission") -> RequestRecord:
    event = {"type": "permission_requested", "tool": "Bash", "input": {"command": COMMAND}}
    if kind == "question":
        event = {"type": "question_asked", "questions": [{"question": "Which colour?"}]}
    return RequestRecord(
        session_id=session_id,
        request_id=request_id,
        kind=kind,
        state="open",
        input_sha256="0" * 64,
        asked=msgspec.Raw(msgspec.json.encode(event)),
        opened_at="2026-01-01T00:00:00Z",
        seq=1,
    )


def answered(request: RequestRecord, decision: Any = "allow", by: str = "Ana") -> RequestRecord:
    answer = PermissionAnswered(request.request_id, decision, by)
    return replace(request, state="answered", answer=answer, answered_by=by)


def guard_answered(guard_id: str, decision: Any, by: str = "Ana") -> Row:
    return Row(1, encode_logged(1, "2026-01-01T00:00:00Z", GuardAnswered(guard_id, decision, by)))


def commit(*requests: RequestRecord, of: SessionRecord | None = None) -> Committed:
    return Committed(of or record(requests[0].session_id if requests else "s1"), [], requests)
