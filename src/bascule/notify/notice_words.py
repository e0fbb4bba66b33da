"""The words of notices, scrubbed of secrets. What an agent asks for goes into `detail` alone."""

from collections.abc import Collection
from typing import Any, cast

import msgspec

from bascule.model.codec import decode_leniently
from bascule.model.events import GuardAnswered, GuardAsked, PermissionAnswered
from bascule.model.lifecycle import LIVE, Phase
from bascule.model.records import RequestRecord, SessionRecord
from bascule.notify.notice import MAX_BODY, MAX_DETAIL, MAX_TITLE, Kind, Notice, cut
from bascule.policy.asked_words import tool_words
from bascule.policy.scrub import scrub
from bascule.policy.visible import visible
from bascule.store.base import Committed

MANY_TAG = "bascule-many"


def request_notice(record: SessionRecord, request: RequestRecord, at: str) -> Notice:
    permission = request.kind == "permission"
    asks = "wants to use a tool" if permission else "has a question"
    return Notice(
        tag=f"request {request.session_id} {request.request_id}",
        kind="approval" if permission else "question",
        title=_line(f"{title_of(record)}: {'needs approval' if permission else 'question'}", MAX_TITLE),
        body=_line(f"{record.agent or 'The agent'} {asks}{_where(record)}", MAX_BODY),
        detail=_line(asked_words(request), MAX_DETAIL),
        at=at,
        session_id=request.session_id,
        request_id=request.request_id,
        input_sha256=request.input_sha256,
        project=project_of(record),
        device=record.device,
        path=f"/sessions/{request.session_id}",
    )


def request_outcome(request: RequestRecord) -> str:
    """ "Denied by Ana"."""
    if request.state == "withdrawn":
        return "No longer asked"
    done = "Answered"
    if isinstance(request.answer, PermissionAnswered):
        done = "Allowed" if request.answer.decision == "allow" else "Denied"
    return _by(done, request.answered_by)


def guard_notice(record: SessionRecord, guard: GuardAsked, at: str) -> Notice:
    """The agent is stopped until the owner decides; a limit is raised in the page alone."""
    loop = guard.kind == "loop"
    why = "repeats the same call" if loop else "has reached a limit"
    return Notice(
        tag=f"guard {record.session_id} {guard.guard_id}",
        kind="limit",
        title=_line(f"{title_of(record)}: {'going in circles' if loop else 'limit reached'}", MAX_TITLE),
        body=_line(f"{record.agent or 'The agent'} {why} and waits for you{_where(record)}", MAX_BODY),
        detail=_line(guard.text, MAX_DETAIL),
        at=at,
        session_id=record.session_id,
        request_id=guard.guard_id,
        project=project_of(record),
        device=record.device,
        path=f"/sessions/{record.session_id}",
    )


def guard_outcome(committed: Committed) -> str:
    """ "Continued by Ana"; without a name where the commit does not hold the answer."""
    for row in committed.rows:
        if b'"guard_answered"' in row.body:
            event = decode_leniently(row.body).event
            if isinstance(event, GuardAnswered):
                return _by("Ended" if event.decision == "end" else "Continued", event.by)
    goes_on = committed.record.phase in LIVE and committed.record.phase is not Phase.ENDING
    return "Continued" if goes_on else "The session has ended"


def session_notice(record: SessionRecord, kind: Kind, at: str, worked: float = 0.0) -> Notice:
    words = {
        "ended": record.end_message or "The session has ended.",
        "finished": f"Finished after {round(worked / 60)} minutes",
        "limit": "A limit ends this session soon. Open it to keep it going.",
    }[kind]
    heads = {"ended": "ended", "finished": "finished", "limit": "ends soon"}
    return Notice(
        tag=f"{kind} {record.session_id}",
        kind=kind,
        title=_line(f"{title_of(record)}: {heads[kind]}", MAX_TITLE),
        body=_line(f"{words}{_where(record)}", MAX_BODY),
        at=at,
        session_id=record.session_id,
        project=project_of(record),
        device=record.device,
        path=f"/sessions/{record.session_id}",
    )


def waiting_many(waiting: Collection[Notice], at: str) -> Notice:
    count = len(waiting)
    return Notice(
        tag=MANY_TAG,
        kind="approval",
        title=f"{count} request{' waits' if count == 1 else 's wait'} for you"
        if count
        else "Nothing waits any more",
        body="Open the inbox to answer them." if count else "They were answered.",
        at=at,
        settled=count == 0,
        of=tuple(sorted({place for one in waiting for place in one.places})),
        path="/inbox",
    )


def machine_notice(device: str, name: str, running: int, at: str) -> Notice:
    """`running` sessions that nobody hears of any more; 0: the machine is back."""
    sessions = f"{running} session{'' if running == 1 else 's'}"
    return Notice(
        tag=f"machine {device}",
        kind="machine",
        title=_line(f"{name} is away", MAX_TITLE) if running else "The machine is back",
        body=f"{sessions} worked there when it was last heard." if running else "",
        at=at,
        settled=not running,
        path="/settings/devices",
    )


def asked_words(request: RequestRecord) -> str:
    """The command, the file or the question, without the frame around it."""
    asked = cast("dict[str, Any]", msgspec.json.decode(request.asked))
    if request.kind == "question":
        questions = cast("list[dict[str, Any]]", asked.get("questions", []))
        return " ".join(str(question.get("question", "")) for question in questions)
    return tool_words(str(asked.get("tool", "")), str(asked.get("title") or ""), asked.get("input"))


def title_of(record: SessionRecord) -> str:
    return record.title or record.session_id


def project_of(record: SessionRecord) -> str:
    return record.worktree_of or record.cwd


def _where(record: SessionRecord) -> str:
    name = project_of(record).rstrip("/").rpartition("/")[2]
    return f" in {name}" if name else ""


def _by(done: str, name: str | None) -> str:
    return cut(f"{done} by {name}" if name else done, MAX_TITLE)


def _line(text: str, longest: int) -> str:
    # Scrubbed before it is cut: half a key is no longer recognised, and still half a key.
    return cut(visible(cut(scrub(text), longest)), longest)
