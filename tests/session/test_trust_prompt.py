"""A trust prompt in a terminal: answered in a trusted folder, left to a person in any other."""

import pytest
from tests.session.hand_timers import HandTimers
from tests.session.playbook import CommittingStore

from bascule.drivers.terminal import Signals, TerminalDriver
from bascule.drivers.terminal.trust_prompt import DOWN, ENTER, TrustPrompt
from bascule.model.events import Note
from bascule.model.lifecycle import Phase
from bascule.model.records import Pending, SessionRecord
from bascule.session.ledger import Ledger
from bascule.session.trust_prompt import GIVE_UP_SECONDS, LOOK_SECONDS, Trusting
from bascule.store.base import ResumePoint

pytestmark = [pytest.mark.anyio, pytest.mark.row("P4")]

QUESTION = TrustPrompt("Do you trust this folder?", "Yes", ">")
CLEAR = b"\x1b[H\x1b[2J"
ON_NO = CLEAR + b"Do you trust this folder?\r\n\r\n> No\r\n  Yes\r\n"
ON_YES = CLEAR + b"Do you trust this folder?\r\n\r\n  No\r\n> Yes\r\n"


class Terminal:
    """A driver that reads screens, with what was pressed and noted for it."""

    def __init__(self, trusted: bool) -> None:
        self.store = CommittingStore()
        self.driver = TerminalDriver(80, 24, QUESTION)
        self.timers = HandTimers()
        self.keys: list[bytes] = []
        record = SessionRecord("s", phase=Phase.RUNNING, cwd="/code")
        ledger = Ledger(self.store, ResumePoint(record, Pending(), 0, 0, None, [], []), lambda: 1000.0)  # pyright: ignore[reportArgumentType]
        self.trusting = Trusting(
            ledger, self.driver, lambda cwd: trusted and cwd == "/code", self.keys.append, self.timers
        )

    def draw(self, screen: bytes) -> None:
        self.trusting.after(self.driver.receive(screen))

    @property
    def noted(self) -> list[str]:
        events = [event for batch in self.store.batches for event in batch.events]
        return [event.code for event in events if isinstance(event, Note)]


async def test_output_without_the_prompt_does_nothing():
    terminal = Terminal(trusted=True)
    terminal.trusting.after(Signals())
    terminal.draw(CLEAR + b"hello")
    assert (terminal.timers.waiting, terminal.keys, terminal.noted) == ({}, [], [])


async def test_in_a_trusted_folder_the_mark_is_moved_to_yes_and_only_then_entered():
    terminal = Terminal(trusted=True)
    terminal.draw(ON_NO)
    assert terminal.timers.left == {
        "trust over": GIVE_UP_SECONDS,
        "trust": LOOK_SECONDS,
    }
    terminal.timers.ring("trust")
    assert (terminal.keys, terminal.noted) == ([DOWN], [])
    terminal.draw(ON_YES)
    terminal.timers.ring("trust")
    assert (terminal.keys, terminal.noted) == ([DOWN, ENTER], ["trust_answered"])
    assert "trust" not in terminal.timers.waiting


async def test_in_any_other_folder_a_person_is_asked_and_nothing_is_pressed():
    terminal = Terminal(trusted=False)
    terminal.draw(ON_NO)
    assert (terminal.keys, terminal.noted, terminal.driver.question_open) == ([], ["trust_asked"], False)
    assert "trust" not in terminal.timers.waiting


async def test_a_person_who_answers_first_leaves_nothing_to_press():
    terminal = Terminal(trusted=True)
    terminal.draw(ON_NO)
    terminal.driver.leave_question()
    terminal.timers.ring("trust")
    assert (terminal.keys, terminal.noted) == ([], [])


async def test_a_prompt_that_can_not_be_read_is_left_to_a_person():
    terminal = Terminal(trusted=True)
    terminal.draw(ON_NO)
    terminal.draw(CLEAR + b"something else")
    terminal.timers.ring("trust")
    assert (terminal.keys, terminal.noted, terminal.driver.question_open) == ([], ["trust_asked"], False)


async def test_after_two_minutes_the_prompt_is_left_alone():
    terminal = Terminal(trusted=True)
    terminal.draw(ON_NO)
    terminal.timers.ring("trust over")
    terminal.timers.ring("trust")
    assert (terminal.keys, terminal.noted) == ([], [])
