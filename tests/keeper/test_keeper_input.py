"""Input: whole, in order, once per write_id, and an agent that never reads delays only itself."""

import asyncio
import hashlib

import pytest

from bascule.transport.errors import KeeperError

DIGEST = "import sys, hashlib; print(hashlib.sha256(sys.stdin.buffer.read()).hexdigest())"
ECHO = "import sys\nfor line in sys.stdin: print(line, end='', flush=True)"
DEAF = "import time; time.sleep(600)"


async def test_large_writes_arrive_whole_and_in_order(client):
    await client.spawn("a", DIGEST)
    chunks = [bytes([number]) * 700_001 for number in range(10)]
    await asyncio.gather(*(client.keeper.write("a", f"w{i}", chunk) for i, chunk in enumerate(chunks)))
    await client.keeper.close_stdin("a")
    await client.exit_of("a")
    assert client.read("a").decode().strip() == hashlib.sha256(b"".join(chunks)).hexdigest()


async def test_stdin_closes_only_after_what_was_queued(client):
    await client.spawn("a", "import time; time.sleep(0.3)\n" + DIGEST)
    data = b"z" * 1_000_000
    write = asyncio.create_task(client.keeper.write("a", "w", data))
    await asyncio.sleep(0)
    await client.keeper.close_stdin("a")
    await write
    await client.exit_of("a")
    assert client.read("a").decode().strip() == hashlib.sha256(data).hexdigest()


async def test_an_agent_that_never_reads_delays_only_its_own_writes(client):
    await client.spawn("deaf", DEAF)
    await client.spawn("echo", ECHO)
    stuck = asyncio.create_task(client.keeper.write("deaf", "big", b"x" * 1_000_000))
    await client.keeper.write("echo", "w", b"hello\n")
    assert await client.output("echo", b"hello\n")
    assert not stuck.done()
    assert {s.session: s.pending_writes for s in await client.keeper.list()} == {"deaf": 1, "echo": 0}
    await client.keeper.end("deaf", grace_stdin=0, grace_term=1)
    with pytest.raises(KeeperError) as refusal:
        await stuck
    assert refusal.value.code in ("stdin_closed", "ended")


async def test_too_much_waiting_for_a_deaf_agent_is_refused(client):
    await client.spawn("deaf", DEAF)
    first = asyncio.create_task(client.keeper.write("deaf", "w1", b"x" * (60 << 20)))
    await asyncio.sleep(0)
    with pytest.raises(KeeperError) as refusal:
        await client.keeper.write("deaf", "w2", b"x" * (10 << 20))
    assert refusal.value.code == "stdin_full"
    await client.keeper.end("deaf", grace_stdin=0, grace_term=0)
    with pytest.raises(KeeperError):
        await first


async def test_a_write_id_is_written_once_even_across_a_reconnect(world, client):
    await client.spawn("a", ECHO)
    await client.keeper.write("a", "w1", b"once\n")
    await client.keeper.write("a", "w1", b"once\n")
    await client.keeper.aclose()
    second = await world.client()
    await second.keeper.write("a", "w1", b"once\n")
    await second.keeper.write("a", "w2", b"end\n")
    assert await second.output("a", b"end\n") == b"once\nend\n"


async def test_a_write_begun_by_a_lost_client_is_finished_and_awaited_by_the_next(world, client):
    await client.spawn("a", "import sys\nsys.stdin.buffer.read(1)\n" + DIGEST)
    data = b"q" * 1_000_000
    lost = asyncio.create_task(client.keeper.write("a", "w1", data))
    second = await world.client()
    await second.until(lambda: "a" in second.ends)
    while not lost.done() and (await second.keeper.list())[0].pending_writes == 0:
        assert not lost.cancelled()
    await client.keeper.aclose()
    await second.keeper.write("a", "w1", data)
    await second.keeper.close_stdin("a")
    await second.exit_of("a")
    assert second.read("a").decode().strip() == hashlib.sha256(data[1:]).hexdigest()
    await asyncio.gather(lost, return_exceptions=True)


async def test_writing_to_an_agent_that_closed_its_stdin_is_refused(client):
    await client.spawn("a", "import os, time; os.close(0); print('closed', flush=True); time.sleep(600)")
    await client.output("a", b"closed")
    with pytest.raises(KeeperError) as refusal:
        await client.keeper.write("a", "w", b"x")
    assert refusal.value.code == "stdin_closed"


async def test_writing_to_an_ended_or_unknown_session_is_refused(client):
    await client.spawn("a", "pass")
    await client.exit_of("a")
    with pytest.raises(KeeperError) as ended:
        await client.keeper.write("a", "w", b"x")
    assert ended.value.code in ("ended", "stdin_closed")
    with pytest.raises(KeeperError) as unknown:
        await client.keeper.write("b", "w", b"x")
    assert unknown.value.code == "unknown_session"
