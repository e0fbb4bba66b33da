"""The bridge API as a program uses it, with real shells."""

import asyncio
import contextlib
import json
import os
import select
import signal
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest
from tests.waiting import PATIENCE

from bascule.agents.catalogue import Catalogue, parse
from bascule.agents.spec import FoundProgram
from bascule.bridge import (
    AgentBridge,
    AiderBridge,
    BaseBridge,
    ClaudeBridge,
    CodexBridge,
    CopilotBridge,
    GeminiBridge,
    NoOutput,
    NoSession,
    NotStarted,
    OpencodeBridge,
    SessionExists,
    StartOptions,
    TerminalBridge,
    base,
)

pytestmark = pytest.mark.anyio

ENVIRON = {"PATH": os.environ["PATH"], "HOME": "/nowhere", "SHELL": "/bin/sh", "PS1": ""}


class Heard:
    """Everything a session's callbacks were told."""

    def __init__(self) -> None:
        self.text = ""
        self.exit: tuple[int | None, int | None] | None = None
        self.errors: list[Exception] = []
        self._news = asyncio.Event()

    def options(self, folder: Path, **more: object) -> StartOptions:
        return StartOptions(
            working_dir=str(folder),
            on_output=self._output,
            on_exit=self._exit,
            on_error=self._error,
            **more,  # type: ignore[arg-type]
        )

    def _output(self, text: str) -> None:
        self.text += text
        self._news.set()

    def _exit(self, code: int | None, sign: int | None) -> None:
        self.exit = (code, sign)
        self._news.set()

    def _error(self, error: Exception) -> None:
        self.errors.append(error)
        self._news.set()

    async def until(self, wanted: "object") -> None:
        async with asyncio.timeout(PATIENCE):
            while not wanted(self):  # type: ignore[operator]
                self._news.clear()
                await self._news.wait()


@pytest.fixture
async def keeper(short_dir: Path) -> AsyncIterator[Path]:
    folder = short_dir / "k"
    folder.mkdir(mode=0o700)
    yield folder
    with contextlib.suppress(FileNotFoundError, ProcessLookupError, json.JSONDecodeError):
        pid = json.loads((folder / "keeper.lock").read_text())["pid"]
        # Ended, whether or not its parent, which is nobody of ours, has looked at it since.
        watch = os.pidfd_open(pid)
        os.kill(pid, signal.SIGTERM)
        ended, _, _ = select.select([watch], [], [], PATIENCE)
        os.close(watch)
        assert ended


def program(short_dir: Path, name: str, script: str) -> Catalogue:
    path = short_dir / name
    path.write_text("#!/bin/sh\n" + script)
    path.chmod(0o700)
    toml = f'name = "{name}"\ntitle = "{name}"\nsearch = ["{path}"]\n[[drivers]]\nname = "terminal"\n'
    return Catalogue([parse(toml.encode(), name)])


class Scripted(BaseBridge):
    agent = "scripted"


@pytest.mark.row("P1")
async def test_a_session_is_started_typed_to_resized_listed_and_stopped(keeper: Path, short_dir: Path):
    bridge, heard = TerminalBridge(keeper, environ=ENVIRON), Heard()
    session = await bridge.start_session("one", heard.options(short_dir))
    assert session.active
    assert session.process.pid > 0
    assert bridge.get_session("one") is session
    assert [(one.id, one.active) for one in bridge.get_all_sessions()] == [("one", True)]
    with pytest.raises(SessionExists):
        await bridge.start_session("one", heard.options(short_dir))
    await bridge.send_input("one", "stty size; pwd; echo $TERM $FORCE_COLOR $COLORTERM\r")
    await heard.until(lambda h: "xterm-256color 1 truecolor" in h.text)
    assert "24 80" in heard.text
    assert str(short_dir) in heard.text
    await bridge.resize("one", 100, 30)
    await bridge.send_input("one", "stty size\r")
    await heard.until(lambda h: "30 100" in h.text)
    await bridge.stop_session("one")
    assert not session.active
    assert bridge.get_session("one") is None
    assert heard.exit is not None
    with pytest.raises(NoSession):
        await bridge.send_input("one", "x")
    await bridge.resize("one", 1, 1)  # a warning, never an error
    await bridge.cleanup()


