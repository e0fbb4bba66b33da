"""Sessions: start, list, look at; and every verb that acts in one."""

from collections.abc import Awaitable, Callable
from typing import Any

from bascule.hub.api import sessions
from bascule.hub.api.bodies import CreateBody, EventsQuery, ListQuery, PageQuery, SpawnBody, StreamQuery
from bascule.hub.api.call import Call
from bascule.hub.api.intake import LARGE, header
from bascule.hub.api.session_commands import VERBS, Verb, act, require_session, start
from bascule.hub.api.table import NoQuery, Row
from bascule.hub.api.views import (
    Created,
    Done,
    EntriesPage,
    EventsPage,
    Queue,
    SessionList,
    SessionView,
    Spawned,
    session_view,
)
from bascule.hub.live.positions import position_of
from bascule.hub.live.sse import stream_session


async def create(call: Call[CreateBody, NoQuery]) -> Created:
    return await sessions.create_session(call.hub, call.holder, call.by, call.key, call.body)


async def spawn(call: Call[SpawnBody, NoQuery]) -> Spawned:
    body = call.body
    wish = CreateBody(
        prompt=body.prompt,
        cwd=body.cwd,
        agent=body.harness,
        model=body.model,
        permission_mode=body.permission_mode,
        resume=body.resume_session_id,
    )
    started, agent = await start(call.hub, call.holder, call.by, call.key, wish)
    return Spawned(session_id=started.session_id, status="starting", harness=agent)


async def list_all(call: Call[None, ListQuery]) -> SessionList:
    return await sessions.session_list(call.hub, call.query)


async def show(call: Call[None, NoQuery]) -> SessionView:
    return session_view(await require_session(call.hub, call.session_id))


async def entries(call: Call[None, PageQuery]) -> EntriesPage:
    await require_session(call.hub, call.session_id)
    return await sessions.entries_page(call.hub, call.session_id, call.query)


async def queue(call: Call[None, NoQuery]) -> Queue:
    await require_session(call.hub, call.session_id)
    return await sessions.waiting_prompts(call.hub, call.session_id)


async def events(call: Call[None, EventsQuery]) -> EventsPage:
    await require_session(call.hub, call.session_id)
    return await sessions.events_page(call.hub, call.session_id, call.query)


async def stream(call: Call[None, StreamQuery]) -> None:
    record = await require_session(call.hub, call.session_id)
    last = header(call.scope["headers"], b"last-event-id")
    if last:  # a browser that comes back says this, and its address still says where it began
        await stream_session(call, record, position_of(last, "Last-Event-ID"))
    else:
        await stream_session(call, record, position_of(call.query.after or "0", "after"))


def _do(verb: Verb) -> Callable[[Any], Awaitable[Done]]:
    async def do(call: Call[Any, NoQuery]) -> Done:
        record = await require_session(call.hub, call.session_id)
        outcome = await act(call.hub, verb, record, call.by, call.key, call.body)
        return Done(ok=True, prompt_id=outcome.prompt_id, state=outcome.state)

    return do


ONE = "/api/sessions/{id}"
ROWS = [
    Row(
        method="POST",
        path="/api/sessions",
        need="operator",
        serve=create,
        summary="Start a session",
        body=CreateBody,
        answer=Created,
        most=LARGE,
    ),
    Row(
        method="POST",
        path="/api/sessions/spawn",
        need="operator",
        serve=spawn,
        summary="Start a session, in the remote API's words",
        body=SpawnBody,
        answer=Spawned,
        most=LARGE,
    ),
    Row(
        method="GET",
        path="/api/sessions",
        need="viewer",
        serve=list_all,
        summary="All sessions, the latest activity first",
        query=ListQuery,
        answer=SessionList,
    ),
    Row(method="GET", path=ONE, need="session_read", serve=show, summary="One session", answer=SessionView),
    Row(
        method="GET",
        path=ONE + "/entries",
        need="session_read",
        serve=entries,
        summary="A page of the transcript, the newest last",
        query=PageQuery,
        answer=EntriesPage,
    ),
    Row(
        method="GET",
        path=ONE + "/queue",
        need="session_read",
        serve=queue,
        summary="The prompts that wait",
        answer=Queue,
    ),
    Row(
        method="GET",
        path=ONE + "/events",
        need="session_read",
        serve=events,
        summary="Rows of the log after a number",
        query=EventsQuery,
        answer=EventsPage,
    ),
    Row(
        method="GET",
        path=ONE + "/stream",
        need="session_read",
        serve=stream,
        summary="The session's events as they happen (SSE)",
        query=StreamQuery,
        ticket=True,
    ),
    *(
        Row(
            method=verb.method,
            path=ONE + verb.path,
            need=verb.need,
            serve=_do(verb),
            summary=verb.summary,
            body=verb.body,
            answer=Done,
            most=verb.most,
        )
        for verb in VERBS
    ),
]
