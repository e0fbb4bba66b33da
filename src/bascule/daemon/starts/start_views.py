"""A command that begins an agent, in the words that people approve it by."""

from collections.abc import Callable
from typing import Any

from bascule.link.comparisons import StartComparison
from bascule.link.machine import ReconnectAgent
from bascule.model.capability import LEVEL_NAMES, Capability, lower
from bascule.model.commands import Command, Envelope, ResumeSession, StartSession
from bascule.model.records import SessionRecord
from bascule.model.starts import WaitingStart
from bascule.policy.unusual import browser_words

FIRST_WORDS = 300  # characters
LONGEST_TITLE = 100
LONGEST = 300  # of any other field: what a hub says is not trusted to be short


def described(
    envelope: Envelope[Any],
    start_id: str,
    now: float,
    expires: float,
    reasons: tuple[str, ...],
    known: SessionRecord | None = None,
    *,
    ceiling: Capability = "full",
    hide: Callable[[str], str] = str,
) -> WaitingStart:
    """`known` is what this machine knows of the session that is to go on; `hide` takes secrets out of a text.

    Texts are cut after that: the first half of a key is not recognised as one.
    """
    command, by = envelope.command, envelope.by
    what, folder = _what(command, known, ceiling, hide)
    return WaitingStart(
        id=start_id,
        session_id=session_of(command),
        what=what[:LONGEST],
        folder=hide(folder)[:LONGEST],
        words=_words(command, hide),
        by=hide(by.name)[:LONGEST],
        browser=browser_words(by.user_agent),
        address=by.address[:LONGEST],
        via=by.via[:LONGEST],
        asked_at=now,
        expires_at=expires,
        reasons=reasons,
        plain=isinstance(command, StartSession),
    )


def _words(command: Command[Any], hide: Callable[[str], str]) -> str:
    """The beginning of the prompt, and how much of it is not shown: that could be anything."""
    prompt = " ".join(hide(prompt_of(command)).split())
    images = len(command.images) if isinstance(command, StartSession | StartComparison) else 0
    more = [f"{len(prompt) - FIRST_WORDS} more characters"] if len(prompt) > FIRST_WORDS else []
    more += [f"{images} image{'s' if images > 1 else ''}"] if images else []
    shown = f"{prompt[:FIRST_WORDS]}…" if len(prompt) > FIRST_WORDS else prompt
    return f"{shown} (and {', '.join(more)})".strip() if more else shown


def _what(
    command: Command[Any], known: SessionRecord | None, ceiling: Capability, hide: Callable[[str], str]
) -> tuple[str, str]:
    """What would run, how much of the machine it could reach if that is not all of it, and where."""
    level = _level(command, known, ceiling)
    reach = [] if level == "full" else [LEVEL_NAMES[level]]
    also = f" ({LEVEL_NAMES[level]})" if reach else ""
    match command:
        case StartSession():
            modes = [command.options.permission_mode, *reach]
            modes += ["a terminal"] if command.driver == "terminal" else []
            modes += [command.options.mode] if command.options.mode else []
            modes += ["asking nothing"] if command.options.skip_permissions else []
            if command.resume:
                modes.append(f"continues {_named(known, hide)}" if known else "continues a conversation")
            return f"{command.agent} ({', '.join(modes)})", command.cwd
        case StartComparison():
            agents = ", ".join(entrant.agent for entrant in command.entrants[:5])
            return f"{agents} ({', '.join([command.permission_mode, *reach])}), compared", command.folder
        case ResumeSession() if known is not None:
            return f"{known.agent}{also} resumes {_named(known, hide)}", known.cwd
        case ResumeSession():
            return f"the session {command.session_id}, resumed", ""
        case ReconnectAgent() if known is not None:
            return f"{command.agent}{also}, connected again for {_named(known, hide)}", known.cwd
        case ReconnectAgent():
            return f"{command.agent}, connected again for all its sessions", ""
        case _:
            return type(command).__name__, ""


def _level(command: Command[Any], known: SessionRecord | None, ceiling: Capability) -> Capability:
    """The one it asks for, which is refused above the ceiling; a session that goes on keeps its own, as far
    as that."""
    match command:
        case StartSession():
            return command.options.capability or ceiling
        case ResumeSession() | ReconnectAgent() if known is not None:
            return lower(known.capability, ceiling)
        case _:
            return ceiling


def _named(known: SessionRecord, hide: Callable[[str], str]) -> str:
    """By its title, which a caller elsewhere may have chosen: cut, so that the folder stays readable."""
    title = " ".join(hide(known.title).split())
    shown = f"{title[:LONGEST_TITLE]}…" if len(title) > LONGEST_TITLE else title
    return f"“{shown}”" if shown else "a session without a title"


def prompt_of(command: Command[Any]) -> str:
    return (command.prompt or "") if isinstance(command, StartSession | StartComparison) else ""


def session_of(command: Command[Any]) -> str:
    match command:
        case StartSession() | ResumeSession() | ReconnectAgent():
            return command.session_id
        case StartComparison():
            return command.entrants[0].session_id if command.entrants else ""
        case _:
            return ""
