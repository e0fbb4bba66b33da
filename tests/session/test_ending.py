"""The end of a session: its last fact, the words for it, and how its process is stopped."""

import asyncio
from typing import Any

import pytest
from tests.session.playbook import PLAN, CommittingStore, ScriptedProcess

from bascule.model.errors import AgentFailed, HostError
from bascule.model.events import AgentSpawned, AnyEvent, Note, SessionEnded, SessionFailed
from bascule.model.lifecycle import Phase
from bascule.model.records import SessionRecord
from bascule.session import ending
from bascule.session.agent import Exit
from bascule.session.ending import (
    END_WORDS,
    ended,
    exit_words,
    how_it_went,
    left_by_itself,
    never_spoke,
    seconds,
    spawn,
    stop,
    stop_after,
)
from bascule.session.ledger import Ledger

RUNNING = SessionRecord("s", agent="demo", phase=Phase.RUNNING)
FAILURE = SessionFailed("exited_early", "It said nothing.")


def exit(code: int | None = None, signal: int | None = None, *, lost: bool = False) -> Exit:
    return Exit(code, signal, 0, 0, lost)


def ending_by(reason: str) -> SessionRecord:
    return SessionRecord("s", phase=Phase.ENDING, end_reason=reason)


@pytest.mark.parametrize(
    ("record", "how", "failure", "fact"),
    [
        (ending_by("closed"), exit(0), None, SessionEnded("closed", 0)),
        (ending_by("killed"), exit(None, 9), FAILURE, SessionEnded("killed", None, 9)),
        (ending_by("closed"), exit(lost=True), None, SessionEnded("closed")),
        (
            ending_by("time_limit"),
            exit(0),
            None,
            SessionEnded("time_limit", 0, None, END_WORDS["time_limit"]),
        ),
        (RUNNING, exit(lost=True), FAILURE, SessionEnded("lost", message=END_WORDS["lost"])),
        (RUNNING, exit(1), FAILURE, FAILURE),
        (RUNNING, exit(0), None, SessionEnded("exited", 0)),
        (RUNNING, exit(3), None, SessionEnded("exited", 3, None, "exit code 3")),
        (RUNNING, exit(None, 15), None, SessionEnded("exited", None, 15, "stopped by signal 15")),
    ],
)
def test_the_last_fact_of_a_session(
    record: SessionRecord, how: Exit, failure: SessionFailed | None, fact: AnyEvent
):
    assert ended(record, how, failure) == fact


@pytest.mark.parametrize(
    ("how", "by_itself", "went", "words"),
    [
        (exit(0), True, "exit code 0", None),
        (exit(2), False, "exit code 2", "exit code 2"),
        (exit(None, 9), False, "stopped by signal 9", "stopped by signal 9"),
        (exit(0, 9), False, "stopped by signal 9", "stopped by signal 9"),
        (exit(0, lost=True), False, "together with the process that kept it", None),
        (exit(), False, "exit code 0", None),
    ],
)
def test_an_exit_in_words(how: Exit, by_itself: bool, went: str, words: str | None):
    assert (left_by_itself(how), how_it_went(how), exit_words(how)) == (by_itself, went, words)


def test_an_agent_that_never_spoke_is_named_with_its_last_words():
    assert never_spoke(RUNNING, "it hung", " no key\n", exit(None, 9)) == SessionFailed(
        "no_protocol",
        "Could not talk to demo: it hung. Check that it runs by itself, then try again.",
        "no key",
        None,
        9,
    )


@pytest.mark.parametrize(("at", "moment"), [("1970-01-01T00:01:00.500Z", 60.5), ("", 0.0)])
def test_a_time_of_the_log_in_seconds(at: str, moment: float):
    assert seconds(at) == moment


def made() -> tuple[CommittingStore, Ledger, ScriptedProcess]:
    store = CommittingStore()
    return store, Ledger.new(store, "s", lambda: 0.0), ScriptedProcess()  # pyright: ignore


def logged(store: CommittingStore) -> list[Any]:
    return [event for batch in store.batches for event in batch.events]


@pytest.mark.anyio
async def test_a_spawn_is_logged_with_its_pid_and_program():
    store, ledger, process = made()
    assert await spawn(ledger, process, PLAN) is None
    assert logged(store) == [AgentSpawned(42, "/bin/agent")]


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("error", "reason"),
    [(AgentFailed("No.", reason="not_installed"), "not_installed"), (AgentFailed("No."), "spawn_failed")],
)
async def test_a_spawn_that_fails_logs_nothing_and_says_why(error: AgentFailed, reason: str):
    store, ledger, process = made()
    process.refuses["spawn"] = error
    assert await spawn(ledger, process, PLAN) == SessionFailed(reason, "No.")
    assert logged(store) == []


@pytest.mark.anyio
async def test_a_process_that_is_gone_when_it_is_stopped_is_noted():
    store, ledger, process = made()
    process.refuses["end"] = HostError("It is gone.")
    await stop(ledger, process)
    assert logged(store) == [Note("end_failed", "It is gone.", "warning")]


@pytest.mark.anyio
@pytest.mark.parametrize("phase", [Phase.ENDED, Phase.FAILED])
async def test_a_process_that_is_gone_with_its_session_is_not(phase: Phase):
    store, ledger, process = made()
    ledger.record.phase = phase
    process.refuses["end"] = HostError("It is gone.")
    await stop(ledger, process)
    assert logged(store) == []


@pytest.mark.anyio
async def test_a_disk_that_takes_nothing_does_not_keep_an_agent_alive(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(ending, "STORE_SECONDS", 0.01)
    _, ledger, process = made()
    never: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    await stop_after(never, ledger, process)
    assert process.done == ["end"]


@pytest.mark.anyio
async def test_a_process_is_stopped_only_after_the_end_is_stored():
    _, ledger, process = made()
    stored: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    stopping = asyncio.create_task(stop_after(stored, ledger, process))
    await asyncio.sleep(0)
    assert process.done == []
    stored.set_result(None)
    await stopping
    assert process.done == ["end"]
