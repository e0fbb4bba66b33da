"""What an agent answers to `session/list`."""

from bascule.drivers.lenient import MAX_ID, JsonObject, objects, text, words
from bascule.drivers.listing import MAX_LISTED, Conversation, Listing


def read_listing(answer: JsonObject) -> Listing:
    found = tuple(
        Conversation(
            session_id, words(one, "title", 200), words(one, "cwd", 4096), words(one, "updatedAt", 40)
        )
        for one in objects(answer, "sessions")[:MAX_LISTED]
        if (session_id := text(one, "sessionId")) is not None and len(session_id) <= MAX_ID
    )
    more = text(answer, "nextCursor") is not None or len(objects(answer, "sessions")) > MAX_LISTED
    return Listing(found, more)
