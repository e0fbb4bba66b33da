"""Caps on what all sessions together spend: by day and by project, with a clock that the test sets."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.daemon.running_daemon import RunningDaemon, running_daemon

from bascule.model.events import GuardAsked, Note, TurnEnded

pytestmark = pytest.mark.anyio

HOUR = 3600.0


def moment(day: int, month: int = 5, hour: int = 22) -> float:
    return datetime(2031, month, day, hour, tzinfo=UTC).timestamp()


class Days(RunningDaemon):
    """A daemon whose day the test chooses; each session spends once."""

    now = moment(30)

    async def spend(self, name: str, cents: int, folder: Path | None = None) -> GuardAsked | None:
        """What a guard rail asks once the session has spent this."""
        await self.start(name, prompt=f"spend {cents}", cwd=str(folder or self.work))
        await self.until(TurnEnded, name)
        return self.host.sessions.live[name].ledger.record.guard


@pytest.fixture
async def days(short_dir: Path, request: pytest.FixtureRequest) -> AsyncIterator[Days]:
    async with running_daemon(short_dir, **request.param) as daemon:
        daemon.__class__ = Days
        assert isinstance(daemon, Days)
        daemon.clock = lambda: daemon.now
        await daemon.restart()
        yield daemon


@pytest.mark.row("R15")
@pytest.mark.parametrize("days", [{"day_cents": 10}], indirect=True)
async def test_a_day_of_all_sessions_has_one_cap_that_outlasts_a_restart_and_ends_at_midnight(
    days: Days,
) -> None:
    assert await days.spend("s1", 5) is None
    assert await days.spend("s2", 4) is None
    await days.until(lambda one: isinstance(one, Note) and "$0.09 of $0.10" in one.text, "s2")
    guard = await days.spend("s3", 3)
    assert guard is not None
    assert (guard.kind, guard.spent, guard.allowed) == ("day_cents", 12, 10)
    await days.restart()
    again = await days.spend("s4", 1)
    assert again is not None
    assert (again.kind, again.spent) == ("day_cents", 13)
    days.now += 2 * HOUR  # past midnight, by UTC
    assert await days.spend("s5", 5) is None
    assert not any("limit" in one.text for one in await days.events(Note, "s5"))


@pytest.mark.row("R15")
@pytest.mark.parametrize("days", [{"project_cents": 10}], indirect=True)
async def test_a_project_has_a_cap_for_a_month_of_its_own(days: Days) -> None:
    other = days.folder / "other"
    other.mkdir()
    days.now = moment(2)
    assert await days.spend("s1", 6) is None
    days.now = moment(30)
    assert await days.spend("elsewhere", 9, other) is None  # another folder is another project
    guard = await days.spend("s2", 5)
    assert guard is not None
    assert (guard.kind, guard.spent, guard.allowed) == ("project_cents", 11, 10)
    days.now = moment(1, month=6)
    await days.restart()
    assert await days.spend("s3", 6) is None
