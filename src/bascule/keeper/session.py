"""One agent's process in the keeper: pid, stdin, one or two spooled outputs, exit status."""

import os
from collections.abc import Callable
from typing import NamedTuple

from bascule.keeper import about, procs
from bascule.keeper.echo_priority import EchoPriority
from bascule.keeper.input import Input
from bascule.keeper.loop import Loop
from bascule.keeper.output import Output
from bascule.keeper.procs import Proc
from bascule.keeper.request_checks import Refused, Size, SpawnRequest
from bascule.keeper.spawn import ChildSettings, launch, set_size
from bascule.keeper.spool import Spool
from bascule.keeper.times import OutputTimes

# How long after its exit an agent's children may keep its pipes open before the exit is reported anyway.
_HOLDERS_GRACE = 1.0


class Exit(NamedTuple):
    code: int | None
    signal: int | None
    lost: bool = False


class Session:
    """Calls `changed` whenever its watchers should be notified."""

    def __init__(
        self,
        loop: Loop,
        folder: str,
        request: SpawnRequest,
        settings: ChildSettings,
        echo_priority: EchoPriority,
        changed: Callable[["Session"], None],
    ) -> None:
        self.id = request.session
        self.spawn_id = request.spawn_id
        self.is_terminal = request.pty is not None
        self.about = about.describe(request.argv, request.cwd, request.label)
        self._folder = folder
        out, err = Spool(folder, "out"), Spool(folder, "err")
        launched = launch(request, settings)
        # The child is ours and not yet waited for, so /proc still tells of it even if it has ended already.
        self.leader = procs.read(launched.pid) or Proc(launched.pid, 0, 0, launched.pid, launched.pid, False)
        self._loop = loop
        self._changed = changed
        self._echo_priority = echo_priority
        self.stdin = Input(loop, launched.stdin, self.is_terminal, self._typed)
        self.out = Output(
            loop,
            launched.out,
            out,
            request.spool_cap,
            self._stream_changed,
            self._reads_little,
            OutputTimes(folder).note if self.is_terminal else None,
        )
        self.err: Output | None = None
        if launched.err is not None:
            self.err = Output(
                loop, launched.err, err, request.spool_cap, self._stream_changed, self._reads_little
            )
        self._terminal_fd = launched.out if self.is_terminal else -1
        self.ending: Exit | None = None
        self.exit: Exit | None = None
        self._note()

    @property
    def alive(self) -> bool:
        return self.ending is None

    @property
    def ends(self) -> tuple[int, int]:
        return self.out.spool.end, self.err.spool.end if self.err else 0

    @property
    def bases(self) -> tuple[int, int]:
        return self.out.spool.base, self.err.spool.base if self.err else 0

    @property
    def storage_error(self) -> str | None:
        return self.out.storage_error or (self.err.storage_error if self.err else None)

    def resize(self, size: Size) -> None:
        if not self.is_terminal:
            raise Refused("not_a_terminal", "the session has no terminal")
        if not self.out.open:
            raise Refused("ended", "the terminal is closed")
        set_size(self._terminal_fd, size)

    def advance(self, positions: tuple[int, int], trims: tuple[int, int]) -> None:
        self.out.advance(positions[0], trims[0])
        if self.err:
            self.err.advance(positions[1], trims[1])

    def relabel(self, label: str) -> None:
        self.about = about.labelled(self.about, label)
        self._note()

    def _note(self) -> None:
        try:
            about.save(self._folder, self.about)
        except OSError:
            # A full disk: it is still known as long as this keeper lives.
            return

    def _typed(self) -> None:
        if self.is_terminal:
            self._echo_priority.typed(self)

    def _reads_little(self) -> bool:
        return self._echo_priority.defers(self)

    def poll_exit(self) -> bool:
        """Look whether the leader has ended, without reaping it; True the first time it has."""
        if self.ending is not None:
            return False
        facts = os.waitid(os.P_PID, self.leader.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if facts is None:
            return False
        if facts.si_code == os.CLD_EXITED:
            self.ending = Exit(facts.si_status, None)
        else:
            self.ending = Exit(None, facts.si_status)
        self.stdin.close(Refused("ended", "the agent has ended"))
        self._loop.after(_HOLDERS_GRACE, self._holders_had_their_time)
        self._finish_if_quiet()
        return True

    def reap(self) -> None:
        """Let go of the zombie: from here on its pid and group may be given to others."""
        if self.ending is not None:
            os.waitpid(self.leader.pid, 0)

    def close(self) -> None:
        self.stdin.close(Refused("ended", "the session is gone"))
        self.out.close()
        if self.err:
            self.err.close()

    def _stream_changed(self) -> None:
        self._finish_if_quiet()
        self._changed(self)

    def _finish_if_quiet(self) -> None:
        if self.ending and not self.out.open and not (self.err and self.err.open):
            self._finish()

    def _holders_had_their_time(self) -> None:
        # Bytes kept back by a slow reader or a full disk still belong before the exit.
        if self.out.paused or (self.err and self.err.paused):
            self._loop.after(_HOLDERS_GRACE, self._holders_had_their_time)
        else:
            self._finish()

    def _finish(self) -> None:
        if self.exit is None:
            self.exit = self.ending
            self._changed(self)
