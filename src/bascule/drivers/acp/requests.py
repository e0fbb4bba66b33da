"""Requests of an ACP agent: permissions and forms for a person, service calls, and unknown methods."""

import hashlib

import msgspec
from msgspec import Raw, Struct

from bascule.drivers.acp.encode import CANCEL, CANCELLED, WRITER
from bascule.drivers.acp.forms import fields_of
from bascule.drivers.acp.naming import only_repeats, unnamed
from bascule.drivers.acp.service_calls import MAX_PARAMS, OPTIONS, SERVICES, HostCall, subject_of
from bascule.drivers.acp.state import MAX_OPEN, DriverState, Request, ServiceCall, Tool
from bascule.drivers.acp.tools import ToolCall, Tools, content_text, is_empty, read_call
from bascule.drivers.event_buffer import EventBuffer
from bascule.drivers.jsonrpc.message import INVALID_PARAMS, MAX_RPC_ID, METHOD_NOT_FOUND, REQUEST_CANCELLED
from bascule.drivers.jsonrpc.requests import ENDLESS_ID, AgentRequests, withdrawn
from bascule.drivers.lenient import JsonObject, clip, loosely, text, words
from bascule.drivers.writes import FOR_ALL, Replies
from bascule.model.event_values import OptionKind, PermissionOption
from bascule.model.events import Note, PermissionRequested, QuestionAsked
from bascule.model.records import Write

MAX_OPTIONS = 20
MAX_NOTE = 4096

_OPTION_KINDS: dict[str, OptionKind] = {
    "allow_once": "allow_once",
    "allow_always": "allow_always",
    "reject_once": "deny",
    "reject_always": "deny",
}
_SCOPES = {
    "allow_once": "only this call",
    "allow_always": "also later calls like it; how far that reaches is up to the agent",
    "reject_once": "only this call",
    "reject_always": "also later calls like it; how far that reaches is up to the agent",
}
# Qwen Code asks once whether these exist, and does without: no need to report it.
_OPTIONAL = frozenset({"craft/drainMidTurnQueue", "craft/claimTodoStopGuardContinuation"})
UNSEEN = "The agent does not say what it gives to this tool. Look before you allow it."
_HOST_METHODS = ("fs/", "terminal/")
FAILED = -32000  # the request failed; the message says why


class PermissionParams(Struct, rename="camel"):
    tool_call: Raw
    options: list[Raw] = []


_permission = msgspec.json.Decoder(PermissionParams)


