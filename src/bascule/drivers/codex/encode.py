"""A person's wishes as messages for the agent, and what a mode means on its wire."""

from collections.abc import Mapping

from msgspec import Raw

from bascule.drivers.jsonrpc import Pen
from bascule.model.errors import UnknownOption
from bascule.model.events import PermissionAnswered, PermissionRequested, PromptSent

PEN = Pen(version=False)

ACCEPT, ACCEPT_FOR_SESSION, AMENDMENT = "accept", "acceptForSession", "amendment"
DECLINE, CANCEL = "decline", "cancel"

# What a mode's name stands for: when it asks, and what its commands may touch. The first asks most.
MODES: dict[str, tuple[str, str]] = {
    "ask": ("untrusted", "workspace-write"),
    "auto": ("on-request", "workspace-write"),
    "read-only": ("on-request", "read-only"),
    "full-access": ("never", "danger-full-access"),
}
DEFAULT_MODE = "ask"
_SANDBOXES = {
    "workspace-write": "workspaceWrite",
    "read-only": "readOnly",
    "danger-full-access": "dangerFullAccess",
}


def thread_settings(mode: str, model: str | None) -> dict[str, object]:
    policy, sandbox = MODES[mode]
    settings: dict[str, object] = {"approvalPolicy": policy, "sandbox": sandbox}
    if model is not None:
        settings["model"] = model
    return settings


def turn_settings(mode: str | None, model: str | None) -> dict[str, object]:
    """Changes that hold from this turn on."""
    settings: dict[str, object] = {}
    if mode is not None:
        policy, sandbox = MODES[mode]
        settings = {"approvalPolicy": policy, "sandboxPolicy": {"type": _SANDBOXES[sandbox]}}
    if model is not None:
        settings["model"] = model
    return settings


def prompt_input(sent: PromptSent) -> list[Mapping[str, object]]:
    parts: list[Mapping[str, object]] = []
    if sent.text or not sent.images:
        parts.append({"type": "text", "text": sent.text})
    for image in sent.images:
        parts.append({"type": "image", "url": f"data:{image.media_type};base64,{image.data}"})
    return parts


def decision_of(asked: PermissionRequested, answered: PermissionAnswered) -> str | Raw:
    """The decision that was chosen; without a choice the narrowest that means the same."""
    if answered.option is None:
        return ACCEPT if answered.decision == "allow" else DECLINE
    offered = next((one for one in asked.options if one.option_id == answered.option), None)
    if offered is None or (offered.kind == "deny") != (answered.decision == "deny"):
        raise UnknownOption(
            f"This request has no option {answered.option!r} that means {answered.decision!r}.",
            option=answered.option,
        )
    if offered.option_id == AMENDMENT:
        return Raw(bytes(asked.suggestions[0]).replace(b"\n", b" "))
    return offered.option_id
