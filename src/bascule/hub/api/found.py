"""Sessions begun outside Bascule as people ask for them, for HTTP and the socket alike."""

import msgspec

from bascule.hub.api.bodies import FeedbackBody, FoundQuery, TakeFeedbackBody
from bascule.hub.services import Hub
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
from bascule.model.commands import Actor
from bascule.model.records import SessionRecord


async def found_list(hub: Hub, query: FoundQuery) -> FoundList:
    """What the device knows, at once; it looks for more meanwhile and says how far it is."""
    answer = await hub.switchboard.ask(ListFound(query.limit, query.wait))
    return msgspec.json.decode(answer, type=FoundList)


async def follow(hub: Hub, record: SessionRecord) -> Followed:
    answer = await hub.switchboard.ask(FollowFound(record.session_id), device=record.device or None)
    return msgspec.json.decode(answer, type=Followed)


async def feedback_news(hub: Hub, body: FeedbackBody) -> FeedbackNews:
    """Whether a message waits for an agent in a terminal; held until there is one, at most 25 s."""
    answer = await hub.switchboard.ask(AwaitFeedback(body.agent, body.conversation, body.pid))
    return msgspec.json.decode(answer, type=FeedbackNews)


async def take_feedback(hub: Hub, by: Actor, key: str | None, body: TakeFeedbackBody) -> TakenFeedback:
    wish = TakeFeedback(body.agent, body.conversation, by, body.pid, body.idle, key)
    return msgspec.json.decode(await hub.switchboard.ask(wish), type=TakenFeedback)
