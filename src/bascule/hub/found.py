"""Sessions begun outside Bascule as people ask for them, for HTTP and the socket alike."""

import msgspec

from bascule.hub.bodies import FoundQuery
from bascule.hub.services import Hub
from bascule.link.found import Followed, FollowFound, FoundList, ListFound
from bascule.model.records import SessionRecord


async def found_list(hub: Hub, query: FoundQuery) -> FoundList:
    """What the device knows, at once; it looks for more meanwhile and says how far it is."""
    answer = await hub.switchboard.ask(ListFound(query.limit, query.wait))
    return msgspec.json.decode(answer, type=FoundList)


async def follow(hub: Hub, record: SessionRecord) -> Followed:
    answer = await hub.switchboard.ask(FollowFound(record.session_id), device=record.device or None)
    return msgspec.json.decode(answer, type=Followed)
