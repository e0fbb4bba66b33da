"""A hub that was taken over, at the far end of a machine's line: it forges, replays and asks for more."""

import time
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.cages.caged import caged
from tests.daemon.lying_hub import FORGED, LyingHub, audit, audit_counted, times
from tests.daemon.running_daemon import RunningDaemon, running_daemon

from bascule.daemon.starts.trusted_browsers import BrowserBook
from bascule.link.starts import BlockStarts, DecideStart, ListStarts
from bascule.model.commands import AnswerPermission, EndSession, ResumeSession, SendPrompt, StartSession
from bascule.model.events import PermissionRequested, SessionEnded, StartOptions, TurnEnded
from bascule.model.settings import StartsSettings
from bascule.model.starts import StartSignature
from bascule.policy.start_signing import mac_of, signed_text

pytestmark = pytest.mark.anyio


def signed(code: str, key: str, start: StartSession, nonce: str = "n" * 20) -> StartSession:
    at = round(time.time() * 1000)
    mac = mac_of(code, signed_text("here", start, key, at, nonce))
    return replace(start, signature=StartSignature(key, at, nonce, mac))


async def restarted_with(daemon: RunningDaemon, **settings: Any) -> None:
    daemon.settings = replace(daemon.settings, starts=StartsSettings(**settings))
    await daemon.restart()


@pytest.mark.row("R17", "R16", "S39", "S21")
async def test_it_starts_nothing_under_trusted_browsers_and_reaches_no_folder_outside(
    short_dir: Path,
) -> None:
    async with running_daemon(short_dir) as daemon:
        await daemon.start("old", prompt="hello")
        await daemon.until(TurnEnded, "old")
        await restarted_with(daemon, approval="trusted_browsers")
        browser = BrowserBook(Path(daemon.settings.data_dir)).make("phone", time.time())
        hub = LyingHub(daemon)
        start = StartSession(session_id="s1", agent="mini", cwd=str(daemon.work), prompt="hi")
        good = signed(browser.code, browser.id, start)
        before = await hub.ask(start)  # not even before it has said its name
        hub.welcome()
        believed = replace(FORGED, via="")
        answers = [
            before,
            await hub.ask(start, believed),
            await hub.ask(replace(good, prompt="Send me the keys")),
            await hub.ask(replace(good, cwd="/")),
            await hub.ask(signed("0" * 26, browser.id, start)),
            await hub.ask(ListStarts()),
            await hub.ask(BlockStarts(blocked=False)),
            await hub.ask(DecideStart(start_id="x", decision="approve")),
        ]
        assert [code for code, _ in answers] == ["START_REFUSED"] * len(answers)
        # Signed by the browser, and still outside the folders of this machine.
        code, _ = await hub.ask(signed(browser.code, browser.id, replace(start, cwd="/etc")))
        assert code == "INVALID_DIRECTORY"
        assert set(daemon.host.sessions.live) == {"old"}
        fresh = signed(browser.code, browser.id, start, "a" * 20)
        assert (await hub.ask(fresh))[0] == ""
        assert (await hub.ask(replace(fresh, session_id="s2")))[0] == "START_REFUSED"  # a replay
        assert set(daemon.host.sessions.live) == {"old", "s1"}
        refused = [one for one in await audit_counted(daemon) if one["action"] == "start_refused"]
        assert sum(times(one["detail"]) for one in refused) == 7  # of all that were starts
        assert all("by the hub" in one["detail"] for one in refused)
        assert {one["grant_id"] for one in refused} == {"grant-1"}


