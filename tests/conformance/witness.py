"""An address on 127.0.0.1 that remembers who came: the witness of a fetch."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator

PAGE = b"<html>It was here.</html>\n"
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\n\r\n"
TLS = b"\x16\x03"
READ_SECONDS = 5.0


class Visits:
    def __init__(self) -> None:
        self.url = ""
        self.seen: list[bytes] = []

    def fetched(self, mark: str) -> bool:
        """Whether somebody asked for that page, or came by TLS, in which no page can be read."""
        return any(mark.encode() in one or one.startswith(TLS) for one in self.seen)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(TimeoutError, ConnectionError):
            self.seen.append(await asyncio.wait_for(reader.read(4096), READ_SECONDS))
            writer.write(HEAD + PAGE)
            await writer.drain()
        writer.close()


@contextlib.asynccontextmanager
async def visits() -> AsyncGenerator[Visits]:
    kept = Visits()
    server = await asyncio.start_server(kept.serve, "127.0.0.1", 0)
    kept.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server:
        yield kept
