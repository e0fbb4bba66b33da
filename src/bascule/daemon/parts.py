"""Builds the daemon's parts, and enters their handlers in the table of commands."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from bascule.daemon.files.git_panel import GitPanel
from bascule.daemon.files.panel import Panel, git_environment
from bascule.daemon.files.prompt_files import PromptFolders
from bascule.daemon.found.sessions import FoundSessions
from bascule.daemon.found.setup import found_sessions
from bascule.daemon.handlers import Handlers
from bascule.daemon.inputs import Inputs
from bascule.daemon.machine import Machine
from bascule.daemon.own_logs import own_devices
from bascule.daemon.repeated_audit import RepeatedAudit
from bascule.daemon.rules import Rules
from bascule.daemon.session_commands import SessionCommands
from bascule.daemon.session_setup import SessionParts, session_parts
from bascule.daemon.sessions.listening import ListenerSearch
from bascule.daemon.sessions.resume_commands import ResumeCommands
from bascule.daemon.starts.start_gate import Does, StartGate
from bascule.daemon.starts.start_memory import StartMemory
from bascule.daemon.starts.trusted_browsers import SignatureCheck
from bascule.daemon.terminals.tapes import LocalTapes
from bascule.daemon.trusted import TrustedFolders
from bascule.daemon.worktrees.comparisons import Comparing
from bascule.link.frames import AnyFrame
from bascule.model.commands import Actor


@dataclass(frozen=True)
class Calls:
    """What the parts call the host for."""

    check_storage: Callable[[], None]  # raises while the disk is full
    tell: Callable[[AnyFrame], None]  # to every hub
    go_on: Callable[[str, Actor], Awaitable[None]]  # with a found session, for which a message is queued
    starts: Does


@dataclass(frozen=True)
class Parts:
    sessions: SessionParts
    tapes: LocalTapes
    found: FoundSessions
    machine: Machine
    gate: StartGate
    repeated: RepeatedAudit
    handlers: Handlers


def build_parts(inputs: Inputs, calls: Calls, lock: asyncio.Lock) -> Parts:
    """`lock` keeps commands for sessions that are not running in order."""
    store, settings, launcher, clock = inputs.store, inputs.settings, inputs.launcher, inputs.clock
    trusted = TrustedFolders(inputs.folder)
    own = (settings.data_dir, settings.config_dir)
    rules = Rules(inputs.rules, inputs.roots, own, clock, own_devices(inputs.device.id))
    sessions = session_parts(inputs, rules, trusted, lock, calls.tell)
    live, states = sessions.live, sessions.states
    tapes = LocalTapes(live, calls.check_storage, settings.terminal, clock, inputs.steady)
    comparing = Comparing(store, inputs.comparisons, live, sessions.starter, launcher, settings, clock)
    found = _found_sessions(inputs, lock, calls)
    repeated = RepeatedAudit(store, inputs.steady)
    machine = Machine(
        store,
        repeated,
        live,
        launcher,
        states,
        sessions.unlogged,
        trusted,
        inputs.device,
        settings,
        inputs.limits,
    )
    gate = _start_gate(inputs, calls.starts, repeated)
    commands = SessionCommands(store, live, launcher, sessions.starter, states, comparing, found, gate, clock)
    resuming = ResumeCommands(store, found, launcher.resuming, settings.data_dir)
    handlers = Handlers()
    for part in (machine, rules, comparing, found, sessions.unlogged, tapes, commands, gate, resuming):
        part.register(handlers)
    ListenerSearch(store, live).register(handlers)
    _register_files(inputs, handlers)
    return Parts(sessions, tapes, found, machine, gate, repeated, handlers)


def _found_sessions(inputs: Inputs, lock: asyncio.Lock, calls: Calls) -> FoundSessions:
    return found_sessions(
        inputs.store,
        inputs.histories,
        inputs.settings,
        inputs.limits,
        inputs.device,
        lock,
        calls.go_on,
        inputs.clock,
        inputs.steady,
    )


def _start_gate(inputs: Inputs, does: Does, repeated: RepeatedAudit) -> StartGate:
    device, clock = inputs.device, inputs.clock
    signatures = SignatureCheck(inputs.folder, device.id, device.name, clock)
    memory = StartMemory(inputs.folder)
    settings, notices = inputs.settings.starts, inputs.notices
    return StartGate(inputs.store, repeated, settings, device, memory, signatures, notices, does, clock)


def _register_files(inputs: Inputs, handlers: Handlers) -> None:
    panel = Panel(inputs.store, inputs.settings, inputs.roots)
    git_panel = GitPanel(inputs.store, panel.folder_of, panel.own, git_environment)
    for part in (panel, git_panel, PromptFolders(inputs.settings, inputs.roots)):
        part.register(handlers)
