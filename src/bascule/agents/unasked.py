"""The tools an agent runs without asking, as declared in its file, in words."""

from collections.abc import Iterable
from typing import Literal

Unasked = Literal[
    "reads",
    "reads_anywhere",
    "pictures",
    "web_search",
    "mcp",
    "mcp_read_only",
    "subagents",
    "project_rules",
    "trusted_project_rules",
    "project_programs",
    "trusted_project_programs",
]
NOT_VERIFIED = "Not verified: nobody has tried yet whether this agent asks before it runs a tool."
_RULES = "the project’s settings can let this agent run tools without asking."
_PROGRAMS = "starts programs that the project’s settings name (MCP servers, hooks) without asking."
_SENTENCES: dict[Unasked, str] = {
    "reads": "This agent reads the project’s files without asking.",
    "reads_anywhere": "This agent reads files inside and outside the project without asking.",
    "pictures": "This agent looks at pictures inside and outside the project without asking.",
    "web_search": "This agent searches the web without asking.",
    "mcp": "This agent runs MCP tools without asking.",
    "mcp_read_only": "This agent runs MCP tools that say they only read without asking.",
    "subagents": "This agent’s sub-agents run tools without asking.",
    "project_rules": "Settings in the project’s folder can let this agent run tools without asking.",
    "trusted_project_rules": f"In a trusted folder, {_RULES}",
    "project_programs": f"This agent {_PROGRAMS}",
    "trusted_project_programs": f"In a trusted folder, this agent {_PROGRAMS}",
}


def sentences(declared: Iterable[Unasked] | None) -> tuple[str, ...]:
    """The sentences that people are shown; None: its file says nothing, so nobody looked."""
    if declared is None:
        return (NOT_VERIFIED,)
    return tuple(_SENTENCES[one] for one in dict.fromkeys(declared))
