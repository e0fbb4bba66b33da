"""A hub that was taken over widens nothing: each command is classified, and the hub tries each."""

import asyncio
import typing
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace as s_replace
from tests.daemon.lying_hub import LyingHub, audit_counted, times
from tests.daemon.running_daemon import RunningDaemon, running_daemon
from tests.waiting import PATIENCE

import bascule.link.comparisons as c
import bascule.link.files as f
import bascule.link.found as fo
import bascule.link.git as g
import bascule.link.listening as li
import bascule.link.machine as m
import bascule.link.prompts as p
import bascule.link.rules as r
import bascule.link.starts as st
import bascule.link.unlogged as u
import bascule.model.commands as s
from bascule.agents.catalogue import Catalogue
from bascule.daemon.handlers import Handlers, widens_nothing
from bascule.daemon.launching.installed_agents import InstalledAgents
from bascule.link.frames import AnyFrame, DaemonConnected, DeviceCommand, DeviceStateChanged
from bascule.link.tape import ReadTape
from bascule.model.commands import Command
from bascule.model.events import GuardAsked, PermissionRequested, StartOptions, TurnEnded
from bascule.model.rules import RuleSpec
from bascule.model.settings import StartsSettings

COMMANDS: frozenset[type[Command[Any]]] = frozenset(typing.get_args(DeviceCommand))

# A new command belongs into one of these three sets.
READS = {
    *(
        f.ListFolders,
        f.ListFiles,
        f.FindFiles,
        f.ReadFile,
        f.ReadChanges,
        g.PlanPullRequest,
        ReadTape,
        li.FindListeners,
    ),
    *(m.ListAgents, m.ListConversations, m.CheckDirectory, m.ListTrusted, m.ReadSettings),
    *(r.ListRules, r.TryRule, r.TryRequest, r.ProposeRules, p.ReadPromptFiles, u.ListUnlogged),
    *(c.ListComparisons, c.ReadComparison, c.ReadContestant),
    *(fo.ListFound, fo.SearchFound, fo.FollowFound, fo.ShowResumeCommand, fo.AwaitFeedback),
    *(st.ListStarts, st.ReadStartLink),
}
# What people do through a hub: it leads to nothing that would not be asked about, or narrows.
USES = {
    *(s.SendPrompt, s.EditPrompt, s.ReorderPrompts, s.WithdrawPrompt, s.ReleasePrompts, s.DiscardHeld),
    *(s.Interrupt, s.AnswerQuestion, s.SetModel, s.RenameSession, s.ArchiveSession, s.EndSession),
    *(g.StageFiles, g.RevertFile, g.CommitFiles, g.OpenPullRequest, c.KeepContestant, c.RemoveTrees),
    *(m.EndAll, u.TakeUpProcess, u.EndProcess, fo.TakeFeedback, st.WithdrawStart),
    # Whether an agent may begin is decided by the gate for starts; it comes back in a mode that asks.
    *(s.ResumeSession, m.ReconnectAgent),
    # Refused to every hub elsewhere, whatever is set: see test_lying_hub.py.
    *(st.DecideStart, st.BlockStarts, st.AnswerStartLink),
}


def rule(answer: str, **more: Any) -> RuleSpec:
    return RuleSpec(answer=typing.cast("Any", answer), tool_class="command", argv=("ls",), **more)


def start(session_id: str, folder: Path, **options: Any) -> s.StartSession:
    wanted = StartOptions(**options)
    return s.StartSession(session_id=session_id, agent="mini", cwd=str(folder), options=wanted)


def compared(mode: Any) -> c.StartComparison:
    entrants = (c.Entrant("e1", "mini"), c.Entrant("e2", "mini"))
    return c.StartComparison(
        comparison_id="c1", folder="/", prompt="x", entrants=entrants, permission_mode=mode
    )


def answered(**more: Any) -> s.AnswerPermission:
    return s.AnswerPermission(session_id="s1", request_id="req_1", decision="allow", **more)


