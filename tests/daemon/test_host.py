"""Sessions on a real machine: a real store, a real keeper, real processes; only the agent is small."""

import asyncio
import signal
from pathlib import Path

import pytest
from tests.daemon.host_words import allow, prompt, refused, said
from tests.daemon.running_daemon import running_daemon

from bascule.link.machine import CheckDirectory
from bascule.model.commands import (
    EditPrompt,
    EndSession,
    Interrupt,
    ReleasePrompts,
    ReorderPrompts,
    ResumeSession,
    SetPermissionMode,
    WithdrawPrompt,
)
from bascule.model.errors import Refused
from bascule.model.events import (
    Interrupted,
    PermissionAnswered,
    PermissionModeChanged,
    PermissionRequested,
    PromptQueued,
    PromptSent,
    SessionEnded,
    SessionFailed,
    SessionStarted,
    TextSaid,
    TurnEnded,
)
from bascule.model.lifecycle import Phase

pytestmark = pytest.mark.anyio


@pytest.mark.row("C1")
async def test_a_prompt_is_answered_and_the_session_waits(short_dir: Path):
    async with running_daemon(short_dir) as daemon:
        await daemon.start(prompt="hello")
        await daemon.until(TurnEnded)
        assert "you said hello" in await said(daemon)
        record = await daemon.store.session("s1")
        assert record is not None
        assert (record.phase, record.title, record.agent_session_id) == (Phase.WAITING, "hello", "mini-1")
        log = await daemon.log()
        assert [one.seq for one in log] == list(range(1, len(log) + 1))


@pytest.mark.row("X1")
async def test_a_turn_goes_on_while_the_server_is_away(short_dir: Path):
    async with running_daemon(short_dir) as daemon:
        await daemon.start(prompt="count 150 0.01")
        await daemon.until(lambda event: isinstance(event, TextSaid) and event.text.startswith("20"))
        await daemon.restart()
        await daemon.until(TurnEnded)
        assert (await said(daemon)).split() == [str(n) for n in range(1, 151)]
        log = await daemon.log()
        assert [one.seq for one in log] == list(range(1, len(log) + 1))


@pytest.mark.row("REL-13")
async def test_when_the_keeper_dies_sessions_say_so_and_can_be_resumed(short_dir: Path):
    async with running_daemon(short_dir, pauses=(3600.0,)) as daemon:
        await daemon.start(prompt="hold")
        await daemon.until(TextSaid)
        await daemon.kill_keeper(signal.SIGKILL)
        ended = await daemon.until(SessionEnded)
        assert (ended.reason, ended.message) == (
            "disconnected",
            "Mini stopped (together with the process that kept it).",
        )
        await daemon.over()
        await daemon.ask(ResumeSession(session_id="s1"))
        assert len(await daemon.events(SessionStarted)) == 2
        await daemon.ask(prompt("back?"))
        await daemon.until(lambda event: isinstance(event, TextSaid) and "back?" in event.text)


async def test_a_session_is_resumed_the_moment_it_is_seen_to_have_ended(short_dir: Path):
    async with running_daemon(short_dir, sessions=1) as daemon:
        await daemon.start(prompt="hello")
        await daemon.until(TurnEnded)
        for run in range(2, 5):
            await daemon.ask(EndSession(session_id="s1"))
            await daemon.until(SessionEnded, times=run - 1)
            await daemon.ask(ResumeSession(session_id="s1"))
            assert len(await daemon.events(SessionStarted)) == run


@pytest.mark.row("R8")
async def test_queued_prompts_are_sent_one_by_one_in_the_order_people_chose(short_dir: Path):
    async with running_daemon(short_dir) as daemon:
        await daemon.start(prompt="hold")
        await daemon.until(TextSaid)
        ids = [(await daemon.ask(prompt(text)))["promptId"] for text in ("one", "two", "three", "four")]
        assert len(await daemon.events(PromptQueued)) == 4
        await daemon.ask(EditPrompt(session_id="s1", prompt_id=ids[2], text="THREE"))
        await daemon.ask(WithdrawPrompt(session_id="s1", prompt_id=ids[1]))
        await daemon.ask(ReorderPrompts(session_id="s1", order=(ids[3], ids[0])))
        assert await refused(daemon.ask(WithdrawPrompt(session_id="s1", prompt_id="x"))) == (
            "PROMPT_NOT_FOUND"
        )
        await daemon.ask(Interrupt(session_id="s1", hold=False))
        await daemon.until(TurnEnded, times=4)
        sent = [event.text for event in await daemon.events(PromptSent)]
        assert sent == ["hold", "four", "one", "THREE"]


@pytest.mark.row("R8")
async def test_a_stop_holds_the_queue_through_a_restart_until_a_person_lets_it_go(short_dir: Path):
    async with running_daemon(short_dir) as daemon:
        await daemon.start(prompt="hold")
        await daemon.until(TextSaid)
        ids = [(await daemon.ask(prompt(text)))["promptId"] for text in ("one", "two", "three")]
        await daemon.ask(Interrupt(session_id="s1"))
        await daemon.until(TurnEnded)
        await daemon.restart()
        # A new message passes what is held, and its end sends nothing of it.
        await daemon.ask(prompt("instead"))
        await daemon.until(TurnEnded, times=2)
        await daemon.ask(ReleasePrompts(session_id="s1", prompt_ids=(ids[1],)))
        await daemon.until(TurnEnded, times=3)
        await daemon.ask(ReleasePrompts(session_id="s1"))
        await daemon.until(TurnEnded, times=5)
        sent = [event.text for event in await daemon.events(PromptSent)]
        assert sent == ["hold", "instead", "two", "one", "three"]


