"""The hub's services, as operations use them: store, books, switchboard, feed and door."""

import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from bascule.api.pushes import ToEverybody
from bascule.hub.devices.link_tapes import LinkTapes
from bascule.hub.devices.switchboard import Switchboard
from bascule.hub.devices.waiting_answers import WaitingAnswers
from bascule.hub.door.buckets import Buckets
from bascule.hub.door.hosts import Doorway
from bascule.hub.door.links import Links
from bascule.hub.door.open_streams import OpenStreams
from bascule.hub.door.pairings import Pairings
from bascule.hub.door.tickets import Tickets
from bascule.hub.feed.feed import Feed
from bascule.hub.feed.positions import epoch_of
from bascule.hub.feed.presence import SessionPresence
from bascule.hub.page.web_files import PageFiles
from bascule.launch.idempotent import IdempotentLaunches
from bascule.launch.offers import PromptOffers
from bascule.link.tunnels import TunnelControl
from bascule.link.uplink import UplinkControl
from bascule.model.codec import encode
from bascule.model.records import SessionRecord
from bascule.model.settings import Settings
from bascule.notify.notifier import Notifier
from bascule.store.grants import GrantBook
from bascule.store.limits import LimitsBook
from bascule.store.projects import ProjectBook
from bascule.store.prompts import PromptBook
from bascule.store.protocols import HubStore
from bascule.store.restores import RestoreBook

LINK_COMMAND = "bascule trust generate --role owner browser"


class OtherNode(Protocol):
    async def call(self, what: str, body: bytes, seconds: float) -> bytes: ...


class OtherNodes(Protocol):
    """The other nodes of this hub (`nodes.cluster`), as its services use them."""

    @property
    def neighbours(self) -> Sequence[OtherNode]: ...
    def push(self, session_id: str | None, message: bytes) -> None: ...
    def replaced(self, session_id: str) -> None: ...
    async def greeted(self, device: str) -> int: ...
    async def grants_now(self) -> None: ...


@dataclass(frozen=True, kw_only=True)
class Hub:
    store: HubStore
    grants: GrantBook
    switchboard: Switchboard
    answers: WaitingAnswers
    settings: Settings
    clock: Callable[[], float]
    feed: Feed
    open_streams: OpenStreams
    presence: SessionPresence
    projects: ProjectBook
    prompts: PromptBook
    tickets: Tickets
    pairings: Pairings
    links: Links
    spawns: Buckets
    limits: LimitsBook
    doors: Doorway
    notifier: Notifier
    restores: RestoreBook
    page: Callable[[], PageFiles]  # read when a browser first asks for it
    launches: IdempotentLaunches | None = None  # None: switched off
    cluster: OtherNodes | None = None  # None: this hub is one process
    # The terminals of machines behind a link, by device.
    link_tapes: dict[str, LinkTapes] = field(default_factory=dict[str, LinkTapes])
    uplink: UplinkControl | None = None  # None: no machine of ours that could join another hub
    tunnels: TunnelControl | None = None  # None: this server can't open any
    offers: PromptOffers = field(default_factory=lambda: PromptOffers(time.monotonic))
    link_command: str = LINK_COMMAND  # what the owner types on this machine for a new link
    steady: Callable[[], float] = field(default=time.monotonic)
    # Names this run of the server, so that a page that comes back can say that it was restarted.
    boot: str = field(default_factory=lambda: secrets.token_hex(4))

    def epoch_of(self, record: SessionRecord) -> str:
        """Names the history that this session's numbers are of."""
        return epoch_of(self.store.epoch, record.generation)

    def push(self, message: ToEverybody) -> None:
        """Tell every socket that may see all sessions."""
        data = encode(message)
        self.feed.notify(None, data)
        if self.cluster is not None:
            self.cluster.push(None, data)
