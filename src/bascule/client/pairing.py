"""Asks a hub that this machine may join, and waits for its owner's answer."""

import asyncio
import json
import ssl
import urllib.error
import urllib.request
from typing import Any, TypeVar
from urllib.parse import urlsplit

import msgspec

from bascule.api.bodies import PairingBody
from bascule.api.machine_answers import PairingAsked, PairingState
from bascule.client.address import Unreachable, is_local
from bascule.client.server_connection import refusal_of
from bascule.link.uplink import check_encrypted
from bascule.model.errors import InvalidInput, Refused

SECONDS = 40.0  # for one answer; a poll waits up to 25
POLL_SECONDS = 20.0
MAX_BYTES = 1024 * 1024

A = TypeVar("A")


def hub_url(text: str, *, insecure: bool = False) -> str:
    """A hub's address as its owner types it, checked."""
    parts = urlsplit(text if "://" in text else f"https://{text}")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InvalidInput(f"{text.partition('#')[0]!r} is no address; write one such as https://hub.example")
    url = f"{parts.scheme}://{parts.netloc}"
    check_encrypted(url, insecure=insecure)
    return url


async def ask_to_join(url: str, asked: PairingBody) -> PairingAsked:
    """Raises `Unreachable` or `Refused`."""
    return await _post(f"{url}/api/pairings", asked, PairingAsked)


async def outcome(url: str, secret: str) -> PairingState:
    """The owner's decision, or `waiting` after a while."""
    return await _post(f"{url}/api/pairings/poll", {"secret": secret, "wait": POLL_SECONDS}, PairingState)


async def _post(url: str, body: object, answer: type[A]) -> A:
    data = msgspec.json.encode(body)
    got = await asyncio.to_thread(_exchange, url, data)
    try:
        return msgspec.json.decode(got, type=answer)
    except msgspec.MsgspecError as error:
        raise Unreachable(f"What answers at {url} is no hub of Bascule's ({error}).") from error


def _exchange(url: str, data: bytes) -> bytes:
    request = urllib.request.Request(url, data, {"content-type": "application/json"}, method="POST")
    handlers: list[Any] = [_NoRedirect()]
    if is_local(url):
        handlers.append(urllib.request.ProxyHandler({}))
    try:
        with urllib.request.build_opener(*handlers).open(request, timeout=SECONDS) as answer:
            return answer.read(MAX_BYTES)
    except urllib.error.HTTPError as error:
        with error:
            raise _refused(url, error.code, error.read(MAX_BYTES)) from error
    except (OSError, ssl.SSLError) as error:
        why = getattr(error, "reason", None) or error
        raise Unreachable(f"No hub answers at {url.partition('/api')[0]} ({why}).") from error


def _refused(url: str, status: int, body: bytes) -> Exception:
    try:
        return Refused(refusal_of(msgspec.json.encode(json.loads(body)["error"])))
    except (ValueError, KeyError, TypeError, msgspec.MsgspecError):
        return Unreachable(
            f"{url.partition('/api')[0]} answers {status}: no hub of Bascule's, or an older one."
        )


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None  # a token is never carried to another place than the one that was named
