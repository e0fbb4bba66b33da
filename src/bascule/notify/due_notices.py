"""Decides which notices a person gets, and when. Pure: commits and the time come in, notices go out.

A notice of a request is due once it has waited a moment (a rule may answer it at once), while nobody is at
the page, and not in quiet hours. It is sent once; when the request is answered, a notice with the same tag
takes its place. A request that another node of the hub took in is due later, in case that node can't tell it.
What a guard rail asks (a cap is reached, a loop was found) is such a request, known by its session's record.
"""

from collections import deque
from collections.abc import Callable, Iterable

from msgspec.structs import replace

from bascule.model.codec import timestamp
from bascule.model.lifecycle import Phase
from bascule.model.records import RequestRecord, SessionRecord
from bascule.notify.notice import Notice
from bascule.notify.notice_words import (
    MANY_TAG,
    guard_notice,
    guard_outcome,
    machine_notice,
    request_notice,
    request_outcome,
    session_notice,
    waiting_many,
)
from bascule.store.base import Committed

GRACE = 2.0  # seconds that a request waits before its notice: a rule, or somebody at the page, may answer
TAKE_OVER = 3.0  # seconds more that the node which took a request in has to tell it, before another one does
LOOK_AGAIN = 5.0  # seconds until a request that is held back is looked at again
BURST, BURST_SECONDS = 3, 10.0  # the third notice in this time stands for all that follow
# A person did it, or the agent is being started again: no notice is needed.
NOT_NOTIFIED = frozenset(("closed", "killed", "user_terminated", "disconnected", "elsewhere"))
MAX_SESSIONS = 5000

Key = tuple[str, str]  # a session, and one of its requests or what its guard rail asks


class _Waiting:
    """An open request without a notice so far."""

    def __init__(self, notice: Notice, due: float) -> None:
        self.notice, self.due = notice, due


