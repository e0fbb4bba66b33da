"""The bridges: one line each, because everything that differs is in the agent's file."""

from bascule.bridge.base import BaseBridge


class ClaudeBridge(BaseBridge):
    agent = "claude-code"


class CodexBridge(BaseBridge):
    agent = "codex"


class AgentBridge(BaseBridge):
    """Cursor's agent."""

    agent = "cursor"


class CopilotBridge(BaseBridge):
    agent = "copilot"


class GeminiBridge(BaseBridge):
    agent = "gemini"


class OpencodeBridge(BaseBridge):
    agent = "opencode"


class AiderBridge(BaseBridge):
    agent = "aider"


class TerminalBridge(BaseBridge):
    """A plain shell."""

    agent = "shell"
