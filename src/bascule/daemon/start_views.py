"""A command that begins an agent, in the words that people approve it by."""

from typing import Any

from bascule.link.comparisons import StartComparison
from bascule.link.machine import ReconnectAgent
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
) -> WaitingStart:
    """`known` is what this machine knows of the session that is to go on."""
    command, by = envelope.command, envelope.by
    what, folder = _what(command, known)
    return WaitingStart(
        id=start_id,
        session_id=session_of(command),
        what=what[:LONGEST],
        folder=folder[:LONGEST],
        words=_words(command),
        by=by.name[:LONGEST],
        browser=browser_words(by.user_agent),
        address=by.address[:LONGEST],
        via=by.via[:LONGEST],
        asked_at=now,
        expires_at=expires,
        reasons=reasons,
        plain=isinstance(command, StartSession),
    )


def _words(command: Command[Any]) -> str:
    """The beginning of the prompt, and how much of it is not shown: that could be anything."""
    prompt = " ".join(prompt_of(command).split())
    images = len(command.images) if isinstance(command, StartSession | StartComparison) else 0
    more = [f"{len(prompt) - FIRST_WORDS} more characters"] if len(prompt) > FIRST_WORDS else []
    more += [f"{images} image{'s' if images > 1 else ''}"] if images else []
    shown = f"{prompt[:FIRST_WORDS]}…" if len(prompt) > FIRST_WORDS else prompt
    return f"{shown} (and {', '.join(more)})".strip() if more else shown


def _what(command: Command[Any], known: SessionRecord | None) -> tuple[str, str]:
    """What would run, and where."""
    match command:
        case StartSession():
            modes = [command.options.permission_mode]
            modes += ["a terminal"] if command.driver == "terminal" else []
            modes += [command.options.mode] if command.options.mode else []
            modes += ["asking nothing"] if command.options.skip_permissions else []
            if command.resume:
                modes.append(f"continues {_named(known)}" if known else "continues a conversation")
            return f"{command.agent} ({', '.join(modes)})", command.cwd
        case StartComparison():
            agents = ", ".join(one.agent for one in command.entrants[:5])
            return f"{agents} ({command.permission_mode}), compared", command.folder
        case ResumeSession() if known is not None:
            return f"{known.agent} resumes {_named(known)}", known.cwd
        case ResumeSession():
            return f"the session {command.session_id}, resumed", ""
        case ReconnectAgent() if known is not None:
            return f"{command.agent}, connected again for {_named(known)}", known.cwd
        case ReconnectAgent():
            return f"{command.agent}, connected again for all its sessions", ""
        case _:
            return type(command).__name__, ""


def _named(known: SessionRecord) -> str:
    """By its title, which somebody elsewhere may have chosen: so cut, that the folder is still read."""
    title = " ".join(known.title.split())
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
