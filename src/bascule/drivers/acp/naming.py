"""Derives a tool's name. ACP has no field for it: agents put it in different places, or nowhere."""

import json
import re
from typing import cast

from msgspec import Raw

from bascule.drivers.lenient import MAX_ID, JsonObject, as_object, clip, loosely, text

MCP = "mcp__"
MAX_SAID = 300
# "switch (lamp MCP Server)", as two agents announce a tool of an MCP server.
_OF_SERVER = re.compile(r"(?P<tool>[\w.:-]{1,100}) \((?P<server>[\w.: -]{1,100}) MCP Server\)")
# A title that is one word is the tool's name; a sentence, a path or a command is not.
_WORD = re.compile(r"[A-Za-z_][\w.:-]{0,79}")


def given_name(name: str | None, meta: Raw) -> str:
    """The name if the agent gives one: beside the title, or in `_meta`."""
    if name:
        return name[:MAX_ID]
    own = loosely(meta)
    for place in (own, *(as_object(addition) for addition in own.values())):
        if name := text(place, "toolName"):
            return name[:MAX_ID]
    return ""


def derived_name(title: str | None, kind: str | None, raw_input: Raw) -> str:
    """The name as input or title show it; empty when neither does."""
    if found := _of_server(loosely(raw_input)):
        return found
    if title and (match := _OF_SERVER.fullmatch(title)):
        return f"{MCP}{match['server']}__{match['tool']}"[:MAX_ID]
    return title if title and kind in (None, "other") and _WORD.fullmatch(title) else ""


def unnamed(said: str) -> str:
    """Stands in for a missing name. Tools with different descriptions get different ones."""
    return f"a tool it does not name: {clip(said, MAX_SAID)}" if said else "a tool it does not name"


def only_repeats(title: str | None, raw_input: Raw) -> bool:
    """Whether the title only repeats the input as JSON."""
    if not title or not title.startswith(("{", "[")):
        return False
    try:
        return cast("object", json.loads(title)) == json.loads(bytes(raw_input) or b"null")
    except (ValueError, RecursionError):
        return False


def _of_server(call: JsonObject) -> str:
    """The MCP tool's name, from agents whose input is `{server, tool, arguments}`."""
    server, tool = text(call, "server"), text(call, "tool")
    if not server or not tool or not {"server", "tool", "arguments"} >= set(call):
        return ""
    return f"{MCP}{server}__{tool}"[:MAX_ID]
