"""Builds the hub's ASGI app from its parts."""

import secrets
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.middleware import Middleware

from bascule.hub.api import (
    answers,
    audit,
    cast,
    comparisons,
    daemon_link,
    files,
    found,
    git,
    launch,
    links,
    machine,
    notifications,
    pairing,
    prompt_files,
    rules,
    search,
    session_commands,
    sessions,
    starts,
    tunnels,
    unlogged,
    usage,
)
from bascule.hub.api import grants as grants_api
from bascule.hub.api import limits as limits_api
from bascule.hub.api import projects as projects_api
from bascule.hub.api import prompts as prompts_api
from bascule.hub.api import uplink as uplink_api
from bascule.hub.api.endpoint import AdmittedRoute
from bascule.hub.api.openapi import description_of
from bascule.hub.api.operation import Operation, Table
from bascule.hub.api.responses import error_object
from bascule.hub.door.access import Access
from bascule.hub.door.buckets import Buckets
from bascule.hub.door.hosts import Doorway
from bascule.hub.door.links import Links
from bascule.hub.door.open_streams import OpenStreams
from bascule.hub.door.pairings import Pairings
from bascule.hub.door.throttle import Throttle
from bascule.hub.door.tickets import Tickets
from bascule.hub.live import subscriptions
from bascule.hub.live.chat_events import sse_encoder
from bascule.hub.live.feed import Feed
from bascule.hub.live.presence import SessionPresence
from bascule.hub.live.socket_endpoint import socket_operation
from bascule.hub.notices import MachineWatch, build_notifier
from bascule.hub.page import pages
from bascule.hub.page.web_files import PageFiles, page_files
from bascule.hub.services import LINK_COMMAND, Hub
from bascule.hub.switchboard import Switchboard
from bascule.hub.terminal import viewer
from bascule.hub.waiting_answers import WaitingAnswers
from bascule.hub.wire.headers import SecurityHeaders
from bascule.launch.idempotent import IdempotentLaunches
from bascule.launch.offers import PromptOffers
from bascule.link.frames import AgentProblem, AgentStatus
from bascule.link.tunnels import TunnelControl
from bascule.link.uplink import UplinkControl
from bascule.model.codec import encode
from bascule.model.settings import Settings
from bascule.store.answers import AnswerBook
from bascule.store.grants import GrantBook
from bascule.store.limits import LimitsBook
from bascule.store.projects import ProjectBook
from bascule.store.prompts import PromptBook
from bascule.store.protocols import HubStore
from bascule.store.replication import ReplicaStore

if TYPE_CHECKING:
    from bascule.hub.nodes.cluster import Cluster

ANSWERS_CHANGED = encode({"type": "answers:changed"})


def operation_table() -> Table:
    """Every operation of the hub."""
    operations: list[Operation] = [*pages.OPERATIONS, *sessions.OPERATIONS, *session_commands.OPERATIONS]
    operations += [
        *answers.OPERATIONS,
        *usage.OPERATIONS,
        *search.OPERATIONS,
        *machine.OPERATIONS,
        *pairing.OPERATIONS,
        *starts.OPERATIONS,
        *links.OPERATIONS,
        *tunnels.OPERATIONS,
        *uplink_api.OPERATIONS,
        *limits_api.OPERATIONS,
        *grants_api.OPERATIONS,
        *audit.OPERATIONS,
        *notifications.OPERATIONS,
        *projects_api.OPERATIONS,
        *files.OPERATIONS,
        *cast.OPERATIONS,
        *git.OPERATIONS,
    ]
    operations += [*found.OPERATIONS, *rules.OPERATIONS, *comparisons.OPERATIONS, *unlogged.OPERATIONS]
    operations += [
        *daemon_link.OPERATIONS,
        *subscriptions.OPERATIONS,
        *viewer.OPERATIONS,
        *launch.OPERATIONS,
    ]
    operations += [*prompts_api.OPERATIONS, *prompt_files.OPERATIONS]
    operations.append(socket_operation(lambda: table))
    table = Table([*operations, description_of(operations)])
    return table


