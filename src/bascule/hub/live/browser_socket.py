"""The browser's socket: answers numbered messages, pushes changes, and streams the subscribed sessions."""

import asyncio
import logging
from dataclasses import replace

import msgspec

from bascule.api.pushes import Problem, Push, Resync
from bascule.hub.calls.call import AnyCall
from bascule.hub.calls.operation import Table
from bascule.hub.calls.session_lookup import require_session
from bascule.hub.calls.socket_messages import BadMessage, SocketMessage, decode_message, socket_answer
from bascule.hub.door.buckets import bad_messages
from bascule.hub.door.open_streams import Ending
from bascule.hub.door.roles import Forbidden, allows, reaches, sees_scrubbed
from bascule.hub.door.who_may import forbidden
from bascule.hub.feed.feed import Delivery, Subscription, events_message
from bascule.hub.feed.positions import WORDS, Reason
from bascule.hub.live.scrubbed import ScrubbedOutlet
from bascule.hub.wire.json_answers import error_object
from bascule.hub.wire.ws_protocol import BoundedSocket, text_frame
from bascule.model.codec import encode
from bascule.model.errors import BasculeError, LimitReached, Refusal, StorageFailed
from bascule.model.faults import report
from bascule.model.records import SessionRecord
from bascule.policy.scrub import scrub_value

log = logging.getLogger("bascule.hub")

MAX_UNSENT = 1024 * 1024
MAX_ASKED = 16 * 1024 * 1024
CATCH_UPS = 4
MAX_SUBSCRIPTIONS = 256
MAX_AT_WORK = 32
FELL_BEHIND = 4008


def events_frame(delivery: Delivery) -> bytes:
    return text_frame(events_message(delivery))


class Watch:
    """One subscription of one socket."""

    def __init__(self, socket: "BrowserSocket", session_id: str, after: int, epoch: str) -> None:
        self._socket = socket
        self.after = after
        self.epoch = epoch
        outlet = ScrubbedOutlet(self) if sees_scrubbed(socket.grant) else self
        self.subscription: Subscription = socket.hub.feed.subscribe(session_id, after, outlet)
        self.task = asyncio.create_task(self._run(), name=f"socket catch-up {session_id}")

    def deliver(self, delivery: Delivery) -> None:
        if self._socket.write(delivery.form(events_frame), asked=not self.subscription.live):
            self.after = delivery.last

    async def ready(self) -> None:
        await self._socket.line.ready()

    async def _run(self) -> None:
        try:
            async with self._socket.catching_up:
                await self.subscription.catch_up()
        except StorageFailed:
            self._socket.hub.feed.catch_up_later(self.subscription)
        except BasculeError as error:
            self._socket.push(Problem(error=error_object(error.refusal())))
        except Exception as error:  # noqa: BLE001 - the other subscriptions go on
            refusal = report(log, "catching up", error)
            self._socket.push(Problem(error=error_object(refusal)))

    def close(self) -> None:
        self.subscription.close()
        self.task.cancel()