def widening(folder: Path) -> list[Command[Any]]:
    """Commands that each widen something on a machine where nothing was set, the session `s1` runs in it."""
    return [
        start("w1", folder, permission_mode="auto"),
        start("w2", folder, permission_mode="auto_read"),
        start("w3", folder, mode="acceptEdits"),
        start("w4", folder, skip_permissions=True),
        compared("auto"),
        compared("auto_read"),
        s.SetMode(session_id="s1", mode="acceptEdits"),
        s.SetPermissionMode(session_id="s1", mode="auto"),
        s.SetPermissionMode(session_id="s1", mode="auto_read"),
        answered(remember=True),
        s.KeepSession(session_id="s1"),
        r.AddRule(rule=rule("allow")),
        r.AddRule(rule=rule("ask"), replaces="gone"),
        r.RemoveRule(rule_id="gone"),
        m.TrustFolder(path=str(folder)),
        p.WritePromptFiles(folder=str(folder), files=(p.PromptFile("config.toml", "x = 1"),)),
    ]


# Of the same commands, those that widen nothing; the last two widen only while something holds.
def narrow(folder: Path) -> list[Command[Any]]:
    return [
        start("n1", folder),
        start("n2", folder, permission_mode="deny", mode="plan", capability="read_only"),
        compared("relay"),
        s.SetMode(session_id="s1", mode="plan"),
        s.SetPermissionMode(session_id="s1", mode="deny"),
        s.SetPermissionMode(session_id="s1", mode="relay"),
        answered(),
        r.AddRule(rule=rule("deny")),
        r.AddRule(rule=rule("ask")),
        m.TrustFolder(path=str(folder), trusted=False),
        m.PauseDevice(paused=True),
        m.PauseDevice(paused=False),
        s.AnswerGuard(session_id="s1", guard_id="g", decision="go_on"),
    ]


@pytest.mark.row("R17", "S39")
@pytest.mark.anyio
async def test_every_command_of_the_link_is_classified(short_dir: Path) -> None:
    sometimes = {type(one) for one in (*widening(short_dir), *narrow(short_dir))}
    assert READS | USES | sometimes == COMMANDS, "classify the new command: what could a hub do with it?"
    assert not READS & USES
    assert not (READS | USES) & sometimes
    async with running_daemon(short_dir) as daemon:
        await daemon.start()
        handlers: Handlers = daemon.host._handlers  # pyright: ignore[reportPrivateUsage]
        by_session = {type(one) for one in uses_of_a_session()}
        for command in (READS | USES) - by_session:
            assert handlers.of_type(command).widens is widens_nothing, command.__name__
        for one in widening(daemon.work):
            assert handlers.of(one).widens(one), one
        for one in (*narrow(daemon.work), *uses_of_a_session()):
            assert not handlers.of(one).widens(one), one


def uses_of_a_session() -> list[Command[Any]]:
    at: Any = {"session_id": "s1"}
    return [
        s.SendPrompt(text="x", **at),
        s.EditPrompt(prompt_id="x", text="x", **at),
        s.ReorderPrompts(order=("x",), **at),
        s.WithdrawPrompt(prompt_id="x", **at),
        *(one(**at) for one in (s.ReleasePrompts, s.DiscardHeld, s.Interrupt, s.ArchiveSession)),
        *(one(**at) for one in (s.EndSession, s.ResumeSession)),
        s.AnswerQuestion(request_id="x", **at),
        s.SetModel(model="x", **at),
        s.RenameSession(title="x", **at),
    ]


def test_a_command_that_does_not_say_what_it_widens_is_refused() -> None:
    async def run(_: object) -> Any: ...

    with pytest.raises(ValueError, match="does not say what it widens"):
        Handlers().add(m.EndAll, run)


@pytest.mark.row("R17", "S39")
@pytest.mark.anyio
async def test_a_hub_elsewhere_widens_nothing_and_the_machine_itself_may(short_dir: Path) -> None:
    async with running_daemon(short_dir) as daemon:
        await daemon.start(prompt="ask touch x")
        asked = await daemon.until(PermissionRequested)
        hub = LyingHub(daemon)
        hub.welcome()
        tries = widening(daemon.work)
        for one in tries:
            code, refusal = await hub.ask(one)
            assert code == "OWNER_NEEDED", (one, refusal)
            assert "here does not let a hub " in refusal.message
            assert "`bascule daemon hub-may-widen yes`" in refusal.message
        await untouched(daemon)
        rows = await audit_counted(daemon)
        refused = [one for one in rows if one["action"] in ("refused", "start_refused")]
        assert sum(times(one["detail"]) for one in refused) == len(tries)
        assert all("by the hub office hub" in one["detail"] for one in refused)
        # The same by a line of this process, or of what narrows.
        await daemon.ask(r.AddRule(rule=rule("allow")))
        await daemon.ask(m.TrustFolder(path=str(daemon.work)))
        assert (await hub.ask(r.AddRule(rule=rule("deny"))))[0] == ""
        assert (await hub.ask(m.TrustFolder(path=str(daemon.work), trusted=False)))[0] == ""
        once = s.AnswerPermission(session_id="s1", request_id=asked.request_id, decision="allow")
        assert (await hub.ask(once))[0] == ""
        await daemon.until(TurnEnded)


