"""Approvals the agent asks for, with the command or the change they are about."""

import hashlib

import msgspec
from msgspec import Raw, Struct

from bascule.drivers.codex import encode
from bascule.drivers.codex.encode import PEN
from bascule.drivers.codex.items import paths_in, title_of_changes
from bascule.drivers.codex.state import NOTHING, DriverState, Request
from bascule.drivers.jsonrpc import MAX_RPC_ID, METHOD_NOT_FOUND
from bascule.drivers.lenient import Id, clip, items, loosely, mapping, text, words
from bascule.drivers.outlet import Outlet
from bascule.model.events import Note, PermissionOption, PermissionRequested, PermissionWithdrawn
from bascule.model.records import Write


class Approval(Struct, rename="camel"):
    item_id: Id
    available_decisions: list[Raw] = []


UNSEEN = "The agent did not tell what this changes, or it is too large to show. Look before you allow it."

_approval = msgspec.json.Decoder(Approval)
_json = msgspec.json.Encoder()


class Asking:
    def __init__(self, state: DriverState, out: Outlet, replies: list[Write]) -> None:
        self._state = state
        self._out = out
        self._replies = replies

    def request(self, rpc_id: Raw, method: str, params: Raw) -> str | None:
        """A request of the agent. Returns what about it was not understood."""
        rpc_id = Raw(bytes(rpc_id))
        if len(bytes(rpc_id)) > MAX_RPC_ID:
            return "a request with an endless id"
        if any(bytes(one.rpc_id) == bytes(rpc_id) for one in self._state.requests.values()):
            told = "The agent repeated a request; it stands once."
            self._out.put(Note("duplicate_request", told, "warning"))
            return None
        try:
            match method:
                case "item/commandExecution/requestApproval":
                    self._command(rpc_id, params)
                case "item/fileChange/requestApproval":
                    self._files(rpc_id, params)
                case _:
                    self._refuse(rpc_id, METHOD_NOT_FOUND, f"Method not found: {method[:200]}")
                    return f"unknown request {method[:80]!r}"
        except msgspec.MsgspecError as error:
            self._refuse(rpc_id, -32602, f"Invalid params: {error}")
            return f"broken {method[:80]}: {error}"
        return None

    def _command(self, rpc_id: Raw, params: Raw) -> None:
        asked, about = _approval.decode(params), loosely(params)
        kept = Raw(bytes(params))
        rule = next((Raw(bytes(one)) for one in asked.available_decisions if _rule_in(one)), None)
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
        self._out.put(
            PermissionRequested(
                self._remember(rpc_id, asked.item_id),
                "command",
                clip(_command_words(about), 300),
                "execute",
                kept,
                hashlib.sha256(bytes(kept)).hexdigest(),
                (*options, *_NO),
                tool_id=asked.item_id,
                note=words(about, "reason"),
                suggestions=() if rule is None else (rule,),
            )
        )

    def _files(self, rpc_id: Raw, params: Raw) -> None:
        """The request only names the change; what it changes was told when it began."""
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
            )
        )

    # The end of a request --------------------------------------------------------------------------------

    def resolved(self, rpc_id: Raw) -> None:
        """The agent needs no answer any more: it has one, or does without."""
        for request_id, request in list(self._state.requests.items()):
            if bytes(request.rpc_id) == bytes(rpc_id):
                del self._state.requests[request_id]
                self._out.put(PermissionWithdrawn(request_id, "agent"))

    def cancel_all(self) -> tuple[bytes, list[PermissionWithdrawn]]:
        lines = b""
        gone: list[PermissionWithdrawn] = []
        for request_id, request in self._state.requests.items():
            lines += PEN.result(request.rpc_id, {"decision": encode.CANCEL})
            gone.append(PermissionWithdrawn(request_id, "interrupted"))
        self._state.requests.clear()
        return lines, gone

    def forget_open(self, reason: str) -> None:
        for request_id in self._state.requests:
            self._out.put(PermissionWithdrawn(request_id, reason))
        self._state.requests.clear()

    def _remember(self, rpc_id: Raw, item_id: str) -> str:
        self._state.asked += 1
        request_id = f"{self._state.launch.run}:{self._state.asked}"
        self._state.remember_request(request_id, Request(rpc_id, item_id))
        return request_id

    def _refuse(self, rpc_id: Raw, code: int, message: str) -> None:
        self._replies.append(Write(self._state.new_write("reply"), PEN.error(rpc_id, code, message[:500])))


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


def _rule_in(decision: Raw) -> str:
    """The beginning of commands that a lasting yes would cover; empty when the decision is none."""
    amendment = mapping(loosely(decision), "acceptWithExecpolicyAmendment")
    argv = [one for one in items(amendment, "execpolicy_amendment") if isinstance(one, str)]
    return clip(" ".join(argv), 300)


def _command_words(about: dict[str, object]) -> str:
    """What a person would have typed, rather than the shell around it."""
    typed = [text(mapping({"": one}, ""), "command") for one in items(about, "commandActions")]
    shown = " && ".join(one for one in typed if one)
    return shown or text(about, "command") or "A command"
