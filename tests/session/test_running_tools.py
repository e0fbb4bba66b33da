"""The tool calls that run: those that began and neither ended nor outlived their turn."""

from msgspec import Raw

from bascule.model.events import TextSaid, ToolChanged, ToolStarted, TurnEnded
from bascule.session.running_tools import MAX_RUNNING, RunningTools


def started(tool_id: str) -> ToolStarted:
    return ToolStarted(tool_id, "Bash", "ls", "execute", Raw(b"{}"))


def test_a_call_runs_from_its_start_to_its_outcome():
    tools = RunningTools()
    assert tools.heard([started("a"), TextSaid("m", "assistant", "hi"), ToolChanged("a", "running")]) == []
    assert list(tools.calls) == ["a"]
    done = ToolChanged("a", "done")
    assert tools.heard([done]) == [(started("a"), done)]
    assert not tools.calls


def test_an_outcome_of_a_call_nobody_saw_is_no_call():
    assert RunningTools().heard([ToolChanged("a", "done")]) == []


def test_no_call_outlives_its_turn():
    tools = RunningTools()
    assert tools.heard([started("a"), TurnEnded("end_turn"), started("b")]) == []
    assert list(tools.calls) == ["b"]


def test_what_is_remembered_is_bounded():
    tools = RunningTools()
    tools.heard([started(str(n)) for n in range(MAX_RUNNING + 1)])
    assert list(tools.calls) == [str(n) for n in range(1, MAX_RUNNING + 1)]
