"""Launches with real processes: a scripted terminal, the real launcher in it, and a scripted agent."""

import asyncio
import contextlib
import os
import socket
import stat
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.launch.desk import Desk, digest
from tests.system.corpus import hostile_strings
from tests.waiting import PATIENCE

from bascule.launch.errors import LaunchError
from bascule.launch.handing_over import untypable
from bascule.launch.launches import Launches
from bascule.launch.record import LaunchRecord

pytestmark = pytest.mark.anyio


@contextlib.asynccontextmanager
async def running(launches: Launches) -> AsyncIterator[Launches]:
    try:
        yield launches
    finally:
        await launches.close()


async def settled(record: LaunchRecord) -> LaunchRecord:
    await asyncio.wait_for(record.settled.wait(), PATIENCE)
    return record


PROMPTS = {
    "one byte": "x",
    "words": "Analyze the authentication flow in this codebase",
    "quotes": "say \"hi\" and 'ho' and `date` and $(date) and $HOME and \\ and %s",
    "several lines": "first\n  second\n\nfourth",
    "trailing newlines": "the end\n\n\n",
    "trailing newlines, typed": "end\n\n\n",
    "carriage returns": "one\r\ntwo\r\n",
    "byte order mark": "\ufeffmarked as such",
    "a command's name": "update",
    "emoji": "👩‍👩‍👧 ünïcödé 漢字 \u202e",
    "control characters": "\x01\x02 \x1b[31mred\x7f",
    "the most an argument holds": "a b" + "a" * 131_068,
    "one byte more": "a b" + "a" * 131_069,
    "500 KB": "b" * 512_000,
    "1 MiB": "c" * 1_048_576,
    "an option": "--dangerously-skip-permissions",
    "an option with a value": "--settings=/tmp/x",
    "two dashes": "--",
    "an option after spaces": "  -p x",
    "a file": "@/etc/passwd",
    "a shell command": "!touch canary",
    "a command of the agent": "/exit",
    "many lines, typed": "@x\n" + "line\n" * 20_000,
    "emoji, typed": "-👩‍👩‍👧 漢字\r\n\ttab\n\n",
}


@pytest.mark.row("L6", "S24", "S27", "L13", "LV-2", "LV-3", "LV-4", "LV-5", "LV-13", "LV-14")
@pytest.mark.parametrize("name", PROMPTS)
async def test_a_prompt_reaches_the_agent_byte_for_byte(desk: Desk, name: str) -> None:
    prompt = PROMPTS[name]
    alone = len(prompt.split()) < 2
    typed = prompt.lstrip()[:1] in "-@!/" or alone or len(prompt.encode()) > 131_071
    async with running(desk.launches()) as launches:
        record = await settled(await launches.launch(desk.request(prompt)))
        assert (record.state, record.error) == ("launched", None)
        assert record.terminal == "xterm"
        got = await desk.note("sha256")
        assert got["sha256"] == digest(prompt)
        assert got["by"] == ("paste" if typed else "argument")
        # Whatever the prompt says, the agent was started with our own flags and no other.
        assert (await desk.note("argv"))["argv"] == ["--permission-mode=plan"]
        assert desk.files() == []


