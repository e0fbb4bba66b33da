"""What every route may use: the rooms below the hub, and the hub's own parts, handed in once."""

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from bascule.hub.buckets import Buckets
from bascule.hub.company import Company
from bascule.hub.feed import Encoder, Feed
from bascule.hub.hosts import Doorway
from bascule.hub.presence import Presence
from bascule.hub.switchboard import Switchboard
from bascule.hub.terminal.floor import Floors
from bascule.hub.tickets import Tickets
from bascule.model.settings import Settings
from bascule.store.base import EventStore
from bascule.store.grants import GrantBook
from bascule.store.projects import ProjectBook


@dataclass(frozen=True, kw_only=True)
class Hub:
    store: EventStore
    grants: GrantBook
    switchboard: Switchboard
    settings: Settings
    clock: Callable[[], float]
    feed: Feed
    presence: Presence
    company: Company
    projects: ProjectBook
    tickets: Tickets
    spawns: Buckets
    doors: Doorway
    floors: Floors
    sse: Encoder  # rows as server-sent events, made once for all readers
    steady: Callable[[], float] = field(default=time.monotonic)
    # Names this run of the server, so that a page that comes back can say that it was restarted.
    boot: str = field(default_factory=lambda: secrets.token_hex(4))
