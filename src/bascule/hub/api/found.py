"""Sessions begun outside Bascule: list them, follow one, and hand messages to an agent in its terminal."""

from bascule.api.bodies import FoundNamed
from bascule.hub.api.call import Call
from bascule.hub.api.forwarding import forwarding
from bascule.hub.api.operation import Operation
from bascule.link.found import AwaitFeedback, FollowFound, ListFound, TakeFeedback
from bascule.model.commands import Done


async def fetch(call: Call[FoundNamed]) -> Done:
    """A found session of another machine is copied only when somebody wants to see it."""
    board = call.hub.switchboard
    await board.met()
    line = board.line(board.device(call.device))
    if line.fetch is not None:
        await line.fetch(call.body.session_id)
    return Done()


OPERATIONS = (
    Operation(
        name="found:fetch",
        method="POST",
        path="/api/found-sessions/{session_id}/fetch",
        need="viewer",
        body=FoundNamed,
        answer=Done,
        run=fetch,
        for_device=True,
        summary="Have a found session of another machine copied to this hub",
    ),
    forwarding(
        ListFound,
        name="found:list",
        method="GET",
        path="/api/found-sessions",
        need="viewer",
        summary="List found sessions: those begun outside Bascule",
    ),
    forwarding(
        FollowFound,
        name="session:follow",
        method="POST",
        path="/api/sessions/{session_id}/follow",
        need="session_files",
        summary="Watch a found session's file for 30 seconds",
    ),
    # Messages of every session pass here: for the owner of the machine, never for a link to one session.
    forwarding(
        AwaitFeedback,
        method="POST",
        path="/api/feedback/wait",
        need="owner",
        summary="For an agent's hook: wait until a message for its terminal can be taken",
    ),
    forwarding(
        TakeFeedback,
        method="POST",
        path="/api/feedback/take",
        need="owner",
        summary="For an agent's hook: take the next message for its terminal, once",
    ),
)
