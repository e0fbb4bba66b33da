"""Refuses what a hub elsewhere may not do: widen what agents do on this machine without asking."""

from typing import Any

from bascule.daemon.device import Device
from bascule.daemon.handlers import Handlers
from bascule.model.commands import Envelope
from bascule.model.errors import OwnerNeeded
from bascule.model.settings import StartsSettings
from bascule.store.base import AuditRecord
from bascule.store.protocols import DaemonStore


class OwnerCheck:
    """Only `hub_may_widen` of this machine's own settings counts, and the line by which a command came."""

    def __init__(
        self, store: DaemonStore, settings: StartsSettings, device: Device, handlers: Handlers
    ) -> None:
        self._store, self._settings, self._device, self._handlers = store, settings, device, handlers

    def why_not(self, envelope: Envelope[Any]) -> str:
        """The refusal, in words; empty when the command may be carried out."""
        if not envelope.by.via or self._settings.hub_may_widen:
            return ""
        widened = self._handlers.of(envelope.command).widens(envelope.command)
        if not widened:
            return ""
        here = self._device.name
        return (
            f"{here} does not let a hub {widened}. Do it on {here} itself, in its page or with `bascule`; "
            "or set `hub_may_widen = true` under [starts] in its config.toml."
        )

    async def check(self, envelope: Envelope[Any]) -> None:
        why = self.why_not(envelope)
        if why:
            session_id = getattr(envelope.command, "session_id", None)
            detail = f"{type(envelope.command).__name__}, by the hub {envelope.by.via}: {why}"
            await self._store.audit([AuditRecord.of(envelope.by, "refused", session_id, detail)])
            raise OwnerNeeded(why)
