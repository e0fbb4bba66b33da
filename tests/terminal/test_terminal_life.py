"""A terminal's life with real shells: start, size, keys, limits, end, and what stays of it."""

import asyncio
import os
import signal
import textwrap
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest
from tests.hub.running_hub import until
from tests.live import LiveServer
from tests.terminal.viewing import grant, terminal, viewing
from tests.waiting import PATIENCE, within

from bascule.model.events import (
    Bell,
    Note,
    SessionEnded,
    SessionFailed,
    SessionReady,
    SessionStarted,
    TerminalResized,
    TitleChanged,
)

pytestmark = pytest.mark.anyio

LIMITS = "[limits]\nsessions = 0\nspawns_per_minute = 100000\n"


@pytest.fixture(scope="module")
async def server(module_dir: Path) -> AsyncIterator[LiveServer]:
    async with furnished(module_dir, silent_seconds=int(PATIENCE)) as live:
        yield live


def furnished(folder: Path, silent_seconds: int) -> LiveServer:
    agents = folder / "config" / "agents"
    agents.mkdir(parents=True, mode=0o700)
    os.chmod(folder / "config", 0o700)
    for name, script in PROGRAMS.items():
        program = folder / name
        program.write_text('#!/bin/sh\n[ "$1" = version ] && exit 0\n' + textwrap.dedent(script))
        program.chmod(0o700)
        file = agents / f"{name}.toml"
        file.write_text(
            f'name = "{name}"\ntitle = "{name}"\nsearch = ["{program}"]\n[version]\nargs = ["version"]\n'
            '[[drivers]]\nname = "terminal"\nmodel = ["--model={value}"]\n'
            'skip_permissions = ["--yes-to-all"]\n'
        )
        file.chmod(0o600)
    return LiveServer(folder, config=f"{LIMITS}[terminal]\nsilent_seconds = {silent_seconds}\n")


PROGRAMS = {
    "silent": "exec sleep 1000",
    "stubborn": """
        trap '' TERM HUP INT
        echo ready
        while :; do sleep 0.1; done
    """,
    "argued": 'echo "args: <$*>"; read -r line',
    "parent": """
        sleep 1001 &
        (setsid sleep 1001 &)
        nohup sleep 1001 >/dev/null 2>&1 &
        setsid sh -c 'sleep 1001 & exec sleep 1001' &
        echo ready
        sleep 1001
    """,
}


@pytest.mark.row("P1")
async def test_a_shell_has_its_size_its_environment_and_an_end(server: LiveServer):
    session = await terminal(server)
    async with viewing(server, session) as viewer:
        await viewer.type("stty size; echo $TERM-$COLORTERM-$FORCE_COLOR; tty\r")
        await viewer.shows(b"24 80")
        await viewer.shows(b"xterm-256color-truecolor-1")
        await viewer.shows(b"/dev/pts/")
        await viewer.type("exit 7\r")
        ended = await viewer.hears("ended")
        assert (ended.code, ended.signal, ended.reason) == (7, None, "exited")
        await viewer.over()
    kinds = [type(row.event) for row in await server.log(session)]
    assert kinds.index(SessionReady) < kinds.index(SessionEnded)
    assert not any("text" in repr(kind).lower() for kind in kinds), "bytes are no events"


@pytest.mark.row("P1", "S64")
async def test_sizes_are_clamped_and_logged(server: LiveServer):
    session = await terminal(server, cols=-1, rows=2**31)
    started = await server.wait_for(session, SessionStarted)
    assert isinstance(started.event, SessionStarted)
    assert (started.event.cols, started.event.rows) == (1, 1000)
    async with viewing(server, session) as viewer:
        await viewer.line.resize(0, -(2**31))
        await viewer.until(lambda one: one.said[-1].cols == 1 and one.said[-1].rows == 1)
        await viewer.line.resize(2**31, 2**31)
        await viewer.until(lambda one: (one.said[-1].cols, one.said[-1].rows) == (1000, 1000))
        await viewer.line._socket.send('{"type":"resize","cols":1e99,"rows":1}')
        assert (await viewer.hears("error")).refusal().refusal().code == "INVALID_INPUT"
        await viewer.line.resize(90, 20)
        row = await server.wait_for(session, lambda one: one == TerminalResized(90, 20, "owner"))
        assert row.seq > 1
        await viewer.type("stty size\r")
        await viewer.shows(b"20 90")


