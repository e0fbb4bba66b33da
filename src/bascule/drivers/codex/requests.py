"""Requests of Codex: approvals for commands, file changes, MCP tools and wider permissions; questions."""

import hashlib
from typing import assert_never

import msgspec
from msgspec import Raw, Struct

from bascule.drivers.codex import encode
from bascule.drivers.codex.encode import WRITER
from bascule.drivers.codex.items import paths_in, title_of_changes
from bascule.drivers.codex.questions import asks_for_secret, declined, questions_in, reach_in_words
from bascule.drivers.codex.servers import ServerTool, is_tool_approval, server_tool
from bascule.drivers.codex.state import NOTHING, DriverState, Request, RequestKind
from bascule.drivers.event_buffer import EventBuffer
from bascule.drivers.jsonrpc.message import METHOD_NOT_FOUND
from bascule.drivers.jsonrpc.requests import AgentRequests, withdrawn
from bascule.drivers.lenient import MAX_ID, Id, JsonObject, clip, items, loosely, mapping, text, words
from bascule.drivers.writes import Replies
from bascule.model.event_values import PermissionOption
from bascule.model.events import Note, PermissionRequested, QuestionAsked, ToolKind


class Approval(Struct, rename="camel"):
    item_id: Id
    available_decisions: list[Raw] = []


UNSEEN = "The agent did not tell what this changes, or it is too large to show. Look before you allow it."

_approval = msgspec.json.Decoder(Approval)
_json = msgspec.json.Encoder()


