"""The hostile fake agents, run as processes: the driver reads them all and goes on."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.waiting import PATIENCE

from bascule.drivers.stream_json import StreamJsonDriver
from bascule.model.events import AnyEvent, PermissionRequested, TextSaid, TurnEnded, Unrecognised

FAKES = Path(__file__).parents[1] / "fakes"
PROMPT = b'{"type":"user","message":{"role":"user","content":"hi"}}\n'


def events_from(script: str, *args: str) -> tuple[int, list[AnyEvent]]:
    argv = [sys.executable, str(FAKES / script), *args]
    done = subprocess.run(argv, input=PROMPT, capture_output=True, check=False, timeout=PATIENCE)
    driver = StreamJsonDriver()
    events: list[AnyEvent] = []
    for at in range(0, len(done.stdout), 65536):
        events += driver.receive(done.stdout[at : at + 65536])
    return done.returncode, [*events, *driver.finish()]


def said(events: list[AnyEvent]) -> list[str]:
    return [event.text for event in events if isinstance(event, TextSaid)]


@pytest.mark.row("REL-31")
def test_garbage_is_kept_and_what_follows_is_read() -> None:
    code, events = events_from("garbage.py")
    assert code == 0
    assert said(events) == ["before the garbage", "after the garbage"]
    assert sum(isinstance(event, Unrecognised) for event in events) == 13
    assert isinstance(events[-1], TurnEnded)


@pytest.mark.row("REL-31")
@pytest.mark.parametrize(("script", "after"), [("hugeline.py", "huge"), ("nonewline.py", "endless")])
def test_a_line_of_64_mb_is_one_visible_event(script: str, after: str) -> None:
    _, events = events_from(script, str(64 * 1024 * 1024))
    (kept,) = [event for event in events if isinstance(event, Unrecognised)]
    assert kept.length >= 64 * 1024 * 1024
    assert said(events) == [f"after the {after} line"]


def test_stderr_does_not_disturb_the_turn() -> None:
    _, events = events_from("stderr_flood.py", "1000000")
    assert said(events) == ["before the flood", "after the flood"]


def test_dying_first_says_nothing() -> None:
    assert events_from("dies_first.py", "7") == (7, [])


def test_exiting_while_asking_leaves_the_request() -> None:
    code, events = events_from("exits_during_permission.py", "4")
    assert code == 4
    assert any(isinstance(event, PermissionRequested) for event in events)


def test_the_environment_dump_is_whole(tmp_path: Path) -> None:
    events_from("dump_env.py", str(tmp_path / "dump.json"))
    facts = json.loads((tmp_path / "dump.json").read_text())
    assert set(facts) == {"env", "argv", "cwd", "fds"}
