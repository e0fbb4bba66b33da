"""The limits in force: the settings' own, changed by the owner, kept over a restart."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from bascule.model.errors import InvalidInput, StorageFailed
from bascule.model.settings import Limits
from bascule.store.limits import LimitsBook

CONFIGURED = Limits(sessions=8, idle_seconds=1800)


@pytest.mark.row("R15")
def test_a_change_holds_at_once_is_told_and_outlasts_a_restart(tmp_path: Path):
    book, told = LimitsBook(tmp_path, CONFIGURED), list[Limits]()
    book.watch(told.append)
    book.change({"sessions": 20, "idle_seconds": 0})
    changed = replace(CONFIGURED, sessions=20, idle_seconds=0)
    assert (book.now, told) == (changed, [changed])
    again = LimitsBook(tmp_path, CONFIGURED)
    assert again.now == changed
    assert again.changed == {"sessions": 20, "idle_seconds": 0}


def test_only_what_differs_from_the_settings_is_a_change(tmp_path: Path):
    book = LimitsBook(tmp_path, CONFIGURED)
    book.change({"sessions": 20, "idle_seconds": 60})
    book.change({"sessions": 8, "idle_seconds": None})
    assert (book.now, book.changed) == (CONFIGURED, {})
    # A setting that is changed later holds, because nothing was changed beside it.
    assert LimitsBook(tmp_path, Limits(sessions=2)).now.sessions == 2


@pytest.mark.parametrize("wrong", [{"sesions": 3}, {"sessions": -1}, {"sessions": 10**16}])
def test_a_wrong_name_or_number_changes_nothing_at_all(tmp_path: Path, wrong: dict[str, int | None]):
    book = LimitsBook(tmp_path, CONFIGURED)
    with pytest.raises(InvalidInput):
        book.change({"idle_seconds": 60, **wrong})
    assert book.now == LimitsBook(tmp_path, CONFIGURED).now == CONFIGURED


def test_a_name_of_another_version_says_nothing(tmp_path: Path):
    (tmp_path / "limits.json").write_text('{"sessions": 3, "of_the_future": 1}')
    assert LimitsBook(tmp_path, CONFIGURED).now == replace(CONFIGURED, sessions=3)


def test_a_broken_file_stops_the_start_with_its_name(tmp_path: Path):
    (tmp_path / "limits.json").write_text("{")
    with pytest.raises(StorageFailed, match=r"limits\.json can't be read"):
        LimitsBook(tmp_path, CONFIGURED)


def test_a_change_that_can_t_be_stored_does_not_hold(tmp_path: Path):
    book = LimitsBook(tmp_path / "gone", CONFIGURED)
    with pytest.raises(StorageFailed, match="could not be stored"):
        book.change({"sessions": 3})
    assert book.now == CONFIGURED