@pytest.mark.row("S20")
async def test_hostile_prompts_reach_the_agent_as_one_argument_and_nothing_is_run(desk: Desk) -> None:
    canary = desk.folder / "canary"
    strings = [one for one in hostile_strings(str(canary)) if one and "\0" not in one]
    wanted = sorted({digest(one) for one in strings})
    async with running(desk.launches()) as launches:
        gate = asyncio.Semaphore(4)

        async def launch(text: str) -> None:
            async with gate:
                await settled(await launches.launch(desk.request(text)))

        typable = [one for one in strings if untypable(one) is None]
        sample = typable[:: max(1, len(typable) // 25)]
        await asyncio.gather(*map(launch, sample))
        await desk.note("sha256", len(sample))
    got = {one["sha256"] for one in desk.read_notes() if "sha256" in one}
    assert got == {digest(one) for one in sample}
    assert got <= set(wanted)
    assert {tuple(one["argv"]) for one in desk.read_notes() if "argv" in one} == {("--permission-mode=plan",)}
    assert not canary.exists()
    # The terminal is given the launcher and the plan's name, never a word of the prompt.
    for one in desk.terminals():
        assert one["terminal"][0] == "-e"
        assert one["terminal"][2:5] == ["-I", "-m", "bascule.launch.launcher"]
        assert len(one["terminal"]) == 6


@pytest.mark.row("L1")
@pytest.mark.parametrize(
    ("mode", "flags", "key"), [(None, "plan", "\r"), ("plan", "plan", "\r"), ("normal", "manual", "\r")]
)
async def test_modes_become_the_agents_own_and_a_typed_prompt_is_sent(
    desk: Desk, mode: str | None, flags: str, key: str
) -> None:
    async with running(desk.launches()) as launches:
        record = await launches.launch(desk.request("@typed", **({"mode": mode} if mode else {})))
        assert record.state == "launched"
        assert (await desk.note("argv"))["argv"] == [f"--permission-mode={flags}"]
        assert (await desk.note("key"))["key"] == key
        await until_prompt_is(record, "sent")


async def until_prompt_is(record: LaunchRecord, state: str) -> None:
    async with asyncio.timeout(PATIENCE):
        while record.prompt != state:  # noqa: ASYNC110 - the launcher's second report has no event
            await asyncio.sleep(0.02)


@pytest.mark.row("L6", "S24")
@pytest.mark.parametrize("prompt", ["!touch canary", "/exit", " !ls"])
async def test_a_prompt_that_the_agent_would_run_is_typed_and_left_for_a_person_to_send(
    desk: Desk, prompt: str
) -> None:
    async with running(desk.launches()) as launches:
        record = await launches.launch(desk.request(prompt))
        assert (await desk.note("sha256"))["sha256"] == digest(prompt)
        await until_prompt_is(record, "typed")
    assert not [one for one in desk.read_notes() if "key" in one]


@pytest.mark.row("L6")
async def test_prefill_types_the_prompt_and_does_not_send_it(desk: Desk) -> None:
    async with running(desk.launches()) as launches:
        record = await launches.launch(desk.request("explain this", mode="prefill"))
        got = await desk.note("sha256")
        assert (got["by"], got["sha256"]) == ("paste", digest("explain this"))
        await until_prompt_is(record, "typed")
        assert record.data()["mode"] == "prefill"
    assert not [one for one in desk.read_notes() if "key" in one]


@pytest.mark.row("S26")
async def test_with_type_prompts_no_process_has_the_prompt_among_its_arguments(desk: Desk) -> None:
    desk.program("claude", "terminal_agent.py", str(desk.notes), "stay")  # it is looked at after its note
    async with running(desk.launches(type_prompts=True)) as launches:
        await launches.launch(desk.request("a secret plan"))
        got = await desk.note("sha256")
        assert (got["by"], got["sha256"]) == ("paste", digest("a secret plan"))
        agent = (await desk.note("pid"))["pid"]
        parents = [agent, int(Path(f"/proc/{agent}/stat").read_text().rsplit(")", 1)[1].split()[1])]
        for pid in parents:
            assert b"secret" not in Path(f"/proc/{pid}/cmdline").read_bytes()
        await desk.note("key")


@pytest.mark.row("L6")
async def test_a_prompt_is_not_typed_into_a_trust_question(desk: Desk) -> None:
    desk.program("claude", "terminal_agent.py", str(desk.notes), "ask-trust")
    desk.terminal("opens", types=("choose", "\r"))
    agent = """
name = "asks"
title = "Asks"
search = ["claude"]
[trust]
text = "Do you trust this folder?"
accept = "1. Yes"
marker = ">"
[[drivers]]
name = "terminal"
"""
    folder = desk.folder / "own" / "agents"
    folder.mkdir(mode=0o700)
    (folder / "asks.toml").write_text(agent)
    (folder / "asks.toml").chmod(0o600)
    from bascule.agents.catalogue import Catalogue
    from bascule.launch.agent_start import AgentStarts

    starts = AgentStarts(Catalogue.load(folder.parent), desk.environ, lambda one: False)
    async with running(Launches(desk.settings(), starts, desk.environ, platform="linux")) as launches:
        await launches.launch(desk.request("the prompt", agent="asks"))
        # The scripted person answers once; the prompt comes after that, whole and alone.
        assert (await desk.note("trust"))["trust"] == "\r"
        got = await desk.note("sha256")
        assert (got["by"], got["before"], got["sha256"]) == ("paste", "", digest("the prompt"))
        await desk.note("key")


@pytest.mark.row("L6", "S27")
async def test_a_control_character_that_would_end_the_paste_is_refused_before_anything_opens(
    desk: Desk,
) -> None:
    async with running(desk.launches()) as launches:
        for prompt in ("@x\x1b[201~\r!touch canary\r", "-\x03", "/\x9b"):
            with pytest.raises(LaunchError, match="can't be typed") as refused:
                await launches.launch(desk.request(prompt))
            assert refused.value.error == "invalid_prompt"
    assert desk.terminals() == []


@pytest.mark.row("L2")
async def test_a_missing_agent_is_told_in_the_terminal_which_stays_open_and_in_the_answer(
    desk: Desk,
) -> None:
    (desk.bin / "claude").unlink()
    desk.terminal("opens", types=("Press Enter", "\n"))
    async with running(desk.launches({"PATH": f"{desk.bin}:/nonexistent"})) as launches:
        record = await settled(await launches.launch(desk.request("hello there")))
        assert record.error is not None
        assert (record.error.error, record.error.message) == ("agent_not_found", "claude command not found")
        assert not record.data()["launched"]
    await desk.shows("claude command not found")
    await desk.shows("npm install -g @anthropic-ai/claude-code")


@pytest.mark.row("L2")
async def test_an_agent_that_fails_at_once_leaves_its_window_open(desk: Desk) -> None:
    desk.program("claude", "terminal_agent.py", str(desk.notes), "--fail")
    desk.terminal("opens", types=("Press Enter", "\n"))
    async with running(desk.launches()) as launches:
        record = await launches.launch(desk.request("hello there"))
        assert record.state == "launched"
        await desk.shows("Claude Code ended with code 9.")


@pytest.mark.row("L13", "LV-21", "L4", "S25")
async def test_files_are_private_whatever_the_umask_and_gone_when_the_window_came(desk: Desk) -> None:
    desk.terminal("hangs")
    before = os.umask(0)
    try:
        async with running(desk.launches(answer_ms=0)) as launches:
            record = await launches.launch(desk.request("hello there"))
            assert stat.S_IMODE(desk.bridge_folder.stat().st_mode) == 0o700
            names = desk.files()
            assert record.temp_file in names
            assert len(names) == 2
            for name in [*names, *(one for one in os.listdir(desk.bridge_folder) if "report-" in one)]:
                assert stat.S_IMODE((desk.bridge_folder / name).stat().st_mode) == 0o600
            assert (desk.bridge_folder / record.temp_file).read_text() == "hello there"
    finally:
        os.umask(before)
    # The bridge stopped while the terminal was still opening: nothing is left for it.
    assert os.listdir(desk.bridge_folder) == []


@pytest.mark.row("L5", "L13", "LV-17")
async def test_a_terminal_whose_client_ends_at_once_is_launched_when_its_launcher_reports(
    desk: Desk,
) -> None:
    desk.terminal("detaches")
    async with running(desk.launches()) as launches:
        record = await settled(await launches.launch(desk.request("hello there")))
        assert record.state == "launched"
        assert (await desk.note("sha256"))["sha256"] == digest("hello there")


FAILURES: dict[str, tuple[dict[str, Any], str]] = {
    "exits": ({}, "xterm ended with code 3"),
    "shows nothing": (
        {"window_seconds": 10},  # enough for it to end before it is given up
        "xterm has ended without an error, but showed no window within 10 s",
    ),
    "hangs": ({"window_seconds": 1}, "xterm showed no window within 1 s"),
}


@pytest.mark.row("L2", "S26")
@pytest.mark.parametrize("does", FAILURES)
async def test_a_terminal_that_fails_is_told_truthfully(
    desk: Desk, does: str, caplog: pytest.LogCaptureFixture
) -> None:
    launch, told = FAILURES[does]
    desk.terminal(does)
    async with running(desk.launches(**launch)) as launches:
        record = await settled(await launches.launch(desk.request("a private prompt")))
        assert record.state == "failed"
        assert record.error is not None
        assert record.error.error == "terminal_spawn_failed"
        assert told in record.error.message
        assert str(desk.folder) not in record.error.message
        assert launches.get(record.id) is record
        await gone(desk)
    assert "terminal_spawn_failed: Failed to open terminal: xterm" in caplog.text
    assert "private prompt" not in caplog.text


async def gone(desk: Desk) -> None:
    async with asyncio.timeout(PATIENCE):
        while desk.files():  # noqa: ASYNC110 - a folder
            await asyncio.sleep(0.02)


@pytest.mark.row("L1")
async def test_without_a_report_in_time_the_answer_says_so_and_the_outcome_follows(desk: Desk) -> None:
    desk.terminal("hangs")
    async with running(desk.launches(answer_ms=0, window_seconds=1)) as launches:
        record = await launches.launch(desk.request("hello there"))
        assert (record.data()["launched"], record.data()["confirmed"]) == (False, False)
        await settled(launches.get(record.id))
        assert (record.data()["launched"], record.data()["confirmed"]) == (False, True)


@pytest.mark.row("S26")
async def test_a_window_that_comes_too_late_finds_nothing_and_says_so(desk: Desk) -> None:
    desk.terminal("shows nothing")
    async with running(desk.launches(window_seconds=10)) as launches:  # enough to note what it was given
        await settled(await launches.launch(desk.request("hello there")))
        await gone(desk)
    words = desk.terminals()[0]["terminal"]
    desk.terminal("opens", types=("Press Enter", "\n"))
    late = await asyncio.create_subprocess_exec(str(desk.bin / "xterm"), *words, env=desk.environ)
    assert await asyncio.wait_for(late.wait(), PATIENCE) == 0
    assert "this window came too late" in desk.shown()
    assert desk.read_notes() == []


@pytest.mark.row("L4", "L5", "S26")
async def test_a_bridge_that_runs_for_long_keeps_its_own_socket_and_removes_a_dead_one(desk: Desk) -> None:
    async with running(desk.launches()) as launches:
        await settled(await launches.launch(desk.request("hello there")))
        (own,) = desk.bridge_folder.glob("report-*")
        dead = desk.bridge_folder / "report-1-dead.sock"
        with socket.socket(socket.AF_UNIX) as left:
            left.bind(str(dead))
        for one in (own, dead):
            os.utime(one, (1, 1))
        record = await settled(await launches.launch(desk.request("hello again")))
        assert (record.state, record.error) == ("launched", None)
        assert list(desk.bridge_folder.glob("report-*")) == [own]


@pytest.mark.row("L13", "LV-12", "L4")
async def test_a_folder_that_cannot_be_written_is_a_clear_error_without_its_path(desk: Desk) -> None:
    (desk.folder / "taken").write_text("")
    async with running(desk.launches(folder=str(desk.folder / "taken"))) as launches:
        with pytest.raises(LaunchError, match="permissions") as refused:
            await launches.launch(desk.request("hello there"))
    assert refused.value.error == "temp_file_failed"
    assert str(desk.folder) not in refused.value.message
    assert desk.terminals() == []


@pytest.mark.row("L2")
async def test_without_a_desktop_session_no_terminal_is_tried_and_nothing_is_left(desk: Desk) -> None:
    environ = {"DISPLAY": "", "PATH": str(desk.bin)}
    async with running(desk.launches(environ)) as launches:
        with pytest.raises(LaunchError, match="No desktop session") as refused:
            await launches.launch(desk.request("hello there"))
        assert refused.value.error == "no_terminal_found"
        assert desk.files() == []


@pytest.mark.row("L5")
async def test_the_terminal_gets_the_desktops_environment_and_the_agent_what_its_file_lists(
    desk: Desk,
) -> None:
    environ = {"ANTHROPIC_API_KEY": "key", "BASCULE_TOKEN": "secret", "AWS_SECRET_ACCESS_KEY": "no"}
    async with running(desk.launches(environ)) as launches:
        await launches.launch(desk.request("hello there"))
        terminal = desk.terminals()[0]["env"]
        assert terminal["DISPLAY"] == "elsewhere:0"
        assert not {"BASCULE_TOKEN", "AWS_SECRET_ACCESS_KEY", "ANTHROPIC_API_KEY"} & set(terminal)
        agent = (await desk.note("env"))["env"]
        assert agent["ANTHROPIC_API_KEY"] == "key"
        assert not {"BASCULE_TOKEN", "AWS_SECRET_ACCESS_KEY"} & set(agent)
        assert (await desk.note("cwd"))["cwd"] == str(desk.home)


async def test_a_conversation_is_resumed_in_a_terminal_without_a_prompt(desk: Desk) -> None:
    desk.program("claude", "terminal_agent.py", str(desk.notes), "--fail")
    desk.terminal("opens", types=("Press Enter", "\n"))
    async with running(desk.launches()) as launches:
        start = launches.conversation("claude-code", "abc-123", str(desk.home))
        record = await launches.run(start, str(desk.home))
        assert (record.state, record.prompt, record.temp_file) == ("launched", "none", "")
        argv = (await desk.note("argv"))["argv"]
        assert argv == ["--fail", "--permission-mode=manual", "--resume=abc-123"]
