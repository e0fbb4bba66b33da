"""Sessions as people ask for them, for HTTP and the socket alike."""

from msgspec import Raw

from bascule.hub.api.bodies import CreateBody, EventsQuery, ListQuery, PageQuery
from bascule.hub.api.session_commands import start
from bascule.hub.api.views import (
    Created,
    DamagedSession,
    EntriesPage,
    EventsPage,
    Queue,
    SessionList,
    session_view,
)
from bascule.hub.services import Hub
from bascule.model.codec import timestamp
from bascule.model.commands import Actor
from bascule.model.errors import InvalidInput
from bascule.policy.directories import inside
from bascule.store.grants import Grant


async def create_session(hub: Hub, grant: Grant, by: Actor, key: str | None, body: CreateBody) -> Created:
    """Start one, and make the token that opens it alone."""
    started, _ = await start(hub, grant, by, key, body)
    record = await hub.store.session(started.session_id)
    name = f"session {started.session_id}"
    _, token = await hub.grants.create(name, "session", session_id=started.session_id, by=by.name)
    return Created(
        id=started.session_id,
        session_id=started.session_id,
        token=token,
        model=record.model if record else body.model,
        created_at=record.created_at if record else timestamp(hub.clock()),
        seq=started.seq,
    )


async def session_list(hub: Hub, query: ListQuery) -> SessionList:
    """The newest activity first; of all projects, or of one."""
    records = await hub.store.sessions(archived=query.archived)
    if query.project_id is not None:
        folder = (await hub.projects.get(query.project_id)).path
        records = [one for one in records if inside(one.cwd, [folder])]
    damaged = [
        DamagedSession(session_id=name, message=what) for name, what in hub.store.damaged_sessions.items()
    ]
    return SessionList(sessions=[session_view(one) for one in records], damaged=damaged)


async def waiting_prompts(hub: Hub, session_id: str) -> Queue:
    point = await hub.store.resume_point(session_id)
    return Queue(queue=point.pending.queue if point else [])


async def entries_page(hub: Hub, session_id: str, query: PageQuery) -> EntriesPage:
    if sum(place is not None for place in (query.before, query.after, query.around)) > 1:
        raise InvalidInput("Give one of before, after and around.")
    page = await hub.store.page(session_id, query.limit, query.before, after=query.after, around=query.around)
    entries = [Raw(entry) for entry in page.entries]
    return EntriesPage(
        seq=page.seq, entries=entries, before=page.before, after=page.after, epoch=hub.store.epoch
    )


async def events_page(hub: Hub, session_id: str, query: EventsQuery) -> EventsPage:
    rows = await hub.store.read(session_id, query.after, query.limit)
    return EventsPage(events=[Raw(row.body) for row in rows], last=rows[-1].seq if rows else query.after)
