"""Ends everything an agent started: its process group, descendants, and processes with its marks."""

import os
import signal
import time
from collections.abc import Callable

from bascule.keeper import procs
from bascule.keeper.log import Log
from bascule.keeper.loop import Loop
from bascule.keeper.procs import Proc

LEFTOVER_GRACE = 2.0
LEFTOVER_LOOKS = 10
_TICK = 0.1
_LOOK = 0.05
_GIVE_UP = 15.0
# A process that forks and exits during a scan can be missed by it once, hardly twice.
_CLEAN_SCANS = 2


class Sweep:
    """TERM to every member, then KILL after the grace, for one session. Its leader stays an unreaped
    zombie meanwhile, so that no other process can be given its pid or group."""

    def __init__(
        self, session: str, keeper: str, leader: Proc, hang_up: bool, kill_at: float, looks: int = 0
    ) -> None:
        """`looks`: a kill follows only after so many scans: a busy machine shortens nobody's grace."""
        self.session = session
        self.leader = leader
        self._keeper = keeper
        self._known: dict[int, int] = {leader.pid: leader.started}
        self._termed: set[tuple[int, int]] = set()
        self._hang_up = hang_up
        self._kill_at = kill_at
        self._looks = looks
        self._clean = 0
        self.survivors: list[int] = []

    def hurry(self, kill_at: float) -> None:
        self._kill_at = min(self._kill_at, kill_at)
        self._looks = 0

    def step(self, snapshot: list[Proc], alone: bool, now: float) -> bool:
        """Signal the processes that are left; True if none is, or when the time is up."""
        members = self._members(snapshot, alone)
        self._known = {proc.pid: proc.started for proc in members}
        self._known[self.leader.pid] = self.leader.started
        self._clean = 0 if members else self._clean + 1
        killing = now >= self._kill_at and self._looks <= 0
        if killing:
            self._kill(members)
        else:
            self._term(members)
        self._looks -= 1
        self.survivors = [proc.pid for proc in members]
        return self._clean >= _CLEAN_SCANS or (killing and now >= self._kill_at + _GIVE_UP)

    def _members(self, snapshot: list[Proc], alone: bool) -> list[Proc]:
        me = os.getpid()
        found: dict[int, Proc] = {}
        for proc in snapshot:
            if proc.pid != me and proc.started >= self.leader.started and self._belongs(proc, me, alone):
                found[proc.pid] = proc
        grew = True
        while grew:
            young = [p for p in snapshot if p.pid not in found and p.parent in found and p.pid != me]
            found.update((proc.pid, proc) for proc in young)
            grew = bool(young)
        return [proc for proc in found.values() if not proc.zombie]

    def _belongs(self, proc: Proc, me: int, alone: bool) -> bool:
        if self.leader.pid in (proc.group, proc.session) or self._known.get(proc.pid) == proc.started:
            return True
        if alone and proc.parent == me:
            # An orphan that hid its marks: with no other session left it can only be this one's.
            return True
        marks = procs.marks(proc.pid)
        return marks.get(procs.SESSION_MARK) == self.session and marks.get(procs.KEEPER_MARK) == self._keeper

    def _term(self, members: list[Proc]) -> None:
        for proc in members:
            if (proc.pid, proc.started) not in self._termed:
                self._termed.add((proc.pid, proc.started))
                procs.send(proc.pid, proc.started, signal.SIGTERM)
                if self._hang_up:
                    # Interactive shells ignore TERM but leave when their terminal hangs up.
                    procs.send(proc.pid, proc.started, signal.SIGHUP)
                # A stopped process sees none of this until it continues.
                procs.send(proc.pid, proc.started, signal.SIGCONT)

    def _kill(self, members: list[Proc]) -> None:
        signal_group(self.leader.pid, signal.SIGKILL)
        for proc in members:
            procs.send(proc.pid, proc.started, signal.SIGKILL)


def signal_group(leader: int, number: signal.Signals) -> bool:
    """Only for a leader not yet reaped: until then the group's number cannot belong to anyone else."""
    try:
        os.killpg(leader, number)
    except OSError:
        return False
    return True


class Sweeper:
    """Runs all sweeps on one snapshot per tick, so that many endings cost one scan of /proc."""

    def __init__(
        self, loop: Loop, log: Log, alone: Callable[[str], bool], done: Callable[[Sweep], None]
    ) -> None:
        self._loop = loop
        self._log = log
        self._alone = alone
        self._done = done
        self._sweeps: dict[str, Sweep] = {}

    def __contains__(self, session: str) -> bool:
        return session in self._sweeps

    def add(self, sweep: Sweep) -> None:
        idle = not self._sweeps
        self._sweeps[sweep.session] = sweep
        if idle:
            self._loop.after(0, self._tick)

    def get(self, session: str) -> Sweep | None:
        return self._sweeps.get(session)

    def _tick(self) -> None:
        began = self._loop.now()
        try:
            self._step(procs.everyone())
        finally:
            if self._sweeps:
                # With very many processes a scan is slow: never spend more than a fifth of the time on it.
                self._loop.after(max(_TICK, 4 * (self._loop.now() - began)), self._tick)

    def _step(self, snapshot: list[Proc]) -> None:
        for sweep in list(self._sweeps.values()):
            if sweep.step(snapshot, self._alone(sweep.session), self._loop.now()):
                del self._sweeps[sweep.session]
                if sweep.survivors:
                    self._log.write(f"session {sweep.session}: could not end {sweep.survivors}")
                self._done(sweep)


def sweep_leftovers(keeper: str, log: Log) -> None:
    """At start, before serving: end what a dead keeper of this folder left. Nothing of ours runs yet.

    The grace is counted in looks: a machine too busy to let us look is too busy to let them end.
    """
    grace = round(LEFTOVER_GRACE / _LOOK)
    termed: set[int] = set()
    for look in range(2 * grace):
        left = [proc for proc in procs.everyone() if _is_leftover(proc, keeper)]
        if not left:
            return
        for proc in left:
            if look >= grace:
                procs.send(proc.pid, proc.started, signal.SIGKILL)
            elif proc.pid not in termed:
                termed.add(proc.pid)
                log.write(f"ending pid {proc.pid}, left by an earlier keeper")
                procs.send(proc.pid, proc.started, signal.SIGTERM)
                procs.send(proc.pid, proc.started, signal.SIGCONT)
        time.sleep(_LOOK)
    log.write("some processes of an earlier keeper could not be ended")


def _is_leftover(proc: Proc, keeper: str) -> bool:
    mine = proc.pid == os.getpid() or proc.zombie
    return not mine and procs.marks(proc.pid).get(procs.KEEPER_MARK) == keeper
