"""Which conversation a session would go on with in a terminal, and the command a person can type for it."""

import shlex

from bascule.launch.agent_start import AgentStart
from bascule.model.errors import InvalidInput, NotSupported
from bascule.model.lifecycle import LIVE
from bascule.model.records import SessionRecord


def conversation_of(session: SessionRecord) -> tuple[str, str]:
    """The agent and its own name of the conversation, when no process of ours holds it."""
    if session.phase in LIVE and not session.found:
        how = "attach" if session.driver == "terminal" else "sessions show --follow"
        message = "This session is running in Bascule. End it first, or look at it with: "
        raise InvalidInput(f"{message}bascule {how} {shlex.quote(session.session_id)}")
    if not session.agent_session_id:
        raise NotSupported("This session has no conversation that could be resumed.")
    return session.agent, session.agent_session_id


def resume_command(start: AgentStart, cwd: str) -> str:
    """For where no terminal can be opened."""
    return f"cd {shlex.quote(cwd)} && {shlex.join(start.argv)}"
