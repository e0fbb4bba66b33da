"""The clock that grants run out by, while somebody turns the time of day."""

import asyncio
import stat
from pathlib import Path

import pytest

from bascule.hub.door.open_streams import Ending, OpenStreams
from bascule.lease_clock import FILE_NAME, LeaseClock
from bascule.store.grants import GrantBook
from bascule.store.sqlite import SqliteStore

pytestmark = pytest.mark.anyio

HOUR = 3600.0
NOW = 1_800_000_000.0


class Machine:
    """A time of day that can be set, and seconds that only pass."""

    def __init__(self) -> None:
        self.wall, self.passed = NOW, 500.0

    def goes_on(self, seconds: float) -> None:
        self.wall += seconds
        self.passed += seconds

    def clock(self, folder: Path) -> LeaseClock:
        return LeaseClock(folder, lambda: self.wall, lambda: self.passed)


@pytest.mark.row("F11", "REL-25")
@pytest.mark.parametrize("jump", [-26 * HOUR, 26 * HOUR, -NOW, HOUR, -HOUR])
async def test_a_grant_of_an_hour_lasts_an_hour_whatever_the_time_of_day(tmp_path: Path, jump: float):
    machine = Machine()
    store = SqliteStore.open(
        tmp_path / "bascule.db", clock=lambda: machine.wall, loop=asyncio.get_running_loop()
    )
    book = await GrantBook.open(store, machine.clock(tmp_path))
    _, secret = await book.create("ana", "viewer", expires_in=HOUR)
    machine.wall += jump
    machine.goes_on(HOUR - 1)
    grant = book.authenticate(secret)
    assert grant is not None  # a jump ahead ended nothing
    ended: list[Ending] = []
    leave = OpenStreams(book, book.clock).enter(grant, ended.append)
    leave()
    assert ended == []
    machine.goes_on(2)
    assert book.authenticate(secret) is None  # a jump back lengthened nothing
    OpenStreams(book, book.clock).enter(grant, ended.append)()
    assert Ending.EXPIRED in ended or Ending.REVOKED in ended
    await store.close()


@pytest.mark.row("F11", "REL-25")
def test_a_start_with_the_time_of_day_turned_back_goes_on_where_it_was(tmp_path: Path):
    machine = Machine()
    first = machine.clock(tmp_path)
    machine.goes_on(2 * HOUR)
    first.write_down()
    machine.wall -= 26 * HOUR
    assert machine.clock(tmp_path)() == pytest.approx(NOW + 2 * HOUR, abs=1)
    machine.wall = NOW + 50 * HOUR  # time went by while nothing ran
    assert machine.clock(tmp_path)() == pytest.approx(NOW + 50 * HOUR, abs=1)


@pytest.mark.row("REL-25")
def test_the_newest_time_is_written_down_now_and_then_and_privately(tmp_path: Path):
    machine = Machine()
    clock = machine.clock(tmp_path)
    machine.goes_on(400)
    clock()
    file = tmp_path / FILE_NAME
    assert float(file.read_text()) == pytest.approx(NOW + 400, abs=1)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.row("REL-25")
@pytest.mark.parametrize("damage", [b"", b"soon", b"\xff\xfe", b"-5", b"9" * 400])
def test_a_damaged_note_is_as_if_absent(tmp_path: Path, damage: bytes):
    (tmp_path / FILE_NAME).write_bytes(damage)
    found = Machine().clock(tmp_path)()
    assert found == NOW or damage.startswith(b"9")
