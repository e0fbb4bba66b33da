"""What a request tells the scripted model: the prompt, the place in its script, the last tool result."""

from __future__ import annotations

import re

from msgspec import Struct, field

# An agent without tools, which edits what the answer shows, writes this behind each prompt.
PLAIN_REMINDER = re.compile(
    r"\n\n(To suggest changes to a file you MUST|# \*SEARCH/REPLACE block\* Rules:).*", re.DOTALL
)
REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>", re.DOTALL)
PLAN_FILE = re.compile(r"(/[^\s\"'`\\]+/plans/[^\s\"'`\\]+\.md)")
WORKING_DIRECTORY = re.compile(
    r"(?:working directory: |working in the directory: |<cwd>)\s*(/[^\n\"\\<]+)", re.IGNORECASE
)
# Texts an agent puts into the user's mouth; none of them is a prompt.
INJECTED = (
    "[Request interrupted",
    "<local-command",
    "<command-",
    "Caveat:",
    "[Image: source:",
    "Your response above was cut off",
    "<environment_context",
    "<session_context",
    "<skills_instructions",
    "<permissions",
    "# AGENTS.md",
)


class Block(Struct):
    """One content block; fields that the script never reads are left out."""

    type: str
    text: str = ""
    content: str | list[Block] | None = None


class Message(Struct):
    """One turn of the conversation."""

    role: str
    content: str | list[Block]

    def blocks(self) -> list[Block]:
        """Return the content as blocks, whichever form it came in."""
        return [Block("text", self.content)] if isinstance(self.content, str) else self.content


class Tool(Struct):
    """A tool offered to the model, with the schema of its arguments."""

    name: str = ""
    input_schema: dict[str, object] = field(default_factory=dict[str, object])
    type: str = ""

    @property
    def hosted(self) -> bool:
        """Whether the model's own server does it: the agent is told, and can ask nobody before."""
        return self.type.startswith("web_search")


class MessagesRequest(Struct):
    """The part of a Messages API request that the script needs."""

    messages: list[Message]
    model: str = "scripted"
    system: str | list[Block] = ""
    tools: list[Tool] = field(default_factory=list[Tool])
    stream: bool = False

    def prompt(self) -> str:
        """Return the last text a person wrote, without the agent's reminders."""
        found = self._last_prompt()
        return found[1] if found else ""

    def calls_since_prompt(self) -> int:
        """Return how many replies the model has given to that prompt: the place in its script."""
        found = self._last_prompt()
        later = self.messages[found[0] + 1 :] if found else self.messages
        return sum(message.role == "assistant" for message in later)

    def last_tool_result(self) -> str | None:
        """Return the text of the newest tool result since the prompt."""
        found = self._last_prompt()
        for message in reversed(self.messages[found[0] + 1 :] if found else self.messages):
            for block in reversed(message.blocks()):
                if block.type == "tool_result":
                    return _strip_reminders(_text_of(block))
        return None

    def tool_results(self) -> list[str]:
        """Return the texts of all tool results of the conversation."""
        blocks = [block for message in self.messages for block in message.blocks()]
        return [_text_of(block) for block in blocks if block.type == "tool_result"]

    def has_picture_by_tool(self) -> bool:
        """Return whether a tool gave the model a picture."""
        blocks = [block for message in self.messages for block in message.blocks()]
        results = [block.content for block in blocks if block.type == "tool_result"]
        return any(one.type == "image" for inner in results if isinstance(inner, list) for one in inner)

    def takes_text_only(self) -> bool:
        """Return whether this is such an agent: nothing but text will do."""
        last = self.messages[-1].blocks() if self.messages else []
        return not self.tools and any(PLAIN_REMINDER.search(block.text) for block in last)

    def images(self) -> int:
        """Return how many images came with the prompt."""
        found = self._last_prompt()
        return sum(block.type == "image" for block in self.messages[found[0]].blocks()) if found else 0

    def searches(self) -> bool:
        """Return whether the agent asks for nothing but a web search, by its vendor's server."""
        return bool(self.tools) and all(tool.hosted for tool in self.tools)

    def offers(self, tool: str) -> bool:
        """Return whether the agent offered this tool."""
        return any(offered.name == tool for offered in self.tools)

    def wants_summary(self) -> bool:
        """Return whether the agent is compacting the conversation."""
        last = self.messages[-1].blocks() if self.messages else []
        # A hook that wakes the agent is told of with a summary, too.
        return any("<summary>" in block.text and "<task-notification>" not in block.text for block in last)

    def plan_file(self) -> str | None:
        """Return the plan file that the agent's newest reminder names."""
        found = PLAN_FILE.findall("\n".join(self._all_texts()))
        return str(found[-1]) if found else None

    def working_directory(self) -> str | None:
        """Return the folder the agent says it works in."""
        found = WORKING_DIRECTORY.search("\n".join(self._all_texts()))
        return found[1].strip() if found else None

    def _last_prompt(self) -> tuple[int, str] | None:
        for index in range(len(self.messages) - 1, -1, -1):
            message = self.messages[index]
            if message.role != "user":
                continue
            for block in reversed(message.blocks()):
                text = _strip_reminders(block.text)
                if block.type == "text" and text and not text.startswith(INJECTED):
                    return index, text
        return None

    def _all_texts(self) -> list[str]:
        system = [Block("text", self.system)] if isinstance(self.system, str) else self.system
        blocks = [*system, *(block for message in self.messages for block in message.blocks())]
        return [_text_of(block) for block in blocks]


def _strip_reminders(text: str) -> str:
    return REMINDER.sub("", PLAIN_REMINDER.sub("", text)).strip()


def _text_of(block: Block) -> str:
    if block.content is None:
        return block.text
    if isinstance(block.content, str):
        return block.content
    return "\n".join(_text_of(inner) for inner in block.content)
