"""Sessions begun outside Bascule: list them, follow one, and hand messages to an agent in its terminal."""

import msgspec

from bascule.hub.api.bodies import FeedbackBody, FoundQuery, SessionBody, TakeFeedbackBody
from bascule.hub.api.call import Call
from bascule.hub.api.operation import Operation
from bascule.link.found import (
    AwaitFeedback,
    FeedbackNews,
    Followed,
    FollowFound,
    FoundList,
    ListFound,
    TakeFeedback,
    TakenFeedback,
)


async def found_list(call: Call[FoundQuery]) -> FoundList:
    """What the device knows, at once; it looks for more meanwhile and says how far it is."""
    answer = await call.hub.switchboard.ask(ListFound(call.body.limit, call.body.wait))
    return msgspec.json.decode(answer, type=FoundList)


async def follow(call: Call[SessionBody]) -> Followed:
    command = FollowFound(call.record.session_id)
    answer = await call.hub.switchboard.ask(command, device=call.record.device or None)
    return msgspec.json.decode(answer, type=Followed)


async def feedback_news(call: Call[FeedbackBody]) -> FeedbackNews:
    """Whether a message waits for an agent in a terminal; held until there is one, at most 25 s."""
    body = call.body
    answer = await call.hub.switchboard.ask(AwaitFeedback(body.agent, body.conversation, body.pid))
    return msgspec.json.decode(answer, type=FeedbackNews)


async def take_feedback(call: Call[TakeFeedbackBody]) -> TakenFeedback:
    body = call.body
    command = TakeFeedback(body.agent, body.conversation, call.by, body.pid, body.idle, call.key)
    return msgspec.json.decode(await call.hub.switchboard.ask(command), type=TakenFeedback)


OPERATIONS = (
    Operation(
        name="found:list",
        method="GET",
        path="/api/found-sessions",
        need="viewer",
        body=FoundQuery,
        answer=FoundList,
        run=found_list,
        summary="Sessions that agents keep on this machine, begun outside Bascule",
    ),
    Operation(
        name="session:follow",
        method="POST",
        path="/api/sessions/{session_id}/follow",
        need="session_files",
        body=SessionBody,
        answer=Followed,
        run=follow,
        summary="Follow a found session's file for half a minute",
        in_session=True,
    ),
    # Messages of every session pass here: for whoever owns the machine, never for a link to one session.
    Operation(
        method="POST",
        path="/api/feedback/wait",
        need="owner",
        body=FeedbackBody,
        answer=FeedbackNews,
        run=feedback_news,
        summary="For an agent's hook: wait until a message for its terminal can be taken",
    ),
    Operation(
        method="POST",
        path="/api/feedback/take",
        need="owner",
        body=TakeFeedbackBody,
        answer=TakenFeedback,
        run=take_feedback,
        summary="For an agent's hook: take the next message for its terminal, once",
    ),
)
