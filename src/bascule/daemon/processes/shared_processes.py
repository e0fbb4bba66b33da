"""Agent processes that several sessions share: chooses one for a new session, and reports their state."""

import hashlib
import secrets
from collections.abc import Callable

import msgspec

from bascule.daemon.processes.keeper_process import KeeperLink, KeeperProcess
from bascule.link.machine import AgentState
from bascule.model.errors import Refusal
from bascule.model.events import SessionStarted
from bascule.model.settings import AcpSettings
from bascule.session.agent import Exit, SpawnPlan
from bascule.session.shared_process import SharedProcess

GRACE_SECONDS = 5.0  # between the end of its stdin and the end of the agent


class SharedProcesses:
    """Calls `left` with each process that has ended, after the last of its sessions has logged it."""

    def __init__(self, keeper: KeeperLink, settings: AcpSettings) -> None:
        self.on_change: Callable[[str], None] = lambda _: None  # an agent's state may be another
        self.on_left: Callable[[SharedProcess], None] = lambda _: None
        self.on_problem: Callable[[str, Refusal], None] = lambda _, __: None
        self._keeper = keeper
        self._settings = settings
        self._open: dict[str, SharedProcess] = {}

    def choose(self, started: SessionStarted, title: str, plan: SpawnPlan) -> SharedProcess:
        """The process for a new session: one that was started with the same options, or a new one."""
        key = _key(started, plan)
        for known in self._open.values():
            if known.key == key and known.accepts(started.resumed_from):
                return known
        return self._add(f"{started.agent}-{secrets.token_hex(8)}", started, title, key)

    def adopt(self, started: SessionStarted, title: str, plan: SpawnPlan | None) -> SharedProcess:
        """The process a session was on when we were last here."""
        known = self._open.get(started.process)
        if known is not None:
            return known
        # Without a plan nobody can tell what it was started with, so nobody joins it.
        key = _key(started, plan) if plan is not None else secrets.token_hex(8)
        return self._add(started.process, started, title, key)

    def get(self, name: str) -> SharedProcess | None:
        return self._open.get(name)

    def of(self, agent: str) -> list[SharedProcess]:
        return [one for one in self._open.values() if one.agent == agent]

    def state_of(self, agent: str) -> AgentState:
        """The agent's state: connected if any of its processes is."""
        found = self.of(agent)
        alive = [one for one in found if one.exit is None and not one.failure]
        if any(one.greeting is not None for one in alive):
            return "connected"
        if alive:
            return "starting"
        return "disconnected" if found else "idle"

    def _add(self, name: str, started: SessionStarted, title: str, key: str) -> SharedProcess:
        made = SharedProcess(name, started.agent, title, key, lambda: self._process(name), self._changed)
        made.on_problem = self._problem
        self._open[name] = made
        made.expect_greeting(self._settings.start_timeout_ms / 1000)
        return made

    def _process(self, name: str) -> KeeperProcess:
        return KeeperProcess(self._keeper, name, grace_stdin=GRACE_SECONDS, grace_term=1.0)

    def _problem(self, session_id: str, refusal: Refusal) -> None:
        self.on_problem(session_id, refusal)

    def _changed(self, connection: SharedProcess) -> None:
        if not connection.slots and self._open.get(connection.name) is connection:
            del self._open[connection.name]
            self.on_left(connection)
        self.on_change(connection.agent)


def lost() -> Exit:
    return Exit(None, None, 0, 0, lost=True)


def _key(started: SessionStarted, plan: SpawnPlan) -> str:
    """Everything that a process is from its start on. A folder is part of it: an agent may have read its
    settings there, and they must not reach into another project."""
    env = sorted(plan.env.items())
    identity = (started.agent, started.driver, plan.argv, env, plan.cwd, plan.cwd_stat, started.capability)
    return hashlib.sha256(msgspec.json.encode(identity)).hexdigest()
