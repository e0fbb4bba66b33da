"""Search over all sessions of all machines."""

import asyncio

from bascule.api.bodies import SearchQuery
from bascule.api.search_answers import MissingDevice, SearchAnswer, SearchHitView
from bascule.hub.calls.call import Call
from bascule.hub.calls.operation import Operation
from bascule.link.found import FoundHits, SearchFound
from bascule.model.errors import BasculeError

ANSWER_SECONDS = 1.0  # that each machine has
MAX_ASKED = 100


async def search(call: Call[SearchQuery]) -> SearchAnswer:
    """What this hub has, and what machines find among the found sessions that it has no copy of."""
    query = call.body
    asking = None if query.session else asyncio.create_task(_asked(call), name="search on machines")
    try:
        found = await call.hub.store.search(query.q, limit=query.limit, session_id=query.session)
        answers = {} if asking is None else await asking
    finally:
        if asking is not None:
            asking.cancel()
    hits = [
        SearchHitView(
            session_id=hit.session_id,
            title=hit.title,
            first_seq=hit.first_seq,
            snippet=list(hit.snippet),
            at=hit.at,
            kind=hit.kind,
            archived=hit.archived,
            found=hit.found,
        )
        for hit in found.hits
    ]
    held = {hit.session_id for hit in hits}
    far = [hit for device, answer in answers.items() if answer for hit in _hits_of(device, answer, held)]
    owed = found.owed + sum(answer.owed for answer in answers.values() if answer)
    missing = tuple(_missing(call, device) for device, answer in answers.items() if answer is None)
    return SearchAnswer(hits=[*hits, *far][: query.limit], owed=owed, missing=missing)


async def _asked(call: Call[SearchQuery]) -> dict[str, FoundHits | None]:
    """What each other machine answers; None from one that is away or too slow."""
    board = call.hub.switchboard
    far = [one.device for one in board.devices() if one.device != board.this]
    answers = await asyncio.gather(*(_search_on(call, device) for device in far))
    return dict(zip(far, answers, strict=True))


async def _search_on(call: Call[SearchQuery], device: str) -> FoundHits | None:
    board = call.hub.switchboard
    if not board.is_connected(device):
        return None
    command = SearchFound(q=call.body.q, limit=min(call.body.limit, MAX_ASKED))
    try:
        return await board.ask(device, command, call.by, seconds=ANSWER_SECONDS)
    except BasculeError:
        return None  # it is named as missing


def _hits_of(device: str, answer: FoundHits, held: set[str]) -> list[SearchHitView]:
    return [
        SearchHitView(
            session_id=hit.session_id,
            title=hit.title,
            first_seq=hit.first_seq,
            snippet=hit.snippet,
            at=hit.at,
            kind=hit.kind,
            archived=hit.archived,
            found=True,
            device=device,
        )
        for hit in answer.hits
        if hit.session_id not in held
    ]


def _missing(call: Call[SearchQuery], device: str) -> MissingDevice:
    status = call.hub.switchboard.status(device)
    if status is None:
        return MissingDevice(device=device, name=device)
    return MissingDevice(device=device, name=status.name, last_heard=status.last_heard)


OPERATIONS = (
    Operation(
        name="search",
        method="GET",
        path="/api/search",
        need="viewer",
        body=SearchQuery,
        answer=SearchAnswer,
        run=search,
        summary="Search messages and titles",
    ),
)
