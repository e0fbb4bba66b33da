"""A session's terminal: reads its output by offset, sends keys and sizes."""

from collections.abc import AsyncIterator
from types import TracebackType
from typing import Self
from urllib.parse import quote, urlencode, urlsplit, urlunsplit

import msgspec
from msgspec import Struct
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus, InvalidURI

from bascule.client.address import Address, Unreachable, is_local, socket_url
from bascule.client.server_connection import HANDSHAKE_SECONDS, refusal_of, refused_at_the_door
from bascule.model.codec import encode
from bascule.model.errors import Refused


class Piece(Struct, frozen=True):
    """Bytes of the tape, from `offset` on."""

    offset: int
    data: bytes


class Said(Struct, frozen=True, rename="camel"):
    """Any message of the server besides output; `type` says which fields are set."""

    type: str  # begin, resync, size, skipped, unread, ended, error, revoked, expired, shutdown
    offset: int = 0
    base: int = 0
    end: int = 0
    run: int = 0
    epoch: str = ""
    prelude: str = ""
    read_only: bool = False
    over: bool = False
    cols: int = 0
    rows: int = 0
    owner: bool = False
    replies: bool = False
    skipped_from: int = msgspec.field(default=0, name="from")
    to: int = 0
    bytes: int = 0
    code: int | None = None
    signal: int | None = None
    reason: str | None = None
    message: str | None = None
    error: msgspec.Raw = msgspec.Raw(b"null")

    def refusal(self) -> Refused:
        return Refused(refusal_of(bytes(self.error)))


_said = msgspec.json.Decoder(Said)


def _refused(error: InvalidStatus, url: str) -> Refused | Unreachable:
    """The server's error about this terminal, if the message is one."""
    try:
        body = msgspec.json.decode(error.response.body or b"", type=dict[str, msgspec.Raw])
        return Refused(refusal_of(bytes(body["error"])))
    except (msgspec.MsgspecError, KeyError):
        return refused_at_the_door(error, url)


class TerminalLine:
    """One viewer's connection. Iterate it for output and messages; it ends with the connection."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket

    @classmethod
    async def open(
        cls,
        address: Address,
        session_id: str,
        *,
        after: int | None = None,
        run: int | None = None,
        epoch: str | None = None,
        lag: int | None = None,
    ) -> Self:
        """`after`: the offset to read on from; None begins with what a screen needs.

        `run` and `epoch` are what the offset is of, as `begin` gave them.
        """
        given = {"after": "tail" if after is None else after, "run": run, "epoch": epoch, "lag": lag}
        query = urlencode({name: value for name, value in given.items() if value is not None})
        place = urlsplit(socket_url(address.url))
        url = urlunsplit(
            (place.scheme, place.netloc, f"/ws/terminal/{quote(session_id, safe='')}", query, "")
        )
        nearby = is_local(address.url)
        try:
            socket = await connect(
                url,
                additional_headers={"Authorization": f"Bearer {address.token}"},
                compression=None,
                proxy=None if nearby else True,
                max_size=4 * 1024 * 1024,
                open_timeout=HANDSHAKE_SECONDS,
            )
        except InvalidStatus as error:
            raise _refused(error, address.url) from error
        except (OSError, TimeoutError, InvalidHandshake, InvalidURI, ConnectionClosed) as error:
            raise Unreachable(f"No server answers at {address.url}.") from error
        return cls(socket)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._socket.close()

    async def __aiter__(self) -> AsyncIterator[Piece | Said]:
        try:
            async for message in self._socket:
                if isinstance(message, bytes):
                    yield Piece(int.from_bytes(message[:8], "big"), message[8:])
                else:
                    yield _said.decode(message)
        except ConnectionClosed:
            return

    async def keys(self, data: bytes) -> None:
        await self._send(data)

    async def resize(self, cols: int, rows: int) -> None:
        await self._send(encode({"type": "resize", "cols": cols, "rows": rows}).decode())

    async def ack(self, offset: int) -> None:
        """Everything up to here is shown."""
        await self._send(encode({"type": "ack", "offset": offset}).decode())

    async def claim(self) -> None:
        await self._send('{"type":"claim"}')

    async def _send(self, message: str | bytes) -> None:
        try:
            await self._socket.send(message)
        except ConnectionClosed as error:
            raise Unreachable("The server closed the connection.") from error
