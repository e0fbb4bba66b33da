"""Measures beside CloudCLI: a chat's lateness, the cold start, memory with many sessions."""

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import psutil
from cloudcli import CloudCli, install
from contestants import Bascule
from opening import seconds_to_answer, start_bascule
from streaming import Lateness, Sizes
from table import Figure, spread
from terminal_peers import Wire
from weight import wait_for_turn

RATE = 100  # whole messages a second, as an agent never speaks faster
STAMP = re.compile("¶".encode() + rb"(\d+) ")
MB = 1024 * 1024


def beside_cloudcli(sizes: Sizes) -> Iterator[Figure]:
    program = install()
    if program is None:
        yield Figure("everything beside CloudCLI", 0.0, "", "", absent="npm can't install it here")
        return
    yield from chat(program, sizes)
    yield from cold_start(program, sizes)
    yield from memory(program, sizes)


def chat(program: Path, sizes: Sizes) -> Iterator[Figure]:
    """Every round is a new session, so its first turn counts; the first round is that of a new server."""
    ours, theirs = list[Lateness](), list[Lateness]()
    with CloudCli(program) as cloud, Bascule() as bascule:
        for n in range(sizes.rounds):
            turns = [
                lambda: ours.append(_late_in_bascule(bascule, sizes)),
                lambda: theirs.append(_late_in_cloudcli(cloud, sizes)),
            ]
            for turn in turns if n % 2 else turns[::-1]:
                turn()
    for centile, most in (("p50", 1.2), ("p99", 1.5)):
        mine, yours = ([getattr(one, centile) for one in side] for side in (ours, theirs))
        ratios = [one / other for one, other in zip(mine, yours, strict=True)]
        seen = f"{spread(mine)} ms against {spread(yours)} ms, {RATE}/s"
        yield Figure(f"chat {centile}, of CloudCLI's", median(ratios), " ×", seen, most=most)


def _late_in_bascule(server: Bascule, sizes: Sizes) -> Lateness:
    session = server.create()
    order = server.order(session)
    wire = Wire(server.port, order["path"], order["headers"]["Authorization"].removeprefix("Bearer "))
    wire.send(order["subscribe"].encode(), 1)
    while b'"ok"' not in wire.receive()[1]:
        pass
    server.send(session, f"spaced {sizes.spaced} {RATE}")
    return _late(wire, sizes.spaced)


def _late_in_cloudcli(server: CloudCli, sizes: Sizes) -> Lateness:
    wire = Wire(server.port, f"/ws?token={server.token}")
    _say(wire, server.create(), f"spaced {sizes.spaced} {RATE}")
    return _late(wire, sizes.spaced)


def _say(wire: Wire, session: str, text: str) -> None:
    wire.send(json.dumps({"type": "chat.send", "sessionId": session, "content": text}).encode(), 1)


def _late(wire: Wire, count: int) -> Lateness:
    late: list[int] = []
    while len(late) < count:
        _, payload = wire.receive()
        now = time.monotonic_ns()
        late += [now - int(stamp) for stamp in STAMP.findall(payload)]
    wire.close()
    return Lateness.of(late)


def cold_start(program: Path, sizes: Sizes) -> Iterator[Figure]:
    _start_cloudcli(program), start_bascule()  # so that both find their files in memory
    theirs, ours = list[float](), list[float]()
    for _ in range(sizes.rounds):
        theirs.append(_start_cloudcli(program) * 1000)
        ours.append(start_bascule() * 1000)
    ratios = [mine / yours for mine, yours in zip(ours, theirs, strict=True)]
    seen = f"{spread(ours, 0)} ms against {spread(theirs, 0)} ms"
    yield Figure("cold start, of CloudCLI's", median(ratios), " ×", seen, most=0.45)


def _start_cloudcli(program: Path) -> float:
    cloud = CloudCli(program)
    began = time.monotonic()
    process = cloud.launch()
    try:
        return seconds_to_answer(process, cloud.port, began)
    finally:
        cloud.remove()


def memory(program: Path, sizes: Sizes) -> Iterator[Figure]:
    """Of the servers alone, agents excluded: their fair share of the memory they use (PSS)."""
    counts = (1, sizes.sessions - 1)
    theirs, ours = list[list[float]](), list[list[float]]()
    for _ in range(sizes.rounds):
        with CloudCli(program) as cloud:
            theirs.append([_speak_in_cloudcli(cloud, count) for count in counts])
        with Bascule() as bascule:
            ours.append([_speak_in_bascule(bascule, count) for count in counts])
    for n, count in enumerate((1, sizes.sessions)):
        mine, yours = [one[n] for one in ours], [one[n] for one in theirs]
        ratio = median(a / b for a, b in zip(mine, yours, strict=True))
        name = f"memory at {count} session{'s' if count > 1 else ''}, of CloudCLI's"
        yield Figure(name, ratio, " ×", f"{spread(mine, 1)} MB against {spread(yours, 1)} MB", most=0.45)


def _speak_in_cloudcli(cloud: CloudCli, count: int) -> float:
    for _ in range(count):
        wire = Wire(cloud.port, f"/ws?token={cloud.token}")
        _say(wire, cloud.create(), "messages 5")
        while b'"kind":"complete"' not in wire.receive()[1]:
            pass
        wire.close()
    return _share(cloud.pids)


def _speak_in_bascule(bascule: Bascule, count: int) -> float:
    sessions = [bascule.create() for _ in range(count)]
    for session in sessions:
        bascule.send(session, "messages 5")
    for session in sessions:
        wait_for_turn(bascule, session)
    keeper = bascule.keeper_pid()
    assert keeper is not None
    return _share([bascule.pid, keeper])


def _share(pids: list[int]) -> float:
    return sum(psutil.Process(pid).memory_full_info().pss for pid in pids) / MB
