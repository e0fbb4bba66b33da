"""`session/redrawing.py`: when a full-screen program's size changes, and when it is as before."""

import pytest
from tests.session.hand_timers import HandTimers

from bascule.session.redrawing import BUSY_SECONDS, QUIET_SECONDS, SEEN_SECONDS, UNSEEN_SECONDS, Redraw


class Terminal:
    def __init__(self) -> None:
        self.timers = HandTimers()
        self.rows: list[int] = []
        self.redraw = Redraw(self.rows.append, self.timers, lambda: self.timers.now)

    def writes_for(self, seconds: float) -> None:
        """The program writes every 50 ms."""
        for _ in range(round(seconds / 0.05)):
            self.redraw.output()
            self.timers.pass_by(0.05)


@pytest.fixture
def terminal() -> Terminal:
    return Terminal()


def test_a_quiet_program_loses_a_row_at_once_and_has_it_back_after_it_drew(terminal: Terminal) -> None:
    terminal.redraw.ask()
    assert terminal.rows == [-1]
    terminal.redraw.output()
    terminal.timers.pass_by(SEEN_SECONDS)
    assert terminal.rows == [-1, 0]


def test_more_output_does_not_put_off_the_old_size(terminal: Terminal) -> None:
    terminal.redraw.ask()
    for _ in range(3):
        terminal.redraw.output()
        terminal.timers.pass_by(SEEN_SECONDS / 2.5)
    assert terminal.rows == [-1, 0]


def test_one_that_draws_nothing_has_its_row_back_all_the_same(terminal: Terminal) -> None:
    terminal.redraw.ask()
    terminal.timers.pass_by(UNSEEN_SECONDS / 2)
    assert terminal.rows == [-1]
    terminal.timers.pass_by(UNSEEN_SECONDS / 2)
    assert terminal.rows == [-1, 0]


def test_nothing_changes_while_the_program_writes(terminal: Terminal) -> None:
    terminal.redraw.output()
    terminal.redraw.ask()
    terminal.writes_for(BUSY_SECONDS / 2)
    assert terminal.rows == []
    terminal.timers.pass_by(QUIET_SECONDS)
    assert terminal.rows == [-1]


def test_one_that_never_stops_writing_is_made_to_redraw_after_a_while(terminal: Terminal) -> None:
    terminal.redraw.output()
    terminal.redraw.ask()
    terminal.writes_for(BUSY_SECONDS + QUIET_SECONDS)
    assert terminal.rows[0] == -1


def test_viewers_who_come_meanwhile_share_one_redraw(terminal: Terminal) -> None:
    for _ in range(3):
        terminal.redraw.ask()
    terminal.timers.pass_by(UNSEEN_SECONDS)
    assert terminal.rows == [-1, 0]
    terminal.redraw.ask()
    assert terminal.rows == [-1, 0, -1]
