"""The address that a request comes from, also behind a reverse proxy that its owner named."""

import ipaddress
from collections.abc import Collection

from bascule.hub.wire.asgi_types import Scope


def address_of(scope: Scope, proxies: Collection[str]) -> str:
    """The nearest address that is no trusted proxy's; anybody could have written what stands before it."""
    address = scope["client"][0] if scope.get("client") else ""
    if address not in proxies:
        return address
    values = [value for name, value in scope["headers"] if name == b"x-forwarded-for"]
    for named in reversed([one.strip() for one in b",".join(values).decode("latin-1").split(",")]):
        if not _is_address(named):
            return address
        address = named
        if address not in proxies:
            return address
    return address


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
