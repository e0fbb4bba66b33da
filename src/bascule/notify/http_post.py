"""One HTTP POST with one deadline: no redirect is followed, and only the start of the answer is read."""

import asyncio
import ssl
from urllib.parse import urlsplit

from msgspec import Struct

from bascule.notify.webhook import Post

SECONDS = 15.0
MAX_HEAD = 32 * 1024
MAX_WORDS = 200


class Unreachable(Exception):
    """Nobody answered, or not in time; the words say what happened, without the address."""


class Reply(Struct, frozen=True):
    status: int
    words: str = ""  # the beginning of the answer's body
    retry_after: float = 0.0  # seconds, where the far side says so


async def post(request: Post, seconds: float = SECONDS) -> Reply:
    """Raises `Unreachable`."""
    try:
        async with asyncio.timeout(seconds):
            return await _exchange(request)
    except TimeoutError:
        raise Unreachable(f"no answer within {seconds:g} seconds") from None
    except ssl.SSLError as error:
        raise Unreachable(f"its certificate is not accepted ({error.reason})") from None
    except (OSError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
        raise Unreachable(_reason(error)) from None


async def _exchange(request: Post) -> Reply:
    parts = urlsplit(request.url)
    secure = parts.scheme == "https"
    port = parts.port or (443 if secure else 80)
    context = ssl.create_default_context() if secure else None
    reader, writer = await asyncio.open_connection(parts.hostname, port, ssl=context, limit=MAX_HEAD)
    try:
        writer.write(_head(request, parts.netloc, parts.path or "/", parts.query) + request.body)
        await writer.drain()
        return await _reply(reader)
    finally:
        # Closed without a farewell: a far side that is stuck must not hold us up.
        writer.transport.abort()


def _head(request: Post, host: str, path: str, query: str) -> bytes:
    fields = {
        "host": host,
        "user-agent": "bascule",
        "accept": "*/*",
        "connection": "close",
        "content-length": str(len(request.body)),
        **request.headers,
    }
    lines = [f"POST {path}{'?' + query if query else ''} HTTP/1.1"]
    lines += [f"{name}: {value}" for name, value in fields.items()]
    if any(letter < " " or letter > "~" for line in lines for letter in line):
        raise ValueError("the address or a header holds a character that HTTP does not have")
    return "\r\n".join([*lines, "", ""]).encode("ascii")


async def _reply(reader: asyncio.StreamReader) -> Reply:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    version, _, rest = head[0].partition(" ")
    if not version.startswith("HTTP/1.") or not rest[:3].isdigit():
        raise ValueError("what answers there does not speak HTTP")
    status = int(rest[:3])
    if 100 <= status < 200:
        return await _reply(reader)
    retry = next(
        (line.partition(":")[2].strip() for line in head if line.lower().startswith("retry-after:")), ""
    )
    words = "" if status < 300 else await _words(reader)
    return Reply(status, words, float(retry) if retry.isdigit() else 0.0)


async def _words(reader: asyncio.StreamReader) -> str:
    """Why it was refused, as far as it comes with the next bytes."""
    text = (await reader.read(1024)).decode(errors="replace")
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())[:MAX_WORDS]


def _reason(error: Exception) -> str:
    if isinstance(error, asyncio.IncompleteReadError):
        return "it closed the connection without an answer"
    if isinstance(error, ConnectionRefusedError):
        return "nothing listens there"
    if isinstance(error, OSError):
        return error.strerror or "the name is not known" if error.errno else "the name is not known"
    return str(error)
