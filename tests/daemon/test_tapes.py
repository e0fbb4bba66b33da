"""A tape of this machine's terminal: every key it is given has one outcome, told to the viewer who typed."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bascule.daemon.terminals.arbiter import Arbiters
from bascule.daemon.terminals.tape_archive import ArchivedTape
from bascule.daemon.terminals.tapes import EndedTape, LiveTape
from bascule.model.commands import Actor
from bascule.model.errors import BasculeError, SessionOver, StorageFull
from bascule.model.settings import TerminalSettings

ANA = Actor("ana")


class Terminal:
    def __init__(self) -> None:
        self.delivered: list[Callable[[BasculeError | None], None]] = []
        self.ended = False
        self.asked: list[Any] = []

    def watch(self, grew: Callable[[], None]) -> Callable[[], None]:
        return lambda: None

    def type_keys(self, data: bytes, by: Actor, delivered: Any, *, reply: bool) -> None:
        if self.ended:
            raise SessionOver("This terminal has ended.")
        self.asked.append((data, by, reply))
        self.delivered.append(delivered)

    def resize(self, cols: int, rows: int, by: Actor) -> None:
        self.asked.append((cols, rows, by))

    def redraw(self) -> None:
        self.asked.append("redraw")


class Spool:
    def close(self) -> None:
        pass


def live_tape(check_storage: Callable[[], None] = lambda: None) -> tuple[LiveTape, Terminal, list[Any]]:
    terminal = Terminal()
    told: list[Any] = []

    def delivered(length: int, error: BasculeError | None) -> None:
        told.append((length, error and error.code))

    arbiters = Arbiters(TerminalSettings(), time.time, time.monotonic)
    kept: Any = (terminal, Spool(), Path("times"), lambda: None)
    tape = LiveTape(*kept, check_storage, arbiters, lambda: None, delivered)
    return tape, terminal, told


def test_keys_and_sizes_go_straight_to_the_terminal_in_order() -> None:
    tape, terminal, told = live_tape()
    tape.type(b"ab", ANA)
    tape.type(b"\x1b[0n", ANA, reply=True)
    tape.resize(90, 30, ANA)
    tape.redraw()
    assert terminal.asked == [(b"ab", ANA, False), (b"\x1b[0n", ANA, True), (90, 30, ANA), "redraw"]
    assert told == []
    terminal.delivered[0](None)
    terminal.delivered[1](SessionOver("It ended."))
    assert told == [(2, None), (4, "SESSION_ENDED")]


def test_what_is_refused_at_once_is_told_the_same_way() -> None:
    tape, terminal, told = live_tape()
    terminal.ended = True
    tape.type(b"abc", ANA)
    assert told == [(3, "SESSION_ENDED")]


def test_nothing_is_typed_or_resized_while_the_disk_is_full() -> None:
    def full() -> None:
        raise StorageFull("The disk is full.")

    tape, terminal, told = live_tape(full)
    tape.type(b"abc", ANA)
    with pytest.raises(StorageFull):
        tape.resize(90, 30, ANA)
    with pytest.raises(StorageFull):
        tape.redraw()
    assert (told, terminal.asked) == ([(3, "STORAGE_FULL")], [])


def test_a_viewer_that_has_left_hears_nothing_more() -> None:
    tape, terminal, told = live_tape()
    tape.type(b"abc", ANA)
    tape.close()
    terminal.delivered[0](None)
    assert told == []


def test_a_terminal_that_has_ended_takes_no_keys(tmp_path: Path) -> None:
    path = tmp_path / "s1-1.0"
    path.write_bytes(b"bye")
    told: list[Any] = []
    tape = EndedTape(ArchivedTape(path, 0, 3), lambda length, error: told.append((length, error)))
    tape.type(b"abc", ANA)
    assert told[0][0] == 3
    assert told[0][1].code == "SESSION_ENDED"
    with pytest.raises(SessionOver):
        tape.join(ANA, True, None)  # type: ignore[arg-type]
    tape.close()
