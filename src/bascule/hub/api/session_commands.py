"""Commands in one session: each carried out by the session's device."""

from typing import Any

from bascule.api.bodies import QueueBody, ReconnectBody
from bascule.api.request_answers import EndGiven
from bascule.hub.calls.call import Call
from bascule.hub.calls.forwarding import forwarding
from bascule.hub.calls.operation import Operation
from bascule.hub.calls.session_lookup import require_session
from bascule.hub.door.roles import Need
from bascule.hub.services import Hub
from bascule.hub.wire.intake import LARGE, SMALL
from bascule.link.machine import ReconnectAgent, Reconnected
from bascule.model.commands import (
    AnswerGuard,
    ArchiveSession,
    DiscardHeld,
    Done,
    EditPrompt,
    EndSession,
    Interrupt,
    KeepSession,
    QueueChange,
    ReleasePrompts,
    RenameSession,
    ReorderPrompts,
    ResumeSession,
    SendPrompt,
    SessionCommand,
    SetMode,
    SetModel,
    SetPermissionMode,
    WithdrawPrompt,
)
from bascule.model.errors import InvalidInput, LimitReached


async def change_queue(call: Call[QueueBody]) -> Done:
    return await call.ask(_queue_change(call.body))


def _queue_change(body: QueueBody) -> QueueChange:
    sid = body.session_id
    match body:
        case QueueBody(op="reorder", order=order) if order:
            return ReorderPrompts(session_id=sid, order=order)
        case QueueBody(op="edit", prompt_id=str(prompt_id), text=str(text)):
            return EditPrompt(session_id=sid, prompt_id=prompt_id, text=text)
        case QueueBody(op="withdraw", prompt_id=str(prompt_id)):
            return WithdrawPrompt(session_id=sid, prompt_id=prompt_id)
        case QueueBody(op="release", prompt_id=prompt_id):
            return ReleasePrompts(session_id=sid, prompt_ids=(prompt_id,) if prompt_id else ())
        case QueueBody(op="discard"):
            return DiscardHeld(session_id=sid)
        case _:
            raise InvalidInput("edit needs promptId and text, withdraw needs promptId, reorder needs order.")


async def resume(call: Call[ResumeSession]) -> Done:
    take_spawn(call.hub, call.by.grant_id)
    return await call.ask(call.body)


async def reconnect(call: Call[ReconnectBody]) -> Reconnected | Done:
    """Restart an agent's shared process and resume its sessions, or resume one ended session."""
    body = call.body
    if (body.session_id is None) == (body.cli_type is None):
        raise InvalidInput("Give either sessionId or cliType.")
    take_spawn(call.hub, call.by.grant_id)
    seconds = call.hub.settings.acp.start_timeout_ms / 1000 + 45
    if body.session_id is None:
        return await call.ask(ReconnectAgent(agent=body.cli_type or ""), seconds=seconds)
    record = await require_session(call.hub, body.session_id)
    call = call.in_session(record)
    if record.end_reason != "disconnected":
        return await call.ask(ResumeSession(session_id=record.session_id))
    command = ReconnectAgent(agent=record.agent, session_id=record.session_id)
    return await call.ask(command, seconds=seconds)


async def end(call: Call[EndSession]) -> EndGiven:
    """A machine that is away gets it first when it is back; one that was removed may never come back."""
    board = call.hub.switchboard
    await board.met()
    if board.is_connected(call.target) or board.status(call.target) is None:
        await call.ask(call.body)
        return EndGiven()
    (outcome,) = await board.orders.give(call.body, call.by, [call.target])
    return EndGiven(waits=outcome.outcome == "waiting", message=outcome.message)


def take_spawn(hub: Hub, grant_id: str) -> None:
    bucket = hub.spawns.of(grant_id)
    if not bucket.take():
        seconds = int(bucket.seconds_until_next()) + 1
        raise LimitReached(
            f"Too many sessions were started in the last minute; try again in {seconds} s.",
            retry_after=seconds,
        )


def _command(
    word: str,
    command: type[SessionCommand[Any]],
    summary: str,
    *,
    path: str | None = None,
    method: str = "POST",
    need: Need = "session_write",
    max_bytes: int = SMALL,
    **declared: Any,
) -> Operation:
    return forwarding(
        command,
        name=f"session:{word}",
        method=method,
        path=ONE + (f"/{word}" if path is None else path),
        need=need,
        summary=summary,
        max_bytes=max_bytes,
        **declared,
    )


ONE = "/api/sessions/{session_id}"
OPERATIONS = (
    _command(
        "send", SendPrompt, "Send a prompt; it waits its turn", max_bytes=LARGE, synonyms={"content": "text"}
    ),
    _command("interrupt", Interrupt, "Stop the turn, keep the agent", aliases=("session:cancel",)),
    _command("keep", KeepSession, "Keep a session: start its idle and age limits again"),
    _command("guard", AnswerGuard, "Answer a guard rail: continue, or end", need="owner"),
    Operation(
        name="session:queue",
        method="POST",
        path=ONE + "/queue",
        need="session_write",
        body=QueueBody,
        answer=Done,
        run=change_queue,
        summary="Edit, reorder, withdraw, release or discard waiting prompts",
        in_session=True,
        max_bytes=LARGE,
    ),
    _command("mode", SetMode, "Set the agent's own mode"),
    _command("model", SetModel, "Set the model"),
    # How Bascule answers for people is not a session token's to change, nor is starting agents.
    _command("permission-mode", SetPermissionMode, "Choose how permissions are answered", need="operator"),
    _command("resume", ResumeSession, "Bring the agent back", need="operator", run=resume),
    _command("title", RenameSession, "Rename the session"),
    _command("archive", ArchiveSession, "Archive the session, or bring it back"),
    Operation(
        name="session:end",
        method="DELETE",
        path=ONE,
        need="session_write",
        body=EndSession,
        answer=EndGiven,
        run=end,
        summary="Close the session and end its agent; one of a machine that is away ends when it is back",
        in_session=True,
    ),
    Operation(
        name="session:reconnect",
        need="operator",
        body=ReconnectBody,
        answer=Reconnected | Done,
        run=reconnect,
        summary="Restart an agent's shared process, or resume one session",
        for_device=True,
    ),
)