class Decider:
    """`now` is a steady clock; `clock` the time of day, for what is written on a notice."""

    def __init__(self, now: Callable[[], float], clock: Callable[[], float], finished_seconds: float) -> None:
        self._now, self._clock = now, clock
        self.finished_seconds = finished_seconds
        self.grace = GRACE
        self._waiting: dict[Key, _Waiting] = {}
        self._sent: dict[Key, Notice] = {}
        self._many: dict[Key, Notice] = {}  # together under one notice
        self._known: set[Key] = set()  # their notices were sent by another node, or before the start
        self._guards: dict[str, str] = {}  # what the guard rail of each session asks
        self._sessions: dict[str, tuple[Phase, str | None]] = {}
        self._running: dict[str, float] = {}  # since when
        self._soon: list[Notice] = []  # of other kinds than requests
        self._latest: deque[float] = deque(maxlen=BURST)

    def seed(self, open_requests: Iterable[RequestRecord], guards: Iterable[Key] = ()) -> None:
        """These are open at the start; the nodes know which of them have no notice yet (`unsent`)."""
        self._known = {(request.session_id, request.request_id) for request in open_requests}
        self._guards = dict(guards)
        self._known |= set(self._guards.items())

    def restored(self, key: Key, notice: Notice, tag: str) -> None:
        """Its notice was sent with this tag before the start; its outcome replaces that notice."""
        self._waiting.pop(key, None)
        (self._many if tag == MANY_TAG else self._sent)[key] = notice
        if notice.kind == "limit":
            self._guards[key[0]] = key[1]  # if it asks something else by now, that one is over

    def shown(self) -> list[Notice]:
        """The notices of what is still open."""
        return [*self._sent.values(), *([self._many_notice()] if self._many else [])]

    def committed(self, committed: Committed) -> list[Notice]:
        """What must be said at once: that the subject of a notice is over."""
        record = committed.record
        if record.found:
            return []
        settled = self._asked(committed, self.grace)
        if committed.changed:
            self._session(record)
        return settled

    def committed_elsewhere(self, committed: Committed) -> list[Notice]:
        """The same for requests that another node took in. That node sends other news of its sessions."""
        return [] if committed.record.found else self._asked(committed, self.grace + TAKE_OVER)

    def unsent(self, committed: Committed, key: Key) -> list[Notice]:
        """This was asked before, and no node has sent its notice."""
        self._known.discard(key)
        return self.committed_elsewhere(committed)

    def machine_away(self, device: str, name: str, running: int) -> None:
        self._soon.append(machine_notice(device, name, running, self._stamp()))

    def machine_back(self, device: str) -> Notice:
        return machine_notice(device, "", 0, self._stamp())

    def news(self, *, looking: bool, quiet: bool) -> list[Notice]:
        """Notices of other things than requests, now or never."""
        soon, self._soon = self._soon, []
        return [] if looking or quiet else soon

    def ready(self, *, looking: bool, quiet: bool) -> list[Key]:
        """Requests to tell people now, by `claimed`. Those that are held back stay."""
        now = self._now()
        ready = [key for key, waiting in self._waiting.items() if waiting.due <= now]
        if looking or quiet:
            for key in ready:
                self.later(key)
            return []
        return ready

    def later(self, key: Key) -> None:
        if key in self._waiting:
            self._waiting[key].due = self._now() + LOOK_AGAIN

    def claimed(self, key: Key) -> list[Notice]:
        """The notice of a request that is ready; none when it was answered meanwhile."""
        waiting = self._waiting.pop(key, None)
        return [] if waiting is None else self._tell(key, waiting.notice)

    def sent_elsewhere(self, key: Key) -> None:
        """Another node has sent its notice, and will send its outcome."""
        if self._waiting.pop(key, None) is not None:
            self._known.add(key)

    def next_due(self) -> float | None:
        """When `news` and `ready` have to be asked next; None: not before another commit."""
        if self._soon:
            return self._now()
        return min((one.due for one in self._waiting.values()), default=None)

    # Requests, and what guard rails ask

    def _asked(self, committed: Committed, grace: float) -> list[Notice]:
        settled: list[Notice] = []
        record = committed.record
        for request in committed.requests:
            key = (request.session_id, request.request_id)
            if request.state != "open":
                settled += self._over(key, request_outcome(request))
            elif self._is_new(key):
                self._wait(key, request_notice(record, request, self._stamp()), grace)
        return settled + self._guard(committed, grace)

    def _guard(self, committed: Committed, grace: float) -> list[Notice]:
        record = committed.record
        name, guard = record.session_id, record.guard
        before, asked = self._guards.get(name), guard.guard_id if guard is not None else None
        settled: list[Notice] = []
        if before is not None and before != asked:
            del self._guards[name]
            settled = self._over((name, before), guard_outcome(committed))
        if guard is not None:
            self._guards[name] = guard.guard_id
            if self._is_new((name, guard.guard_id)):
                self._wait((name, guard.guard_id), guard_notice(record, guard, self._stamp()), grace)
        return settled

    def _is_new(self, key: Key) -> bool:
        return key not in self._sent and key not in self._many and key not in self._known

    def _wait(self, key: Key, notice: Notice, grace: float) -> None:
        known, due = self._waiting.get(key), self._now() + grace
        self._waiting[key] = _Waiting(notice, min(known.due, due) if known else due)

    def _over(self, key: Key, outcome: str) -> list[Notice]:
        self._known.discard(key)
        self._waiting.pop(key, None)
        sent = self._sent.pop(key, None)
        if sent is not None:
            over = replace(sent, settled=True, title=outcome, body=sent.title, detail="", at=self._stamp())
            return [over]
        return [self._many_notice()] if self._many.pop(key, None) is not None else []

    def _tell(self, key: Key, notice: Notice) -> list[Notice]:
        now = self._now()
        self._latest.append(now)
        if self._many or (len(self._latest) == BURST and now - self._latest[0] < BURST_SECONDS):
            self._many[key] = notice
            return [self._many_notice()]
        self._sent[key] = notice
        return [notice]

    def _many_notice(self) -> Notice:
        return waiting_many(self._many.values(), self._stamp())

    # Sessions

    def _session(self, record: SessionRecord) -> None:
        name, now = record.session_id, self._now()
        before = self._sessions.pop(name, None)
        self._sessions[name] = (record.phase, record.ends_at)
        if len(self._sessions) > MAX_SESSIONS:
            self._running.pop(next(iter(self._sessions)), None)
            self._sessions.pop(next(iter(self._sessions)))
        began = self._running.get(name)
        if record.phase is Phase.RUNNING:
            self._running.setdefault(name, now)
        else:
            self._running.pop(name, None)
        if before is None:
            return
        phase, ends_at = before
        if record.phase is not phase:
            self._phase_changed(record, phase, 0.0 if began is None else now - began)
        if record.ends_at and record.ends_at != ends_at:
            self._soon.append(session_notice(record, "limit", self._stamp()))

    def _phase_changed(self, record: SessionRecord, before: Phase, worked: float) -> None:
        long = worked >= self.finished_seconds > 0
        if record.phase is Phase.FAILED or (
            record.phase is Phase.ENDED and record.end_reason not in NOT_NOTIFIED and not record.attempt
        ):
            self._soon.append(session_notice(record, "ended", self._stamp()))
        elif (before, record.phase) == (Phase.RUNNING, Phase.WAITING) and not record.queued and long:
            self._soon.append(session_notice(record, "finished", self._stamp(), worked))

    def _stamp(self) -> str:
        return timestamp(self._clock())
