"""Sessions: start one, list them, read one's transcript, queue and events."""

import dataclasses
import os
from typing import TypeVar

import msgspec
from msgspec import Raw
from msgspec.structs import asdict, replace

from bascule.api.bodies import (
    CountQuery,
    CreateBody,
    EventsQuery,
    ListQuery,
    PageQuery,
    SessionBody,
    SpawnBody,
)
from bascule.api.session_answers import (
    Created,
    DamagedSession,
    EntriesPage,
    EventsPage,
    FolderSessions,
    Queue,
    SessionCount,
    SessionList,
    SessionOpened,
    SessionView,
    Spawned,
)
from bascule.hub.api.session_commands import take_spawn
from bascule.hub.calls.call import AnyCall, Call
from bascule.hub.calls.operation import Operation
from bascule.hub.calls.session_lookup import devices_of
from bascule.hub.door.roles import sees_scrubbed
from bascule.hub.live.scrubbed_rows import scrubbed_page
from bascule.hub.services import Hub
from bascule.hub.views import session_view
from bascule.hub.wire.intake import LARGE
from bascule.model.codec import timestamp
from bascule.model.commands import SessionBegun, StartSession
from bascule.model.errors import InvalidInput, UnknownAgent
from bascule.model.events import StartOptions
from bascule.model.session_ids import new_session_id
from bascule.store.base import SessionFilter

B = TypeVar("B")

# Starting


async def create(call: Call[CreateBody]) -> Created:
    """Start one, and make the token that opens it alone."""
    hub, body = call.hub, call.body
    begun, _ = await start(call, body)
    record = await hub.store.session(begun.session_id)
    name = f"session {begun.session_id}"
    _, token = await hub.grants.create(name, "session", session_id=begun.session_id, by=call.by.name)
    return Created(
        id=begun.session_id,
        session_id=begun.session_id,
        token=token,
        model=record.model if record else body.model or None,
        created_at=record.created_at if record else timestamp(hub.clock()),
        seq=begun.seq,
        waiting=begun.waiting,
    )


async def spawn(call: Call[SpawnBody]) -> Spawned:
    body = call.body
    wanted = CreateBody(
        prompt=body.prompt,
        cwd=body.cwd,
        agent=body.harness,
        model=body.model,
        permission_mode=body.permission_mode,
        capability=body.capability,
        resume=body.resume_session_id,
    )
    begun, agent = await start(call, wanted)
    status = "starting" if begun.waiting is None else "pending"
    return Spawned(session_id=begun.session_id, status=status, harness=agent)


async def start(call: AnyCall, body: CreateBody) -> tuple[SessionBegun, str]:
    """Start a session; gives also the agent that was chosen."""
    hub = call.hub
    await hub.switchboard.met()
    folder, call = await folder_of(call, body.project_id, body.cwd)
    agent = body.agent or default_agent(hub, call.target)
    take_spawn(hub, call.holder.id)
    options = msgspec.convert(body, StartOptions, from_attributes=True)
    options = replace(options, model=body.model or None)
    # A field that body and command share by name means the same in both.
    fields = {name: value for name, value in asdict(body).items() if name in StartSession.__struct_fields__}
    fields |= {"session_id": new_session_id(hub.switchboard.clock()), "agent": agent, "cwd": folder}
    command = StartSession(**fields, options=options)
    # The device answers once the session is stored, before its agent has started.
    seconds = hub.limits.now.start_seconds + (90 if body.worktree else 15)
    return await call.ask(command, seconds=seconds), agent


async def folder_of(call: Call[B], project_id: str | None, cwd: str | None) -> tuple[str, Call[B]]:
    """The folder, and the call for the device that has it."""
    if project_id is None:
        return cwd or default_directory(call.hub, call.target), call
    if cwd is not None:
        raise InvalidInput("Give either cwd or projectId.")
    project = await call.hub.projects.get(project_id)
    return project.path, dataclasses.replace(call, device=project.device or call.device)


def default_agent(hub: Hub, device: str) -> str:
    """The setting, else the first agent that is installed there. The demo is started by its name only."""
    status = hub.switchboard.status(device)
    agents = status.agents if status is not None else ()
    wanted = hub.settings.default_agent
    if wanted and (device == hub.switchboard.this or any(agent.name == wanted for agent in agents)):
        return wanted
    # One that can only be typed to takes no prompt, so nobody gets it without asking for it.
    usable = [
        agent for agent in agents if agent.available and not agent.demo and agent.drivers != ("terminal",)
    ]
    if usable:
        return usable[0].name
    problem = next((agent.problem for agent in agents if agent.problem and not agent.demo), None)
    missing = problem or "No agent is installed here."
    raise UnknownAgent(f'{missing} `agent: "demo"` starts the demo agent.')


def default_directory(hub: Hub, device: str) -> str:
    """The first folder that sessions may run in; `~` is another one on each machine."""
    status = hub.switchboard.status(device)
    if device != hub.switchboard.this and status is not None and status.roots:
        return status.roots[0]
    return hub.settings.roots[0] if hub.settings.roots else os.path.expanduser("~")


# Reading