class AcpRequests(AgentRequests[Request]):
    def __init__(
        self,
        state: DriverState,
        out: EventBuffer,
        replies: Replies,
        tools: Tools,
    ) -> None:
        super().__init__(state, out, replies, WRITER)
        self._state = state
        self._tools = tools
        self.fresh_calls = False  # a new call is due whose state is not stored yet

    def refuse_for_all(self, rpc_id: Raw, method: str, line: bytes) -> str | None:
        """Refuse a request that names no session: each session of the process owes the same reply."""
        if len(bytes(rpc_id)) > MAX_RPC_ID:
            return ENDLESS_ID
        known = method in ("session/request_permission", "elicitation/create") or method in SERVICES
        code = INVALID_PARAMS if known else METHOD_NOT_FOUND
        message = "Name the session" if known else "Method not found"
        write_id = f"{FOR_ALL}refuse:{hashlib.sha256(line).hexdigest()[:32]}"
        self._replies.add(Write(write_id, WRITER.error(rpc_id, code, f"{message}: {method[:200]}")))
        return f"a request of no session: {method[:80]!r}"

    def _serve(self, rpc_id: Raw, method: str, params: Raw) -> str | None:
        match method:
            case "session/request_permission":
                self._permission(rpc_id, _permission.decode(params))
            case "elicitation/create":
                self._form(rpc_id, params)
            case _ if method.startswith(_HOST_METHODS):
                self._host(rpc_id, method, params)
            case _:
                self._refuse(rpc_id, METHOD_NOT_FOUND, f"Method not found: {method[:200]}")
                if method in _OPTIONAL:
                    return None
                return f"unknown request {method[:80]!r}"
        return None

    def _permission(self, rpc_id: Raw, asked: PermissionParams) -> None:
        if self._state.leaving:
            self._reply(WRITER.result(rpc_id, CANCELLED))
            return
        call = read_call(asked.tool_call)
        tool = self._tools.ask_about(call)
        judged = self._judged(asked.tool_call, call, tool)
        title = (None if only_repeats(call.title, call.raw_input) else call.title) or tool.title
        name = tool.name or (tool.kind if tool.kind != "other" else unnamed(title))
        request_id = self._state.remember_request(Request(rpc_id, "permission", call.tool_call_id))
        self._out.put(
            PermissionRequested(
                request_id,
                name,
                clip(title or name, 300),
                tool.kind,
                judged,
                hashlib.sha256(bytes(judged)).hexdigest(),
                self._options(asked.options),
                tool_id=call.tool_call_id,
                note=_note(call, judged),
                reason_follows=True,
            )
        )

    def _judged(self, raw: Raw, call: ToolCall, tool: Tool) -> Raw:
        """The input a person or rule judges: of the request, or else last reported for this call.

        If the agent never sends one, its description of the call is judged.
        """
        for given in (call.raw_input, tool.input):
            if not is_empty(given):
                return Raw(bytes(given))
        return Raw(bytes(raw))

    def _options(self, offered: list[Raw]) -> tuple[PermissionOption, ...]:
        """The options of a known kind, in the agent's words, and always one that denies."""
        found: dict[str, PermissionOption] = {}
        for option in map(loosely, offered[:MAX_OPTIONS]):
            option_id, kind = text(option, "optionId"), text(option, "kind") or ""
            if option_id is None or len(option_id) > 200 or kind not in _OPTION_KINDS or option_id in found:
                continue
            ends = kind.startswith("reject") and self._state.quirk("reject_ends_turn")
            scope = "this call is refused and the turn ends" if ends else _SCOPES[kind]
            name = words(option, "name", 200) or kind
            found[option_id] = PermissionOption(option_id, _OPTION_KINDS[kind], name, scope)
        if not any(option.kind == "deny" for option in found.values()):
            found[CANCEL] = PermissionOption(CANCEL, "deny", "Deny", "this call is refused; the turn may end")
        return tuple(found.values())

    def _form(self, rpc_id: Raw, params: Raw) -> None:
        asked = loosely(params)
        fields = fields_of(asked)
        if self._state.leaving:
            self._reply(WRITER.result(rpc_id, {"action": "cancel"}))
            return
        if text(asked, "mode") not in (None, "form") or not fields:
            self._reply(WRITER.result(rpc_id, {"action": "decline"}))
            self._out.put(Note("declined_form", _why_declined(asked), "warning"))
            return
        kept = Raw(bytes(params))
        tool_id = text(asked, "toolCallId")
        request_id = self._state.remember_request(Request(rpc_id, "question", tool_id))
        sha256 = hashlib.sha256(bytes(kept)).hexdigest()
        questions = tuple(field.question for field in fields)
        self._out.put(QuestionAsked(request_id, questions, kept, sha256, tool_id))

    def _host(self, rpc_id: Raw, method: str, params: Raw) -> None:
        state = self._state
        if SERVICES.get(method) not in state.launch.services:
            self._refuse(rpc_id, METHOD_NOT_FOUND, f"This client does not offer {method[:200]}.")
            message = f"The agent asked for {method[:80]}, which is not offered to it."
            self._out.put(Note("host_call_refused", message, "warning"))
            return
        if state.leaving or len(state.calls) >= MAX_OPEN or len(bytes(params)) > MAX_PARAMS:
            self._refuse(rpc_id, FAILED, "That is too much at once, or too late.")
            return
        call_id = state.new_write("host")
        call = ServiceCall(rpc_id, method, Raw(bytes(params)), due=True)
        subject = subject_of(method, call.params, state.launch.cwd)
        if subject is not None:
            call.due = False
            call.request_id = self._state.remember_request(Request(rpc_id, "permission", call=call_id))
            sha256 = hashlib.sha256(bytes(subject.judged)).hexdigest()
            self._out.put(
                PermissionRequested(
                    call.request_id,
                    subject.tool,
                    subject.title,
                    subject.kind,
                    subject.judged,
                    sha256,
                    OPTIONS,
                )
            )
        state.calls[call_id] = call
        self.fresh_calls = True

    def due(self) -> list[HostCall]:
        """Service calls that are allowed and not answered yet."""
        calls = self._state.calls.items()
        return [HostCall(call_id, one.method, one.params) for call_id, one in calls if one.due]

    # The end of a request --------------------------------------------------------------------------------

    def withdraw(self, rpc_id: bytes) -> str | None:
        """The agent cancels its request."""
        for request_id, request in list(self._state.requests.items()):
            if bytes(request.rpc_id) == rpc_id:
                del self._state.requests[request_id]
                self._state.calls.pop(request.call or "", None)
                self._refuse(request.rpc_id, REQUEST_CANCELLED, "Cancelled")
                self._out.put(withdrawn(request_id, request, "agent"))
                return None
        return "takes back a request that is not open"

    def _cancelled(self, request: Request) -> bytes:
        if request.kind == "question":
            return WRITER.result(request.rpc_id, {"action": "cancel"})
        if request.call is None:
            return WRITER.result(request.rpc_id, CANCELLED)
        del self._state.calls[request.call]
        return WRITER.error(request.rpc_id, REQUEST_CANCELLED, "Cancelled")

    def forget_open(self) -> None:
        """The turn is over: withdraw its open requests."""
        reason = "interrupted" if self._state.cancelling else "agent"
        for request_id, request in self._state.requests.items():
            self._state.calls.pop(request.call or "", None)
            self._out.put(withdrawn(request_id, request, reason))
        self._state.requests.clear()


def _note(call: ToolCall, judged: Raw) -> str:
    said = clip(content_text([loosely(part) for part in call.content or []]), MAX_NOTE)
    described = "toolCallId" in loosely(judged)
    return said or (UNSEEN if described and not call.content and not call.locations else "")


def _why_declined(asked: JsonObject) -> str:
    url = text(asked, "url")
    about = f" to open {clip(url, 500)}" if url else ""
    message = words(asked, "message", 500)
    return f"The agent asked{about}: {message} That kind of question can't be answered here."
