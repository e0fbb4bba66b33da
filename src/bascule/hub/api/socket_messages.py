"""Every message a browser may send over its socket: a struct each, made from the same bodies as HTTP."""

from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec import Struct, structs

from bascule.hub.api.bodies import (
    AgentNamed,
    AgentsQuery,
    Body,
    CompareBody,
    ContestantBody,
    CreateBody,
    Epoch,
    EventsQuery,
    FileQuery,
    FoundQuery,
    GrantBody,
    ImportQuery,
    ListQuery,
    Name,
    PageQuery,
    ProjectAdd,
    ProjectChange,
    QrBody,
    ReconnectBody,
    RemoveTreesBody,
    RuleBody,
    SearchQuery,
    ShareBody,
    TrustBody,
    TryBody,
    TypingBody,
)
from bascule.hub.api.intake import decode_json, decode_with
from bascule.hub.api.session_commands import VERBS, Verb
from bascule.hub.door.roles import Need
from bascule.model.errors import CallerError


class Subscribe(Body, kw_only=True, frozen=True):
    """`after`: a number, or a position with its epoch as one word, `42-9f3c…`. Or the epoch beside it."""

    after: int | str = 0
    epoch: Epoch | None = None


class Plain(Body, kw_only=True, frozen=True):
    """No words needed."""


class Revoke(Body, kw_only=True, frozen=True):
    grant_id: Name


class ProjectNamed(Body, kw_only=True, frozen=True):
    project_id: Name


class ProjectChanged(ProjectChange, kw_only=True, frozen=True):
    project_id: Name


class ComparisonNamed(Body, kw_only=True, frozen=True):
    comparison_id: Name


class ContestantNamed(ContestantBody, kw_only=True, frozen=True):
    comparison_id: Name


class TreesNamed(RemoveTreesBody, kw_only=True, frozen=True):
    comparison_id: Name


class RuleNamed(Body, kw_only=True, frozen=True):
    rule_id: Name


class ProcessNamed(Body, kw_only=True, frozen=True):
    name: Name


class BadMessage(CallerError):
    code = "INVALID_MESSAGE"


@dataclass(frozen=True)
class Kind:
    """One type of message: what it needs, what it holds, and whether it names a session."""

    name: str
    need: Need
    body: type[Struct]
    in_session: bool
    verb: Verb | None = None


KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        *(
            Kind(f"session:{name}", verb.need, verb.body, True, verb)
            for verb in VERBS
            for name in verb.socket
        ),
        Kind("session:list", "viewer", ListQuery, False),
        Kind("session:create", "operator", CreateBody, False),
        Kind("session:reconnect", "operator", ReconnectBody, False),
        Kind("session:open", "session_read", PageQuery, True),
        Kind("session:show", "session_read", Plain, True),
        Kind("session:entries", "session_read", PageQuery, True),
        Kind("session:events", "session_read", EventsQuery, True),
        Kind("session:subscribe", "session_read", Subscribe, True),
        Kind("session:unsubscribe", "session_read", Plain, True),
        Kind("session:typing", "session_write", TypingBody, True),
        Kind("session:share", "owner", ShareBody, True),
        Kind("session:files", "session_files", FileQuery, True),
        Kind("session:file", "session_files", FileQuery, True),
        Kind("session:changes", "session_files", Plain, True),
        Kind("session:follow", "session_files", Plain, True),
        Kind("found:list", "viewer", FoundQuery, False),
        Kind("search", "viewer", SearchQuery, False),
        Kind("project:list", "viewer", Plain, False),
        Kind("project:add", "operator", ProjectAdd, False),
        Kind("project:change", "operator", ProjectChanged, False),
        Kind("project:remove", "operator", ProjectNamed, False),
        Kind("agents:conversations", "viewer", AgentNamed, False),
        Kind("agents:list", "viewer", AgentsQuery, False),
        Kind("requests:list", "viewer", Plain, False),
        Kind("device:list", "viewer", Plain, False),
        Kind("grants:list", "owner", Plain, False),
        Kind("grants:create", "owner", GrantBody, False),
        Kind("grants:revoke", "owner", Revoke, False),
        Kind("audit:list", "owner", EventsQuery, False),
        Kind("audit:verify", "owner", Plain, False),
        Kind("settings:show", "operator", Plain, False),
        Kind("qr", "owner", QrBody, False),
        Kind("kill-all", "owner", Plain, False),
        Kind("hello", "any", Plain, False),
        Kind("daemon:pause", "owner", Plain, False),
        Kind("daemon:resume", "owner", Plain, False),
        Kind("projects:trusted", "viewer", Plain, False),
        Kind("projects:trust", "owner", TrustBody, False),
        Kind("rules:list", "viewer", Plain, False),
        Kind("rules:add", "owner", RuleBody, False),
        Kind("rules:remove", "owner", RuleNamed, False),
        Kind("rules:try", "operator", TryBody, False),
        Kind("rules:import", "owner", ImportQuery, False),
        Kind("unlogged:list", "operator", Plain, False),
        Kind("unlogged:take-up", "operator", ProcessNamed, False),
        Kind("unlogged:end", "operator", ProcessNamed, False),
        Kind("compare:list", "viewer", Plain, False),
        Kind("compare:start", "operator", CompareBody, False),
        Kind("compare:show", "viewer", ComparisonNamed, False),
        Kind("compare:changes", "viewer", ContestantNamed, False),
        Kind("compare:keep", "operator", ContestantNamed, False),
        Kind("compare:remove", "operator", TreesNamed, False),
        Kind("ping", "any", Plain, False),
    )
}


class Envelope(Struct, frozen=True, rename="camel"):
    """What every message begins with; the rest is looked at by its type's own struct."""

    type: str
    id: int | None = None


class Message(Struct, frozen=True):
    kind: Kind
    id: int | None
    session_id: str
    key: str | None
    body: Any


class _Around(Struct):
    """The fields around every body."""

    id: int | None
    type: str
    key: Name | None
    session_id: Name


_TYPES = {one.name: one.type for one in structs.fields(_Around)}


def _decoder_of(kind: Kind) -> "msgspec.json.Decoder[Any]":
    """For the body's struct with the fields around it, so that one strict decode checks all."""
    fields: list[Any] = [("id", _TYPES["id"], None), ("type", _TYPES["type"]), ("key", _TYPES["key"], None)]
    if kind.in_session:
        fields.append(("session_id", _TYPES["session_id"]))
    made = msgspec.defstruct(
        f"Socket{kind.body.__name__}",
        fields,
        bases=(kind.body,),
        rename="camel",
        forbid_unknown_fields=True,
        kw_only=True,
        frozen=True,
    )
    return msgspec.json.Decoder(made)


_DECODERS = {name: _decoder_of(kind) for name, kind in KINDS.items()}


def decode_message(text: str | bytes) -> Message:
    """Raises `BadMessage`; `id` of a message that could be read so far is in its fields."""
    try:
        envelope = decode_json(text, Envelope)
    except CallerError as error:
        raise BadMessage(error.message) from None
    kind = KINDS.get(envelope.type)
    if kind is None:
        raise BadMessage(f"There is no message type {envelope.type[:60]!r}.", id=envelope.id)
    try:
        body: Any = decode_with(text, _DECODERS[kind.name])
    except CallerError as error:
        raise BadMessage(error.message, id=envelope.id) from None
    return Message(kind, envelope.id, getattr(body, "session_id", None) or "", body.key, body)
