"""Tries an address of a server: whether Bascule answers there, or what does instead."""

import asyncio
import http.client
import ssl
import urllib.error
import urllib.request
from typing import Any, Literal

from bascule.client.address import is_local

SECONDS = 5.0
MISDIRECTED = 421  # how a server answers by a name that is not on its list

Reach = Literal["answers", "refuses", "untrusted", "other", "silent"]


async def try_address(url: str) -> tuple[Reach, str]:
    """What answers at `url`, and the reason in the system's words where there is one."""
    return await asyncio.to_thread(_try, url)


def _try(url: str) -> tuple[Reach, str]:
    handlers: list[Any] = [urllib.request.ProxyHandler({})] if is_local(url) else []
    try:
        with urllib.request.build_opener(*handlers).open(f"{url}/healthz", timeout=SECONDS) as answer:
            return ("answers", "") if answer.read(64) == b"ok" else ("other", "")
    except urllib.error.HTTPError as error:
        with error:
            return ("refuses", "") if error.code == MISDIRECTED else ("other", str(error.code))
    except (OSError, http.client.HTTPException) as error:
        why = getattr(error, "reason", None) or error
        if isinstance(why, ssl.SSLCertVerificationError):
            return "untrusted", why.verify_message
        return "silent", getattr(why, "strerror", None) or str(why)
