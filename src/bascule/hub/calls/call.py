"""One admitted request, over HTTP or the socket, as an operation's function receives it."""

from dataclasses import dataclass, replace
from typing import Any, Generic, Protocol, TypeVar

from bascule.hub.calls.operation import Operation
from bascule.hub.feed.positions import Reason
from bascule.hub.services import Hub
from bascule.hub.wire.asgi_types import Receive, Scope, Send
from bascule.model.commands import Actor, Command
from bascule.model.errors import Refused, SessionGone, SessionNotFound
from bascule.model.records import SessionRecord
from bascule.store.grants import Grant

A = TypeVar("A")
B = TypeVar("B")


class Subscriber(Protocol):
    """The socket a call came by, for operations that change what it is sent."""

    def watch(self, session_id: str, after: int, epoch: str) -> None: ...
    def resync(self, session_id: str, reason: Reason, epoch: str) -> None: ...
    def unwatch(self, session_id: str) -> None: ...


@dataclass(frozen=True, kw_only=True)
class Call(Generic[B]):
    """Everything in it was checked before. `grant` is None only for public operations."""

    hub: Hub
    operation: Operation
    grant: Grant | None
    by: Actor
    body: B
    key: str | None  # the idempotency key; the device makes it the sender's own
    scope: Scope
    receive: Receive
    send: Send
    params: dict[str, str]
    device: str | None = None  # the device it is for, when the caller names one
    session: SessionRecord | None = None
    socket: Subscriber | None = None

    @property
    def record(self) -> SessionRecord:
        """Of the session it acts in."""
        assert self.session is not None
        return self.session

    @property
    def holder(self) -> Grant:
        assert self.grant is not None
        return self.grant

    @property
    def subscriber(self) -> Subscriber:
        assert self.socket is not None
        return self.socket

    def in_session(self, record: SessionRecord) -> "Call[B]":
        """The same call, for the device of a session that its body names."""
        return replace(self, session=record)

    @property
    def target(self) -> str:
        """The device that carries this call out. It must be named once there are several.

        The command line and the hooks of this machine mean this machine, unless they name another.
        """
        board = self.hub.switchboard
        if self.session is not None:
            return board.device_of(self.session.device)
        return board.device(self._named_device)

    @property
    def names_device(self) -> bool:
        """Whether the caller means one device, by its name or because it is a program of this machine."""
        return self._named_device is not None

    @property
    def _named_device(self) -> str | None:
        local = self.grant is not None and self.grant.kind == "ephemeral"
        return self.device or (self.hub.switchboard.this if local else None) or None

    async def ask(self, command: Command[A], *, seconds: float = 30) -> A:
        """Send a command to the session's device, or to the device that this call names."""
        board = self.hub.switchboard
        await board.met()
        try:
            return await board.ask(self.target, command, self.by, self.key, seconds=seconds)
        except Refused as refused:
            if self.session is None or refused.refusal().code != SessionNotFound.code:
                raise
            raise self._gone(self.session) from None

    def _gone(self, record: SessionRecord) -> SessionGone:
        """We have a copy of what its machine has lost: its database was, or was put back from before it."""
        status = self.hub.switchboard.status(self.target)
        return SessionGone(record.session_id, status.name if status is not None else self.target)


AnyCall = Call[Any]
