"""Storage: segments cut and trimmed at their offsets, and a full disk holds the agent back without loss."""

import asyncio
import hashlib
import os
import subprocess
import sys

import pytest

from bascule.keeper.layout import SEGMENT_BYTES
from bascule.keeper.spool import Spool
from bascule.transport.position import Position


def fill(spool, data):
    view = memoryview(data)
    while view:
        view = view[spool.append(view) :]


def test_segments_are_cut_at_their_size_and_trimmed_only_when_wholly_below(tmp_path):
    spool = Spool(str(tmp_path), "out")
    fill(spool, b"x" * (2 * SEGMENT_BYTES + 5))
    assert sorted(os.listdir(tmp_path)) == [f"out.{n * SEGMENT_BYTES:020d}" for n in range(3)]
    spool.trim(SEGMENT_BYTES - 1)
    assert spool.base == 0
    spool.trim(SEGMENT_BYTES)
    assert spool.base == SEGMENT_BYTES
    spool.trim(10 * SEGMENT_BYTES)
    assert (spool.base, spool.end) == (2 * SEGMENT_BYTES, 2 * SEGMENT_BYTES + 5)
    spool.close()


def test_a_spool_opened_again_goes_on_at_its_end(tmp_path):
    first = Spool(str(tmp_path), "out")
    fill(first, b"x" * SEGMENT_BYTES)
    first.trim(SEGMENT_BYTES)
    first.close()
    (tmp_path / "out.tmp").touch()
    again = Spool(str(tmp_path), "out")
    # The newest segment stays even when all of it is committed: it alone says where the stream ends.
    assert (again.base, again.end) == (0, SEGMENT_BYTES)
    fill(again, b"y")
    again.close()
    assert (tmp_path / f"out.{SEGMENT_BYTES:020d}").read_bytes() == b"y"


async def test_the_list_tells_base_and_end_after_trimming(client):
    await client.spawn("a", f"import sys; sys.stdout.write('x' * {SEGMENT_BYTES + 10})")
    notice = await client.exit_of("a")
    await client.keeper.position("a", Position(notice.out, 0, SEGMENT_BYTES, 0))
    state = (await client.keeper.list())[0]
    assert (state.out_base, state.out_end) == (SEGMENT_BYTES, SEGMENT_BYTES + 10)


@pytest.fixture
def small_disk(world):
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4m,mode=700", "tmpfs", str(world.folder)], capture_output=True
    )
    if mounted.returncode:
        pytest.skip("needs root: it mounts a small file system")
    yield
    subprocess.run(["umount", "-l", str(world.folder)], check=True)


@pytest.mark.row("REL-19")
async def test_a_full_disk_holds_the_agent_back_and_nothing_is_lost(small_disk, world):
    process = await world.start()
    client = await world.client()
    ballast = world.folder / "ballast"
    ballast.write_bytes(b"b" * (3 << 20))
    await client.spawn("a", "import sys\nfor i in range(20): sys.stdout.buffer.write(bytes([i]) * 100_000)")
    await client.until(lambda: client.storage.get("a") == "ENOSPC")
    assert process.poll() is None
    held = (await client.keeper.list())[0]
    assert held.out_end < 2_000_000
    assert held.exit is None
    ballast.unlink()
    await client.until(lambda: client.storage["a"] is None)
    notice = await client.exit_of("a")
    assert notice.out == 2_000_000
    expected = b"".join(bytes([number]) * 100_000 for number in range(20))
    assert hashlib.sha256(client.read("a")).digest() == hashlib.sha256(expected).digest()
    assert await asyncio.to_thread(subprocess.run, [sys.executable, "-S", "-c", "pass"])
