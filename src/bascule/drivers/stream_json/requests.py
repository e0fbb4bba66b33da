"""Requests of Claude Code: permissions, questions, plans, and their withdrawal."""

import hashlib

import msgspec
from msgspec import Raw, Struct

from bascule.drivers.event_buffer import EventBuffer
from bascule.drivers.lenient import (
    DECODE_ERRORS,
    Id,
    JsonObject,
    loosely,
    objects,
    text,
    true,
    words,
)
from bascule.drivers.request_ids import own_id
from bascule.drivers.stream_json import encode
from bascule.drivers.stream_json.output_messages import ControlRequest
from bascule.drivers.stream_json.state import DriverState, Request
from bascule.drivers.stream_json.tools import kind_of, rule_words, title_of
from bascule.drivers.writes import Replies
from bascule.model.event_values import PermissionOption, Question, QuestionOption
from bascule.model.events import (
    EMPTY_OBJECT,
    Note,
    PermissionRequested,
    PermissionWithdrawn,
    QuestionAsked,
    QuestionWithdrawn,
)

MAX_SUGGESTIONS = 20


class CanUseTool(Struct):
    tool_name: Id
    input: Raw = EMPTY_OBJECT
    tool_use_id: Id | None = None
    permission_suggestions: list[Raw] | None = None
    description: str | None = None
    blocked_path: str | None = None


class Subtype(Struct):
    subtype: str = ""


_subtype = msgspec.json.Decoder(Subtype)
_can_use_tool = msgspec.json.Decoder(CanUseTool)


class StreamJsonRequests:
    def __init__(self, state: DriverState, out: EventBuffer, replies: Replies) -> None:
        self._state = state
        self._out = out
        self._replies = replies

    def request(self, asked: ControlRequest) -> str | None:
        """Handle a control request. Returns what about it was not understood."""
        request_id = own_id(asked.request_id)
        foreign = None if request_id == asked.request_id else asked.request_id
        if request_id in self._state.requests:
            self._out.put(
                Note("duplicate_request", "The agent repeated a request; it stands once.", "warning")
            )
            return None
        try:
            subtype = _subtype.decode(asked.request).subtype
            if subtype == "can_use_tool":
                self._permission(request_id, foreign, _can_use_tool.decode(asked.request))
                return None
            why = f"unknown control request {subtype[:80]!r}"
        except DECODE_ERRORS as error:
            why = f"broken control request: {error}"
        # The agent waits for an answer: it gets one even when nobody understood the request.
        self._state.remember_request(request_id, Request("refused", foreign_id=foreign))
        refused = encode.refuse_request(request_id, f"Not supported: {why}", to=asked.request_id)
        self._replies.add(refused)
        return why

    def withdraw(self, foreign_id: str) -> str | None:
        """The agent withdraws a request. Returns why that was not understood."""
        request_id = own_id(foreign_id)
        request = self._state.requests.get(request_id)
        if request is None:
            return "withdraws a request that was never made"
        if request.open:
            request.open = False
            gone = PermissionWithdrawn if request.kind == "permission" else QuestionWithdrawn
            self._out.put(gone(request_id, "agent"))
        return None

    def settled_by_tool(self, tool_id: str) -> None:
        """The tool has a result: its requests are over."""
        for request in self._state.requests.values():
            if request.tool_id == tool_id:
                request.open = False

    def _permission(self, request_id: str, foreign: str | None, asked: CanUseTool) -> None:
        call = loosely(asked.input)
        if asked.tool_name == "AskUserQuestion" and objects(call, "questions"):
            self._question(request_id, foreign, asked, call)
            return
        kept = Raw(bytes(asked.input))
        suggestions = (asked.permission_suggestions or [])[:MAX_SUGGESTIONS]
        plan = asked.tool_name == "ExitPlanMode"
        self._state.remember_request(request_id, Request("permission", True, asked.tool_use_id, foreign))
        self._out.put(
            PermissionRequested(
                request_id,
                asked.tool_name,
                title_of(asked.tool_name, call),
                "plan" if plan else kind_of(asked.tool_name),
                kept,
                hashlib.sha256(bytes(kept)).hexdigest(),
                _PLAN_OPTIONS if plan else _options(suggestions),
                tool_id=asked.tool_use_id,
                note=words({"": asked.description}, ""),
                blocked_path=asked.blocked_path,
                suggestions=tuple(Raw(bytes(suggestion)) for suggestion in suggestions),
            )
        )

    def _question(self, request_id: str, foreign: str | None, asked: CanUseTool, call: JsonObject) -> None:
        kept = Raw(bytes(asked.input))
        self._state.remember_request(request_id, Request("question", True, asked.tool_use_id, foreign))
        self._out.put(
            QuestionAsked(
                request_id,
                tuple(_read_question(question) for question in objects(call, "questions")),
                kept,
                hashlib.sha256(bytes(kept)).hexdigest(),
                asked.tool_use_id,
            )
        )


_PLAN_OPTIONS = (
    PermissionOption(encode.ALLOW_ONCE, "allow_once", "Approve the plan", "each action is still asked about"),
    PermissionOption(
        encode.ACCEPT_EDITS,
        "allow_always",
        "Approve the plan and accept file edits",
        "file edits are not asked about until this agent session ends",
    ),
    PermissionOption(encode.DENY, "deny", "Keep planning", "the agent goes on planning"),
)


def _options(suggestions: list[Raw]) -> tuple[PermissionOption, ...]:
    options = [PermissionOption(encode.ALLOW_ONCE, "allow_once", "Allow once", "only this call")]
    for position, raw in enumerate(suggestions):
        name, scope = rule_words(loosely(raw))
        options.append(PermissionOption(f"{encode.SUGGESTION}{position}", "allow_always", name, scope))
    options.append(PermissionOption(encode.DENY, "deny", "Deny", "only this call"))
    return tuple(options)


def _read_question(asked: JsonObject) -> Question:
    return Question(
        text(asked, "question") or "",
        text(asked, "header") or "",
        tuple(
            QuestionOption(
                text(option, "label") or "", text(option, "description") or "", text(option, "preview")
            )
            for option in objects(asked, "options")
        ),
        true(asked, "multiSelect"),
    )