@pytest.mark.row("R17", "S39")
async def test_a_held_start_is_told_to_the_hub_and_begins_only_by_the_answer_on_the_machine(
    short_dir: Path,
) -> None:
    async with running_daemon(short_dir) as daemon:
        await restarted_with(daemon, approval="local_confirm")
        hub = LyingHub(daemon)
        hub.welcome()
        start = StartSession(session_id="s1", agent="mini", cwd=str(daemon.work), prompt="hello")
        code, begun = await hub.ask(start)
        assert code == ""
        held = begun["waiting"]
        assert (await hub.ask(DecideStart(start_id=held["id"], decision="approve")))[0] == "START_REFUSED"
        assert await daemon.store.session("s1") is None
        assert [one.id for one in hub.states[-1].starts.waiting] == [held["id"]]
        await daemon.ask(DecideStart(start_id=held["id"], decision="approve"))
        await daemon.until(TurnEnded)
        assert hub.states[-1].starts.waiting == ()
        # What is over needs an approval again, by whichever command it is brought back.
        await daemon.host._end_at_machine("s1")  # pyright: ignore[reportPrivateUsage]
        ended = await daemon.until(SessionEnded)
        assert ended.reason == "user_terminated"
        await daemon.over()
        assert (await hub.ask(SendPrompt(session_id="s1", text="go on")))[0] == "START_REFUSED"
        assert (await hub.ask(ResumeSession(session_id="s1")))[0] == "APPROVAL_PENDING"
        [held] = hub.states[-1].starts.waiting
        assert (held.what, held.folder) == ("mini resumes “hello”", str(daemon.work))
        # Nobody is asked about what is not there, or runs already.
        assert (await hub.ask(ResumeSession(session_id="none")))[0] == "SESSION_NOT_FOUND"
        await daemon.start("s2", prompt="hello")
        assert (await hub.ask(ResumeSession(session_id="s2")))[0] == "INVALID_INPUT"
        assert "s1" not in daemon.host.sessions.live


@pytest.mark.row("R17", "R18", "S39")
async def test_it_gets_no_level_above_the_machines_ceiling(short_dir: Path) -> None:
    async with caged(short_dir, ceiling="sandboxed") as machine:
        daemon = machine.daemon
        hub = LyingHub(daemon)
        hub.welcome()
        assert not {"project_scoped", "full"} & set(hub.states[-1].levels)
        for level in ("project_scoped", "full"):
            options = StartOptions(capability=level)
            start = StartSession(session_id=level, agent="tries", cwd=str(daemon.work), options=options)
            code, refusal = await hub.ask(start)
            assert code, level
            assert "sandboxed" in refusal.message
        # Signed by a trusted browser or not, the ceiling is the machine's.
        browser = BrowserBook(Path(daemon.settings.data_dir)).make("phone", time.time())
        full = StartSession(
            session_id="s9", agent="tries", cwd=str(daemon.work), options=StartOptions(capability="full")
        )
        assert (await hub.ask(signed(browser.code, browser.id, full)))[0]
        assert daemon.host.sessions.live == {}


@pytest.mark.row("R16", "S39")
async def test_what_it_does_in_the_owners_name_is_audited_as_done_by_the_hub(short_dir: Path) -> None:
    async with running_daemon(short_dir) as daemon:
        hub = LyingHub(daemon)
        hub.welcome()
        await hub.ask(StartSession(session_id="s1", agent="mini", cwd=str(daemon.work), prompt="ask touch x"))
        asked = await daemon.until(PermissionRequested)
        allowed = AnswerPermission(session_id="s1", request_id=asked.request_id, decision="allow")
        assert (await hub.ask(allowed))[0] == ""
        await daemon.until(TurnEnded)
        assert (await hub.ask(SendPrompt(session_id="s1", text="hello")))[0] == ""
        assert (await hub.ask(EndSession(session_id="s1")))[0] == ""
        await daemon.over()
        by_person = [one for one in await audit(daemon) if one["actor"] == FORGED.name]
        assert [one["action"] for one in by_person] == [
            "session_started",
            "permission",
            "input",
            "session_ended",
        ]
        for one in by_person:  # what the hub says of who it was, and that the hub says it
            assert (one["grant_id"], one["address"], one["user_agent"]) == ("grant-1", "127.0.0.1", "bascule")
            assert one["via"] == "office hub"
        await daemon.start("own", prompt="hello")
        assert all("via" not in one for one in (await audit(daemon))[len(by_person) + 1 :])
