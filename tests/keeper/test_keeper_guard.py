"""Standing guard: one keeper per folder, private files, strangers refused, nonsense survived."""

import asyncio
import os
import random
import signal
import socket
import stat
import struct
import subprocess
import sys

import pytest
from tests.waiting import PATIENCE

from bascule.keeper.frames import FrameReader, encode

REQUESTS = [
    {"id": 1, "op": "spawn", "session": "f", "argv": ["/bin/true"], "env": {}, "cwd": "/"},
    {"id": 2, "op": "write", "session": "echo", "write_id": "x"},
    {"id": 3, "op": "position", "session": "echo", "out": 0, "err": 0},
    {"id": 4, "op": "list"},
    {"id": 5, "op": "resize", "session": "echo", "cols": 1, "rows": 1},
    {"id": 6, "op": "watch"},
]
STRANGE = [None, -1, 2**70, 1.5, float("inf"), "", "x" * 5000, [], {}, [[]], True, "\ud800", "../..", "\0"]


def connect(folder):
    raw = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    raw.connect(str(folder / "keeper.sock"))
    raw.settimeout(PATIENCE)
    return raw


def corpus(generator):
    """Broken headers, bodies that lie, and requests with one field made strange."""
    yield b""
    yield b"\0"
    yield struct.pack(">II", 2**32 - 1, 0)
    yield struct.pack(">II", 2, 2**32 - 1) + b"{}"
    yield struct.pack(">II", 100, 100) + b"{}"
    yield struct.pack(">II", 2, 0) + b"[]"
    yield struct.pack(">II", 50_000, 0) + b"[" * 50_000
    yield encode({"op": "hello"})
    yield encode({"id": "x", "op": "hello"})
    for _ in range(50):
        yield generator.randbytes(generator.randrange(1, 200))
    for request in REQUESTS:
        for field in request:
            for value in STRANGE:
                yield encode({**request, field: value}, b"blob")


async def test_malformed_frames_and_strange_fields_never_end_the_keeper(world):
    process = await world.start()
    client = await world.client()
    await client.spawn("echo", "import sys\nfor line in sys.stdin: print(line, end='', flush=True)")
    generator = random.Random(7)
    for data in corpus(generator):
        raw = connect(world.folder)
        raw.sendall(data)
        if generator.random() < 0.5:
            raw.shutdown(socket.SHUT_WR)
        raw.close()
    await client.keeper.write("echo", "still", b"still here\n")
    await client.output("echo", b"still here")
    assert process.poll() is None
    assert "Traceback" not in (world.folder / "keeper.log").read_text()


async def test_a_client_that_breaks_the_protocol_is_cut_off(world, client):
    raw = connect(world.folder)
    raw.sendall(struct.pack(">II", 2**31, 0))
    assert await asyncio.to_thread(raw.recv, 10) == b""
    raw.close()


async def test_an_unknown_operation_is_refused_and_the_connection_goes_on(world, client):
    raw = connect(world.folder)
    raw.sendall(encode({"id": 1, "op": "dance"}) + encode({"id": 2, "op": "hello"}))
    reader, seen = FrameReader(), []
    while len(seen) < 2:
        reader.feed(await asyncio.to_thread(raw.recv, 4096))
        while frame := reader.next():
            seen.append(frame[0])
    raw.close()
    assert (seen[0]["error"], seen[1]["ok"]["protocol"]) == ("unknown_op", 1)


async def test_a_client_that_never_reads_does_not_hold_up_the_others(world, client):
    deaf = connect(world.folder)
    deaf.sendall(encode({"id": 1, "op": "watch"}))
    deaf.setblocking(False)
    try:
        for number in range(200_000):
            deaf.sendall(encode({"id": number, "op": "list"}))
    except BlockingIOError:
        # The keeper stopped taking its requests: what it may cost is bounded.
        pass
    else:
        pytest.fail("the keeper took every request of a client that reads nothing")
    await client.spawn("a", "print('x' * 1000000)")
    assert (await client.exit_of("a")).out == 1000001
    deaf.close()


async def test_a_second_keeper_does_not_start_and_says_so(world):
    first = await world.start()
    second = await world.start()
    _, words = await asyncio.to_thread(second.communicate)
    assert second.returncode == 0
    assert b"already runs" in words
    assert str(first.pid).encode() in words
    client = await world.client()
    assert (await client.keeper.hello()).pid == first.pid


