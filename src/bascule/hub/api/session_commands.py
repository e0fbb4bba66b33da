"""Commands in one session: each carried to the session's device, and its answer back."""

import binascii
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from bascule.hub.api.bodies import (
    ArchiveBody,
    ImageBody,
    ModeBody,
    ModelBody,
    PermissionBody,
    PermissionModeBody,
    QuestionBody,
    QueueBody,
    ReconnectBody,
    SendBody,
    SessionBody,
    TitleBody,
)
from bascule.hub.api.call import Call
from bascule.hub.api.intake import LARGE, SMALL
from bascule.hub.api.operation import Operation
from bascule.hub.api.records import require_session
from bascule.hub.api.views import Done
from bascule.hub.door.roles import Need
from bascule.hub.services import Hub
from bascule.link.frames import ReconnectAgent
from bascule.model.commands import (
    Actor,
    AnswerPermission,
    AnswerQuestion,
    AnyCommand,
    ArchiveSession,
    EditPrompt,
    EndSession,
    Interrupt,
    RenameSession,
    ReorderPrompts,
    ResumeSession,
    SendPrompt,
    SetMode,
    SetModel,
    SetPermissionMode,
    WithdrawPrompt,
)
from bascule.model.errors import InvalidInput, LimitReached
from bascule.model.events import Image
from bascule.model.records import SessionRecord

Make = Callable[[Any, Actor, str | None], AnyCommand]


def _send(body: SendBody, by: Actor, key: str | None) -> AnyCommand:
    return SendPrompt(
        session_id=body.session_id,
        by=by,
        key=key,
        text=body.text,
        images=images_of(body.images),
        client_message_id=body.client_message_id,
    )


def _permission(body: PermissionBody, by: Actor, key: str | None) -> AnyCommand:
    return AnswerPermission(by=by, key=key, **msgspec.structs.asdict(body))


def _question(body: QuestionBody, by: Actor, key: str | None) -> AnyCommand:
    return AnswerQuestion(by=by, key=key, **msgspec.structs.asdict(body))


def _queue(body: QueueBody, by: Actor, key: str | None) -> AnyCommand:
    sid = body.session_id
    match body:
        case QueueBody(op="reorder", order=order) if order:
            return ReorderPrompts(session_id=sid, by=by, key=key, order=order)
        case QueueBody(op="edit", prompt_id=str(prompt_id), text=str(text)):
            return EditPrompt(session_id=sid, by=by, key=key, prompt_id=prompt_id, text=text)
        case QueueBody(op="withdraw", prompt_id=str(prompt_id)):
            return WithdrawPrompt(session_id=sid, by=by, key=key, prompt_id=prompt_id)
        case _:
            raise InvalidInput("edit needs promptId and text, withdraw needs promptId, reorder needs order.")


def _same(command: type[AnyCommand]) -> Make:
    """For a body whose fields are the command's."""

    def make(body: SessionBody, by: Actor, key: str | None) -> AnyCommand:
        return command(by=by, key=key, **msgspec.structs.asdict(body))

    return make


class _Sent(msgspec.Struct):
    prompt_id: str | None = None
    state: str | None = None


async def carry(hub: Hub, command: AnyCommand, record: SessionRecord) -> Done:
    """Carry a command to the session's device. It is on its way before this first waits."""
    if isinstance(command, ResumeSession):
        take_spawn(hub, command.by.grant_id)
    result = await hub.switchboard.ask(command, device=record.device or None)
    sent = msgspec.json.decode(result, type=_Sent)
    return Done(prompt_id=sent.prompt_id, state=sent.state)


def _run(make: Make) -> Callable[[Call[Any]], Awaitable[Done]]:
    async def run(call: Call[Any]) -> Done:
        return await carry(call.hub, make(call.body, call.by, call.key), call.record)

    return run


class Reconnected(msgspec.Struct, frozen=True):
    """The state an agent is in after a person asked for it again."""

    status: str = "connected"


