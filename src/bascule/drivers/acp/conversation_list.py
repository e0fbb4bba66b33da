"""Reads the agent's answer to `session/list`."""

from bascule.drivers.conversation_list import MAX_LISTED, Listing
from bascule.drivers.lenient import MAX_ID, JsonObject, objects, text, words
from bascule.model.conversations import Conversation


class Sessions:
    """The sessions the agent listed, until they are taken. Not stored: the caller is gone after a restart."""

    def __init__(self) -> None:
        self._listing: Listing | None = None

    @property
    def has_listing(self) -> bool:
        return self._listing is not None

    def answered(self, answer: JsonObject) -> None:
        self._listing = read_listing(answer)

    def refused(self, reason: str) -> None:
        self._listing = Listing(problem=reason)

    def take(self) -> Listing | None:
        listing, self._listing = self._listing, None
        return listing


def read_listing(answer: JsonObject) -> Listing:
    found = tuple(
        conversation
        for session in objects(answer, "sessions")[:MAX_LISTED]
        if (conversation := _conversation(session)) is not None
    )
    more = text(answer, "nextCursor") is not None or len(objects(answer, "sessions")) > MAX_LISTED
    return Listing(found, more)


def _conversation(session: JsonObject) -> Conversation | None:
    session_id = text(session, "sessionId")
    if session_id is None or len(session_id) > MAX_ID:
        return None
    title, cwd = words(session, "title", 200), words(session, "cwd", 4096)
    return Conversation(session_id, title, cwd, words(session, "updatedAt", 40))