class CodexRequests(AgentRequests[Request]):
    def __init__(self, state: DriverState, out: EventBuffer, replies: Replies) -> None:
        super().__init__(state, out, replies, WRITER)
        self._state = state
        self._beside = False

    def request(self, rpc_id: Raw, method: str, params: Raw, *, beside: bool = False) -> str | None:
        """`beside`: a sub-agent asks."""
        self._beside = beside
        return super().request(rpc_id, method, params)

    def _serve(self, rpc_id: Raw, method: str, params: Raw) -> str | None:
        match method:
            case "item/commandExecution/requestApproval":
                self._command(rpc_id, params)
            case "item/fileChange/requestApproval":
                self._files(rpc_id, params)
            case "item/permissions/requestApproval":
                self._reach(rpc_id, params)
            case "mcpServer/elicitation/request" if is_tool_approval(loosely(params)):
                self._server_tool(rpc_id, params)
            case "item/tool/requestUserInput" | "mcpServer/elicitation/request":
                return self._questions(rpc_id, params)
            case _:
                self._refuse(rpc_id, METHOD_NOT_FOUND, f"Method not found: {method[:200]}")
                return f"unknown request {method[:80]!r}"
        return None

    def _command(self, rpc_id: Raw, params: Raw) -> None:
        asked, about = _approval.decode(params), loosely(params)
        kept = Raw(bytes(params))
        rule = next(
            (Raw(bytes(decision)) for decision in asked.available_decisions if _rule_in(decision)), None
        )
        options = [
            PermissionOption(encode.ACCEPT, "allow_once", "Allow once", "only this call"),
            PermissionOption(
                encode.ACCEPT_FOR_SESSION,
                "allow_always",
                "Allow this command for this session",
                "this very command until this agent session ends",
            ),
        ]
        if rule is not None:
            name = f"Allow commands that begin with `{_rule_in(rule)}` from now on"
            scope = "every session on this machine: the agent keeps it as a rule of its own"
            options.append(PermissionOption(encode.AMENDMENT, "allow_always", name, scope))
        tool, title, kind = _deed(about)
        self._out.put(
            PermissionRequested(
                self._remember(rpc_id, asked.item_id),
                tool,
                clip(title, 300),
                kind,
                kept,
                hashlib.sha256(bytes(kept)).hexdigest(),
                (*options, *_NO),
                tool_id=asked.item_id,
                note=words(about, "reason"),
                suggestions=() if rule is None else (rule,),
                reason_follows=True,
            )
        )

    def _files(self, rpc_id: Raw, params: Raw) -> None:
        """Approval of a file change. The request only names the change; its item held the content."""
        asked, about = _approval.decode(params), loosely(params)
        item = self._state.items.get(asked.item_id)
        changes = item.changes if item is not None else NOTHING
        kept = Raw(_json.encode({"changes": changes, "request": params}))
        paths = paths_in(changes)
        self._out.put(
            PermissionRequested(
                self._remember(rpc_id, asked.item_id),
                "fileChange",
                title_of_changes(paths),
                "edit",
                kept,
                hashlib.sha256(bytes(kept)).hexdigest(),
                _FILE_OPTIONS,
                tool_id=asked.item_id,
                note=words(about, "reason") if paths else UNSEEN,
                blocked_path=text(about, "grantRoot"),
                reason_follows=True,
            )
        )

    def _reach(self, rpc_id: Raw, params: Raw) -> None:
        """Approval of wider sandbox permissions, for this turn or for the session."""
        asked, about = _approval.decode(params), loosely(params)
        kept = Raw(bytes(params))
        self._out.put(
            PermissionRequested(
                self._remember(rpc_id, asked.item_id, "reach"),
                encode.PERMISSIONS,
                reach_in_words(mapping(about, "permissions")),
                "other",
                kept,
                hashlib.sha256(bytes(kept)).hexdigest(),
                _REACH_OPTIONS,
                note=words(about, "reason"),
                reason_follows=True,
            )
        )

    def _server_tool(self, rpc_id: Raw, params: Raw) -> None:
        """Approval of an MCP tool. The request names server, tool and input, but not the call."""
        about = loosely(params)
        tool = server_tool(about)
        call = self._call_of(tool)
        kept = Raw(bytes(params))
        self._out.put(
            PermissionRequested(
                self._remember(rpc_id, call or "", "server"),
                f"{encode.MCP}{tool.server}__{tool.tool}",
                clip(tool.message, 300),
                "other",
                kept,
                hashlib.sha256(bytes(kept)).hexdigest(),
                _server_options(tool.persist),
                tool_id=call,
                note=tool.description,
            )
        )

    def _call_of(self, tool: ServerTool) -> str | None:
        """The id of the open call it is about, if only one fits."""
        fitting = [item_id for item_id, item in self._state.items.items() if item.name == tool.name]
        return fitting[0] if len(fitting) == 1 else None

    def _questions(self, rpc_id: Raw, params: Raw) -> str | None:
        about = loosely(params)
        if asks_for_secret(about):
            # The answer would be in the log, readable for every viewer.
            message = (
                "The agent asked for a secret. Bascule keeps no secrets: give it in the agent's own terminal."
            )
            self._out.put(Note("secret_refused", message, "warning"))
            self._reply(WRITER.result(rpc_id, declined(about)))
            return None
        questions = questions_in(about)
        if not questions:
            self._reply(WRITER.result(rpc_id, declined(about)))
            return "a question without words"
        item_id = (text(about, "itemId") or "")[:MAX_ID]
        kept = Raw(bytes(params))
        request_id = self._remember(rpc_id, item_id, "question")
        sha256 = hashlib.sha256(bytes(kept)).hexdigest()
        self._out.put(QuestionAsked(request_id, questions, kept, sha256, item_id or None))
        return None

    # The end of a request --------------------------------------------------------------------------------

    def resolved(self, rpc_id: Raw) -> None:
        """The agent no longer needs an answer to this request."""
        for request_id, request in list(self._state.requests.items()):
            if bytes(request.rpc_id) == bytes(rpc_id):
                del self._state.requests[request_id]
                self._out.put(withdrawn(request_id, request, "agent"))

    def _cancelled(self, request: Request) -> bytes:
        match request.kind:
            case "approval":
                return WRITER.result(request.rpc_id, {"decision": encode.CANCEL})
            case "reach":
                return WRITER.result(request.rpc_id, encode.NO_REACH)
            case "server":
                return WRITER.result(request.rpc_id, {"action": "cancel"})
            case "question":  # Codex withdraws it when the turn ends
                return b""
            case _:
                assert_never(request.kind)

    def forget_open(self, reason: str) -> None:
        """The turn is over: withdraw its requests. A sub-agent may go on and keep waiting for its own."""
        for request_id, request in list(self._state.requests.items()):
            if request.beside and reason != "interrupted":
                continue
            self._out.put(withdrawn(request_id, request, reason))
            del self._state.requests[request_id]

    def _remember(self, rpc_id: Raw, item_id: str, kind: RequestKind = "approval") -> str:
        return self._state.remember_request(Request(rpc_id, item_id, kind, self._beside))


