"""Recognises the approval of an MCP tool, which Codex sends as a form without fields."""

import re

from msgspec import Struct

from bascule.drivers.codex.encode import MCP
from bascule.drivers.lenient import JsonObject, items, mapping, text, words

_APPROVAL = "mcp_tool_call"
_NAMED = re.compile(r'to run tool "([^"]{1,200})"')
UNNAMED = "a tool it does not name"


class ServerTool(Struct, frozen=True):
    server: str
    tool: str
    message: str
    description: str
    persist: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{MCP}{self.server}__{self.tool}"


def is_tool_approval(about: JsonObject) -> bool:
    return text(mapping(about, "_meta"), "codex_approval_kind") == _APPROVAL


def server_tool(about: JsonObject) -> ServerTool:
    """Read the request. The tool's name is only in the message's text."""
    own, message = mapping(about, "_meta"), words(about, "message", 500)
    found = _NAMED.search(message)
    return ServerTool(
        words(about, "serverName", 100) or "a server it does not name",
        found[1] if found else UNNAMED,
        message or "Allow a tool of an MCP server?",
        words(own, "tool_description", 2000),
        tuple(scope for scope in items(own, "persist") if isinstance(scope, str)),
    )
