"""Ending: stdin first, then TERM, then KILL, and nobody the agent started is left, wherever they hid."""

import os
import signal
from functools import partial

import pytest
from tests.waiting import PATIENCE, within

from bascule.transport.errors import KeeperError

FOREST = """
import os, signal, subprocess, sys, time
def sleeper(): time.sleep(600)
for _ in range(10):
    if os.fork() == 0:
        for _ in range(3):
            if os.fork() == 0: sleeper()
        sleeper()
# A daemon: double fork with a session of its own, its parent gone.
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        for _ in range(5):
            if os.fork() == 0: sleeper()
        sleeper()
    os._exit(0)
# One that ignores hang-ups and left the group, and one that also hid the marks in its environment.
subprocess.Popen(['nohup', '/bin/sleep', '600'], start_new_session=True,
                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
subprocess.Popen(['/bin/sleep', '600.0625'], start_new_session=True, env={'HIDDEN_FROM': sys.argv[1]},
                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print('planted', flush=True)
"""


async def test_an_agent_that_leaves_on_end_of_file_gets_no_signal(client):
    code = (
        "import signal, sys\n"
        "signal.signal(signal.SIGTERM, lambda *a: print('TERM', flush=True))\n"
        "print('up', flush=True); sys.stdin.read(); print('saved')"
    )
    await client.spawn("a", code)
    await client.output("a", b"up")
    await client.keeper.end("a", grace_stdin=PATIENCE)
    notice = await client.exit_of("a")
    assert notice.code == 0
    assert client.read("a") == b"up\nsaved\n"


async def test_an_agent_that_leaves_on_term_may_say_goodbye(client):
    code = (
        "import signal, sys, time\n"
        "signal.signal(signal.SIGTERM, lambda *a: (print('bye', flush=True), sys.exit(7)))\n"
        "print('up', flush=True)\n"
        "while True: time.sleep(600)"
    )
    await client.spawn("a", code)
    await client.output("a", b"up")
    await client.keeper.end("a", grace_stdin=0.1, grace_term=PATIENCE)
    assert (await client.exit_of("a")).code == 7
    assert client.read("a") == b"up\nbye\n"


@pytest.mark.row("REL-15")
async def test_an_agent_that_ignores_term_is_killed_within_ten_seconds(client):
    code = (
        "import signal, time\n"
        "for s in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT): signal.signal(s, signal.SIG_IGN)\n"
        "print('up', flush=True)\n"
        "while True: time.sleep(600)"
    )
    await client.spawn("a", code)
    await client.output("a", b"up")
    with within(10):
        await client.keeper.end("a")
        notice = await client.exit_of("a")
    assert notice.signal == signal.SIGKILL


@pytest.mark.row("REL-16")
async def test_children_that_left_the_group_are_gone_after_end(client, members, pids_with, eventually):
    code = FOREST + "time.sleep(600)"
    await client.spawn("forest", code, str(client.folder))
    await client.output("forest", b"planted")
    await eventually(lambda: len(members("forest")) >= 47)  # they fork on after the first has spoken
    hidden = partial(pids_with, f"HIDDEN_FROM={client.folder}")
    assert len(hidden()) == 1
    with within(10):
        await client.keeper.end("forest", grace_stdin=0.1, grace_term=1)
        await client.exit_of("forest")
        await eventually(lambda: not hidden())
        await eventually(lambda: not members("forest"))


@pytest.mark.row("REL-16")
async def test_children_of_an_agent_that_crashed_are_gone(client, members, pids_with, eventually):
    await client.spawn("crashed", FOREST + "os.abort()", str(client.folder))
    notice = await client.exit_of("crashed")
    assert notice.signal == signal.SIGABRT
    await eventually(lambda: not members("crashed"))
    await eventually(lambda: not pids_with(f"HIDDEN_FROM={client.folder}"))


async def test_ending_one_session_leaves_the_children_of_another_alone(client, members, eventually):
    plant = "import subprocess, time\nsubprocess.Popen(['/bin/sleep', '600'], start_new_session=True)\n"
    for name in ("one", "two"):
        await client.spawn(name, plant + "print('up', flush=True); time.sleep(600)")
        await client.output(name, b"up")
    await client.keeper.end("one", grace_stdin=0, grace_term=0.5)
    await client.exit_of("one")
    await eventually(lambda: not members("one"))
    assert len(members("two")) == 2


async def test_no_zombie_stays_behind(client, eventually):
    pid = (await client.keeper.hello()).pid
    await client.spawn(
        "a", "import os\nfor _ in range(5):\n  if os.fork() == 0:\n    os.setsid(); os._exit(0)"
    )
    await client.exit_of("a")

    def children():
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            return file.read().split()

    await eventually(lambda: children() == [])


async def test_signals_reach_the_whole_group_and_only_the_allowed_ones_pass(client):
    # The leader leaves last: once it has ended, the keeper sends TERM to a child that was not scheduled yet.
    code = (
        "import os, signal, time\n"
        "child = os.fork()\n"
        "def leave(*_): os.write(1, b'int\\n'); child and os.waitpid(child, 0); os._exit(0)\n"
        "signal.signal(signal.SIGINT, leave)\n"
        "os.write(1, b'up\\n')\n"
        "while True: time.sleep(600)"
    )
    await client.spawn("a", code)
    await client.output("a", b"up\nup\n")
    with pytest.raises(KeeperError) as refusal:
        await client.keeper.signal("a", "STOP")
    assert refusal.value.code == "bad_request"
    await client.keeper.signal("a", "INT")
    await client.exit_of("a")
    assert client.read("a").count(b"int\n") == 2


async def test_a_session_is_forgotten_only_after_its_end(client):
    await client.spawn("a", "import sys; sys.stdin.read()")
    with pytest.raises(KeeperError) as refusal:
        await client.keeper.forget("a")
    assert refusal.value.code == "running"
    await client.keeper.end("a")
    await client.exit_of("a")
    await client.keeper.forget("a")
    assert await client.keeper.list() == []
    assert os.listdir(client.folder / "spool") == []


async def test_a_stopped_agent_can_be_ended(client):
    await client.spawn(
        "a", "import os, signal; print('up', flush=True); os.kill(os.getpid(), signal.SIGSTOP)"
    )
    await client.output("a", b"up")
    await client.keeper.end("a", grace_stdin=0, grace_term=PATIENCE)
    assert (await client.exit_of("a")).signal == signal.SIGTERM


async def test_sessions_ending_together_signal_each_child_once(client):
    code = (
        "import os, signal, time\n"
        "signal.signal(signal.SIGTERM, lambda *a: os.write(1, b'TERM.'))\n"
        "ready, tell = os.pipe()\n"
        "if os.fork(): os.read(ready, 1), os._exit(0)\n"
        "os.setsid(); os.write(tell, b'.')\n"
        "while True: time.sleep(0.05)"
    )
    names = [f"s{number}" for number in range(8)]
    for name in names:
        await client.spawn(name, code)
    for name in names:
        await client.exit_of(name)
        await client.output(name, b"TERM.")
    assert [client.read(name) for name in names] == [b"TERM."] * 8