@pytest.mark.row("REL-28")
async def test_a_keyed_prompt_sent_twice_is_one_turn_even_after_a_restart(short_dir: Path):
    async with running_daemon(short_dir) as daemon:
        await daemon.start()
        replies = await asyncio.gather(*(daemon.ask(prompt("once"), key="k1") for _ in range(5)))
        await daemon.until(TurnEnded)
        await daemon.restart()
        replies.append(await daemon.ask(prompt("once"), key="k1"))
        assert len({reply["promptId"] for reply in replies}) == 1
        assert len(await daemon.events(PromptSent)) == 1
        assert await refused(daemon.ask(prompt("other"), key="k1")) == "KEY_REUSED"


@pytest.mark.row("REL-29")
async def test_stop_clicked_five_times_stops_once(short_dir: Path):
    async with running_daemon(short_dir) as daemon:
        await daemon.start(prompt="hold")
        await daemon.until(TextSaid)
        await asyncio.gather(*(daemon.ask(Interrupt(session_id="s1")) for _ in range(5)))
        await daemon.until(TurnEnded)
        assert len(await daemon.events(Interrupted)) == 1
        ends = [daemon.ask(EndSession(session_id="s1")) for _ in range(5)]
        await asyncio.gather(*ends, return_exceptions=True)
        await daemon.until(SessionEnded)


async def test_a_stronger_mode_is_not_revived_by_a_restart(short_dir: Path):
    async with running_daemon(short_dir) as daemon:
        await daemon.start(prompt="ask a b", permission_mode="auto")
        await daemon.until(TurnEnded)
        assert (await daemon.events(PermissionAnswered))[0].by == "policy"
        await daemon.restart()
        changed = await daemon.until(PermissionModeChanged)
        assert (changed.mode, changed.by) == ("relay", "restart")
        await daemon.ask(prompt("ask a b"))
        await daemon.until(PermissionRequested, times=2)
        assert len(await daemon.store.open_requests()) == 1
        await daemon.ask(SetPermissionMode(session_id="s1", mode="deny"))


@pytest.mark.row("REL-33")
@pytest.mark.parametrize(
    ("script", "kind", "code", "sign"),
    [
        (["exit 0"], SessionEnded, 0, None),
        (["exit 3"], SessionEnded, 3, None),
        (["die 9"], SessionEnded, None, 9),
    ],
)
async def test_every_kind_of_exit_is_one_last_event(
    short_dir: Path, script: list[str], kind: type, code: int | None, sign: int | None
):
    async with running_daemon(short_dir) as daemon:
        daemon.launcher.resumes = False
        await daemon.start(prompt=script[0])
        ended = await daemon.until(kind)
        assert (ended.reason, ended.code, ended.signal) == ("exited", code, sign)
        assert (await daemon.log())[-1].event == ended


@pytest.mark.row("REL-33")
@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["/no/such/binary"], "did not start"),
        (["/etc/hostname"], "did not start"),
        (["/bin/sh", "-c", "echo broken >&2; exit 7"], "before it said anything"),
    ],
)
async def test_an_agent_that_never_comes_up_says_why(short_dir: Path, argv: list[str], words: str):
    async with running_daemon(short_dir, scripts={"bad": argv}) as daemon:
        await daemon.start(agent="bad", prompt="hi")
        failed = await daemon.until(SessionFailed)
        assert words in failed.message
        if "echo" in argv[-1]:
            assert (failed.stderr_tail, failed.code) == ("broken", 7)
        record = await daemon.store.session("s1")
        assert record is not None
        assert record.phase is Phase.FAILED


@pytest.mark.row("REL-33")
async def test_an_agent_that_exits_during_a_permission_withdraws_it(short_dir: Path):
    async with running_daemon(short_dir) as daemon:
        await daemon.start(prompt="ask touch a")
        request = await daemon.until(PermissionRequested)
        supervisor = daemon.host.sessions.live["s1"]
        await supervisor._process.end()  # pyright: ignore - as if it went by itself
        await daemon.until(SessionEnded)
        assert await refused(daemon.ask(allow(request.request_id))) == "REQUEST_WITHDRAWN"


@pytest.mark.row("S62")
async def test_a_command_that_fails_is_answered_with_an_id_from_the_log(
    short_dir: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    async with running_daemon(short_dir) as daemon:

        async def boom(*_: object) -> bytes:
            raise RuntimeError("canary-of-the-inside")

        monkeypatch.setattr(daemon.host, "_do", boom)
        with pytest.raises(Refused) as caught:
            await daemon.ask(CheckDirectory(path="/"))
        told = caught.value.refusal()
        assert told.code == "INTERNAL_ERROR"
        assert "canary" not in told.message
        fault = str(told.fields["fault"])
        assert fault in told.message
        assert [one for one in caplog.records if fault in one.getMessage() and one.exc_info]
