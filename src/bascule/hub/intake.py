"""What comes in from outside, made into typed values or refused: bodies, queries, JSON."""

from typing import TypeVar
from urllib.parse import parse_qsl

import msgspec
from starlette.types import Receive

from bascule.model.errors import CallerError, InvalidInput

T = TypeVar("T")
Headers = list[tuple[bytes, bytes]]

SMALL = 64 * 1024
LARGE = 8 * 1024 * 1024


class TooLarge(CallerError):
    code = "BODY_TOO_LARGE"


class WrongType(CallerError):
    code = "UNSUPPORTED_MEDIA_TYPE"


class ClientGone(Exception):
    """The other side hung up in the middle of its request."""


def header(headers: Headers, name: bytes) -> str | None:
    return next((value.decode("latin-1") for key, value in headers if key == name), None)


async def read_body(headers: Headers, receive: Receive, most: int) -> bytes:
    """The whole body, bounded whether its length was announced or not."""
    chunks: list[bytes] = []
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        chunk: bytes = message.get("body", b"")
        size += len(chunk)
        if size <= most:
            chunks.append(chunk)
        else:
            # Read on without keeping it: who is still sending when we hang up never sees the answer.
            # The connection itself bounds how much and how long.
            chunks.clear()
        more = bool(message.get("more_body", False))
    if size > most:
        raise TooLarge(f"The body is larger than {most} bytes.")
    body = b"".join(chunks)
    _check_type(headers, body)
    return body


def _check_type(headers: Headers, body: bytes) -> None:
    """Only plain JSON: a form or text/plain is what another site could send without asking."""
    if header(headers, b"content-encoding") is not None:
        raise WrongType("Compressed bodies are not taken.")
    kind = header(headers, b"content-type")
    if kind is None and not body:
        return
    if (kind or "").split(";")[0].strip().lower() != "application/json":
        raise WrongType("Send the body as application/json.")


def decode_json(data: bytes | str, kind: type[T]) -> T:
    """Strict: no NaN, no lone surrogate, no bottomless nesting. A repeated key's last value wins."""
    return decode_with(data, msgspec.json.Decoder(kind))


def decode_with(data: bytes | str, decoder: "msgspec.json.Decoder[T]") -> T:
    try:
        return decoder.decode(data or b"{}")
    except (msgspec.DecodeError, UnicodeError) as error:
        raise InvalidInput(f"The message is not what is expected here: {error}.") from None
    except RecursionError:
        raise InvalidInput("The message is nested too deeply.") from None


def decode_query(query: bytes, kind: type[T]) -> T:
    pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True, max_num_fields=50)
    try:
        return msgspec.convert(dict(pairs), type=kind, strict=False)
    except (msgspec.ValidationError, UnicodeError) as error:
        raise InvalidInput(f"The query is not what is expected here: {error}.") from None
