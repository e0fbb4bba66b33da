"""Search as people ask for it, for HTTP and the socket alike."""

from bascule.hub.api.bodies import SearchQuery
from bascule.hub.api.views import SearchAnswer, SearchHitView
from bascule.hub.services import Hub


async def find(hub: Hub, query: SearchQuery) -> SearchAnswer:
    found = await hub.store.search(query.q, limit=query.limit, session_id=query.session)
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
    return SearchAnswer(hits=hits, owed=found.owed)
