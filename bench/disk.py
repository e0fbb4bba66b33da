"""Measures sessions begun outside Bascule: the first look through a thousand, and listing them then."""

import argparse
import json
import os
import time
from pathlib import Path

from contestants import Bascule
from table import HEAD, Figure, row, spread

MB = 1024 * 1024
ROUNDS = 20
TURNS = 12  # of each session
CONTEXT = "x" * 4000  # what agents write down besides: requests, snapshots


def _turn(session: str, folder: str, n: int, last: str | None) -> tuple[list[dict[str, object]], str]:
    at = f"2026-01-{n % 27 + 1:02d}T10:00:00.000Z"
    common = {
        "isSidechain": False,
        "timestamp": at,
        "cwd": folder,
        "sessionId": session,
        "version": "2.1.325",
    }

    def record(kind: str, name: str, parent: str | None, message: object) -> dict[str, object]:
        return {"type": kind, "uuid": f"{name}{n}", "parentUuid": parent, "message": message, **common}

    call = {"type": "tool_use", "id": f"t{n}", "name": "Bash", "input": {"command": f"make part-{n}"}}
    result = {"type": "tool_result", "tool_use_id": f"t{n}", "content": f"part {n} is made\n" * 20}
    text = {"type": "text", "text": f"Part {n} of {session} is done, and here is what changed. " * 6}
    lines: list[dict[str, object]] = [
        record("user", "u", last, {"role": "user", "content": f"Make part {n}, and say what changed."}),
        {"type": "api-request", "sessionId": session, "body": CONTEXT},
        record("assistant", "a", f"u{n}", {"id": f"m{n}", "role": "assistant", "content": [call]}),
        record("user", "r", f"a{n}", {"role": "user", "content": [result]}),
        record("assistant", "b", f"r{n}", {"id": f"k{n}", "role": "assistant", "content": [text]}),
        {**record("system", "d", f"b{n}", None), "subtype": "turn_duration", "durationMs": 900},
    ]
    return lines, f"d{n}"


def furnish(home: Path, count: int) -> int:
    """That many conversations of Claude Code, in twenty projects; the bytes they take."""
    size = 0
    for number in range(count):
        session = f"{number:08x}-0000-4000-8000-000000000000"
        path = home / f".claude/projects/-work-{number % 20}/{session}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        last: str | None = None
        lines: list[str] = []
        for n in range(TURNS):
            records, last = _turn(session, str(home), n, last)
            lines += [json.dumps(one) for one in records]
        path.write_text("\n".join(lines) + "\n")
        os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))
        size += path.stat().st_size
    return size


def _looked(bascule: Bascule) -> tuple[float, list[int]]:
    """Seconds until a look through the files is over, and the steps at which it told how far it was."""
    began = time.monotonic()
    told: list[int] = []
    while (now := bascule.talk("GET", "/api/found-sessions?limit=1"))["looking"]["running"]:
        told.append(now["looking"]["done"])
        time.sleep(0.1)
    return time.monotonic() - began, told


def _listed(bascule: Bascule, count: int) -> float:
    began = time.monotonic()
    answer = bascule.talk("GET", f"/api/found-sessions?limit={count}")
    taken = (time.monotonic() - began) * 1000
    assert len(answer["sessions"]) == count, len(answer["sessions"])
    return taken


def measure(count: int) -> list[Figure]:
    bascule = Bascule()
    size = furnish(bascule.home, count)
    with bascule:
        first, told = _looked(bascule)
        listing = [_listed(bascule, count) for _ in range(ROUNDS)]
        # The looks at the disk that listing set off are over before the next is measured.
        _looked(bascule)
        time.sleep(2.5)
        again, _ = _looked(bascule)
    shown = f"{size / MB:.0f} MB, told {len(set(told))} times how far it was"
    return [
        Figure(f"list {count:,} found sessions", max(listing), " ms", f"{spread(listing)} ms", most=300),
        Figure(f"first look through {count:,}", first, " s", shown),
        Figure("another look when nothing changed", again * 1000, " ms", "stat of every file"),
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=1000)
    print(HEAD)
    for figure in measure(parser.parse_args().sessions):
        print(row(figure))
