"""Sums what this machine's sessions spent, by day and folder, from each session's record."""

from collections.abc import Callable
from datetime import UTC, datetime

from bascule.model.records import SessionRecord
from bascule.policy.spending_caps import Meter, Spending
from bascule.session.guarding import session_meter
from bascule.store.base import Committed, SessionFilter
from bascule.store.protocols import DaemonStore

PAGE = 200
MONTH = len("2026-11")


class SpendingBook:
    """Days and months are UTC, like the times in the log."""

    def __init__(self, store: DaemonStore, device: str, clock: Callable[[], float]) -> None:
        self._store = store
        self._device = device
        self._clock = clock
        self._of: dict[str, tuple[str, dict[str, Meter]]] = {}  # session -> its folder, its days

    async def open(self) -> None:
        """Read what was spent this month; the list has the newest activity first."""
        month, cursor = self._today()[:MONTH], None
        for archived in (False, True):
            while True:
                only = SessionFilter(archived=archived, devices=(self._device, ""))
                page = await self._store.list_sessions(only, limit=PAGE, cursor=cursor)
                for record in page.sessions:
                    self._take(record)
                cursor = page.next
                if cursor is None or all(session.updated_at[:MONTH] < month for session in page.sessions):
                    break
            cursor = None

    def committed(self, committed: Committed) -> None:
        if committed.record.device in (self._device, ""):
            self._take(committed.record)

    def of(self, record: SessionRecord) -> Spending:
        """With this record as it is now, which may be ahead of what is stored."""
        self._take(record)
        today, folder = self._today(), _folder(record)
        spent = [(where, day, meter) for where, days in self._of.values() for day, meter in days.items()]
        return Spending(
            session=session_meter(record),
            project=_sum(
                [one for where, day, one in spent if where == folder and day[:MONTH] == today[:MONTH]]
            ),
            day=_sum([one for _, day, one in spent if day == today]),
        )

    def _take(self, record: SessionRecord) -> None:
        days = {day: Meter(one.cents, one.tokens) for day, one in record.spent.items()}
        if record.turn_tokens:
            today = self._today()
            known = days.get(today, Meter())
            days[today] = Meter(known.cents, known.tokens + record.turn_tokens)
        if days:
            self._of[record.session_id] = (_folder(record), days)

    def _today(self) -> str:
        return datetime.fromtimestamp(self._clock(), UTC).date().isoformat()


def _folder(record: SessionRecord) -> str:
    return record.worktree_of or record.cwd


def _sum(meters: list[Meter]) -> Meter:
    return Meter(sum(meter.cents for meter in meters), sum(meter.tokens for meter in meters))
