"""Measures of memory: what an idle session costs, and what a viewer that never reads costs."""

import time
from collections.abc import Iterator

from contestants import WAIT_SECONDS, Audience, Bascule, most_resident, resident, stalled_viewer
from streaming import Sizes
from table import Figure

MB = 1024 * 1024


def wait_for_turn(bascule: Bascule, session: str) -> None:
    """Until its first turn is over."""
    deadline = time.monotonic() + WAIT_SECONDS
    while (now := bascule.session(session)).get("phase") != "waiting" or not now.get("turns"):
        if time.monotonic() > deadline:
            raise RuntimeError(f"session {session} is not done: {now}")
        time.sleep(0.02)


def idle_sessions(sizes: Sizes) -> Iterator[Figure]:
    """Each session has answered one prompt and waits. Its agent's memory is not counted."""
    with Bascule() as bascule:
        first = bascule.create()
        bascule.send(first, "deltas 10")
        wait_for_turn(bascule, first)
        keeper = bascule.keeper_pid()
        assert keeper is not None
        before = [resident(bascule.pid), resident(keeper)]
        sessions = [bascule.create() for _ in range(sizes.sessions)]
        for session in sessions:
            bascule.send(session, "deltas 10")
        for session in sessions:
            wait_for_turn(bascule, session)
        after = [resident(bascule.pid), resident(keeper)]
    grown = [(now - then) / sizes.sessions / MB for now, then in zip(after, before, strict=True)]
    server, keepers = (
        f"{then / MB:.1f} → {now / MB:.1f} MB" for then, now in zip(before, after, strict=True)
    )
    seen = f"server {server}, keeper {keepers}"
    yield Figure(f"an idle session, of {sizes.sessions}", sum(grown), " MB", seen, most=0.5)


def stalled(sizes: Sizes) -> Iterator[Figure]:
    """One viewer reads everything, the other nothing, while the agent says as much as it can."""
    with Bascule() as bascule:
        session = bascule.create()
        bascule.send(session, "deltas 10")
        wait_for_turn(bascule, session)
        idle = resident(bascule.pid)
        fault = ""
        with stalled_viewer(bascule, session):
            for prompt, markers in (
                (f"deltas {sizes.flood}", sizes.flood),
                (f"tools {sizes.flood // 10}", sizes.flood // 10),
            ):
                audience = Audience(bascule, session, viewers=1, markers=markers, seconds=120)
                bascule.send(session, prompt)
                report = audience.report()
                if report["short"]:
                    fault = f"the viewer that reads got {report['markers']} of {markers}"
            after, most = resident(bascule.pid), most_resident(bascule.pid)
    sizes_seen = f"{idle / MB:.1f} MB idle, {after / MB:.1f} after, {most / MB:.1f} at most"
    seen = f"{sizes_seen}; {sizes.flood:,} pieces and {sizes.flood // 10:,} tool calls"
    yield Figure("a stalled viewer in a flood", after / idle, " ×", seen, most=2.0, fault=fault)
