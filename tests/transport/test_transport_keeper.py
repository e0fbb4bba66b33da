"""The daemon's hold on the keeper: started once and detached, errors typed, positions coalesced."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest
from tests.waiting import PATIENCE

from bascule.keeper.frames import MAX_BLOB
from bascule.transport.errors import KeeperError, KeeperGone, KeeperNotStarted
from bascule.transport.keeper import KeeperConnection, ensure_keeper
from bascule.transport.position import Position, PositionPost
from bascule.transport.spool import SpoolReader


async def test_a_keeper_is_started_detached_and_only_once(folder):
    await asyncio.gather(*(ensure_keeper(folder) for _ in range(4)))
    connection = await KeeperConnection.connect(folder)
    keeper = await connection.hello()
    assert keeper.protocol == 1
    assert os.getsid(keeper.pid) == keeper.pid != os.getsid(0)
    links = [os.readlink(f"/proc/{keeper.pid}/fd/{number}") for number in range(3)]
    assert links == ["/dev/null", "/dev/null", str(folder / "keeper.log")]
    await ensure_keeper(folder)
    assert await connection.hello() == keeper
    await connection.aclose()


async def test_the_keeper_outlives_the_server_that_started_it_and_its_agent_lives_on(folder):
    code = (
        "import asyncio, os, sys\n"
        "from pathlib import Path\n"
        "from bascule.transport.keeper import KeeperConnection, ensure_keeper\n"
        "async def main():\n"
        "    folder = Path(sys.argv[1])\n"
        "    await ensure_keeper(folder)\n"
        "    keeper = await KeeperConnection.connect(folder)\n"
        "    await keeper.spawn('a', ['/bin/cat'], {}, '/', spawn_id='x')\n"
        "    os.kill(os.getpid(), 9)\n"
        "asyncio.run(main())"
    )
    server = await asyncio.create_subprocess_exec(sys.executable, "-c", code, str(folder))
    assert await asyncio.wait_for(server.wait(), PATIENCE) == -signal.SIGKILL
    connection = await KeeperConnection.connect(folder)
    state = (await connection.list())[0]
    assert (state.session, state.exit, state.stdin_open, state.spawn_id) == ("a", None, True, "x")
    await connection.write("a", "w", b"still alive")
    await connection.aclose()


@pytest.mark.row("S34")
async def test_the_keeper_itself_carries_nothing_of_the_server_environment(folder, monkeypatch):
    monkeypatch.setenv("GH_TOKEN", "canary")
    monkeypatch.setenv("BASCULE_KEEPER", "an-outer-keeper")
    await ensure_keeper(folder)
    connection = await KeeperConnection.connect(folder)
    environment = Path(f"/proc/{(await connection.hello()).pid}/environ").read_bytes()
    assert b"canary" not in environment
    assert b"BASCULE" not in environment
    await connection.aclose()


async def test_a_keeper_that_cannot_start_says_why(folder):
    folder.chmod(0o755)
    with pytest.raises(KeeperNotStarted, match="open to others"):
        await ensure_keeper(folder)


async def test_without_a_keeper_connecting_raises_keeper_gone(folder):
    with pytest.raises(KeeperGone):
        await KeeperConnection.connect(folder)


async def test_a_lost_keeper_fails_what_waits_and_what_is_asked_later(folder):
    await ensure_keeper(folder)
    connection = await KeeperConnection.connect(folder)
    keeper = await connection.hello()
    await connection.spawn("deaf", ["/bin/sleep", "600"], {}, "/", spawn_id="x")
    stuck = asyncio.create_task(connection.write("deaf", "w", b"x" * 1_000_000))
    await connection.list()
    os.kill(keeper.pid, signal.SIGKILL)
    with pytest.raises(KeeperGone):
        await asyncio.wait_for(stuck, PATIENCE)
    with pytest.raises(KeeperGone):
        await connection.list()
    connection.post_position("deaf", Position(0, 0, 0, 0))
    await connection.aclose()
    # The next start sweeps what was left.
    await ensure_keeper(folder)


async def test_a_refusal_carries_its_code_and_words(folder):
    await ensure_keeper(folder)
    connection = await KeeperConnection.connect(folder)
    with pytest.raises(KeeperError) as refusal:
        await connection.signal("nobody", "TERM")
    assert refusal.value.code == "unknown_session"
    assert "nobody" in refusal.value.message
    with pytest.raises(KeeperError):
        await connection.position("nobody", Position(0, 0, 0, 0))
    with pytest.raises(KeeperError) as too_large:
        await connection.write("nobody", "w", bytes(MAX_BLOB + 1))
    assert too_large.value.code == "too_large"
    await connection.aclose()


async def test_positions_are_coalesced_to_one_in_flight_per_session():
    sent, replies = [], []

    def send(message):
        sent.append((message["session"], message["out"]))
        replies.append(asyncio.get_running_loop().create_future())
        return replies[-1]

    post = PositionPost(send)
    told = [post.post("a", Position(number, 0, 0, 0)) for number in range(10)]
    post.post("b", Position(7, 0, 0, 0))
    assert sent == [("a", 0), ("b", 7)]
    replies[0].set_result({})
    await told[0]
    assert sent[2:] == [("a", 9)]
    replies[2].set_result({})
    await asyncio.gather(*told)
    replies[1].set_result({})


async def test_posted_writes_arrive_in_order_and_each_is_answered_once(folder):
    await ensure_keeper(folder)
    connection = await KeeperConnection.connect(folder)
    await connection.spawn("a", ["/bin/cat"], {}, "/", spawn_id="a")
    answers: list[KeeperError | KeeperGone | None] = []
    for number in range(100):
        connection.post_write("a", f"w{number}", b"%02d" % number, answers.append)
    connection.post_write("nobody", "w", b"x", answers.append)
    connection.post_resize("a", 80, 24, answers.append)
    await connection.write("a", "last", b"!")
    assert answers[:100] == [None] * 100
    assert [answer.code for answer in answers[100:] if isinstance(answer, KeeperError)] == [
        "unknown_session",
        "not_a_terminal",
    ]
    await connection.aclose()
    connection.post_write("a", "late", b"x", answers.append)
    await asyncio.sleep(0)
    assert isinstance(answers[-1], KeeperGone)
    assert len(answers) == 103
    reader = SpoolReader(folder, "a", "out")
    expected = b"".join(b"%02d" % number for number in range(100)) + b"!"
    async with asyncio.timeout(PATIENCE):
        while reader.read(0, 1000) != expected:  # noqa: ASYNC110 - cat echoes when it likes
            await asyncio.sleep(0.02)
    reader.close()
