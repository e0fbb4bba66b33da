"""Terminals for Python programs: start a known CLI in a pty that outlives you, read it, type, stop it."""

from bascule.bridge.base import BaseBridge
from bascule.bridge.bridge_types import (
    BridgeError,
    BridgeSession,
    NoOutput,
    NoSession,
    NotStarted,
    SessionExists,
    SessionInfo,
    StartOptions,
)
from bascule.bridge.bridges import (
    AgentBridge,
    AiderBridge,
    ClaudeBridge,
    CodexBridge,
    CopilotBridge,
    GeminiBridge,
    OpencodeBridge,
    TerminalBridge,
)

__all__ = [
    "AgentBridge",
    "AiderBridge",
    "BaseBridge",
    "BridgeError",
    "BridgeSession",
    "ClaudeBridge",
    "CodexBridge",
    "CopilotBridge",
    "GeminiBridge",
    "NoOutput",
    "NoSession",
    "NotStarted",
    "OpencodeBridge",
    "SessionExists",
    "SessionInfo",
    "StartOptions",
    "TerminalBridge",
]
