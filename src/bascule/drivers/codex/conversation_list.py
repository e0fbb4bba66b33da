"""Lists Codex's threads of this folder, page by page."""

from bascule.drivers.codex.encode import WRITER
from bascule.drivers.codex.state import DriverState
from bascule.drivers.conversation_list import MAX_LISTED, Listing
from bascule.drivers.lenient import MAX_ID, JsonObject, clip, objects, text, true, whole, words
from bascule.drivers.writes import Replies
from bascule.model.codec import timestamp
from bascule.model.conversations import Conversation
from bascule.model.records import Write

PAGE = 100
MAX_PAGES = 20  # a page may hold fewer than requested
MAX_CURSOR = 4096
LAST_MOMENT = 253_402_300_799  # of the year 9999, in seconds
# By default Codex leaves out threads of `codex exec`. Threads of sub-agents are no conversations.
KINDS = ("cli", "vscode", "exec", "appServer")


class Threads:
    """The threads listed so far. Not stored: the caller is gone after a restart."""

    def __init__(self, state: DriverState, replies: Replies) -> None:
        self._state = state
        self._replies = replies
        self._found: dict[str, Conversation] | None = None  # None: no listing is under way
        self._cursors: set[str] = set()
        self._listing: Listing | None = None

    @property
    def has_listing(self) -> bool:
        return self._listing is not None

    def ask(self) -> bytes:
        self._found, self._listing = {}, None
        self._cursors.clear()
        return self._request()

    def take(self) -> Listing | None:
        listing, self._listing = self._listing, None
        return listing

    def answered(self, answer: JsonObject) -> None:
        if self._found is None:
            return
        for listed in objects(answer, "data"):
            thread = _conversation(listed)
            if thread is not None:  # pages are cut by time: a thread on the edge may come twice
                self._found.setdefault(thread.id, thread)
        cursor = text(answer, "nextCursor")
        if cursor is None or len(self._found) >= MAX_LISTED or not self._is_next(cursor):
            self._over(more=cursor is not None or len(self._found) > MAX_LISTED)
            return
        self._cursors.add(cursor)
        self._replies.add(Write(self._state.new_write("list"), self._request(cursor)))

    def refused(self, reason: str) -> None:
        """A page was refused: keep the pages before it, if there are any."""
        if self._cursors:
            self._over(more=True)
        elif self._found is not None:
            self._found, self._listing = None, Listing(problem=reason)

    def _is_next(self, cursor: str) -> bool:
        new = cursor not in self._cursors and 0 < len(cursor) <= MAX_CURSOR
        return new and len(self._cursors) < MAX_PAGES - 1

    def _over(self, *, more: bool) -> None:
        found, self._found = self._found or {}, None
        self._listing = Listing(tuple(found.values())[:MAX_LISTED], more)

    def _request(self, cursor: str | None = None) -> bytes:
        params: dict[str, object] = {
            "cwd": self._state.launch.cwd,
            "limit": PAGE,
            "sortKey": "updated_at",
            "sourceKinds": KINDS,
            "modelProviders": [],  # threads of every provider
        }
        if cursor is not None:
            params["cursor"] = cursor
        return WRITER.request(self._state.new_id("list"), "thread/list", params)


def _conversation(thread: JsonObject) -> Conversation | None:
    thread_id = text(thread, "id")
    if not thread_id or len(thread_id) > MAX_ID or true(thread, "ephemeral"):
        return None
    title = " ".join((text(thread, "name") or text(thread, "preview") or "")[:2000].split())
    updated = whole(thread, "updatedAt")
    moment = timestamp(updated) if updated is not None and updated <= LAST_MOMENT else ""
    return Conversation(thread_id, clip(title, 200), words(thread, "cwd", 4096), moment)
