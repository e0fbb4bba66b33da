"""From a person's message to a command: each verb once, for HTTP and the socket alike."""

import binascii
import os
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec

from bascule.hub.api.bodies import (
    ArchiveBody,
    Body,
    CreateBody,
    ImageBody,
    ModeBody,
    ModelBody,
    Nothing,
    PermissionBody,
    PermissionModeBody,
    QuestionBody,
    QueueBody,
    ReconnectBody,
    SendBody,
    TitleBody,
)
from bascule.hub.api.intake import LARGE, SMALL
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
    StartSession,
    WithdrawPrompt,
)
from bascule.model.errors import InvalidInput, LimitReached, SessionNotFound, UnknownAgent
from bascule.model.events import Image
from bascule.model.records import SessionRecord
from bascule.store.grants import Grant

Make = Callable[[str, Actor, str | None, Any], AnyCommand]


@dataclass(frozen=True)
class Verb:
    """Something done to one session: `session:<socket>`, or `path` after `/api/sessions/{id}`."""

    socket: tuple[str, ...]
    method: str
    path: str
    need: Need
    body: type[Body]
    make: Make
    summary: str
    most: int = SMALL


def _send(sid: str, by: Actor, key: str | None, body: SendBody) -> AnyCommand:
    return SendPrompt(
        session_id=sid,
        by=by,
        key=key,
        text=body.text,
        images=images_of(body.images),
        client_message_id=body.client_message_id,
    )


def _permission(sid: str, by: Actor, key: str | None, body: PermissionBody) -> AnyCommand:
    return AnswerPermission(
        session_id=sid,
        by=by,
        key=key,
        request_id=body.request_id,
        decision=body.decision,
        input_sha256=body.input_sha256,
        option=body.option,
        remember=body.remember,
        message=body.message,
    )


def _question(sid: str, by: Actor, key: str | None, body: QuestionBody) -> AnyCommand:
    return AnswerQuestion(
        session_id=sid,
        by=by,
        key=key,
        request_id=body.request_id,
        answers=body.answers,
        notes=body.notes,
        input_sha256=body.input_sha256,
        message=body.message,
    )


def _queue(sid: str, by: Actor, key: str | None, body: QueueBody) -> AnyCommand:
    match body:
        case QueueBody(op="reorder", order=order) if order:
            return ReorderPrompts(session_id=sid, by=by, key=key, order=order)
        case QueueBody(op="edit", prompt_id=str(prompt_id), text=str(text)):
            return EditPrompt(session_id=sid, by=by, key=key, prompt_id=prompt_id, text=text)
        case QueueBody(op="withdraw", prompt_id=str(prompt_id)):
            return WithdrawPrompt(session_id=sid, by=by, key=key, prompt_id=prompt_id)
        case _:
            raise InvalidInput("edit needs promptId and text, withdraw needs promptId, reorder needs order.")


def _interrupt(sid: str, by: Actor, key: str | None, body: Nothing) -> AnyCommand:
    return Interrupt(session_id=sid, by=by, key=key)


def _end(sid: str, by: Actor, key: str | None, body: Nothing) -> AnyCommand:
    return EndSession(session_id=sid, by=by, key=key)


def _mode(sid: str, by: Actor, key: str | None, body: ModeBody) -> AnyCommand:
    return SetMode(session_id=sid, by=by, key=key, mode=body.mode)


def _model(sid: str, by: Actor, key: str | None, body: ModelBody) -> AnyCommand:
    return SetModel(session_id=sid, by=by, key=key, model=body.model)


def _permission_mode(sid: str, by: Actor, key: str | None, body: PermissionModeBody) -> AnyCommand:
    return SetPermissionMode(session_id=sid, by=by, key=key, mode=body.mode)


def _title(sid: str, by: Actor, key: str | None, body: TitleBody) -> AnyCommand:
    return RenameSession(session_id=sid, by=by, key=key, title=body.title)


def _archive(sid: str, by: Actor, key: str | None, body: ArchiveBody) -> AnyCommand:
    return ArchiveSession(session_id=sid, by=by, key=key, archived=body.archived)


def _resume(sid: str, by: Actor, key: str | None, body: Nothing) -> AnyCommand:
    return ResumeSession(session_id=sid, by=by, key=key)


W: Need = "session_write"
VERBS: tuple[Verb, ...] = (
    Verb(("send",), "POST", "/send", W, SendBody, _send, "Send a prompt; it waits its turn", LARGE),
    Verb(
        ("interrupt", "cancel"), "POST", "/interrupt", W, Nothing, _interrupt, "Stop the turn, keep the agent"
    ),
    Verb(("permission",), "POST", "/permissions", W, PermissionBody, _permission, "Allow or deny a tool"),
    Verb(("question",), "POST", "/questions", W, QuestionBody, _question, "Answer or decline a question"),
    Verb(
        ("queue",), "POST", "/queue", W, QueueBody, _queue, "Edit, reorder or withdraw waiting prompts", LARGE
    ),
    Verb(("mode",), "POST", "/mode", W, ModeBody, _mode, "Set the agent's own mode"),
    Verb(("model",), "POST", "/model", W, ModelBody, _model, "Set the model"),
    # How Bascule answers for people is not a session token's to change, nor is starting agents.
    Verb(
        ("permission-mode",),
        "POST",
        "/permission-mode",
        "operator",
        PermissionModeBody,
        _permission_mode,
        "Choose how permissions are answered",
    ),
    Verb(("resume",), "POST", "/resume", "operator", Nothing, _resume, "Bring the agent back"),
    Verb(("title",), "POST", "/title", W, TitleBody, _title, "Rename the session"),
    Verb(("archive",), "POST", "/archive", W, ArchiveBody, _archive, "Put the session away, or back"),
    Verb(("end",), "DELETE", "", W, Nothing, _end, "Close the session and end its agent"),
)