async def test_a_killed_keeper_leaves_its_output_readable_and_its_agents_are_swept(world, alive, eventually):
    first = await world.start()
    client = await world.client()
    code = (
        "import signal, time\n"
        "for s in (signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE): signal.signal(s, signal.SIG_IGN)\n"
        "print('before', flush=True)\n"
        "while True: time.sleep(600)"
    )
    spawned = await client.spawn("a", code)
    await client.output("a", b"before")
    first.kill()
    await asyncio.to_thread(first.wait)
    await client.keeper.wait_closed()
    assert alive(spawned)
    assert (world.folder / "keeper.sock").exists()
    # The stale socket is recovered, the agent nobody owns is ended, its folder waits for the daemon.
    await world.start()
    assert not alive(spawned)
    second = await world.client()
    state = (await second.keeper.list())[0]
    assert (state.session, state.out_end, state.pid, state.exit.lost) == ("a", 7, None, True)
    assert (await second.exit_of("a")).lost
    assert second.read("a") == b"before\n"
    await second.keeper.forget("a")
    assert await second.keeper.list() == []
    assert os.listdir(world.folder / "spool") == []


async def test_sigterm_ends_the_sessions_and_removes_the_socket(world, alive):
    process = await world.start()
    client = await world.client()
    code = (
        "import signal, sys, time\n"
        "signal.signal(signal.SIGTERM, lambda *a: sys.exit(0))\n"
        "print('up', flush=True)\n"
        "time.sleep(600)"
    )
    spawned = await client.spawn("a", code)
    await client.output("a", b"up")
    process.send_signal(signal.SIGTERM)
    assert await asyncio.to_thread(process.wait, PATIENCE) == 0
    assert not alive(spawned)
    assert not (world.folder / "keeper.sock").exists()


async def test_a_keeper_with_nothing_to_keep_ends_by_itself(world):
    process = await world.start("--idle", "5")  # enough for a client to come, however busy the machine is
    client = await world.client()
    await client.spawn("a", "import sys; sys.stdin.read()")
    await client.keeper.aclose()
    with pytest.raises(subprocess.TimeoutExpired):
        await asyncio.to_thread(process.wait, 6)
    client = await world.client()
    await client.keeper.end("a")
    await client.exit_of("a")
    await client.keeper.forget("a")
    await client.keeper.aclose()
    assert await asyncio.to_thread(process.wait, PATIENCE) == 0


@pytest.mark.row("S60")
async def test_everything_is_private_even_under_an_open_umask(world):
    folder = world.folder / "made"
    world.folder = folder
    await world.start(preexec_fn=lambda: os.umask(0))
    client = await world.client()
    await client.spawn("a", "import sys; print(1); print(2, file=sys.stderr)")
    await client.exit_of("a")
    modes = {}
    for path in [folder, *folder.rglob("*")]:
        facts = path.lstat()
        modes[path.name] = (stat.S_ISDIR(facts.st_mode), stat.S_IMODE(facts.st_mode))
    assert len(modes) == 9
    assert all(mode == (0o700 if is_dir else 0o600) for is_dir, mode in modes.values()), modes
    world.folder = folder.parent


async def test_a_folder_open_to_others_is_refused(world):
    world.folder.chmod(0o755)
    process = await world.start()
    _, words = await asyncio.to_thread(process.communicate)
    assert process.returncode == 1
    assert b"open to others" in words
    world.folder.chmod(0o700)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: it becomes another user")
async def test_a_client_of_another_user_is_refused(world):
    await world.start()
    world.folder.chmod(0o711)
    (world.folder / "keeper.sock").chmod(0o666)
    code = (
        "import os, socket, sys\n"
        "os.setgid(65534); os.setuid(65534)\n"
        "s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])\n"
        "try: print(s.recv(10))\n"
        "except ConnectionError: print(b'')"
    )
    command = [sys.executable, "-S", "-c", code, str(world.folder / "keeper.sock")]
    stranger = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
    words, _ = await asyncio.wait_for(stranger.communicate(), PATIENCE)
    assert words == b"b''\n"
    assert "refused a client of uid 65534" in (world.folder / "keeper.log").read_text()


async def test_the_log_is_bounded(world):
    await world.start()
    client = await world.client()
    (world.folder / "keeper.log").write_bytes(b"x" * (2 << 20))
    for number in range(3):
        await client.keeper.spawn(f"s{number}", ["/bin/true"], {}, "/", spawn_id="x")
        await client.exit_of(f"s{number}")
    assert (world.folder / "keeper.log").stat().st_size < 4096
    assert (world.folder / "keeper.log.1").stat().st_size == 2 << 20
