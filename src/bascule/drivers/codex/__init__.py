"""Driver for Codex's own protocol, `codex app-server`."""

from bascule.drivers.codex.driver import CodexDriver

__all__ = ["CodexDriver"]
