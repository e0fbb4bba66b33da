"""The conversations an agent knows, as it lists them: for a person who wants to take one up."""

from msgspec import Struct

from bascule.drivers.lenient import MAX_ID, JsonObject, objects, text, words

MAX_LISTED = 500


class Conversation(Struct, frozen=True, rename="camel", omit_defaults=True):
    """One of them. `id` is the agent's own name for it."""

    id: str
    title: str = ""
    cwd: str = ""
    updated_at: str = ""
    session: str | None = None  # the session here that holds it


class Listing(Struct, frozen=True):
    """What came of asking; `problem` in the agent's words when nothing did."""

    conversations: tuple[Conversation, ...] = ()
    more: bool = False  # it knows more than it told
    problem: str = ""


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
