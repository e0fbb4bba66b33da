"""Builds the hub from its parts."""

import secrets
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from bascule.api.pushes import AnswersChanged, PairingsChanged
from bascule.hub.asgi import HubApp
from bascule.hub.devices.switchboard import Switchboard
from bascule.hub.devices.waiting_answers import WaitingAnswers
from bascule.hub.door.buckets import Buckets
from bascule.hub.door.hosts import Doorway
from bascule.hub.door.links import Links
from bascule.hub.door.open_streams import OpenStreams
from bascule.hub.door.pairings import Pairings
from bascule.hub.door.tickets import Tickets
from bascule.hub.feed.feed import Feed
from bascule.hub.feed.presence import SessionPresence
from bascule.hub.live.device_news import tell_devices, tell_news
from bascule.hub.notifier_parts import MachineWatch, build_notifier
from bascule.hub.page.web_files import PageFiles, page_files
from bascule.hub.services import LINK_COMMAND, Hub
from bascule.launch.idempotent import IdempotentLaunches
from bascule.launch.offers import PromptOffers
from bascule.link.tunnels import TunnelControl
from bascule.link.uplink import UplinkControl
from bascule.model.codec import encode
from bascule.model.settings import Settings
from bascule.store.books import Books
from bascule.store.limits import LimitsBook
from bascule.store.protocols import HubDatabase, HubStore

if TYPE_CHECKING:
    from bascule.hub.nodes.cluster import Cluster

ANSWERS_CHANGED = encode(AnswersChanged())


def build_app(
    *,
    store: HubDatabase,
    books: Books,
    switchboard: Switchboard,
    settings: Settings,
    clock: Callable[[], float],
    steady: Callable[[], float] = time.monotonic,
    page: Callable[[], PageFiles] = page_files,
    launches: IdempotentLaunches | None = None,
    offers: PromptOffers | None = None,
    uplink: UplinkControl | None = None,
    tunnels: TunnelControl | None = None,
    link_command: str = LINK_COMMAND,
    cluster: "Cluster | None" = None,
) -> HubApp:
    """`clock` tells the time of day; `steady` never jumps and is used for deadlines."""
    feed = Feed(store)
    doors = Doorway(settings)
    shared = (None, None) if cluster is None else (cluster.choices, cluster.sent_notices)
    hub = Hub(
        store=store,
        grants=books.grants,
        projects=books.projects,
        prompts=books.prompts,
        restores=books.restores,
        limits=books.limits,
        presence=SessionPresence(steady),
        switchboard=switchboard,
        settings=settings,
        clock=clock,
        feed=feed,
        answers=_waiting_answers(switchboard, books, store, settings, feed),
        open_streams=OpenStreams(books.grants, books.grants.clock),
        tickets=Tickets(books.grants, steady, shared=cluster),
        pairings=Pairings(steady),
        links=Links(steady),
        spawns=_spawn_rate(books.limits, steady),
        doors=doors,
        notifier=build_notifier(store, books.grants, settings, doors, clock, steady, *shared),
        page=page,
        steady=steady,
        launches=launches,
        offers=offers or PromptOffers(steady),
        uplink=uplink,
        tunnels=tunnels,
        link_command=link_command,
        cluster=cluster,
        # A page that comes back to another node has not come back to a restarted server.
        boot=secrets.token_hex(4) if cluster is None else store.epoch[:8],
    )
    _connect(hub, cluster)
    return HubApp(hub)


def _spawn_rate(limits: LimitsBook, steady: Callable[[], float]) -> Buckets:
    """How many sessions each may start in a minute: a change of the limit counts at once."""
    per_minute = limits.now.spawns_per_minute
    spawns = Buckets(per_minute, per_minute, steady)
    limits.watch(lambda changed: spawns.set_rate(changed.spawns_per_minute))
    return spawns


def _waiting_answers(
    switchboard: Switchboard,
    books: Books,
    store: HubStore,
    settings: Settings,
    feed: Feed,
) -> WaitingAnswers:
    return WaitingAnswers(
        switchboard,
        books.answers,
        store,
        books.grants,
        allow_seconds=settings.allow_waits_seconds,
        changed=lambda: feed.notify(None, ANSWERS_CHANGED),
    )


def _connect(hub: Hub, cluster: "Cluster | None") -> None:
    """Those that act on what others report."""
    hub.grants.on_revoked(hub.open_streams.revoked)
    hub.pairings.changed = lambda: hub.push(PairingsChanged())
    hub.switchboard.watch(lambda: tell_devices(hub))
    claim = None if cluster is None else cluster.rows.claim
    hub.switchboard.watch(MachineWatch(hub.switchboard, hub.notifier, claim=claim).changed)
    hub.switchboard.listen(lambda device, news: tell_news(hub, device, news))
    if cluster is not None:
        hub.switchboard.with_store(lambda: hub.store.storage_problem)
        hub.store.watch_storage(lambda: tell_devices(hub))