async def untouched(daemon: RunningDaemon) -> None:
    assert (await daemon.ask(r.ListRules()))["rules"] == []
    assert (await daemon.ask(m.ListTrusted()))["folders"] == []
    assert list(daemon.work.iterdir()) == []
    assert set(daemon.host.sessions.live) == {"s1"}
    record = daemon.host.sessions.live["s1"].ledger.record
    assert (record.permission_mode, record.mode) == ("relay", None)


@pytest.mark.row("R17", "S39")
@pytest.mark.anyio
async def test_a_hub_removes_no_rule_that_guards_and_ends_no_pause_of_the_machine(short_dir: Path) -> None:
    async with running_daemon(short_dir) as daemon:
        hub = LyingHub(daemon)
        hub.welcome()
        made = [await daemon.ask(r.AddRule(rule=rule(answer))) for answer in ("deny", "ask", "allow")]
        ids = [one["id"] for one in made]
        for one in ids[:2]:
            assert (await hub.ask(r.RemoveRule(rule_id=one)))[0] == "OWNER_NEEDED"
            replaced = r.AddRule(rule=rule("deny", folder=str(daemon.work)), replaces=one)
            assert (await hub.ask(replaced))[0] == "OWNER_NEEDED"
        assert (await hub.ask(r.RemoveRule(rule_id=ids[2])))[0] == ""
        # A hub takes back its own pause, not one that the person at the machine made.
        resume = m.PauseDevice(paused=False)
        assert (await hub.ask(m.PauseDevice(paused=True)))[0] == ""
        assert (await hub.ask(resume))[0] == ""
        await daemon.ask(m.PauseDevice(paused=True))
        assert (await hub.ask(m.PauseDevice(paused=True)))[0] == ""
        assert (await hub.ask(resume))[0] == "OWNER_NEEDED"
        assert hub.states[-1].paused
        await daemon.ask(resume)
        await daemon.start()


