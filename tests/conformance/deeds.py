"""What a tool can do to a person, each with a witness outside the log: tried once denied, once allowed."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Literal
from uuid import uuid4

from msgspec import Struct
from tests.conformance.talk import Broken, Talk
from tests.conformance.witness import Visits
from tests.modelapi.reply import NO_SUCH_TOOL
from tests.modelapi.server import ScriptedModel

from bascule.model.events import PermissionRequested, TextAppended, TextSaid, TurnEnded

MAX_ASKED = 12
# A grey dot.
PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg=="
)
BEGAN = "it-began"  # said by a command that a sandbox then stops
# Hosts of web searches that are not the model's own.
SEARCHERS = (b"mcp.exa.ai", b"search.parallel.ai", b"api.tavily.com")
# What only the call that starts a sub-agent holds: it is allowed, to see what becomes of the command in it.
STARTS = {"subagent_type", "agent_type", "agent_name", "agentName", "prompt", "message"}


class Place(Struct, frozen=True):
    """Where the witnesses of one try are."""

    project: Path
    lamp: Path  # what the MCP server wrote down
    visits: Visits
    model: ScriptedModel
    outside: Path  # a folder that no sandbox of the project's may write to


class Deed(Struct, frozen=True):
    """What the model is told to do, and how it is seen that it was done; `mark` is new for every try."""

    prompt: Callable[[Place, str], str]
    done: Callable[[Place, str], bool]
    names: str = ""  # a word that the request must hold, beside its input
    within_agent: bool = False  # done by a sub-agent, whose start is allowed in any case
    agents: tuple[str, ...] = ()  # for these alone


class Tried(Struct):
    """One try: what was asked, whether it was done, what was said."""

    asked: list[PermissionRequested]
    done: bool
    said: str
    hangs: str = ""


def made(place: Place, mark: str) -> bool:
    return (place.project / f"{mark}.txt").exists()


def called(place: Place, mark: str) -> bool:
    return place.lamp.exists() and mark in place.lamp.read_text(encoding="utf-8")


def fetched(place: Place, mark: str) -> bool:
    return place.visits.fetched(mark)


def searched(place: Place, mark: str) -> bool:
    """By the server of the model, or by one of those that agents ask; those are reached through the proxy."""
    by_model = any(mark in one for one in place.model.searches)
    return by_model or any(host in one for one in place.visits.seen for host in SEARCHERS)


def told(place: Place, mark: str) -> bool:
    """Whether the model was told what stands in the file."""
    return any(mark in one for asked in place.model.requests for one in asked.tool_results())


def escaped(place: Place, mark: str) -> bool:
    return made(place, mark) or (place.outside / f"{mark}.txt").exists()


def _read(name: str) -> Callable[[Place, str], str]:
    def prompt(place: Place, mark: str) -> str:
        (place.project / name).write_text(f"KEY={mark}\n", encoding="utf-8")
        return f"::read {name}"

    return prompt


def _read_outside(place: Place, mark: str) -> str:
    place.outside.mkdir(exist_ok=True)
    (place.outside / "notes.txt").write_text(f"KEY={mark}\n", encoding="utf-8")
    return f"::read {place.outside}/notes.txt"


def _look(place: Place, mark: str) -> str:
    place.outside.mkdir(exist_ok=True)
    picture = place.outside / f"{mark}.png"
    picture.write_bytes(PICTURE)
    return f"::tool view_image {json.dumps({'path': str(picture)})}"


def looked(place: Place, _mark: str) -> bool:
    """Whether the model got a picture by a tool."""
    return any(asked.has_picture_by_tool() for asked in place.model.requests)


def _sandboxed(place: Place, mark: str) -> str:
    place.outside.mkdir(exist_ok=True)
    return f"::sandboxed echo {BEGAN}; touch {mark}.txt {place.outside}/{mark}.txt"


def _sub_agent(_place: Place, mark: str) -> str:
    return f"::task Touch a file | ::bash touch {mark}.txt ;; ::wait"


def _touch(_place: Place, mark: str) -> str:
    return f"::bash touch {mark}.txt"


def _lamp(tool: str) -> Callable[[Place, str], str]:
    return lambda _place, mark: f"::mcp lamp {tool} {json.dumps({'mark': mark})}"


DEEDS: dict[str, Deed] = {
    "command": Deed(_touch, made),
    "command that keeps to the sandbox": Deed(_sandboxed, escaped, agents=("codex",)),
    "edit": Deed(lambda _place, mark: f"::write {mark}.txt | one line", made),
    "read": Deed(_read("notes.txt"), told),
    "read .env": Deed(_read(".env"), told),
    "read outside the project": Deed(_read_outside, told),
    "picture outside the project": Deed(_look, looked, agents=("codex",)),
    "fetch": Deed(lambda place, mark: f"::fetch {place.visits.url}/{mark}", fetched),
    "web search": Deed(lambda _place, mark: f"::websearch heron {mark} ++ ::text Searched.", searched),
    "MCP tool": Deed(_lamp("switch"), called, "switch"),
    "MCP tool that says it only reads": Deed(_lamp("peek"), called, "peek"),
    "sub-agent's command": Deed(_sub_agent, made, within_agent=True),
}
# An agent that speaks plain text has no tools: it acts upon what the answer, or the person, says.
PLAIN_DEEDS: dict[str, Deed] = {
    "command": DEEDS["command"],
    "edit": DEEDS["edit"],
    "fetch": Deed(lambda place, mark: f"::text Seen. {place.visits.url}/{mark}", fetched),
}


def liberty_of(driver: str) -> Deed:
    """What a project that allows everything is tried with: Aider's yes to everything is no to commands."""
    return DEEDS["edit" if driver == "plain" else "command"]


def deeds_of(agent: str, driver: str) -> dict[str, Deed]:
    deeds = PLAIN_DEEDS if driver == "plain" else DEEDS
    return {name: deed for name, deed in deeds.items() if not deed.agents or agent in deed.agents}


async def attempt(talk: Talk, deed: Deed, place: Place, decision: Literal["allow", "deny"]) -> Tried:
    """Have the model do it once, and answer whatever is asked in this way."""
    mark = f"m{uuid4().hex[:8]}"
    begun = len(talk.rows)
    place.visits.seen.clear()
    await talk.send(deed.prompt(place, mark))
    asked: list[PermissionRequested] = []
    hangs = ""
    try:
        while len(asked) < MAX_ASKED:
            row = await talk.until(lambda event: isinstance(event, PermissionRequested | TurnEnded), "end")
            if isinstance(row.event, TurnEnded):
                break
            assert isinstance(row.event, PermissionRequested)
            starts = deed.within_agent and _starts(row.event)
            if not starts:
                asked.append(row.event)
            await talk.answer(row.event, "allow" if starts else decision)
    except Broken as error:
        hangs = str(error)
    said = "".join(
        row.event.text for row in talk.rows[begun:] if isinstance(row.event, TextAppended | TextSaid)
    )
    return Tried(asked, deed.done(place, mark), said, hangs)


def _starts(asked: PermissionRequested) -> bool:
    judged: object = json.loads(bytes(asked.input))
    return isinstance(judged, dict) and bool(STARTS & set(judged)) and "command" not in judged


def has_no_tool(tried: Tried) -> bool:
    return NO_SUCH_TOOL in tried.said