async def list_sessions(call: Call[ListQuery]) -> SessionList:
    """A page, the newest activity first; of all projects, of one, or of one folder."""
    hub, query = call.hub, call.body
    page = await hub.store.list_sessions(await _filter(call), limit=query.limit, cursor=query.cursor)
    damaged = hub.store.damaged_sessions.items() if query.cursor is None else ()
    return SessionList(
        sessions=[session_view(record) for record in page.sessions],
        damaged=[DamagedSession(session_id=name, message=what) for name, what in damaged],
        next=page.next,
    )


async def _filter(call: Call[ListQuery]) -> SessionFilter:
    query, device = call.body, call.body.device
    if query.project_id is None:
        devices = None if device is None else devices_of(call.hub, device)
        return SessionFilter(archived=query.archived, live=query.live, folder=query.folder, devices=devices)
    if query.folder is not None or device is not None:
        raise InvalidInput("Give either folder and device, or projectId.")
    # The same path on another machine is another folder.
    project = await call.hub.projects.get(query.project_id)
    devices = devices_of(call.hub, project.device)
    return SessionFilter(
        archived=query.archived, live=query.live, folder=project.path, below=True, devices=devices
    )


async def count_sessions(call: Call[CountQuery]) -> SessionCount:
    counts = await call.hub.store.session_counts(archived=call.body.archived)
    return SessionCount(
        folders=[
            FolderSessions(path=folder.path, device=folder.device, sessions=folder.sessions)
            for folder in counts.folders
        ],
        total=counts.listed,
        archived=counts.archived,
    )


async def show(call: Call[SessionBody]) -> SessionView:
    return session_view(call.record)


async def queue(call: AnyCall) -> Queue:
    point = await call.hub.store.resume_point(call.record.session_id)
    return Queue(queue=point.pending.queue if point else [])


async def entries(call: Call[PageQuery]) -> EntriesPage:
    hub, query = call.hub, call.body
    if sum(place is not None for place in (query.before, query.after, query.around)) > 1:
        raise InvalidInput("Give one of before, after and around.")
    page = await hub.store.page(
        query.session_id, query.limit, query.before, after=query.after, around=query.around
    )
    return EntriesPage(
        seq=page.seq,
        entries=[Raw(entry) for entry in page.entries],
        before=page.before,
        after=page.after,
        epoch=hub.epoch_of(call.record),
    )


async def open_session(call: Call[PageQuery]) -> SessionOpened:
    page = await entries(call)
    waiting = await queue(call)
    return SessionOpened(
        session=session_view(call.record),
        seq=page.seq,
        epoch=page.epoch,
        entries=page.entries,
        before=page.before,
        after=page.after,
        queue=waiting.queue,
    )


async def events(call: Call[EventsQuery]) -> EventsPage:
    query = call.body
    rows = await call.hub.store.read(query.session_id, query.after, query.limit)
    if sees_scrubbed(call.grant):
        rows = scrubbed_page(rows)
    return EventsPage(events=[Raw(row.body) for row in rows], last=rows[-1].seq if rows else query.after)


ONE = "/api/sessions/{session_id}"
OPERATIONS = (
    Operation(
        name="session:create",
        method="POST",
        path="/api/sessions",
        need="operator",
        body=CreateBody,
        answer=Created,
        run=create,
        for_device=True,
        synonyms={"cliType": "agent"},
        summary="Start a session",
        max_bytes=LARGE,
    ),
    Operation(
        method="POST",
        path="/api/sessions/spawn",
        need="operator",
        body=SpawnBody,
        answer=Spawned,
        run=spawn,
        for_device=True,
        summary="Start a session (remote API)",
        max_bytes=LARGE,
    ),
    Operation(
        name="session:list",
        method="GET",
        path="/api/sessions",
        need="viewer",
        body=ListQuery,
        answer=SessionList,
        run=list_sessions,
        summary="List sessions by pages, the latest activity first",
    ),
    Operation(
        name="session:count",
        method="GET",
        path="/api/session-counts",
        need="viewer",
        body=CountQuery,
        answer=SessionCount,
        run=count_sessions,
        summary="Count sessions: in each folder, in all, and in the archive",
    ),
    Operation(
        name="session:show",
        method="GET",
        path=ONE,
        need="session_read",
        body=SessionBody,
        answer=SessionView,
        answer_key="session",
        run=show,
        summary="Get a session",
        in_session=True,
    ),
    Operation(
        name="session:open",
        need="session_read",
        body=PageQuery,
        answer=SessionOpened,
        run=open_session,
        summary="Open a session: its record, queue and a page of its transcript",
        in_session=True,
    ),
    Operation(
        name="session:entries",
        method="GET",
        path=ONE + "/entries",
        need="session_read",
        body=PageQuery,
        answer=EntriesPage,
        run=entries,
        summary="Get a page of the transcript, the newest entry last",
        in_session=True,
    ),
    Operation(
        name="session:queued",
        method="GET",
        path=ONE + "/queue",
        need="session_read",
        body=SessionBody,
        answer=Queue,
        run=queue,
        summary="List queued prompts",
        in_session=True,
    ),
    Operation(
        name="session:events",
        method="GET",
        path=ONE + "/events",
        need="session_read",
        body=EventsQuery,
        answer=EventsPage,
        run=events,
        summary="List events after a number",
        in_session=True,
    ),
)
