"""Continues a session's conversation in a terminal window, and makes the command to type for it."""

import shlex
import sys
from collections.abc import Callable

from bascule.launch.agent_start import AgentStart
from bascule.launch.errors import LaunchError
from bascule.link.found import OpenTerminal
from bascule.model.errors import InvalidInput, NotSupported
from bascule.model.lifecycle import LIVE
from bascule.model.records import SessionRecord

# What starts an agent with a conversation in a folder: agent, conversation, folder.
Resuming = Callable[[str, str, str], AgentStart]


def start_of(
    session: SessionRecord, resuming: Resuming, data_dir: str, terminal: OpenTerminal | None
) -> AgentStart:
    """A session on a terminal of ours is shown there, any other conversation goes on by the agent itself.

    `terminal` is the one that a found session is open in: two programs must not continue it.
    """
    if terminal is not None:
        message = f"This session is open in a terminal already (process {terminal.pid}); go on there."
        raise InvalidInput(message)
    if session.driver == "terminal" and session.phase in LIVE and not session.found:
        return _attached(session, data_dir)
    start = resuming(*conversation_of(session), session.cwd)
    if start.missing:
        raise LaunchError("agent_not_found", start.missing)
    return start


def conversation_of(session: SessionRecord) -> tuple[str, str]:
    """The agent and its own name of the conversation, when no process of ours holds it."""
    if session.phase in LIVE and not session.found:
        how = "attach" if session.driver == "terminal" else "sessions show --follow"
        message = "This session is running in Bascule. End it first, or look at it with: "
        raise InvalidInput(f"{message}bascule {how} {shlex.quote(session.session_id)}")
    if not session.agent_session_id:
        raise NotSupported("This session has no conversation that could be resumed.")
    return session.agent, session.agent_session_id


def _attached(session: SessionRecord, data_dir: str) -> AgentStart:
    words = (sys.executable, "-m", "bascule", "attach", "--data", data_dir, "--", session.session_id)
    return AgentStart(agent=session.agent, title="Bascule", argv=words)


def resume_command(start: AgentStart, cwd: str) -> str:
    """For where no terminal can be opened."""
    return f"cd {shlex.quote(cwd)} && {shlex.join(start.argv)}"