@pytest.mark.row("P1")
async def test_an_exit_is_told_with_its_code_and_the_id_is_free_again(keeper: Path, short_dir: Path):
    bridge, heard = TerminalBridge(keeper, environ=ENVIRON), Heard()
    await bridge.start_session("one", heard.options(short_dir))
    await bridge.send_input("one", b"printf 'caf\\303\\251\\n'; exit 3\r")
    await heard.until(lambda h: h.exit is not None)
    assert heard.exit == (3, None)
    assert "café" in heard.text
    assert bridge.get_all_sessions() == []
    await bridge.start_session("one", heard.options(short_dir))
    await bridge.cleanup()
    assert bridge.get_all_sessions() == []


@pytest.mark.row("P5")
async def test_the_watchdog_kills_what_writes_nothing(keeper: Path, short_dir: Path):
    catalogue = program(short_dir, "scripted", "exec sleep 1000\n")
    bridge, heard = Scripted(keeper, environ=ENVIRON, catalogue=catalogue, watchdog=0.5), Heard()
    session = await bridge.start_session("one", heard.options(short_dir))
    await heard.until(lambda h: h.exit is not None)
    assert [type(one) for one in heard.errors] == [NoOutput]
    assert not psutil.pid_exists(session.process.pid) or heard.exit[1] in (9, 15, 1)
    await bridge.cleanup()


@pytest.mark.row("P6")
async def test_stop_ends_the_whole_tree_of_one_that_ignores_signals(keeper: Path, short_dir: Path):
    script = "trap '' TERM HUP INT\n(setsid sleep 1002 &)\necho ready $$\nwhile :; do sleep 0.1; done\n"
    bridge, heard = (
        Scripted(keeper, environ=ENVIRON, catalogue=program(short_dir, "scripted", script), grace=1.0),
        Heard(),
    )
    session = await bridge.start_session("one", heard.options(short_dir))
    await heard.until(lambda h: "ready" in h.text)
    family = [one for one in psutil.process_iter() if _marked(one, session.process.name)]
    assert len(family) >= 2
    await asyncio.wait_for(bridge.stop_session("one"), PATIENCE)
    assert heard.exit == (None, 9)
    _, alive = psutil.wait_procs(family, timeout=PATIENCE)
    assert not alive
    await bridge.cleanup()


def _marked(process: psutil.Process, name: str) -> bool:
    try:
        return process.environ().get("BASCULE_SESSION") == name
    except psutil.Error:
        return False


@pytest.mark.row("P2")
def test_search_paths_are_in_the_written_order(short_dir: Path):
    assert ClaudeBridge(short_dir, environ={}).command_search_paths == (
        "/home/ec2-user/.claude/local/claude",
        "claude",
        "claude-code",
        "~/.claude/local/claude",
        "~/.local/bin/claude",
        "/usr/local/bin/claude",
        "/usr/bin/claude",
    )
    assert CodexBridge(short_dir, environ={}).command_search_paths[:3] == (
        "~/.codex/local/codex",
        "codex",
        "codex-code",
    )
    assert AgentBridge(short_dir, environ={}).command_search_paths[:2] == (
        "~/.cursor/local/cursor-agent",
        "cursor-agent",
    )


