"""What a command for a session would let its agent do without asking, as the end of "… does not let a hub".

A hub can be taken over; what runs unasked on this machine is decided by the machine's owner alone.
"""

from typing import assert_never

from bascule.daemon.launching.launching import Launching
from bascule.daemon.registry.live_sessions import LiveSessions
from bascule.link.comparisons import StartComparison
from bascule.model.commands import (
    AnswerGuard,
    AnswerPermission,
    AnswerQuestion,
    AnySessionCommand,
    ArchiveSession,
    DiscardHeld,
    EditPrompt,
    EndSession,
    Interrupt,
    KeepSession,
    ReleasePrompts,
    RenameSession,
    ReorderPrompts,
    ResumeSession,
    SendPrompt,
    SetMode,
    SetModel,
    SetPermissionMode,
    StartSession,
    WithdrawPrompt,
)
from bascule.model.events import PermissionMode
from bascule.policy.answer_checks import allows_more, asked_permission
from bascule.session.supervisor import Supervisor

MODE = "choose a mode in which agents do things without asking"
SKIP = "start an agent that asks nothing"
REMEMBER = "allow more than one request at a time"
CAP = "raise a cap"
TIME = "let a session run past its limit"
ALLOWING: frozenset[PermissionMode] = frozenset({"auto", "auto_read"})


def widened_by_comparison(command: StartComparison) -> str:
    return MODE if command.permission_mode in ALLOWING else ""


class SessionWidening:
    def __init__(self, sessions: LiveSessions, launcher: Launching) -> None:
        self._sessions = sessions
        self._launcher = launcher

    def of(self, command: AnySessionCommand) -> str:
        match command:
            case StartSession():
                return self._by_start(command)
            case SetMode():
                return self._by_mode(command)
            case SetPermissionMode():
                return MODE if command.mode in ALLOWING else ""
            case AnswerPermission():
                return self._by_answer(command)
            case AnswerGuard():
                return self._by_guard(command)
            case KeepSession():
                return TIME
            case SendPrompt() | EditPrompt() | ReorderPrompts() | WithdrawPrompt() | ReleasePrompts():
                return ""  # the agent asks about what it makes of a message
            case ResumeSession():
                return ""  # it comes back in a mode that asks; whether it may is a question of starts
            case DiscardHeld() | Interrupt() | AnswerQuestion() | SetModel():
                return ""
            case RenameSession() | ArchiveSession() | EndSession():
                return ""
            case _:
                assert_never(command)

    def _by_start(self, command: StartSession) -> str:
        options = command.options
        if options.skip_permissions:
            return SKIP
        if options.permission_mode in ALLOWING:
            return MODE
        if options.mode is not None and not self._asks(command.agent, command.driver, options.mode):
            return MODE
        return ""

    def _by_mode(self, command: SetMode) -> str:
        live = self._sessions.live.get(command.session_id)
        if live is None:
            return ""  # refused anyway: there is no agent to set it for
        record = live.ledger.record
        return "" if self._asks(record.agent, record.driver, command.mode) else MODE

    def _asks(self, agent: str, driver: str | None, mode: str) -> bool:
        return self._launcher.asks(agent, driver, mode)

    def _by_answer(self, command: AnswerPermission) -> str:
        if command.decision == "deny":
            return ""
        if command.remember:
            return REMEMBER
        live = self._sessions.live.get(command.session_id)
        request = live.ledger.requests.get(command.request_id) if isinstance(live, Supervisor) else None
        if request is None or request.kind != "permission":
            return ""
        return REMEMBER if allows_more(asked_permission(request), command.option) else ""

    def _by_guard(self, command: AnswerGuard) -> str:
        live = self._sessions.live.get(command.session_id)
        guard = live.ledger.record.guard if live is not None else None
        capped = guard is not None and guard.kind != "loop"
        return CAP if capped and command.decision == "go_on" else ""