@pytest.mark.row("R17", "S39")
@pytest.mark.anyio
async def test_an_answer_that_was_sent_before_its_request_was_there_widens_nothing_either(
    short_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running_daemon(short_dir) as daemon:
        await daemon.start()
        hub = LyingHub(daemon)
        hub.welcome()
        looks, opened = asyncio.Event(), asyncio.Event()
        look_up = daemon.store.stored_reply

        async def slow(key: str) -> Any:
            """The request opens while the command's key is looked for on the disk."""
            if key.endswith(":early"):
                looks.set()
                await opened.wait()
            return await look_up(key)

        monkeypatch.setattr(daemon.store, "stored_reply", slow)
        always = s.AnswerPermission(
            session_id="s1", request_id="req_2", decision="allow", option="suggestion-0"
        )
        early = asyncio.create_task(hub.ask(always, key="early"))
        await asyncio.wait_for(looks.wait(), PATIENCE)
        await daemon.ask(s.SendPrompt(session_id="s1", text="suggest touch x"))
        asked = await daemon.until(PermissionRequested)
        kinds = {one.option_id: one.kind for one in asked.options}
        assert (asked.request_id, kinds[always.option or ""]) == ("req_2", "allow_always")
        opened.set()
        assert (await early)[0] == "OWNER_NEEDED"
        assert [one.request_id for one in daemon.host.sessions.live["s1"].ledger.open_requests()] == ["req_2"]


@pytest.mark.row("R15", "S39")
@pytest.mark.anyio
async def test_a_hub_raises_no_cap_and_may_end_the_session(short_dir: Path) -> None:
    async with running_daemon(short_dir, session_cents=1) as daemon:
        await daemon.start(prompt="spend 5")
        guard = await daemon.until(GuardAsked)
        hub = LyingHub(daemon)
        hub.welcome()
        raised = s.AnswerGuard(session_id="s1", guard_id=guard.guard_id, decision="go_on", allowed=10**6)
        code, refusal = await hub.ask(raised)
        assert (code, "raise a cap" in refusal.message) == ("OWNER_NEEDED", True)
        ended = s.AnswerGuard(session_id="s1", guard_id=guard.guard_id, decision="end")
        assert (await hub.ask(ended))[0] == ""
        await daemon.over()


@pytest.mark.row("R17")
@pytest.mark.anyio
async def test_a_hub_elsewhere_is_told_that_it_may_not_widen_and_our_own_that_it_may(short_dir: Path) -> None:
    async with running_daemon(short_dir) as daemon:
        far = LyingHub(daemon)
        far.welcome()
        assert far.states[-1].owner_only
        own: list[AnyFrame] = []
        daemon.host.attach(own.append)
        (hello,) = own
        assert isinstance(hello, DaemonConnected)
        assert not hello.state.owner_only
        # What changes is told to each line as it is for that line.
        await daemon.ask(m.PauseDevice(paused=True))
        await far.until(lambda state: state.paused)
        assert (far.states[-1].owner_only, far.states[-1].paused_by_owner) == (True, True)
        (changed,) = [one.state for one in own if isinstance(one, DeviceStateChanged)]
        assert (changed.paused, changed.owner_only, changed.paused_by_owner) == (True, False, False)
        await daemon.ask(m.PauseDevice(paused=False))
        await far.ask(m.PauseDevice(paused=True))
        await far.until(lambda state: state.paused and not state.paused_by_owner)


@pytest.mark.row("R17")
def test_an_agent_says_in_which_of_its_modes_it_asks(tmp_path: Path) -> None:
    """By these, a hub's page knows which ones to offer."""
    catalogue = Catalogue.load(tmp_path)
    agents = InstalledAgents(catalogue, {"PATH": ""}, "mark").at_first_glance()
    unasked = {one.name: set(one.modes) - set(one.asking_modes) for one in agents if one.modes}
    assert unasked["claude-code"] == {"acceptEdits", "auto", "dontAsk"}
    assert unasked["codex"] == {"auto"}
    assert all("plan" not in modes for modes in unasked.values())


@pytest.mark.row("R17")
@pytest.mark.anyio
async def test_the_owner_can_let_a_hub_widen(short_dir: Path) -> None:
    async with running_daemon(short_dir) as daemon:
        daemon.settings = s_replace(daemon.settings, starts=StartsSettings(hub_may_widen=True))
        await daemon.restart()
        hub = LyingHub(daemon)
        hub.welcome()
        assert not hub.states[-1].owner_only
        assert (await hub.ask(start("w1", daemon.work, permission_mode="auto")))[0] == ""
        assert (await hub.ask(r.AddRule(rule=rule("allow"))))[0] == ""
        assert (await hub.ask(m.TrustFolder(path=str(daemon.work))))[0] == ""
        note = p.WritePromptFiles(
            folder=str(daemon.work), files=(p.PromptFile("a.md", "x"), p.PromptFile(".bashrc", "x"))
        )
        _, answer = await hub.ask(note)
        assert [one["path"] for one in answer["files"]] == [".bashrc"]  # no prompt, whoever asks
        assert [one.name for one in daemon.work.iterdir()] == ["a.md"]


@pytest.mark.row("R17")
@pytest.mark.anyio
async def test_a_start_that_widens_waits_for_the_owner_where_starts_are_confirmed(short_dir: Path) -> None:
    async with running_daemon(short_dir) as daemon:
        daemon.settings = s_replace(daemon.settings, starts=StartsSettings(approval="local_confirm"))
        await daemon.restart()
        hub = LyingHub(daemon)
        hub.welcome()
        _, begun = await hub.ask(start("w1", daemon.work, permission_mode="auto", mode="acceptEdits"))
        assert begun["waiting"]["what"] == "mini (auto, acceptEdits)"  # the owner sees what they approve
        await daemon.ask(st.DecideStart(start_id=begun["waiting"]["id"], decision="approve"))
        assert daemon.host.sessions.live["w1"].ledger.record.permission_mode == "auto"
