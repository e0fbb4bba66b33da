"""The browser's socket in the words of the workbench's specification: `/ws?words=workbench`.

Messages need no `id`. Answers are messages of their own (`session:list`, `session:history`, `error`), and an
opened session streams `session:update`, `session:chunk`, `session:complete` and `session:cancelled`.
"""

from bascule.api.folder_answers import ProjectList
from bascule.api.session_answers import Created, SessionList
from bascule.hub.calls.socket_messages import SocketMessage
from bascule.hub.feed.feed import Delivery
from bascule.hub.live.browser_socket import BrowserSocket, Watch
from bascule.hub.live.workbench_words import WorkbenchWords, chat_entry
from bascule.hub.wire.json_answers import error_object
from bascule.hub.wire.ws_protocol import text_frame
from bascule.model.codec import decode_leniently, encode
from bascule.model.entries import AnyEntry
from bascule.model.errors import Refusal
from bascule.store.rows import decode_entry

PAGE = 500
MAX_ENTRIES = 20_000  # of a history; older ones are left out
# Pushes that other words of this socket say better, or that mean nothing to it.
NOT_ITS_WORDS = (
    b'{"type":"session:created"',
    b'{"type":"session:changed"',
    b'{"type":"agent:status","devices"',
)


class WorkbenchWatch(Watch):
    """One subscription, sent as chat entries."""

    words: WorkbenchWords

    def deliver(self, delivery: Delivery) -> None:
        asked = not self.subscription.live
        for row in delivery.rows:
            logged = decode_leniently(row.body)
            for message in self.words.messages(logged.seq, logged.at, logged.event):
                self._socket.write(text_frame(encode(message)), asked=asked)
        self.after = delivery.last


class WorkbenchSocket(BrowserSocket):
    def notify(self, session_id: str | None, message: bytes) -> None:
        if not message.startswith(NOT_ITS_WORDS):
            super().notify(session_id, message)

    async def reply(self, message: SocketMessage, result: object) -> None:
        if message.id is not None:
            await super().reply(message, result)
        body, named = message.body, {"requestId": message.request_id} if message.request_id else {}
        match message.name, result:
            case "session:list", SessionList():
                project = {"projectId": body.project_id} if body.project_id else {}
                self.send({"type": "session:list", **project, "sessions": result.sessions, **named})
            case "project:list", ProjectList():
                self.send({"type": "project:list", "projects": result.projects, **named})
            case "session:create", Created():
                await self._follow(result.id, history=False)
                made = {"sessionId": result.id, "projectId": body.project_id}
                self.send({"type": "session:created", **made, **named})
            case "session:open", _:
                await self._follow(message.session_id)
            case "session:archive", _:
                self.send({"type": "session:archived", "sessionId": message.session_id, **named})
            case _:
                pass

    def refuse(self, number: int | None, refusal: Refusal, message: SocketMessage | None = None) -> None:
        if number is not None:
            super().refuse(number, refusal, message)
            return
        named = {"requestId": message.request_id} if message is not None and message.request_id else {}
        error = {"code": refusal.code, "message": refusal.message, "error": error_object(refusal)}
        self.send({"type": "error", **named, **error})

    async def _follow(self, session_id: str, *, history: bool = True) -> None:
        """The conversation so far, then what is said in it."""
        seq, entries = await self._entries(session_id) if history else (0, [])
        if history:
            shown = [one for entry in entries if (one := chat_entry(entry)) is not None]
            self.send({"type": "session:history", "sessionId": session_id, "entries": shown})
        self.watch(session_id, seq, self.hub.store.epoch)
        watch = self.watches[session_id]
        assert isinstance(watch, WorkbenchWatch)
        watch.words = WorkbenchWords(session_id, entries)

    async def _entries(self, session_id: str) -> tuple[int, list[AnyEntry]]:
        """All entries, the oldest first, and the number of the event they are true as of."""
        page = await self.hub.store.page(session_id, PAGE, None)
        seq, found = page.seq, list(page.entries)
        while page.before is not None and len(found) < MAX_ENTRIES:
            page = await self.hub.store.page(session_id, PAGE, page.before)
            found = [*page.entries, *found]
        return seq, [decode_entry(entry) for entry in found]

    def make_watch(self, session_id: str, after: int, epoch: str) -> Watch:
        watch = WorkbenchWatch(self, session_id, after, epoch)
        watch.words = WorkbenchWords(session_id)
        return watch
