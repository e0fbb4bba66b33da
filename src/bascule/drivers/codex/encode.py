"""Encodes prompts, answers and modes as Codex messages."""

from collections.abc import Mapping

import msgspec
from msgspec import Raw, Struct

from bascule.drivers.jsonrpc.message_writer import MessageWriter
from bascule.model.errors import UnknownOption
from bascule.model.events import PermissionAnswered, PermissionRequested, PromptSent

WRITER = MessageWriter(version=False)

ACCEPT, ACCEPT_FOR_SESSION, AMENDMENT = "accept", "acceptForSession", "amendment"
DECLINE, CANCEL = "decline", "cancel"
FOR_ALL_SESSIONS = "always"
MCP = "mcp__"  # prefix of an MCP tool's name
PERMISSIONS = "permissions"  # the tool's name when the agent asks for wider sandbox permissions

# Mode -> approval policy and sandbox. The first asks most.
MODES: dict[str, tuple[str, str]] = {
    "ask": ("untrusted", "workspace-write"),
    "plan": ("untrusted", "read-only"),
    "auto": ("on-request", "workspace-write"),
    "read-only": ("on-request", "read-only"),
    "full-access": ("never", "danger-full-access"),
}
DEFAULT_MODE, PLAN_MODE = "ask", "plan"
# Requests go to people, whatever the settings file says: another value lets a model answer them.
REVIEWER = {"approvalsReviewer": "user"}
_SANDBOXES = {
    "workspace-write": "workspaceWrite",
    "read-only": "readOnly",
    "danger-full-access": "dangerFullAccess",
}


def thread_settings(mode: str, model: str | None) -> dict[str, object]:
    """The settings that open a thread. A sandbox that may write comes only with the first turn: sent here, it
    makes Codex trust the folder for good, and with it the rules, hooks and servers of the project."""
    policy, _ = MODES[mode]
    settings: dict[str, object] = {"approvalPolicy": policy, "sandbox": "read-only", **REVIEWER}
    if model is not None:
        settings["model"] = model
    return settings


def turn_settings(mode: str | None, model: str | None) -> dict[str, object]:
    """Settings that change from this turn on."""
    settings: dict[str, object] = {}
    if mode is not None:
        policy, sandbox = MODES[mode]
        settings = {"approvalPolicy": policy, "sandboxPolicy": {"type": _SANDBOXES[sandbox]}, **REVIEWER}
    if model is not None:
        settings["model"] = model
    return settings


def collaboration(*, planning: bool, model: str) -> dict[str, object]:
    """Whether it plans or acts. The model is a required field; null keeps the default instructions."""
    settings = {"model": model, "reasoning_effort": None, "developer_instructions": None}
    return {"collaborationMode": {"mode": "plan" if planning else "default", "settings": settings}}


def prompt_input(sent: PromptSent) -> list[Mapping[str, object]]:
    parts: list[Mapping[str, object]] = []
    if sent.text or not sent.images:
        parts.append({"type": "text", "text": sent.text})
    for image in sent.images:
        parts.append({"type": "image", "url": f"data:{image.media_type};base64,{image.data}"})
    return parts


NO_REACH: Mapping[str, object] = {"permissions": {}, "scope": "turn"}


class _Wanted(Struct):
    permissions: Raw = Raw(b"{}")


def permission_answer(asked: PermissionRequested, answered: PermissionAnswered) -> Mapping[str, object]:
    """The answer to an approval, made only from the stored request and the option's name."""
    decision = decision_of(asked, answered)
    if asked.tool.startswith(MCP):
        return _server_answer(str(decision))
    if asked.tool != PERMISSIONS:
        return {"decision": decision}
    if answered.decision == "deny":
        return NO_REACH
    wanted = msgspec.json.decode(asked.input, type=_Wanted).permissions
    scope = "session" if decision == ACCEPT_FOR_SESSION else "turn"
    return {"permissions": Raw(bytes(wanted).replace(b"\n", b" ")), "scope": scope}


_PERSIST = {ACCEPT_FOR_SESSION: "session", FOR_ALL_SESSIONS: "always"}


def _server_answer(decision: str) -> Mapping[str, object]:
    """The answer for an MCP tool, whose request is a form without fields."""
    if decision in (DECLINE, CANCEL):
        return {"action": decision}
    kept = {"_meta": {"persist": _PERSIST[decision]}} if decision in _PERSIST else {}
    return {"action": "accept", "content": {}, **kept}


def decision_of(asked: PermissionRequested, answered: PermissionAnswered) -> str | Raw:
    """The chosen decision; without a choice the narrowest one that means the same."""
    if answered.option is None:
        return ACCEPT if answered.decision == "allow" else DECLINE
    offered = next((option for option in asked.options if option.option_id == answered.option), None)
    if offered is None or (offered.kind == "deny") != (answered.decision == "deny"):
        raise UnknownOption(
            f"This request has no option {answered.option!r} that means {answered.decision!r}.",
            option=answered.option,
        )
    if offered.option_id == AMENDMENT:
        return Raw(bytes(asked.suggestions[0]).replace(b"\n", b" "))
    return offered.option_id
