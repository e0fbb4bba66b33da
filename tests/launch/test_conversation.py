"""Which conversation a session would go on with in a terminal."""

from typing import Any

import pytest

from bascule.launch.agent_start import AgentStart
from bascule.launch.conversation import conversation_of, resume_command
from bascule.model.errors import InvalidInput, NotSupported
from bascule.model.lifecycle import Phase
from bascule.model.records import SessionRecord


def session(phase: Phase, **fields: Any) -> SessionRecord:
    return SessionRecord("s 1", agent="demo", phase=phase, **{"agent_session_id": "c1", **fields})


@pytest.mark.parametrize(
    "ended", [session(Phase.ENDED), session(Phase.FAILED), session(Phase.RUNNING, found=True)]
)
def test_a_conversation_that_no_process_of_ours_holds_is_resumed(ended: SessionRecord):
    assert conversation_of(ended) == ("demo", "c1")


@pytest.mark.parametrize(
    ("driver", "command"),
    [("terminal", "bascule attach 's 1'"), ("acp", "bascule sessions show --follow 's 1'")],
)
@pytest.mark.parametrize("phase", [Phase.STARTING, Phase.RUNNING, Phase.WAITING, Phase.INTERRUPTED])
def test_a_running_session_is_refused_with_the_command_that_shows_it(driver: str, command: str, phase: Phase):
    with pytest.raises(InvalidInput) as refused:
        conversation_of(session(phase, driver=driver))
    assert refused.value.message.endswith(f": {command}")


@pytest.mark.parametrize("name", [None, ""])
def test_a_session_without_a_conversation_can_not_be_resumed(name: str | None):
    with pytest.raises(NotSupported, match="no conversation"):
        conversation_of(session(Phase.ENDED, agent_session_id=name))


def test_the_command_to_type_is_quoted_for_a_shell():
    start = AgentStart(agent="demo", title="Demo", argv=("/opt/my agents/demo", "--resume", "c1"))
    wanted = "cd '/srv/the app' && '/opt/my agents/demo' --resume c1"
    assert resume_command(start, "/srv/the app") == wanted
