"""Builds the notifier from the hub's parts, and watches for machines that go away while they work."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from bascule.hub.devices.switchboard import Switchboard
from bascule.hub.door.hosts import Doorway
from bascule.hub.door.roles import allows
from bascule.model.settings import Settings
from bascule.notify.book import NotifyBook
from bascule.notify.channels import Channel
from bascule.notify.delivery import Sender
from bascule.notify.keep import Keep
from bascule.notify.notifier import Notifier
from bascule.notify.web_push import PushKeys
from bascule.store.grants import Grant, GrantBook
from bascule.store.protocols import HubDatabase
from bascule.store.sent_notices import SentBook

Claim = Callable[[str], Awaitable[bool]]

AWAY_SECONDS = 60.0  # a machine that is back by then was not away
NOBODY = "mailto:nobody@bascule.invalid"


def build_notifier(
    store: HubDatabase,
    grants: GrantBook,
    settings: Settings,
    doors: Doorway,
    clock: Callable[[], float],
    steady: Callable[[], float],
    shared: Keep | None = None,
    sent: SentBook | None = None,
) -> Notifier:
    """`shared` and `sent`: where nodes keep what people chose, and what each of them has sent."""
    place = Path(settings.data_dir) if shared is None else shared
    book = NotifyBook(place, has_command=bool(settings.notify.command))
    keys = PushKeys(place, contact_of(settings), clock)
    sender = Sender(
        keys,
        lambda: doors.url,
        lambda: book.deny_key,
        settings.notify.command,
        clock,
        settings.notify.push_hosts,
    )
    notifier = Notifier(
        store,
        book,
        sender,
        lambda channel: may_deny(grants, channel),
        clock=clock,
        steady=steady,
        sent=SentBook(store) if sent is None else sent,
    )
    book.changed = notifier.options_changed
    grants.on_revoked(lambda grant: _revoked(notifier, grant))
    return notifier


def contact_of(settings: Settings) -> str:
    """Who a push service may write to. It wants an address, and refuses messages without one."""
    public = settings.public_url if settings.public_url.startswith("https://") else ""
    return settings.notify.contact or public or NOBODY


def may_deny(grants: GrantBook, channel: Channel) -> bool | None:
    """None: the browser that the channel is for is no longer trusted."""
    if channel.type != "push":
        return True
    grant = grants.get(channel.grant_id)
    return None if grant is None else allows(grant, "session_write")


def _revoked(notifier: Notifier, grant: Grant) -> None:
    for channel in notifier.book.remove_of_grant(grant.id):
        notifier.forget(channel.id)


class MachineWatch:
    """`claim`: several nodes watch, and one of them may tell people."""

    def __init__(
        self,
        board: Switchboard,
        notifier: Notifier,
        seconds: float = AWAY_SECONDS,
        claim: Claim | None = None,
    ) -> None:
        self._board, self._notifier, self._seconds = board, notifier, seconds
        self._claim = claim
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._reported: set[str] = set()

    def changed(self) -> None:
        for status in self._board.devices():
            if status.online:
                self._back(status.device)
            elif status.device not in self._timers and status.device != self._board.this and status.running:
                loop = asyncio.get_running_loop()
                timer = loop.call_later(self._seconds, self._away, status.device, status.running)
                self._timers[status.device] = timer

    def _away(self, device: str, running: int) -> None:
        status = self._board.status(device)
        if status is None or status.online:
            return
        if self._claim is None:
            self._report(device, status.name, running)
        else:
            what = f"away {device} {status.epoch}"
            self._board.spawn(self._report_if_claimed(what, device, status.name, running), what)

    async def _report_if_claimed(self, what: str, device: str, name: str, running: int) -> None:
        if self._claim is not None and await self._claim(what):
            self._report(device, name, running)

    def _report(self, device: str, name: str, running: int) -> None:
        self._reported.add(device)
        self._notifier.machine_away(device, name, running)

    def _back(self, device: str) -> None:
        timer = self._timers.pop(device, None)
        if timer is not None:
            timer.cancel()
        if device in self._reported:
            self._reported.discard(device)
            self._notifier.machine_back(device)
