"""Tokens to deny one request: each is for exactly that request and channel, and can do nothing else.

Nothing is stored of them. A token is signed with a key of this server, and ends with its request: once that
is answered or withdrawn there is nothing left to deny.
"""

import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as NotBase64
from hashlib import sha256

import msgspec
from msgspec import Struct

from bascule.model.errors import CallerError

MAX_TOKEN = 2048
_PURPOSE = b"bascule deny 1\n"


class DenyTokenInvalid(CallerError):
    code = "INVALID_DENY_TOKEN"


class DenyClaims(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """What the token is for: the channel that carries it, and the request with the hash of its input."""

    channel_id: str
    session_id: str
    request_id: str
    input_sha256: str


def make_token(key: bytes, claims: DenyClaims) -> str:
    body = msgspec.json.encode(claims)
    return f"{_text(body)}.{_text(_signature(key, body))}"


def read_token(key: bytes, token: str) -> DenyClaims:
    """Raises `DenyTokenInvalid` for anything that `make_token` did not make with this key."""
    try:
        if len(token) > MAX_TOKEN or not token.isascii():
            raise ValueError
        body, signature = (_bytes(part) for part in token.split("."))
        if not hmac.compare_digest(signature, _signature(key, body)):
            raise ValueError
        return msgspec.json.decode(body, type=DenyClaims)
    except (ValueError, NotBase64, msgspec.DecodeError):
        words = "This is not a token of this server. Open the session and answer there."
        raise DenyTokenInvalid(words) from None


def _signature(key: bytes, body: bytes) -> bytes:
    return hmac.new(key, _PURPOSE + body, sha256).digest()


def _text(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def _bytes(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))
