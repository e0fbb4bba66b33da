"""Output: spooled whole, by offset, held back rather than dropped, and one session never another's burden."""

import asyncio
import hashlib
from pathlib import Path

import pytest
from tests.waiting import stretched

from bascule.transport.position import Position


def resident(pid):
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) * 1024
    raise AssertionError("no VmRSS")


def peak(pid):
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) * 1024
    raise AssertionError("no VmHWM")


async def test_output_and_errors_are_spooled_apart_and_the_exit_comes_after_them(client):
    await client.spawn("a", "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)")
    notice = await client.exit_of("a")
    assert (notice.code, notice.signal, notice.out, notice.err) == (3, None, 4, 4)
    assert client.read("a") == b"out\n"
    assert client.read("a", "err") == b"err\n"


async def test_an_agent_that_ends_at_once_still_has_its_exit_told(client):
    for number in range(20):
        await client.keeper.spawn(f"s{number}", ["/bin/true"], {}, "/", spawn_id="x")
    for number in range(20):
        assert (await client.exit_of(f"s{number}")).code == 0


async def test_an_agent_killed_by_a_signal_is_told_as_such(client):
    await client.spawn("a", "import os; os.kill(os.getpid(), 9)")
    notice = await client.exit_of("a")
    assert (notice.code, notice.signal) == (None, 9)


@pytest.mark.row("REL-18")
async def test_100_mb_without_a_newline_pass_through_in_order_and_bounded_memory(client):
    pid = (await client.keeper.hello()).pid
    before = resident(pid)
    code = "import sys\nfor i in range(100): sys.stdout.buffer.write(bytes([i]) * 1048576)"
    await client.spawn("a", code)
    digest = hashlib.sha256()
    await client.drain("a", digest.update)
    expected = hashlib.sha256()
    for number in range(100):
        expected.update(bytes([number]) * 1048576)
    assert digest.digest() == expected.digest()
    assert peak(pid) - before < 16 * 1048576
    # What was committed is gone from the disk once the keeper has heard: only the newest segment stays.
    await client.keeper.hello()
    assert len(list((client.folder / "spool" / "a").glob("out.*"))) <= 2


async def test_nothing_is_dropped_while_nobody_reads_and_the_agent_is_held_back(client, eventually):
    code = "import sys\nfor i in range(20): sys.stdout.buffer.write(bytes([i]) * 1048576)"
    await client.spawn("a", code, spool_cap=1048576)
    await client.until(lambda: client.ends.get("a", (0, 0))[0] > 1048576)
    # Held back: what lies in the spool stays under the cap and one turn, and the agent cannot end.
    state = (await client.keeper.list())[0]
    assert state.out_end <= 1048576 + 2 * 262144
    assert state.exit is None
    digest = hashlib.sha256()
    await client.drain("a", digest.update)
    expected = hashlib.sha256(b"".join(bytes([number]) * 1048576 for number in range(20)))
    assert digest.digest() == expected.digest()
    assert client.exits["a"].code == 0


async def test_the_exit_waits_for_bytes_held_back_in_the_pipe(client):
    await client.spawn("a", "import sys; sys.stdout.buffer.write(b'x' * 400000)", spool_cap=100_000)
    await client.until(lambda: client.ends.get("a", (0, 0))[0] > 100_000)
    seen = []
    await client.drain("a", seen.append)
    assert sum(map(len, seen)) == 400000


async def test_a_child_that_keeps_the_pipe_open_delays_the_exit_by_a_second_only(client, eventually):
    code = (
        "import os, time, signal\n"
        "signal.signal(signal.SIGTERM, lambda *a: (os.write(1, b'late'), os._exit(0)))\n"
        "ready, tell = os.pipe()\n"
        "if os.fork(): os.read(ready, 1), os._exit(0)\n"
        "os.write(tell, b'.')\n"
        "while True: time.sleep(0.05)"
    )
    await client.spawn("a", code)
    assert (await client.exit_of("a")).code == 0
    # The sweep ends the holder, whose last words are still spooled.
    assert await client.output("a", b"late") == b"late"


async def test_a_flood_in_one_session_leaves_another_prompt(client):
    flood = "import sys\nwhile True: sys.stdout.buffer.write(b'x' * 65536)"
    await client.spawn("flood", flood, spool_cap=1 << 40)
    echo = "import sys\nfor line in sys.stdin: print(line, end='', flush=True)"
    await client.spawn("echo", echo)
    reader = asyncio.create_task(discard(client, "flood"))
    loop = asyncio.get_running_loop()
    slowest = 0.0
    with stretched() as seen:
        for number in range(50):
            began = loop.time()
            await client.keeper.write("echo", f"w{number}", b"%d.\n" % number)
            await client.output("echo", b"%d.\n" % number)
            slowest = max(slowest, loop.time() - began)
    reader.cancel()
    assert slowest < 2.0 * max(seen)


async def discard(client, session):
    while True:
        await client.until(lambda: session in client.ends)
        out, _ = client.ends.pop(session)
        await client.keeper.position(session, Position(out, 0, out, 0))


async def test_a_new_client_goes_on_by_offset_where_the_killed_one_was(world, client):
    code = "import sys\nfor line in sys.stdin: print('got', line, end='', flush=True)"
    await client.spawn("a", code)
    await client.keeper.write("a", "w1", b"one\n")
    first = await client.output("a", b"one\n")
    await client.keeper.aclose()
    second = await world.client()
    await second.keeper.write("a", "w2", b"two\n")
    await second.output("a", b"two\n")
    assert second.read("a", offset=len(first)) == b"got two\n"


async def test_idle_sessions_cost_the_keeper_little_memory(client):
    pid = (await client.keeper.hello()).pid
    await client.keeper.spawn("warm", ["/bin/cat"], {}, "/", spawn_id="x")
    before = resident(pid)
    for number in range(40):
        await client.keeper.spawn(f"s{number}", ["/bin/cat"], {}, "/", spawn_id="x")
    assert (resident(pid) - before) / 40 < 0.25 * 1048576
