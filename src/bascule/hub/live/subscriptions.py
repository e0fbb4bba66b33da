"""Operations of a connection: hello, subscribe, typing; and the SSE stream."""

from bascule import __version__
from bascule.api.bodies import SessionBody, StreamQuery, Subscribe, TypingBody
from bascule.api.server_answers import Hello, Waits
from bascule.api.session_answers import Subscribed
from bascule.hub.calls.call import AnyCall, Call
from bascule.hub.calls.operation import Operation
from bascule.hub.feed.positions import Position, position_of
from bascule.hub.live.restored import restored_view
from bascule.hub.live.sse import stream_session
from bascule.hub.wire.intake import header
from bascule.model.codec import timestamp
from bascule.model.commands import Done


async def hello(call: AnyCall) -> Hello:
    grant, limits = call.holder, call.hub.limits.now
    return Hello(
        name=grant.name,
        former_names=list(grant.former_names),
        role=grant.role,
        session_id=grant.session_id,
        grant_id=grant.id,
        made_by=grant.by,
        expires_at=None if grant.expires_at is None else timestamp(grant.expires_at),
        version=__version__,
        waits=Waits(permission=limits.permission_seconds, question=limits.question_seconds),
        boot=call.hub.boot,
        epoch=call.hub.store.epoch,
        device=call.hub.switchboard.this,
        restored=restored_view(call.hub) if grant.session_id is None else None,
    )


async def ping(call: AnyCall) -> Done:
    return Done()


async def subscribe(call: Call[Subscribe]) -> Subscribed:
    place = position_of(str(call.body.after), "after")
    place = Position(place.seq, call.body.epoch or place.epoch)
    record = await call.hub.feed.records.reaching(call.record, place.seq)
    epoch = call.hub.epoch_of(record)
    lost = place.lost(epoch, record.session_id, record.seq)
    if lost is None:
        call.subscriber.watch(record.session_id, place.seq, epoch)
    else:
        call.subscriber.resync(record.session_id, lost, epoch)
    return Subscribed(seq=record.seq, epoch=epoch)


async def unsubscribe(call: Call[SessionBody]) -> Done:
    call.subscriber.unwatch(call.body.session_id)
    return Done()


async def typing(call: Call[TypingBody]) -> Done:
    call.hub.presence.types(call.body.session_id, call.holder.name, call.body.typing)
    return Done()


async def stream(call: Call[StreamQuery]) -> None:
    last = header(call.scope["headers"], b"last-event-id")
    if last:  # a browser that comes back says this, and its address still says where it began
        await stream_session(call, call.record, position_of(last, "Last-Event-ID"))
    else:
        await stream_session(call, call.record, position_of(call.body.after or "0", "after"))


OPERATIONS = (
    Operation(
        name="hello",
        need="any",
        answer=Hello,
        run=hello,
        summary="Get the grant's name and role, and the server's version",
    ),
    Operation(name="ping", need="any", answer=Done, run=ping, summary="Check that the connection works"),
    Operation(
        name="session:subscribe",
        need="session_read",
        body=Subscribe,
        answer=Subscribed,
        run=subscribe,
        summary="Subscribe to a session's events after a position",
        in_session=True,
    ),
    Operation(
        name="session:unsubscribe",
        need="session_read",
        body=SessionBody,
        answer=Done,
        run=unsubscribe,
        summary="Unsubscribe from a session",
        in_session=True,
    ),
    Operation(
        name="session:typing",
        need="session_write",
        body=TypingBody,
        answer=Done,
        run=typing,
        summary="Tell the session's other viewers that this user is typing",
        in_session=True,
    ),
    Operation(
        method="GET",
        path="/api/sessions/{session_id}/stream",
        need="session_read",
        body=StreamQuery,
        run=stream,
        summary="Stream the session's events (SSE)",
        in_session=True,
        ticket=True,
    ),
)
