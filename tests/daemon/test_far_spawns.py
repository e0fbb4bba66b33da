"""A hub elsewhere can't begin more sessions here than this machine's own limit says."""

from pathlib import Path

import pytest

from bascule.daemon.asks.far_spawns import FarSpawns
from bascule.link.comparisons import Entrant, StartComparison
from bascule.model.commands import StartSession
from bascule.model.errors import LimitReached
from bascule.model.settings import Limits
from bascule.store.limits import LimitsBook


class Desk:
    def __init__(self, folder: Path, per_minute: int) -> None:
        self.now = 0.0
        self.limits = LimitsBook(folder, Limits(spawns_per_minute=per_minute))
        self.spawns = FarSpawns(self.limits, lambda: self.now)

    def start(self, number: int) -> None:
        self.spawns.take(StartSession(session_id=f"s{number}", agent="demo", cwd="/w"))


@pytest.mark.row("R15")
def test_the_limit_counts_all_that_comes_from_afar_whoever_is_said_to_ask(tmp_path: Path) -> None:
    desk = Desk(tmp_path, 5)
    for number in range(5):
        desk.start(number)
    with pytest.raises(
        LimitReached, match="on this machine in the last minute; try again in 13 s"
    ) as refused:
        desk.start(5)
    assert refused.value.fields["retry_after"] == 13
    desk.now = 12.1
    desk.start(6)


def test_each_agent_of_a_comparison_counts(tmp_path: Path) -> None:
    desk = Desk(tmp_path, 3)
    entrants = tuple(Entrant(f"s{n}", "demo") for n in range(4))
    with pytest.raises(LimitReached):
        desk.spawns.take(StartComparison(comparison_id="c", folder="/w", prompt="go", entrants=entrants))


def test_none_is_no_limit_and_a_changed_one_holds_at_once(tmp_path: Path) -> None:
    desk = Desk(tmp_path, 0)
    for number in range(100):
        desk.start(number)
    desk.limits.change({"spawns_per_minute": 1})
    desk.start(100)
    with pytest.raises(LimitReached):
        desk.start(101)
