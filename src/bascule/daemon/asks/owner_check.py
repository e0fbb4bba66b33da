"""Refuses what a hub elsewhere may not do: widen what agents do on this machine without asking."""

from collections.abc import Callable
from typing import Any

from bascule.daemon.device import Device
from bascule.daemon.handlers import Handlers
from bascule.daemon.repeated_audit import RepeatedAudit
from bascule.model.commands import Envelope
from bascule.model.errors import OwnerNeeded
from bascule.store.base import AuditRecord


class OwnerCheck:
    """Only what this machine's own person has set counts, and the line by which a command came."""

    def __init__(
        self, repeated: RepeatedAudit, may_widen: Callable[[], bool], device: Device, handlers: Handlers
    ) -> None:
        self._repeated, self._may_widen, self._device, self._handlers = repeated, may_widen, device, handlers

    def refuses(self, *, far: bool) -> bool:
        """Whether a line's hub is refused all that widens."""
        return far and not self._may_widen()

    def why_not(self, envelope: Envelope[Any]) -> str:
        """The refusal, in words; empty when the command may be carried out."""
        if not self.refuses(far=bool(envelope.by.via)):
            return ""
        widened = self._handlers.of(envelope.command).widens(envelope.command)
        if not widened:
            return ""
        here = self._device.name
        return (
            f"{here} does not let a hub {widened}. Do it on {here} itself, in its page or with `bascule`; "
            "or let this hub, with `bascule daemon hub-may-widen yes` there."
        )

    async def check(self, envelope: Envelope[Any]) -> None:
        why = self.why_not(envelope)
        if why:
            session_id = getattr(envelope.command, "session_id", None)
            detail = f"{type(envelope.command).__name__}, by the hub {envelope.by.via}: {why}"
            await self._repeated.add(AuditRecord.of(envelope.by, "refused", session_id, detail))
            raise OwnerNeeded(why)