@pytest.mark.row("S64")
async def test_too_much_input_at_once_is_refused_and_nothing_of_it_is_typed(server: LiveServer):
    session = await terminal(server)
    async with viewing(server, session) as viewer:
        await viewer.type(b"x" * 1_100_000)
        assert (await viewer.hears("error")).refusal().refusal().code == "INVALID_INPUT"
        await viewer.type("echo still''here\r")
        await viewer.shows(b"stillhere")
        assert b"xxxx" not in viewer.data


@pytest.mark.row("S64")
async def test_a_program_that_does_not_read_holds_up_only_its_own_input(server: LiveServer):
    session = await terminal(server)
    async with viewing(server, session, acks=True) as viewer, viewing(server, session) as other:
        await viewer.type("stty raw -echo; sleep 1; cat >/dev/null & sleep 0; echo go''ing; wait\r")
        await viewer.shows(b"going")
        sent = asyncio.gather(*(viewer.type(b"y" * 60_000) for _ in range(40)))
        await asyncio.wait_for(sent, PATIENCE)
        assert not other.closed
    await server.http.request("DELETE", f"/api/sessions/{session}", json={})


@pytest.mark.row("P3")
async def test_flags_that_skip_permissions_only_when_a_person_chose_them(server: LiveServer):
    plain = await terminal(server, "argued", model="big")
    chosen = await terminal(server, "argued", skipPermissions=True)
    async with viewing(server, plain) as one, viewing(server, chosen) as other:
        await one.shows(b"args: <--model=big>")
        await other.shows(b"args: <--yes-to-all>")
    started = (await server.log(chosen))[0].event
    assert isinstance(started, SessionStarted)
    assert started.skip_permissions
    records, _ = await server.audit()
    told = [str(one) for one in records if plain in str(one) or chosen in str(one)]
    assert sum("skipping its permissions" in one for one in told) == 1


@pytest.mark.row("P3")
async def test_a_shell_takes_no_such_flag_and_no_prompt(server: LiveServer):
    body = {"agent": "shell", "cwd": str(server.work), "driver": "terminal"}
    refused = await server.post("/api/sessions", **body, skipPermissions=True)
    assert refused.json()["error"]["code"] == "NOT_SUPPORTED"
    refused = await server.post("/api/sessions", **body, prompt="hello")
    assert refused.json()["error"]["code"] == "NOT_SUPPORTED"
    refused = await server.post("/api/sessions", agent="demo", cwd=str(server.work), driver="terminal")
    assert refused.json()["error"]["code"] == "NOT_SUPPORTED"


@pytest.mark.row("P3")
async def test_a_login_shell_is_a_mode(server: LiveServer):
    (server.home / ".bash_profile").write_text("echo log''ged in\n")
    session = await terminal(server, mode="login")
    async with viewing(server, session) as viewer:
        await viewer.shows(b"logged in")


@pytest.mark.row("P5")
async def test_a_program_without_a_byte_is_killed_and_reported(short_dir: Path):
    async with furnished(short_dir, silent_seconds=2) as server:
        session = await terminal(server, "silent")
        row = await server.wait_for(session, SessionFailed)
    assert isinstance(row.event, SessionFailed)
    assert row.event.reason == "silent"
    assert "2 s" in row.event.message


@pytest.mark.row("P6", "REL-15")
async def test_one_that_ignores_signals_is_gone_within_ten_seconds(server: LiveServer):
    session = await terminal(server, "stubborn")
    async with viewing(server, session) as viewer:
        await viewer.shows(b"ready")
        with within(10):
            await server.http.request("DELETE", f"/api/sessions/{session}", json={})
            ended = await viewer.hears("ended")
    assert (ended.signal, ended.reason) == (signal.SIGKILL, "closed")


@pytest.mark.row("P6", "REL-16")
async def test_everything_it_started_is_gone_with_it(server: LiveServer):
    session = await terminal(server, "parent")
    async with viewing(server, session) as viewer:
        await viewer.shows(b"ready")
        await until(lambda: len(_marked(session)) >= 5)
        mine = _marked(session)
        await server.http.request("DELETE", f"/api/sessions/{session}", json={})
        await viewer.hears("ended")
    gone, alive = psutil.wait_procs(mine, timeout=PATIENCE)
    assert not alive, gone


