"""The keeper's server: owns sessions and client connections; handles signals, exits and notices."""

import os
import shutil
import signal
import socket
from collections.abc import Callable
from types import FrameType

from bascule.keeper import folder as place
from bascule.keeper import procs
from bascule.keeper.client_connection import ClientConnection
from bascule.keeper.echo_priority import EchoPriority
from bascule.keeper.frames import Message
from bascule.keeper.layout import SPOOL
from bascule.keeper.leftover import Leftover, find_leftovers
from bascule.keeper.log import Log
from bascule.keeper.loop import READ, Loop, Timer
from bascule.keeper.request_checks import Refused, SpawnRequest
from bascule.keeper.session import Session
from bascule.keeper.spawn import ChildSettings
from bascule.keeper.sweep import LEFTOVER_GRACE, LEFTOVER_LOOKS, Sweep, Sweeper

_CLOSING_LIMIT = 30.0
_ACCEPT_PAUSE = 1.0


def _only_wake(_number: int, _frame: FrameType | None) -> None:
    """A handler must exist for the wake-up descriptor to be written; the loop does the work."""


Handle = Callable[["Keeper", ClientConnection, Message, bytes], None]


class Keeper:
    def __init__(self, folder: str, log: Log, settings: ChildSettings, idle: float, handle: Handle) -> None:
        self.mark = place.marker_of(folder)
        self.started = procs.started(os.getpid())
        self.boot = procs.boot()
        self.sessions: dict[str, Session | Leftover] = dict(find_leftovers(folder))
        self._folder = folder
        self._log = log
        self._settings = settings
        self._idle = idle
        self._handle = handle
        self._loop = Loop(log)
        self._echo_priority = EchoPriority(self._loop.now)
        self._sweeper = Sweeper(self._loop, log, self._is_alone, self._swept)
        self._unreaped: dict[int, Session] = {}
        self._clients: set[ClientConnection] = set()
        self._idle_timer: Timer | None = None
        self._closing = False
        self._stopped = False

    def serve(self, listener: socket.socket) -> None:
        self._loop.watch(listener.fileno(), READ, lambda: self._accept(listener))
        self._catch_signals()
        self._rest_if_idle()
        while not self._stopped:
            self._loop.step()
            for client in list(self._clients):
                self._loop.safely(client.flush)

    def spawn(self, request: SpawnRequest) -> Session:
        """Start a session, or find the one this very request started before."""
        known = self.sessions.get(request.session)
        if isinstance(known, Session) and request.spawn_id and known.spawn_id == request.spawn_id:
            return known
        if known is not None:
            raise Refused("exists", f"session {request.session} exists")
        if request.session in self._sweeper or self._closing:
            raise Refused(
                "busy", "the keeper is closing" if self._closing else "its last run is still ending"
            )
        request.env[procs.SESSION_MARK.encode()] = request.session.encode()
        request.env[procs.KEEPER_MARK.encode()] = self.mark.encode()
        session = self._start(request)
        self.sessions[session.id] = session
        self._unreaped[session.leader.pid] = session
        self._log.write(f"session {session.id}: started pid {session.leader.pid}")
        # It may have ended before its pid was entered above, and its SIGCHLD come and gone.
        self._loop.after(0, self._children_changed)
        return session

    def end(self, session: Session, grace_stdin: float, grace_term: float) -> None:
        """stdin closes first: agents save their work on end of file. Signals follow for those who stay."""
        session.stdin.close_when_written()
        self._loop.after(grace_stdin if session.alive else 0, lambda: self._sweep(session, grace_term))

    def forget(self, session: Session | Leftover) -> None:
        if session.exit is None:
            raise Refused("running", f"session {session.id} has not ended")
        session.close()
        shutil.rmtree(self._spool(session.id))
        del self.sessions[session.id]
        for client in self._clients:
            client.forget(session.id)

    def _start(self, request: SpawnRequest) -> Session:
        spool = self._spool(request.session)
        try:
            os.mkdir(spool, 0o700)
        except OSError as error:
            raise Refused("storage", f"cannot make the spool: {error.strerror}") from error
        try:
            return Session(
                self._loop, spool, request, self._settings, self._echo_priority, self._session_changed
            )
        except Refused:
            os.rmdir(spool)
            raise

    def _session_changed(self, session: Session) -> None:
        for client in self._clients:
            client.mark(session)

    def _sweep(self, session: Session, grace: float, looks: int = 0) -> None:
        kill_at = self._loop.now() + grace
        running = self._sweeper.get(session.id)
        if running is not None:
            running.hurry(kill_at)
        elif session.leader.pid in self._unreaped:
            session.stdin.close()
            leader, terminal = session.leader, session.is_terminal
            self._sweeper.add(Sweep(session.id, self.mark, leader, terminal, kill_at, looks))

    def _swept(self, sweep: Sweep) -> None:
        session = self._unreaped[sweep.leader.pid]
        self._poll(session)
        if not session.alive:
            session.reap()
            del self._unreaped[sweep.leader.pid]
        if self._closing and not self._unreaped:
            self._stop("ended all sessions")

    def _is_alone(self, session: str) -> bool:
        # One that has ended but is still being swept counts too: the orphan may be its own.
        return all(other.id == session for other in self._unreaped.values())

    def _children_changed(self) -> None:
        for session in list(self._unreaped.values()):
            if self._poll(session) and session.id not in self._sweeper:
                self._sweep(session, LEFTOVER_GRACE, LEFTOVER_LOOKS)
        for pid in procs.own_children():
            if pid not in self._unreaped:
                os.waitpid(pid, os.WNOHANG)

    def _poll(self, session: Session) -> bool:
        ended = session.poll_exit()
        if ended:
            self._log.write(f"session {session.id}: ended, {session.ending}")
        return ended

    def _catch_signals(self) -> None:
        theirs, ours = socket.socketpair()
        theirs.setblocking(False)
        ours.setblocking(False)
        signal.set_wakeup_fd(theirs.fileno(), warn_on_full_buffer=False)
        for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT):
            signal.signal(number, _only_wake)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        self._loop.watch(ours.fileno(), READ, lambda: self._signalled(ours.recv(4096)))
        # The loop holds numbers only; without this the sockets would be closed as garbage.
        self._wake = (theirs, ours)

    def _signalled(self, numbers: bytes) -> None:
        if signal.SIGTERM in numbers or signal.SIGINT in numbers:
            self._close()
        self._children_changed()

    def _close(self) -> None:
        self._log.write("asked to end")
        self._closing = True
        for session in list(self._unreaped.values()):
            self.end(session, 2.0, 5.0)
        if not self._unreaped:
            self._stop("asked to end")
        self._loop.after(_CLOSING_LIMIT, lambda: self._stop("some sessions would not end"))

    def _stop(self, reason: str) -> None:
        self._log.write(f"stopping: {reason}")
        self._stopped = True

    def _accept(self, listener: socket.socket) -> None:
        try:
            connection, _ = listener.accept()
        except BlockingIOError:
            return
        except OSError as error:
            # Out of descriptors, most likely: asking again at once would only spin.
            self._log.write(f"cannot accept: {error}")
            self._loop.unwatch(listener.fileno())
            again = listener.fileno(), READ, lambda: self._accept(listener)
            self._loop.after(_ACCEPT_PAUSE, lambda: self._loop.watch(*again))
            return
        uid = place.peer_uid(connection)
        if uid != os.geteuid():
            self._log.write(f"refused a client of uid {uid}")
            connection.close()
            return
        if self._idle_timer:
            self._idle_timer.cancel()
        self._clients.add(ClientConnection(self._loop, connection, self._requested, self._client_gone))

    def _requested(self, client: ClientConnection, message: Message, blob: bytes) -> None:
        self._handle(self, client, message, blob)

    def _client_gone(self, client: ClientConnection, reason: str) -> None:
        self._clients.discard(client)
        if reason != "closed":
            self._log.write(f"client {reason}")
        self._rest_if_idle()

    def _rest_if_idle(self) -> None:
        if not self._clients and not self._keeps_anything():
            self._idle_timer = self._loop.after(self._idle, lambda: self._stop("idle"))

    def _keeps_anything(self) -> bool:
        return any(isinstance(session, Session) for session in self.sessions.values())

    def _spool(self, session: str) -> str:
        return os.path.join(self._folder, SPOOL, session)
