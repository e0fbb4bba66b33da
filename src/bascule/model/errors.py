"""Errors, classed by whose fault they are: each has a code for programs and a sentence for people."""

from typing import ClassVar

from msgspec import Struct

Field = str | int | None | dict[str, str | int]


class Refusal(Struct, frozen=True, omit_defaults=True):
    """An error as data, to cross a link or a socket."""

    code: str
    message: str
    fields: dict[str, Field] = {}


class BasculeError(Exception):
    """The base of everything we raise on purpose."""

    code: ClassVar[str] = "INTERNAL_ERROR"

    def __init__(self, message: str, **fields: Field) -> None:
        super().__init__(message)
        self.message = message
        self.fields = fields

    def refusal(self) -> Refusal:
        return Refusal(self.code, self.message, self.fields)


class CallerError(BasculeError):
    """The caller must change something."""

    code = "INVALID_MESSAGE"


class HostError(BasculeError):
    """This machine can't do it now: disk full, agent missing, keeper gone."""


class InvalidInput(CallerError):
    code = "INVALID_INPUT"


class SessionNotFound(CallerError):
    code = "SESSION_NOT_FOUND"

    def __init__(self, session_id: str) -> None:
        super().__init__(f"There is no session {session_id!r}.", session_id=session_id)


class SessionOver(CallerError):
    """The session has ended: nothing more can be sent to it."""

    code = "SESSION_ENDED"


class RequestNotFound(CallerError):
    code = "REQUEST_NOT_FOUND"

    def __init__(self, request_id: str) -> None:
        super().__init__(f"There is no request {request_id!r} in this session.", request_id=request_id)


class AlreadyAnswered(CallerError):
    code = "ALREADY_ANSWERED"

    def __init__(self, request_id: str, *, by: str, at: str, decision: str) -> None:
        super().__init__(
            f"{by} already answered this request ({decision}) at {at}.",
            request_id=request_id,
            by=by,
            at=at,
            decision=decision,
        )


class RequestWithdrawn(CallerError):
    code = "REQUEST_WITHDRAWN"

    def __init__(self, request_id: str, *, reason: str) -> None:
        super().__init__(
            f"This request is no longer open ({reason}); nothing was run.",
            request_id=request_id,
            reason=reason,
        )


class InputChanged(CallerError):
    """The answer names another input than the request holds."""

    code = "INPUT_MISMATCH"

    def __init__(self, request_id: str) -> None:
        super().__init__(
            "The answer was given for another input than this request's; look at it again.",
            request_id=request_id,
        )


class UnknownOption(CallerError):
    code = "UNKNOWN_OPTION"


class PromptNotFound(CallerError):
    code = "PROMPT_NOT_FOUND"


class KeyReused(CallerError):
    code = "KEY_REUSED"

    def __init__(self, key: str) -> None:
        super().__init__("This idempotency key was used for a different request; use a new key.", key=key)


class LimitReached(CallerError):
    code = "LIMIT_REACHED"


class StartRefused(CallerError):
    """This machine does not take the start: it is not trusted, was denied, or nobody answered."""

    code = "START_REFUSED"


class OwnerNeeded(CallerError):
    """It would let agents do more without asking, and only the owner of the machine may decide that."""

    code = "OWNER_NEEDED"


class ApprovalPending(CallerError):
    """It is not done yet, and is done once somebody approves it on the machine."""

    code = "APPROVAL_PENDING"


class StartNotWaiting(CallerError):
    """It was answered, or is over; or the link was used before."""

    code = "START_NOT_WAITING"


class UnknownAgent(CallerError):
    code = "UNKNOWN_AGENT"


class BadDirectory(CallerError):
    code = "INVALID_DIRECTORY"


class OutsideRoots(BadDirectory):
    """The folder is there, and nobody has allowed it."""


class NotSupported(CallerError):
    code = "NOT_SUPPORTED"


class LineTooLong(CallerError):
    """A terminal's program reads line by line, and the kernel would cut this line."""

    code = "LINE_TOO_LONG"


class AgentUnavailable(HostError):
    """Its program is missing, or its process is gone and does not come back."""

    code = "AGENT_UNAVAILABLE"


class AgentNotInstalled(AgentUnavailable):
    pass


class AgentFailed(HostError):
    code = "AGENT_FAILED"


class DeviceOffline(HostError):
    code = "DEVICE_OFFLINE"


class StorageFailed(HostError):
    """The disk would not take it: nothing of the step was kept."""

    code = "STORAGE_FAILED"


class StorageFull(StorageFailed):
    code = "STORAGE_FULL"


class StoreDamaged(HostError):
    """What is stored does not match its checksum or is no database any more. Names what, and where it is."""

    code = "STORE_DAMAGED"


class StoreRefused(HostError):
    """The file is sound but not ours to open: another program's, a newer version's, or in use."""

    code = "STORE_REFUSED"


class AlreadyRunning(StoreRefused):
    code = "ALREADY_RUNNING"


class StoreConflict(BasculeError):
    """A step that does not follow what is stored: its owner must look at the head again."""

    code = "STORE_CONFLICT"


class OwnerMismatch(CallerError):
    """A device sent rows of a log that is not its own."""

    code = "OWNER_MISMATCH"


class Diverged(StoreConflict):
    """A row differs from the one with this number in the copy: both can't be the same log."""

    code = "LOG_DIVERGED"


class SessionGone(CallerError):
    """The session can still be read, but the machine that ran it no longer has it."""

    code = "SESSION_GONE"

    def __init__(self, session_id: str, device_name: str) -> None:
        super().__init__(
            f"This session is no longer on {device_name}; it can only be read.", session_id=session_id
        )


class Refused(BasculeError):
    """A refusal that came over a link, raised again on this side with its own code."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.message, **refusal.fields)
        self._refusal = refusal

    def refusal(self) -> Refusal:
        return self._refusal