def _marked(session: str) -> list[psutil.Process]:
    found: list[psutil.Process] = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("BASCULE_SESSION", "").startswith(session):
                found.append(process)
        except (psutil.AccessDenied, psutil.NoSuchProcess, psutil.ZombieProcess):
            continue
    return found


async def test_title_bell_and_clipboard_become_bounded_events(server: LiveServer):
    session = await terminal(server)
    async with viewing(server, session) as viewer:
        await viewer.type("printf '\\033]0;my title\\007\\007\\007\\033]52;c;aGk=\\007'; echo do''ne\r")
        await viewer.shows(b"done")
        assert b"\x1b]52" not in viewer.data
        await server.wait_for(session, lambda one: isinstance(one, TitleChanged) and one.title == "my title")
        await server.wait_for(session, lambda one: isinstance(one, Note) and one.code == "clipboard_refused")
        await viewer.type("i=0; while [ $i -lt 500 ]; do printf '\\033]0;t%s\\007' $i; i=$((i+1)); done\r")
        await server.wait_for(session, lambda one: isinstance(one, TitleChanged) and one.title == "t499")
    rows = await server.log(session)
    assert sum(isinstance(row.event, Bell) for row in rows) == 1
    assert sum(isinstance(row.event, TitleChanged) for row in rows) < 10
    shown = await server.http.get(f"/api/sessions/{session}")
    assert shown.json()["title"] == "t499"


async def test_a_persons_title_is_not_taken_over(server: LiveServer):
    session = await terminal(server, title="mine")
    async with viewing(server, session) as viewer:
        await viewer.type("printf '\\033]0;theirs\\007'; echo do''ne\r")
        await viewer.shows(b"done")
    assert (await server.http.get(f"/api/sessions/{session}")).json()["title"] == "mine"


@pytest.mark.row("P7")
async def test_what_an_ended_terminal_wrote_can_still_be_read(server: LiveServer):
    session = await terminal(server)
    async with viewing(server, session) as viewer:
        await viewer.type("seq 1 20000; exit\r")
        await viewer.over()
        whole = bytes(viewer.data)
    await server.stop()
    await server.start()
    async with viewing(server, session, after=0, lag=0) as viewer:
        await viewer.over()
        assert bytes(viewer.data) == whole
    async with viewing(server, session, after=len(whole) - 10) as viewer:
        await viewer.over()
        assert bytes(viewer.data) == whole[-10:]


async def test_an_ended_terminal_can_be_started_again_on_the_same_log(server: LiveServer):
    session = await terminal(server, "argued", skipPermissions=True)
    async with viewing(server, session) as viewer:
        await viewer.shows(b"yes-to-all")
        first = (await viewer.hears("begin")).run
        await viewer.type("\r")
        await viewer.over()
    assert (await server.post(f"/api/sessions/{session}/resume")).status_code == 200
    async with viewing(server, session, after=10**6, run=first) as viewer:
        assert (await viewer.hears("begin")).run > first
        await viewer.shows(b"args: <>")


async def test_a_viewer_may_look_but_not_touch(server: LiveServer):
    session = await terminal(server)
    token = await grant(server, "viewer")
    async with viewing(server, session) as owner, viewing(server, session, token=token) as viewer:
        assert (await viewer.hears("begin")).read_only
        await viewer.type("echo intru''der\r")
        assert (await viewer.hears("error")).refusal().refusal().code == "FORBIDDEN"
        await viewer.line.resize(10, 10)
        await viewer.hears("error", times=2)
        await viewer.line.claim()
        await viewer.hears("error", times=3)
        await owner.type("echo own''er; stty size\r")
        await viewer.shows(b"owner")
        await viewer.shows(b"24 80")
        assert b"intruder" not in viewer.data


async def test_a_session_that_is_no_terminal_has_no_terminal_socket(server: LiveServer):
    session = await server.create()
    with pytest.raises(Exception, match="is not a terminal"):
        async with viewing(server, session):
            pass
