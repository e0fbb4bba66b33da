"""Sessions begun outside Bascule: the list of them, and following one."""

from bascule.hub import found
from bascule.hub.bodies import FoundQuery, Nothing
from bascule.hub.call import Call
from bascule.hub.table import NoQuery, Row
from bascule.hub.wishes import require_session
from bascule.link.found import Followed, FoundList


async def found_sessions(call: Call[None, FoundQuery]) -> FoundList:
    return await found.found_list(call.hub, call.query)


async def follow(call: Call[Nothing, NoQuery]) -> Followed:
    return await found.follow(call.hub, await require_session(call.hub, call.session_id))


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
]