_NO = (
    PermissionOption(encode.DECLINE, "deny", "Deny", "only this call; the agent is told and goes on"),
    PermissionOption(encode.CANCEL, "deny", "Deny and stop", "this call is refused and the turn ends"),
)
_FILE_OPTIONS = (
    PermissionOption(encode.ACCEPT, "allow_once", "Allow once", "only this change"),
    PermissionOption(
        encode.ACCEPT_FOR_SESSION,
        "allow_always",
        "Allow changes to these files for this session",
        "until this agent session ends; how far it reaches is up to the agent",
    ),
    *_NO,
)


def _server_options(persist: tuple[str, ...]) -> tuple[PermissionOption, ...]:
    options = [PermissionOption(encode.ACCEPT, "allow_once", "Allow once", "only this call")]
    if "session" in persist:
        name, scope = (
            "Allow this tool for this session",
            "this tool with any input until this agent session ends",
        )
        options.append(PermissionOption(encode.ACCEPT_FOR_SESSION, "allow_always", name, scope))
    if "always" in persist:
        name = "Always allow this tool"
        scope = "this tool with any input, in every session on this machine: the agent keeps it"
        options.append(PermissionOption(encode.FOR_ALL_SESSIONS, "allow_always", name, scope))
    return (*options, *_NO)


_REACH_OPTIONS = (
    PermissionOption(encode.ACCEPT, "allow_once", "Allow for this turn", "until this turn ends"),
    PermissionOption(
        encode.ACCEPT_FOR_SESSION,
        "allow_always",
        "Allow for this session",
        "every command until this agent session ends",
    ),
    PermissionOption(encode.DECLINE, "deny", "Deny", "the agent is told and goes on"),
)


def _rule_in(decision: Raw) -> str:
    """The command prefix that this decision would always allow; empty if it is another decision."""
    amendment = mapping(loosely(decision), "acceptWithExecpolicyAmendment")
    argv = [word for word in items(amendment, "execpolicy_amendment") if isinstance(word, str)]
    return clip(" ".join(argv), 300)


def _deed(about: JsonObject) -> tuple[str, str, ToolKind]:
    """Tool name, title and kind of a command approval, which may also be about stdin or a host.

    Each has its own tool name, so that a rule about commands never covers the others.
    """
    if text(about, "kind") == "writeStdin":
        return "stdin", f"Type into the running {_command_words(about)}", "other"
    network = mapping(about, "networkApprovalContext")
    if network:
        where = f"{words(network, 'protocol', 20)} {words(network, 'host', 200)}".strip()
        return "network", f"Reach {where or 'a host'} for {_command_words(about)}", "fetch"
    return "command", _command_words(about), "execute"


def _command_words(about: JsonObject) -> str:
    """The command as a person would type it, without the shell around it."""
    typed = [text(mapping({"": action}, ""), "command") for action in items(about, "commandActions")]
    shown = " && ".join(command for command in typed if command)
    return shown or text(about, "command") or "A command"