class _Sent(msgspec.Struct):
    prompt_id: str | None = None
    state: str | None = None


class Outcome(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """What a verb gave back: nothing, or where a prompt stands."""

    prompt_id: str | None = None
    state: str | None = None


async def act(hub: Hub, verb: Verb, record: SessionRecord, by: Actor, key: str | None, body: Any) -> Outcome:
    """Carry one verb to the session's device. The wish is on its way before this first waits."""
    command = verb.make(record.session_id, by, key, body)
    if isinstance(command, ResumeSession):
        take_spawn(hub, by.grant_id)
    result = await hub.switchboard.ask(command, device=record.device or None)
    sent = msgspec.json.decode(result, type=_Sent)
    return Outcome(sent.prompt_id, sent.state)


RESUME = next(verb for verb in VERBS if "resume" in verb.socket)


class Reconnected(msgspec.Struct, frozen=True):
    """The state an agent is in after a person asked for it again."""

    status: str = "connected"


async def reconnect(hub: Hub, by: Actor, key: str | None, body: ReconnectBody) -> Reconnected | Outcome:
    """Have an agent's process again, and all its sessions with it; or one session that ended otherwise."""
    if (body.session_id is None) == (body.cli_type is None):
        raise InvalidInput("Give either sessionId or cliType.")
    agent, device = body.cli_type, None
    if body.session_id is not None:
        record = await require_session(hub, body.session_id)
        if record.end_reason != "disconnected":
            return await act(hub, RESUME, record, by, key, body)
        agent, device = record.agent, record.device or None
    take_spawn(hub, by.grant_id)
    seconds = hub.settings.acp.start_timeout_ms / 1000 + 45
    wish = ReconnectAgent(agent or "", by, body.session_id or "")
    result = await hub.switchboard.ask(wish, device=device, timeout=seconds)
    return msgspec.json.decode(result, type=Reconnected)


async def require_session(hub: Hub, session_id: str) -> SessionRecord:
    record = await hub.store.session(session_id)
    if record is None:
        raise SessionNotFound(session_id)
    return record


class Started(msgspec.Struct, frozen=True):
    session_id: str
    seq: int = 0


async def start(hub: Hub, grant: Grant, by: Actor, key: str | None, body: CreateBody) -> tuple[Started, str]:
    """Start a session; gives also the agent that was chosen."""
    agent = body.agent or default_agent(hub)
    folder, device = await where(hub, body.project_id, body.cwd, body.device)
    take_spawn(hub, grant.id)
    wish = StartSession(
        session_id=secrets.token_hex(8),
        by=by,
        key=key,
        agent=agent,
        cwd=folder,
        model=body.model or (hub.settings.default_model or None if body.agent is None else None),
        permission_mode=body.permission_mode,
        mode=body.mode,
        prompt=body.prompt,
        images=images_of(body.images),
        client_message_id=body.client_message_id,
        resume=body.resume,
        fork=body.fork,
        title=body.title,
        driver=body.driver,
        cols=body.cols,
        rows=body.rows,
        skip_permissions=body.skip_permissions,
        worktree=body.worktree,
    )
    result = await hub.switchboard.ask(
        wish, device=device, timeout=hub.settings.limits.start_seconds + (90 if body.worktree else 15)
    )
    return msgspec.json.decode(result, type=Started), agent


async def where(
    hub: Hub, project_id: str | None, cwd: str | None, device: str | None = None
) -> tuple[str, str | None]:
    """The folder, and the device when the wish or its project names one."""
    if project_id is None:
        known = {one.device for one in hub.switchboard.devices()}
        if device is not None and known and device not in known:
            raise InvalidInput(f"There is no device {device[:80]!r}. `GET /api/daemon/status` lists them.")
        return cwd or default_directory(hub), device
    if cwd is not None:
        raise InvalidInput("Give either cwd or projectId.")
    project = await hub.projects.get(project_id)
    return project.path, project.device or None


def take_spawn(hub: Hub, grant_id: str) -> None:
    bucket = hub.spawns.of(grant_id)
    if not bucket.take():
        seconds = int(bucket.seconds_until_next()) + 1
        raise LimitReached(
            f"Too many sessions were started in the last minute; try again in {seconds} s.",
            retry_after=seconds,
        )


def default_agent(hub: Hub) -> str:
    """The setting, else the first installed agent, else the demo."""
    if hub.settings.default_agent:
        return hub.settings.default_agent
    agents = [agent for device in hub.switchboard.devices() if device.online for agent in device.agents]
    # One that can only be typed to takes no prompt, so nobody gets it without asking for it.
    usable = [agent for agent in agents if agent.available and agent.drivers != ("terminal",)]
    chosen = next((agent for agent in usable if not agent.demo), None) or next(iter(usable), None)
    if chosen is None:
        raise UnknownAgent("No agent is installed here; name one with `agent`.")
    return chosen.name


def default_directory(hub: Hub) -> str:
    return hub.settings.roots[0] if hub.settings.roots else os.path.expanduser("~")


def images_of(bodies: tuple[ImageBody, ...]) -> tuple[Image, ...]:
    for body in bodies:
        try:
            binascii.a2b_base64(body.data, strict_mode=True)
        except (binascii.Error, ValueError):
            raise InvalidInput("An image's data is not base64.") from None
    return tuple(Image(body.media_type, body.data) for body in bodies)
