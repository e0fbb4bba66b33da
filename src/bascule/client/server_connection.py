"""One WebSocket to a server: numbered requests with their replies, and pushed messages."""

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus, InvalidURI

from bascule.client.address import Address, Unreachable, is_local, socket_url
from bascule.model.codec import Logged, LoggedRaw, decode_event, encode
from bascule.model.errors import Refusal, Refused
from bascule.model.events import Unrecognised

MAX_MESSAGE = 128 * 1024 * 1024  # one entry may hold a whole tool output or an image
HANDSHAKE_SECONDS = 10
MAX_RAW = 64 * 1024


class Incoming(Struct, frozen=True, rename="camel"):
    """Any frame a server sends: a reply when it has an id, else a push."""

    id: int | None = None
    ok: Raw | UnsetType = UNSET
    error: Raw | UnsetType = UNSET  # not `Raw | None`: that decodes null alone
    type: str = ""
    session_id: str = ""
    entries: Raw | UnsetType = UNSET
    after: int = 0
    epoch: str = ""
    reason: str = ""


_incoming = msgspec.json.Decoder(Incoming)
_entries = msgspec.json.Decoder(list[Logged])
_raw_entries = msgspec.json.Decoder(list[LoggedRaw])
_error = msgspec.json.Decoder(dict[str, Any])

OnPush = Callable[[Incoming], None]


class Connection:
    """Lives as long as its socket. `lost` is set when it is over, for whatever reason."""

    def __init__(self, socket: ClientConnection, on_push: OnPush, on_lost: Callable[[], None]) -> None:
        self._socket = socket
        self._on_push = on_push
        self._on_lost = on_lost
        self._waiting: dict[int, asyncio.Future[bytes]] = {}
        self._last_id = 0
        self.lost = False
        self._reader = asyncio.create_task(self._read(), name="bascule client reader")

    @classmethod
    async def open(cls, address: Address, on_push: OnPush, on_lost: Callable[[], None]) -> "Connection":
        nearby = is_local(address.url)
        try:
            socket = await connect(
                socket_url(address.url),
                additional_headers={"Authorization": f"Bearer {address.token}"},
                compression=None if nearby else "deflate",
                proxy=None if nearby else True,
                max_size=MAX_MESSAGE,
                open_timeout=HANDSHAKE_SECONDS,
            )
        except InvalidStatus as error:
            raise refused_at_the_door(error, address.url) from error
        except (OSError, TimeoutError, InvalidHandshake, InvalidURI, ConnectionClosed) as error:
            raise Unreachable(f"No server answers at {address.url} ({_why(error)}).") from error
        return cls(socket, on_push, on_lost)

    async def request(self, kind: str, fields: dict[str, Any], timeout: float) -> bytes:
        """Send one request and return its `ok` as JSON; raises `Refused` or `Unreachable`."""
        self._last_id += 1
        number = self._last_id
        reply: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._waiting[number] = reply
        try:
            async with asyncio.timeout(timeout):
                await self._socket.send(encode({"id": number, "type": kind, **fields}).decode())
                return await reply
        except ConnectionClosed as error:
            raise Unreachable("The server closed the connection.") from error
        except TimeoutError as error:
            raise Unreachable(f"The server did not answer {kind} within {timeout:g} s.") from error
        finally:
            del self._waiting[number]

    async def close(self) -> None:
        await self._socket.close()
        await self._reader

    async def _read(self) -> None:
        reason = "The server closed the connection."
        try:
            async for message in self._socket:
                self._take(_incoming.decode(message))
        except ConnectionClosed as error:
            reason = f"The connection broke off ({_why(error)})."
        except msgspec.MsgspecError as error:
            reason = f"The server sent something that is no frame ({error})."
        finally:
            self.lost = True
            for reply in self._waiting.values():
                if not reply.done():
                    reply.set_exception(Unreachable(reason))
            self._on_lost()
            with contextlib.suppress(ConnectionClosed):
                await self._socket.close()

    def _take(self, frame: Incoming) -> None:
        if frame.id is None:
            self._on_push(frame)
            return
        reply = self._waiting.get(frame.id)
        if reply is None or reply.done():
            return
        if not isinstance(frame.error, UnsetType):
            reply.set_exception(Refused(refusal_of(bytes(frame.error))))
        else:
            reply.set_result(b"{}" if isinstance(frame.ok, UnsetType) else bytes(frame.ok))


def refusal_of(error: bytes) -> Refusal:
    """`{"code", "message", …}` as it is on the wire, with the rest as its fields."""
    body = _error.decode(error)
    code, message = str(body.pop("code", "INTERNAL_ERROR")), str(body.pop("message", "The server refused."))
    body.update(body.pop("fields", None) or {})
    return Refusal(code, message, {key: value for key, value in body.items() if _is_plain(value)})


def _is_plain(value: object) -> bool:
    return value is None or isinstance(value, str | int)


def entries_of(frame: Incoming) -> list[Logged]:
    """The entries of a push. An event of a newer server is kept as `Unrecognised`, not lost."""
    data = b"[]" if isinstance(frame.entries, UnsetType) else bytes(frame.entries)
    try:
        return _entries.decode(data)
    except msgspec.ValidationError:
        return [_lenient(one) for one in _raw_entries.decode(data)]


def _lenient(entry: LoggedRaw) -> Logged:
    raw = bytes(entry.event)
    try:
        return Logged(entry.seq, entry.at, decode_event(raw))
    except msgspec.ValidationError as error:
        text = raw[:MAX_RAW].decode(errors="replace")
        return Logged(entry.seq, entry.at, Unrecognised(text, f"unknown to this client: {error}", len(raw)))


def refused_at_the_door(error: InvalidStatus, url: str) -> Refused | Unreachable:
    status = error.response.status_code
    if status == 401:
        return Refused(Refusal("UNAUTHENTICATED", f"{url} does not know this token; ask for a new link."))
    if status == 403:
        return Refused(Refusal("FORBIDDEN", f"{url} refused this connection (403)."))
    return Unreachable(f"{url} answered {status} instead of opening a connection.")


def _why(error: BaseException) -> str:
    return (getattr(error, "strerror", None) or str(error) or type(error).__name__).rstrip(".")