def build_app(
    *,
    store: HubStore,
    grants: GrantBook,
    projects: ProjectBook,
    prompts: PromptBook,
    switchboard: Switchboard,
    answer_book: AnswerBook,
    settings: Settings,
    clock: Callable[[], float],
    steady: Callable[[], float] = time.monotonic,
    page: Callable[[], PageFiles] = page_files,
    launches: IdempotentLaunches | None = None,
    offers: PromptOffers | None = None,
    limits: LimitsBook | None = None,
    replicas: ReplicaStore | None = None,
    uplink: UplinkControl | None = None,
    tunnel_control: TunnelControl | None = None,
    link_command: str = LINK_COMMAND,
    cluster: "Cluster | None" = None,
) -> Starlette:
    """`clock` tells the time of day; `steady` never jumps and is used for deadlines."""
    limits = limits or LimitsBook(Path(settings.data_dir), settings.limits)
    per_minute = limits.now.spawns_per_minute
    spawns = Buckets(per_minute, per_minute, steady)
    limits.watch(lambda changed: spawns.set_rate(changed.spawns_per_minute))
    feed = Feed(store)
    doors = Doorway(settings)
    choices = None if cluster is None else cluster.choices
    notifier = build_notifier(store, grants, settings, doors, clock, steady, choices)
    hub = Hub(
        store=store,
        grants=grants,
        projects=projects,
        prompts=prompts,
        presence=SessionPresence(steady),
        switchboard=switchboard,
        settings=settings,
        clock=clock,
        feed=feed,
        answers=WaitingAnswers(
            switchboard,
            answer_book,
            store,
            grants,
            allow_seconds=settings.allow_waits_seconds,
            changed=lambda: feed.notify(None, ANSWERS_CHANGED),
        ),
        open_streams=OpenStreams(grants, grants.clock),
        tickets=Tickets(grants, steady, shared=cluster),
        pairings=Pairings(steady),
        links=Links(steady),
        spawns=spawns,
        limits=limits,
        doors=doors,
        notifier=notifier,
        sse=sse_encoder(store.epoch),
        page=page,
        steady=steady,
        launches=launches,
        offers=offers or PromptOffers(steady),
        replicas=replicas,
        uplink=uplink,
        tunnels=tunnel_control,
        link_command=link_command,
        cluster=cluster,
        # A page that comes back to another node has not come back to a restarted server.
        boot=secrets.token_hex(4) if cluster is None else store.epoch[:8],
    )
    grants.on_revoked(hub.open_streams.revoked)
    if cluster is not None:
        switchboard.with_store(lambda: store.storage_problem)
        store.watch_storage(lambda: _tell_devices(hub))
    hub.pairings.changed = lambda: hub.push({"type": "pairings:changed"})
    switchboard.watch(lambda: _tell_devices(hub))
    claim = None if cluster is None else cluster.rows.claim
    switchboard.watch(MachineWatch(switchboard, notifier, claim=claim).changed)
    switchboard.listen(lambda device, news: _tell_news(hub, device, news))
    table = operation_table()
    door = Middleware(Access, hub=hub, table=table, throttle=Throttle(steady))
    app = Starlette(routes=[AdmittedRoute(hub)], middleware=[Middleware(SecurityHeaders), door])
    app.router.redirect_slashes = False
    app.state.hub, app.state.table = hub, table
    return app


def _tell_devices(hub: Hub) -> None:
    if hub.feed.listeners:
        message = {"type": "agent:status", "devices": hub.switchboard.devices()}
        hub.feed.notify(None, encode(message))


def _tell_news(hub: Hub, device: str, news: AgentStatus | AgentProblem) -> None:
    """An agent's state, or what went wrong with it, to everybody who looks."""
    if not hub.feed.listeners:
        return
    if isinstance(news, AgentProblem):
        problem = {"type": "error", "sessionId": news.session_id, "error": error_object(news.refusal)}
        hub.feed.notify(news.session_id, encode(problem))
        return
    status = {"agent": news.agent, "cliType": news.agent, "status": news.status, "message": news.message}
    status["device"] = device
    hub.feed.notify(None, encode({"type": "agent:status", **status, "devices": hub.switchboard.devices()}))
