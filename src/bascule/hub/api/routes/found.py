"""Sessions begun outside Bascule: the list of them, and following one."""

from bascule.hub.api import found
from bascule.hub.api.bodies import FeedbackBody, FoundQuery, Nothing, TakeFeedbackBody
from bascule.hub.api.call import Call
from bascule.hub.api.session_commands import require_session
from bascule.hub.api.table import NoQuery, Row
from bascule.link.found import FeedbackNews, Followed, FoundList, TakenFeedback


async def found_sessions(call: Call[None, FoundQuery]) -> FoundList:
    return await found.found_list(call.hub, call.query)


async def follow(call: Call[Nothing, NoQuery]) -> Followed:
    return await found.follow(call.hub, await require_session(call.hub, call.session_id))


async def feedback_news(call: Call[FeedbackBody, NoQuery]) -> FeedbackNews:
    return await found.feedback_news(call.hub, call.body)


async def take_feedback(call: Call[TakeFeedbackBody, NoQuery]) -> TakenFeedback:
    return await found.take_feedback(call.hub, call.by, call.key, call.body)


ROWS = [
    Row(
        method="GET",
        path="/api/found-sessions",
        need="viewer",
        serve=found_sessions,
        summary="Sessions that agents keep on this machine, begun outside Bascule",
        query=FoundQuery,
        answer=FoundList,
    ),
    Row(
        method="POST",
        path="/api/sessions/{id}/follow",
        need="session_files",
        serve=follow,
        summary="Read on in a found session's file for half a minute",
        body=Nothing,
        answer=Followed,
    ),
    # Messages of every session pass here: for whoever owns the machine, never for a link to one session.
    Row(
        method="POST",
        path="/api/feedback/wait",
        need="owner",
        serve=feedback_news,
        summary="For an agent's hook: wait until a message for its terminal can be taken",
        body=FeedbackBody,
        answer=FeedbackNews,
    ),
    Row(
        method="POST",
        path="/api/feedback/take",
        need="owner",
        serve=take_feedback,
        summary="For an agent's hook: take the next message for its terminal, once",
        body=TakeFeedbackBody,
        answer=TakenFeedback,
    ),
]