@pytest.mark.row("P2")
@pytest.mark.parametrize(
    ("bridge", "fallback"),
    [
        (ClaudeBridge, "claude"),
        (CodexBridge, "codex"),
        (AgentBridge, "cursor-agent"),
        (CopilotBridge, "copilot"),
        (GeminiBridge, "gemini"),
        (OpencodeBridge, "opencode"),
        (AiderBridge, "aider"),
    ],
)
def test_without_the_program_its_plain_name_is_the_fallback(
    bridge: type[BaseBridge], fallback: str, short_dir: Path
):
    made = bridge(short_dir, environ={"PATH": str(short_dir), "HOME": str(short_dir)})
    assert made.fallback_command == fallback
    if made.command == fallback:
        assert not made.is_available()
    found = short_dir / fallback
    found.write_text("#!/bin/sh\n")
    found.chmod(0o700)
    assert made.is_available()


@pytest.mark.row("P2")
def test_a_look_up_that_hangs_is_given_up_and_the_fallback_taken(
    short_dir: Path, monkeypatch: pytest.MonkeyPatch
):
    answers = threading.Event()

    def hangs(*_: object) -> FoundProgram:
        answers.wait(PATIENCE)
        return FoundProgram("/bin/codex")

    assert base.SEARCH_SECONDS == 5
    monkeypatch.setattr(base, "locate", hangs)
    monkeypatch.setattr(base, "SEARCH_SECONDS", 0.01)
    try:
        made = CodexBridge(short_dir, environ={})
        assert made.command == "codex"
        assert not made.is_available()
    finally:
        answers.set()


@pytest.mark.row("P2")
def test_a_shell_is_the_persons_own_or_bash(short_dir: Path):
    assert TerminalBridge(short_dir, environ=ENVIRON).command == "/bin/sh"
    assert TerminalBridge(short_dir, environ={}).command == "/bin/bash"
    assert TerminalBridge(short_dir, environ={}).is_available()


@pytest.mark.row("P3")
def test_flags_only_where_the_agent_has_them(short_dir: Path):
    skip = StartOptions(dangerously_skip_permissions=True)
    assert ClaudeBridge(short_dir).build_args(skip) == ["--dangerously-skip-permissions"]
    assert CodexBridge(short_dir).build_args(skip) == ["--dangerously-bypass-approvals-and-sandbox"]
    for bridge in (AgentBridge, TerminalBridge):
        assert bridge(short_dir).build_args(skip) == []
    # Left alone, or by a settings file of the project, their own screens may run tools unasked.
    assert ClaudeBridge(short_dir).build_args(StartOptions()) == ["--permission-mode=manual"]
    asking = ["--ask-for-approval=on-request", "--sandbox=read-only"]
    assert CodexBridge(short_dir).build_args(StartOptions()) == asking
    assert GeminiBridge(short_dir).build_args(StartOptions()) == ["--approval-mode=default"]
    for plain in (AgentBridge, TerminalBridge):
        assert plain(short_dir).build_args(StartOptions()) == []
    assert TerminalBridge(short_dir).build_args(StartOptions(login=True)) == ["-l"]


async def test_a_program_that_is_not_there_is_an_error_of_the_start(keeper: Path, short_dir: Path):
    bridge = AiderBridge(keeper, environ={"PATH": str(short_dir), "HOME": str(short_dir)})
    with pytest.raises(NotStarted):
        await bridge.start_session("one", Heard().options(short_dir))
    assert bridge.get_all_sessions() == []
    await bridge.cleanup()


async def test_a_bridges_own_hook_sees_output_and_answers(keeper: Path, short_dir: Path):
    class Asked(BaseBridge):
        agent = "scripted"

        def on_data_hook(self, data: str, buffer: str) -> str | None:
            return "yes\r" if "really?" in data else None

    catalogue = program(short_dir, "scripted", 'echo "really?"; read answer; echo "<$answer>"; sleep 0.2\n')
    bridge, heard = Asked(keeper, environ=ENVIRON, catalogue=catalogue), Heard()
    await bridge.start_session("one", heard.options(short_dir))
    await heard.until(lambda h: "<yes>" in h.text)
    await bridge.cleanup()