class BrowserSocket:
    """One connected page or program. Its role is the grant's; what it says about itself changes nothing."""

    def __init__(self, call: AnyCall, table: Table) -> None:
        self.hub, self.call, self.grant = call.hub, call, call.holder
        self._table = table
        self.line: BoundedSocket = call.scope["bascule.connection"]
        self.watches: dict[str, Watch] = {}
        self._bad = bad_messages(call.hub.steady)
        self._work: set[asyncio.Task[None]] = set()
        self._dropped = False
        self._asked = 0  # unsent bytes that the peer itself asked for: no sign that it is slow
        self.catching_up = asyncio.Semaphore(CATCH_UPS)

    # Out

    def send(self, message: object) -> None:
        data = encode(message)
        if sees_scrubbed(self.grant):
            data = encode(scrub_value(msgspec.json.decode(data)))
        self.write(text_frame(data), asked=True)

    def push(self, message: Push) -> None:
        self.send(message)

    def notify(self, session_id: str | None, message: bytes) -> None:
        """Sends news about all sessions, if the grant may see them."""
        own = session_id is not None and session_id == self.grant.session_id
        if allows(self.grant, "viewer") or own:
            self.tell(message)

    def tell(self, message: bytes) -> None:
        """Sends news about a session that this socket is subscribed to."""
        if sees_scrubbed(self.grant):
            message = encode(scrub_value(msgspec.json.decode(message)))
        self.write(text_frame(message))

    def write(self, frame: bytes, *, asked: bool = False) -> bool:
        """Hand a frame to the transport, unless the peer has stopped reading: then it is let go."""
        if self._dropped or self.line.gone:
            return False
        unsent = self.line.unsent
        if unsent <= MAX_UNSENT:
            self._asked = 0
        if unsent > MAX_UNSENT + min(self._asked, MAX_ASKED):
            self._fell_behind()
            return False
        if asked:
            self._asked += len(frame)
        self.line.write_frame(frame)
        return True

    def _fell_behind(self) -> None:
        self._dropped = True
        for session_id, watch in self.watches.items():
            hint = Resync(session_id=session_id, after=watch.after, epoch=watch.epoch, reason="slow")
            self.line.write_frame(text_frame(encode(hint)))
        # It has been sent more than it read, so it needs longer than others to get to these words.
        patience = self.line.all_connections.limits.behind_seconds
        words = "fell behind; subscribe again after the last seq you have"
        self.line.end(FELL_BEHIND, words, seconds=patience)

    def end(self, ending: Ending) -> None:
        shutdown = ending is Ending.SHUTDOWN
        self.line.write_frame(text_frame(encode(ending.message)))
        self.line.end(1012 if shutdown else 1008, ending.value)

    # In

    async def run(self) -> None:
        await self.call.receive()
        await self.call.send({"type": "websocket.accept"})
        leave = self.hub.open_streams.enter(self.grant, self.end)
        self.hub.feed.listeners.add(self)
        try:
            await self._listen()
        finally:
            self.hub.feed.listeners.discard(self)
            self.hub.notifier.present.leave(self)
            leave()
            await self._clean_up()

    async def _listen(self) -> None:
        while (message := await self.call.receive())["type"] == "websocket.receive":
            await self._take(message.get("text") or message.get("bytes") or b"")

    async def _take(self, text: str | bytes) -> None:
        """Check one message and set its answer to work.

        Messages are answered side by side, because a session that is slow to start must not hold up an
        approval; but commands leave for the device in the order they came.
        """
        number: int | None = None
        message: SocketMessage | None = None
        try:
            message = decode_message(self._table, text)
            number = message.id
            self._check(message)
            in_session = message.operation.in_session
            record = await require_session(self.hub, message.session_id) if in_session else None
        except BadMessage as error:
            self._misunderstood(error)
        except BasculeError as error:
            self.refuse(number, error.refusal(), message)
        except Exception as error:  # noqa: BLE001 - one message's fault is not the socket's
            self.refuse(number, report(log, "a socket message", error), message)
        else:
            task = asyncio.create_task(self._answer(message, record), name=f"socket {message.name}")
            self._work.add(task)
            task.add_done_callback(self._work.discard)
            if len(self._work) >= MAX_AT_WORK:
                await asyncio.wait(self._work, return_when=asyncio.FIRST_COMPLETED)

    def _check(self, message: SocketMessage) -> None:
        """The role, again for each message: the socket being open says nothing about what it may do."""
        if not allows(self.grant, message.operation.need):
            raise forbidden(self.grant, message.operation.need)
        if message.operation.in_session and not reaches(self.grant, message.session_id):
            raise Forbidden("This token opens another session.")

    def _misunderstood(self, error: BadMessage) -> None:
        number = error.fields.pop("id", None)
        self.refuse(number if isinstance(number, int) else None, error.refusal())
        if not self._bad.take():
            self.line.end(1008, "too many messages that are not understood")

    async def _answer(self, message: SocketMessage, record: SessionRecord | None) -> None:
        call = replace(
            self.call,
            operation=message.operation,
            body=message.body,
            key=message.key,
            device=message.device,
            session=record,
            socket=self,
        )
        try:
            await self.reply(message, await message.operation.run(call))
        except BasculeError as error:
            self.refuse(message.id, error.refusal(), message)
        except Exception as error:  # noqa: BLE001 - as above
            self.refuse(message.id, report(log, message.name, error), message)

    async def reply(self, message: SocketMessage, result: object) -> None:
        named = {"requestId": message.request_id} if message.request_id else {}
        self.send({"id": message.id, **named, "ok": socket_answer(message.operation, result)})

    def refuse(self, number: int | None, refusal: Refusal, message: SocketMessage | None = None) -> None:
        named = {"requestId": message.request_id} if message is not None and message.request_id else {}
        self.send({"id": number, **named, "error": error_object(refusal)})

    # Watching

    def watch(self, session_id: str, after: int, epoch: str) -> None:
        self.unwatch(session_id)
        if len(self.watches) >= MAX_SUBSCRIPTIONS:
            raise LimitReached(f"One socket watches at most {MAX_SUBSCRIPTIONS} sessions.")
        self.watches[session_id] = self.make_watch(session_id, after, epoch)
        self.hub.presence.enter(session_id, self, self.grant.name)

    def make_watch(self, session_id: str, after: int, epoch: str) -> Watch:
        return Watch(self, session_id, after, epoch)

    def resync(self, session_id: str, reason: Reason, epoch: str) -> None:
        """This page can't resume from its position: it starts over. Until then it watches nothing."""
        self.unwatch(session_id)
        words = WORDS[reason]
        self.push(Resync(session_id=session_id, after=0, epoch=epoch, reason=reason, message=words))

    def replaced(self, session_id: str, epoch: str) -> None:
        if session_id in self.watches:
            self.resync(session_id, "replaced", epoch)

    def unwatch(self, session_id: str) -> None:
        watch = self.watches.pop(session_id, None)
        if watch is not None:
            watch.close()
            self.hub.presence.leave(session_id, self)

    async def _clean_up(self) -> None:
        for session_id in list(self.watches):
            self.unwatch(session_id)
        # Commands already on their way are carried out; only their answers have nobody to go to.
        if self._work:
            await asyncio.wait(self._work, timeout=60)
