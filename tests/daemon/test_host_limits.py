"""Limits on a real machine: how many sessions, for how long, how large, and where."""

import time
from pathlib import Path
from typing import Any

import pytest
from tests.daemon.host_words import prompt, refused
from tests.daemon.running_daemon import running_daemon

from bascule.link.machine import CheckDirectory, EndAll, PauseDevice
from bascule.model.commands import (
    EndSession,
    KeepSession,
)
from bascule.model.errors import Refused
from bascule.model.events import (
    EndCancelled,
    EndScheduled,
    PermissionRequested,
    SessionEnded,
    SessionFailed,
    TurnEnded,
)
from bascule.model.lifecycle import Phase
from bascule.session import time_limits

pytestmark = pytest.mark.anyio


@pytest.mark.row("R15")
async def test_limits_refuse_with_an_explanation(short_dir: Path):
    async with running_daemon(short_dir, sessions=1, inputs_per_minute=2) as daemon:
        now = time.time()
        daemon.clock = lambda: now  # it stands still: no second passes before the refusal
        await daemon.restart()
        await daemon.start(title="Long one", prompt="hold")
        with pytest.raises(Refused) as caught:
            await daemon.start("s2", prompt="hello")
        fields = caught.value.refusal().fields
        assert (caught.value.refusal().code, fields["limit"]) == ("LIMIT_REACHED", "sessions")
        assert fields["offer"] == {"sessionId": "s1", "title": "Long one", "idleSeconds": 0}
        await daemon.ask(prompt("1"))
        await daemon.ask(prompt("2"))
        assert await refused(daemon.ask(prompt("3"))) == "LIMIT_REACHED"


@pytest.mark.row("R15")
async def test_idle_sessions_and_terminals_do_not_count_as_working(short_dir: Path):
    async with running_daemon(short_dir, sessions=1, scripts={"sh": ["/bin/sh"]}) as daemon:
        daemon.launcher.drivers["sh"] = "terminal"
        for name in ("s1", "s2", "s3"):
            await daemon.start(name, prompt="hello")
            await daemon.until(TurnEnded, name)
        await daemon.start("t1", agent="sh")
        await daemon.start("s4", prompt="hold")
        await daemon.start("t2", agent="sh")
        assert await refused(daemon.start("s5", prompt="hello")) == "LIMIT_REACHED"
        await daemon.ask(EndSession(session_id="s4"))
        await daemon.over("s4")
        await daemon.start("s5", prompt="hello")


@pytest.mark.row("R15")
async def test_a_refusal_offers_first_the_session_that_waits_for_an_answer(short_dir: Path):
    async with running_daemon(short_dir, sessions=2) as daemon:
        await daemon.start("s1", prompt="hold")
        await daemon.start("s2", prompt="ask")
        await daemon.until(PermissionRequested, "s2")
        daemon.shift = 90.0
        with pytest.raises(Refused) as caught:
            await daemon.start("s3")
        offer = caught.value.refusal().fields["offer"]
        assert isinstance(offer, dict)
        assert offer["sessionId"] == "s2"
        assert offer["idleSeconds"] in range(80, 100)


@pytest.mark.row("R15")
async def test_the_end_of_a_session_is_announced_and_a_person_can_keep_it(
    short_dir: Path, monkeypatch: pytest.MonkeyPatch
):
    async with running_daemon(short_dir, idle_seconds=3600, session_seconds=0) as daemon:
        await daemon.start(prompt="hello")
        limits = daemon.limits
        # Announced soon, with time enough to keep it.
        monkeypatch.setattr(time_limits, "_lead", lambda limit: limit - 0.1)
        limits.change({"idle_seconds": 1800})
        announced = await daemon.until(EndScheduled)
        assert announced.reason == "idle_limit"
        limits.change({"idle_seconds": 0})
        await daemon.ask(KeepSession(session_id="s1"))
        assert (await daemon.until(EndCancelled, times=2)).by == "ana"
        record = await daemon.store.session("s1")
        assert record is not None
        assert (record.phase, record.ends_at) == (Phase.WAITING, None)
        assert record.kept_at


@pytest.mark.row("R15")
@pytest.mark.parametrize(
    ("limit", "reason"), [("idle_seconds", "idle_limit"), ("session_seconds", "time_limit")]
)
async def test_a_session_ends_at_its_time_limits(short_dir: Path, limit: str, reason: str):
    async with running_daemon(short_dir, **{limit: 1}) as daemon:
        await daemon.start(prompt="hi")
        ended = await daemon.until(SessionEnded)
        assert ended.reason == reason
        assert ended.message


@pytest.mark.row("R15")
async def test_a_session_ends_at_its_size_limit(short_dir: Path):
    async with running_daemon(short_dir, output_bytes=20_000) as daemon:
        await daemon.start(prompt="count 100000 0")
        ended = await daemon.until(SessionEnded)
        assert ended.reason == "size_limit"


@pytest.mark.row("R20")
async def test_the_panic_button_ends_everything_and_a_paused_device_starts_nothing(short_dir: Path):
    async with running_daemon(short_dir) as daemon:
        for name in ("s1", "s2", "s3"):
            await daemon.start(name, prompt="hold")
        assert await daemon.ask(EndAll()) == {"ended": 3}
        for name in ("s1", "s2", "s3"):
            assert (await daemon.until(SessionEnded, name)).reason == "killed"
        await daemon.ask(PauseDevice(paused=True))
        assert await refused(daemon.start("s4")) == "LIMIT_REACHED"
        await daemon.restart()
        assert await refused(daemon.start("s4")) == "LIMIT_REACHED"
        await daemon.ask(PauseDevice(paused=False))
        await daemon.start("s4")


@pytest.mark.row("S21", "R6")
async def test_a_session_runs_only_in_a_real_folder_below_a_root(short_dir: Path):
    async with running_daemon(short_dir) as daemon:
        (short_dir / "repo" / "file").write_text("")
        (short_dir / "repo" / "out").symlink_to("/etc")
        (short_dir / "repo" / "in").symlink_to(short_dir / "repo")
        bad = [
            "/",
            "/etc",
            f"{short_dir}/repo/out",
            f"{short_dir}/repo/file",
            f"{short_dir}/none",
            "work",
            "~root",
        ]
        bad += [f"{short_dir}/repo/../../etc", "x" * 5000, f"{short_dir}-evil", ""]
        for number, cwd in enumerate(bad):
            assert await refused(daemon.start(f"bad{number}", cwd=cwd)) == "INVALID_DIRECTORY"
        answer = await daemon.ask(CheckDirectory(path=f"{short_dir}/repo/in"))
        assert answer["path"] == f"{short_dir}/repo"
        assert await daemon.store.sessions() == []


@pytest.mark.row("S21", "R6")
async def test_a_folder_swapped_before_the_spawn_is_not_entered(short_dir: Path):
    async with running_daemon(short_dir) as daemon:
        before = daemon.launcher.plan

        def swapped(started: Any, spawn_id: str) -> Any:
            plan = before(started, spawn_id)
            (short_dir / "repo").rename(short_dir / "moved")
            (short_dir / "repo").symlink_to("/etc")
            return plan

        daemon.launcher.plan = swapped  # pyright: ignore
        await daemon.start(prompt="hi")
        failed = await daemon.until(SessionFailed)
        assert "did not start" in failed.message