async def reconnect(call: Call[ReconnectBody]) -> Reconnected | Done:
    """Restart an agent's shared process and resume its sessions, or resume one ended session."""
    hub, body = call.hub, call.body
    if (body.session_id is None) == (body.cli_type is None):
        raise InvalidInput("Give either sessionId or cliType.")
    agent, device = body.cli_type, None
    if body.session_id is not None:
        record = await require_session(hub, body.session_id)
        if record.end_reason != "disconnected":
            return await carry(
                hub, ResumeSession(session_id=body.session_id, by=call.by, key=call.key), record
            )
        agent, device = record.agent, record.device or None
    take_spawn(hub, call.by.grant_id)
    seconds = hub.settings.acp.start_timeout_ms / 1000 + 45
    command = ReconnectAgent(agent or "", call.by, body.session_id or "")
    result = await hub.switchboard.ask(command, device=device, timeout=seconds)
    return msgspec.json.decode(result, type=Reconnected)


def take_spawn(hub: Hub, grant_id: str) -> None:
    bucket = hub.spawns.of(grant_id)
    if not bucket.take():
        seconds = int(bucket.seconds_until_next()) + 1
        raise LimitReached(
            f"Too many sessions were started in the last minute; try again in {seconds} s.",
            retry_after=seconds,
        )


def images_of(bodies: tuple[ImageBody, ...]) -> tuple[Image, ...]:
    for body in bodies:
        try:
            binascii.a2b_base64(body.data, strict_mode=True)
        except (binascii.Error, ValueError):
            raise InvalidInput("An image's data is not base64.") from None
    return tuple(Image(body.media_type, body.data) for body in bodies)


def _command(
    word: str,
    make: Make,
    body: type[SessionBody],
    summary: str,
    *,
    need: Need = "session_write",
    aliases: tuple[str, ...] = (),
    method: str = "POST",
    path: str | None = None,
    max_bytes: int = SMALL,
) -> Operation:
    return Operation(
        name=f"session:{word}",
        aliases=aliases,
        method=method,
        path="/api/sessions/{session_id}" + (f"/{word}" if path is None else path),
        need=need,
        body=body,
        answer=Done,
        run=_run(make),
        summary=summary,
        in_session=True,
        max_bytes=max_bytes,
    )


OPERATIONS = (
    _command("send", _send, SendBody, "Send a prompt; it waits its turn", max_bytes=LARGE),
    _command(
        "interrupt",
        _same(Interrupt),
        SessionBody,
        "Stop the turn, keep the agent",
        aliases=("session:cancel",),
    ),
    _command("permission", _permission, PermissionBody, "Allow or deny a tool", path="/permissions"),
    _command("question", _question, QuestionBody, "Answer or decline a question", path="/questions"),
    _command("queue", _queue, QueueBody, "Edit, reorder or withdraw waiting prompts", max_bytes=LARGE),
    _command("mode", _same(SetMode), ModeBody, "Set the agent's own mode"),
    _command("model", _same(SetModel), ModelBody, "Set the model"),
    # How Bascule answers for people is not a session token's to change, nor is starting agents.
    _command(
        "permission-mode",
        _same(SetPermissionMode),
        PermissionModeBody,
        "Choose how permissions are answered",
        need="operator",
    ),
    _command("resume", _same(ResumeSession), SessionBody, "Bring the agent back", need="operator"),
    _command("title", _same(RenameSession), TitleBody, "Rename the session"),
    _command("archive", _same(ArchiveSession), ArchiveBody, "Archive the session, or bring it back"),
    _command(
        "end", _same(EndSession), SessionBody, "Close the session and end its agent", method="DELETE", path=""
    ),
    Operation(
        name="session:reconnect",
        need="operator",
        body=ReconnectBody,
        answer=Reconnected | Done,
        run=reconnect,
        summary="Restart an agent's shared process, or resume one session",
    ),
)
