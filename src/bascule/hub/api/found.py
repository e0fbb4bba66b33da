"""Sessions begun outside Bascule: list them, follow one, and hand messages to an agent in its terminal."""

from bascule.hub.api.forwarding import forwarding
from bascule.link.found import AwaitFeedback, FollowFound, ListFound, TakeFeedback

OPERATIONS = (
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
