"""One notification channel's queue, retry times and health. Pure: the time comes in."""

from collections.abc import Sequence

from msgspec import Struct

from bascule.notify.notice import Notice

LADDER: tuple[float, ...] = (5.0, 30.0, 120.0, 600.0, 1800.0)  # seconds between tries; then it is given up
MAX_WAITING = 50
LONGEST = 3600.0  # that a far side may ask us to wait


class Health(Struct):
    """Times are of the day. `problem` is what went wrong last, in words; empty since the last success."""

    delivered_at: float | None = None
    failed_at: float | None = None
    problem: str = ""
    next_try_at: float | None = None
    given_up: int = 0  # notices that nobody got


class Failure(Exception):
    """A notice was not taken. `final`: it is of no use to try again; `gone`: the channel itself is over."""

    def __init__(
        self, words: str, *, final: bool = False, gone: bool = False, retry_after: float = 0.0
    ) -> None:
        super().__init__(words)
        self.words, self.final, self.gone = words, final or gone, gone
        self.retry_after = min(retry_after, LONGEST)


class Outbox:
    """One notice at a time, oldest first. `replaces`: the far side takes back what it showed."""

    def __init__(self, *, replaces: bool, ladder: Sequence[float] = LADDER) -> None:
        self.health = Health()
        self._replaces, self._ladder = replaces, ladder
        self._queue: list[Notice] = []
        self._sending: Notice | None = None
        self._shown: set[str] = set()  # tags that the far side shows
        self._tries = 0
        self._not_before = 0.0

    def __len__(self) -> int:
        return len(self._queue)

    def shows(self, tag: str) -> None:
        """The far side shows it since before this server was started."""
        self._shown.add(tag)

    def put(self, notice: Notice) -> bool:
        """Whether there is something to send for it. What was not sent yet is replaced by what holds now."""
        self._queue = [one for one in self._queue if one.tag != notice.tag or one is self._sending]
        if notice.settled:
            on_its_way = self._sending is not None and self._sending.tag == notice.tag
            if not self._replaces or not (notice.tag in self._shown or on_its_way):
                self._shown.discard(notice.tag)
                return False
        self._queue.append(notice)
        while len(self._queue) > MAX_WAITING:
            del self._queue[1 if self._queue[0] is self._sending else 0]
            self.health.given_up += 1
        return True

    def begin(self, now: float) -> Notice | None:
        """The notice to send now, if any; `next_at` says when to ask again."""
        if self._sending is not None or not self._queue or now < self._not_before:
            return None
        self._sending = self._queue[0]
        return self._sending

    def next_at(self) -> float | None:
        return self._not_before if self._queue and self._sending is None else None

    def succeeded(self, now: float) -> None:
        notice = self._done()
        if notice.settled:
            self._shown.discard(notice.tag)
        else:
            self._shown.add(notice.tag)
        self._tries, self._not_before = 0, 0.0
        self.health.delivered_at, self.health.problem, self.health.next_try_at = now, "", None

    def failed(self, now: float, failure: Failure, random: float) -> bool:
        """Whether it is tried again. `random` is in [0, 1): many servers must not come back at once."""
        health = self.health
        health.failed_at, health.problem = now, failure.words
        if failure.final or self._tries >= len(self._ladder):
            self._done()
            health.given_up += 1
            self._tries, self._not_before, health.next_try_at = 0, 0.0, None
            return False
        wait = max(self._ladder[self._tries] * (1 + random / 4), failure.retry_after)
        self._tries += 1
        self._sending = None
        self._not_before = health.next_try_at = now + wait
        return True

    def _done(self) -> Notice:
        notice = self._sending
        assert notice is not None
        self._queue = [one for one in self._queue if one is not notice]
        self._sending = None
        return notice
