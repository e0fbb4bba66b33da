"""Kept awake while a turn runs: a program that only notes how it was called stands for the system's own."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.daemon.running_daemon import RunningDaemon, running_daemon
from tests.hub.running_hub import until
from tests.waiting import PATIENCE

from bascule.daemon.sessions.keep_awake import awake_command
from bascule.model.commands import Interrupt
from bascule.model.events import TurnEnded
from bascule.model.process_ids import pid_exists

pytestmark = pytest.mark.anyio

HOLDS = """#!/bin/sh
echo "$$ $*" >> "{notes}"
while [ "${{1#--}}" != "$1" ]; do shift; done
exec "$@"
"""
FAILS = """#!/bin/sh
echo "$$ $*" >> "{notes}"
echo "Failed to inhibit: Access denied" >&2
exit 1
"""
# As the server would hold it, and then be killed.
HOLDER = """
import asyncio, sys
from bascule.daemon.sessions.keep_awake import KeepAwake, awake_command
async def main():
    awake = KeepAwake(awake_command(), lambda _: None)
    awake._turns.add("s1")
    awake._start()
    await asyncio.sleep(3600)
asyncio.run(main())
"""


def put_program(folder: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> Path:
    """A `systemd-inhibit` of our own; what it was called with is in the file."""
    notes, program = folder / "notes", folder / "bin" / "systemd-inhibit"
    program.parent.mkdir()
    program.write_text(text.format(notes=notes))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    return notes


def calls(notes: Path) -> list[str]:
    return notes.read_text().splitlines() if notes.exists() else []


async def switch_on(daemon: RunningDaemon) -> None:
    daemon.settings = replace(daemon.settings, keep_awake=True)
    await daemon.restart()
    daemon.host._parts.sessions.awake._linger = 0.0


async def called(notes: Path, times: int) -> int:
    """The process id of that call."""
    await until(lambda: len(calls(notes)) >= times)
    return int(calls(notes)[times - 1].split()[0])


async def gone(pid: int) -> None:
    await until(lambda: not pid_exists(pid))


async def test_the_machine_is_kept_awake_from_a_turns_start_to_its_end_and_through_a_restart(
    short_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = put_program(short_dir, monkeypatch, HOLDS)
    async with running_daemon(short_dir) as daemon:
        await switch_on(daemon)
        await daemon.start()
        assert calls(notes) == []
        await daemon.start("s2", prompt="hold")
        pid = await called(notes, 1)
        assert "--what=idle:sleep --who=Bascule --why=An agent is working" in calls(notes)[0]
        await daemon.start("s3", prompt="hold")
        await switch_on(daemon)  # it is held for turns that were running before, too
        await gone(pid)
        pid = await called(notes, 2)
        await daemon.ask(Interrupt(session_id="s2"))
        await daemon.until(TurnEnded, "s2")
        assert pid_exists(pid)
        await daemon.ask(Interrupt(session_id="s3"))
        await gone(pid)
        assert len(calls(notes)) == 2


async def test_a_program_that_fails_once_is_not_called_again(
    short_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = put_program(short_dir, monkeypatch, FAILS)
    async with running_daemon(short_dir) as daemon:
        await switch_on(daemon)
        await daemon.start(prompt="hold")
        await called(notes, 1)
        await until(lambda: daemon.host._parts.sessions.awake._off)
        await daemon.ask(Interrupt(session_id="s1"))
        await daemon.until(TurnEnded)
        await daemon.start("s2", prompt="one")
        await daemon.until(TurnEnded, "s2")
        assert len(calls(notes)) == 1


async def test_nothing_holds_the_machine_awake_once_the_server_was_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = put_program(tmp_path, monkeypatch, HOLDS)
    server = await asyncio.create_subprocess_exec(sys.executable, "-c", HOLDER)
    try:
        pid = await called(notes, 1)
    finally:
        server.send_signal(signal.SIGKILL)
        await asyncio.wait_for(server.wait(), PATIENCE)
    await gone(pid)


def test_without_such_a_program_there_is_no_command(monkeypatch: pytest.MonkeyPatch) -> None:
    assert awake_command(lambda name: None) == []
    monkeypatch.setattr(sys, "platform", "darwin")
    only_here = {"caffeinate": "/usr/bin/caffeinate"}
    assert awake_command(only_here.get) == ["/usr/bin/caffeinate", "-i", "-s", "cat"]
