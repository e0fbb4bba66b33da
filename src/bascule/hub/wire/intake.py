"""Decodes bodies, queries and JSON from outside into typed values, or refuses them."""

import asyncio
import contextlib
import re
from typing import Any, TypeVar
from urllib.parse import parse_qsl

import msgspec

from bascule.hub.wire.asgi_types import Receive
from bascule.model.errors import CallerError, InvalidInput
from bascule.model.fields import MAX_TEXT
from bascule.model.validation import in_words, too_long

T = TypeVar("T")
_objects = msgspec.json.Decoder(dict[str, Any])
Headers = list[tuple[bytes, bytes]]

SMALL = 64 * 1024
LARGE = 8 * 1024 * 1024
MAX_PARAMETERS = 50
DISCARD_SECONDS = 2.0  # for what is left of a body that is too large


class TooLarge(CallerError):
    code = "BODY_TOO_LARGE"


class WrongType(CallerError):
    code = "UNSUPPORTED_MEDIA_TYPE"


class ClientGone(Exception):
    """The other side hung up in the middle of its request."""


def header(headers: Headers, name: bytes) -> str | None:
    return next((value.decode("latin-1") for key, value in headers if key == name), None)


def takes_gzip(accepted: str | None) -> bool:
    """Whether an `Accept-Encoding` names gzip and does not rule it out."""
    for one in (accepted or "").lower().split(","):
        name, _, weight = one.partition(";")
        if name.strip() == "gzip":
            return not re.fullmatch(r"\s*q=0(\.0*)?\s*", weight)
    return False


async def read_body(headers: Headers, receive: Receive, most: int) -> bytes:
    """The whole body, bounded whether its length was announced or not."""
    announced = header(headers, b"content-length")
    if announced is not None and (not announced.isdigit() or int(announced[:12]) > most):
        raise await _too_large(receive, most)
    chunks: list[bytes] = []
    size, more = 0, True
    while more:
        chunk, more = await _read(receive)
        size += len(chunk)
        if size > most:
            raise await _too_large(receive, most)
        chunks.append(chunk)
    body = b"".join(chunks)
    _check_type(headers, body)
    return body


async def _read(receive: Receive) -> tuple[bytes, bool]:
    """The next piece, and whether there is more."""
    message = await receive()
    if message["type"] == "http.disconnect":
        raise ClientGone
    return message.get("body", b""), bool(message.get("more_body", False))


async def _too_large(receive: Receive, most: int) -> TooLarge:
    """The refusal, once the rest was thrown away: who still sends when we hang up never sees an answer."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(DISCARD_SECONDS):
            while (await _read(receive))[1]:
                pass
    return TooLarge(f"The request is larger than {most:,} bytes, which is the most that fit.")


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
    except msgspec.ValidationError as error:
        raise _refused(error, _loosely(data)) from None
    except (msgspec.DecodeError, UnicodeError):
        raise InvalidInput(
            "The message is not JSON as it must be: UTF-8, whole, with plain numbers."
        ) from None
    except RecursionError:
        raise InvalidInput("The message is nested too deeply.") from None


def _loosely(data: bytes | str) -> object:
    """What can be read of it, to say how long a text is; what strict reading stopped at may be anywhere."""
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None


def _refused(error: msgspec.ValidationError, value: object) -> CallerError:
    """A text too long for its field has a status of its own; all else is a wrong message."""
    long = too_long(error, value)
    if long is None or long.limit < MAX_TEXT:
        return InvalidInput(in_words(error, value))
    size = f"is {long.length:,} characters long" if long.length else "is too long"
    return TooLarge(f"The message {size}; at most {long.limit:,} fit. Attach a file or split it.")


def json_object(data: bytes | str) -> dict[str, Any]:
    """The fields of a message, not looked at yet."""
    return decode_with(data, _objects)


def query_object(query: bytes) -> dict[str, Any]:
    try:
        pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True, max_num_fields=MAX_PARAMETERS)
    except ValueError:
        raise InvalidInput(f"The address has more than {MAX_PARAMETERS} parameters.") from None
    return dict(pairs)


def convert(fields: dict[str, Any], kind: type[T], *, in_address: bool = False) -> T:
    """Make a struct of a message's fields. Those of an address are all text."""
    try:
        return msgspec.convert(fields, type=kind, strict=not in_address)
    except msgspec.ValidationError as error:
        if in_address:
            raise InvalidInput(f"In the address: {in_words(error, fields)}") from None
        raise _refused(error, fields) from None
    except UnicodeError:
        raise InvalidInput("The address is not UTF-8.") from None
