"""What is started for each agent: a mode that asks, and nothing that skips permissions."""

from pathlib import Path

import pytest

from bascule.agents.catalogue import Catalogue
from bascule.launch.agent_start import AgentStart, AgentStarts
from bascule.launch.errors import LaunchError
from bascule.launch.request import MODES, Mode

CATALOGUE = Catalogue.load("/nonexistent")
NAMES = {"claude-code": "claude", "cursor": "cursor-agent"}
TERMINALS = [one.name for one in CATALOGUE if any(way.name == "terminal" for way in one.drivers)]
LAUNCHED = [name for name in TERMINALS if name != "shell"]


@pytest.fixture
def starts(tmp_path: Path) -> AgentStarts:
    for name in TERMINALS:
        path = tmp_path / NAMES.get(name, name)
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)
    env = {"PATH": str(tmp_path), "HOME": str(tmp_path), "ANTHROPIC_API_KEY": "k", "SECRET": "no"}
    return AgentStarts(CATALOGUE, env, lambda folder: folder == "/trusted")


def words(start: AgentStart) -> tuple[str, ...]:
    return start.argv[1:]


@pytest.mark.row("S29", "S24")
@pytest.mark.parametrize("name", LAUNCHED)
def test_no_agent_and_no_mode_is_started_without_permissions(starts: AgentStarts, name: str) -> None:
    spec = CATALOGUE.get(name)
    skipping = set(spec.driver("terminal").skip_permissions)
    driver = spec.driver("terminal")
    plans = "plan" in spec.modes_of(driver) and bool(driver.mode)
    for mode in (None, *(one for one in MODES if plans or one != "plan")):
        start = starts.with_prompt(name, mode, "/x")
        assert start.argv
        assert not skipping & set(start.argv)
        assert not [word for word in start.argv if "bypass" in word or "yolo" in word or "danger" in word]


@pytest.mark.row("L1")
@pytest.mark.parametrize(
    ("name", "mode", "given", "chosen"),
    [
        ("claude-code", None, ("--permission-mode=plan",), "plan"),
        ("claude-code", "normal", ("--permission-mode=manual",), "default"),
        ("claude-code", "prefill", ("--permission-mode=manual",), "default"),
        ("gemini", None, ("--approval-mode=plan",), "plan"),
        ("codex", None, ("--ask-for-approval=on-request", "--sandbox=read-only"), "ask"),
        ("codex", "normal", ("--ask-for-approval=on-request", "--sandbox=read-only"), "ask"),
        ("copilot", None, (), None),
        ("goose", None, ("session",), None),
    ],
)
def test_a_mode_becomes_the_agents_own(
    starts: AgentStarts, name: str, mode: Mode | None, given: tuple[str, ...], chosen: str | None
) -> None:
    start = starts.with_prompt(name, mode, "/x")
    assert (words(start), start.mode) == (given, chosen)


@pytest.mark.row("L1", "L2")
def test_plan_is_refused_where_the_agent_has_none_rather_than_dropped(starts: AgentStarts) -> None:
    with pytest.raises(LaunchError, match="Codex has no plan mode") as refused:
        starts.with_prompt("codex", "plan", "/x")
    assert refused.value.error == "invalid_mode"


@pytest.mark.row("S24")
@pytest.mark.parametrize("name", ["shell", "demo", "nobody"])
def test_what_runs_commands_or_has_no_terminal_is_refused(starts: AgentStarts, name: str) -> None:
    with pytest.raises(LaunchError) as refused:
        starts.with_prompt(name, None, "/x")
    assert refused.value.error == "invalid_agent"


def test_the_environment_is_what_the_agents_file_lists(starts: AgentStarts, tmp_path: Path) -> None:
    start = starts.with_prompt("claude-code", None, "/x")
    assert (start.environment, start.defaults) == ({"PATH": str(tmp_path)}, {"ANTHROPIC_API_KEY": "k"})
    assert starts.with_prompt("copilot", None, "/x").environment["COPILOT_ALLOW_ALL"] == "false"
    for folder, told in (("/x", True), ("/trusted", False)):
        given = starts.with_prompt("opencode", None, folder).environment
        assert ("OPENCODE_DISABLE_PROJECT_CONFIG" in given) is told


@pytest.mark.row("L2")
def test_a_missing_agent_is_named_by_its_command(tmp_path: Path) -> None:
    nothing = AgentStarts(CATALOGUE, {"PATH": str(tmp_path), "HOME": str(tmp_path)}, lambda folder: False)
    start = nothing.with_prompt("codex", None, "/x")
    assert (start.argv, start.missing) == ((), "codex command not found")
    assert start.install == "npm install -g @openai/codex"


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("claude-code", ("--permission-mode=manual", "--resume=abc")),
        ("codex", ("--ask-for-approval=on-request", "--sandbox=read-only", "resume", "abc")),
        ("opencode", ("--session=abc",)),
    ],
)
def test_a_conversation_is_resumed_by_the_agents_own_words(
    starts: AgentStarts, name: str, given: tuple[str, ...]
) -> None:
    assert words(starts.resuming(name, "abc", "/x")) == given
    for wrong in ("--yolo", "a\nb", ""):
        with pytest.raises(LaunchError) as refused:
            starts.resuming(name, wrong, "/x")
        assert refused.value.error == "invalid_request"


def test_an_agent_without_a_way_to_resume_says_so(starts: AgentStarts) -> None:
    with pytest.raises(LaunchError, match="can't resume"):
        starts.resuming("goose", "abc", "/x")
