"""The addresses by which this server may be reached, as far as it can know them itself."""

import ipaddress
import socket
from collections.abc import Callable, Iterable

from bascule.api.grant_answers import ServerAddress
from bascule.hub.door.hosts import Doorway
from bascule.model.loopback import is_loopback
from bascule.model.settings import Settings

EVERYWHERE = ("0.0.0.0", "::", "")


def interface_addresses() -> list[str]:
    """Of this machine's network interfaces; those that need the interface's name with them are left out."""
    import psutil  # noqa: PLC0415 - slow to load, for a list that few people ask for

    families = (socket.AF_INET, socket.AF_INET6)
    found = [one for card in psutil.net_if_addrs().values() for one in card if one.family in families]
    return [one.address for one in found if "%" not in one.address]


def addresses_of(
    settings: Settings, doors: Doorway, interfaces: Callable[[], Iterable[str]] = interface_addresses
) -> list[ServerAddress]:
    """The best first: what its owner named, then the network's, then this machine's own."""
    scheme = "https" if settings.tls_cert else "http"

    def url(host: str) -> str:
        return f"{scheme}://{f'[{host}]' if ':' in host else host}:{doors.port}"

    public = [ServerAddress(kind="public", url=settings.public_url)] if settings.public_url else []
    if is_loopback(settings.host):
        return [*public, ServerAddress(kind="loopback", url=url(settings.host))]
    if settings.host not in EVERYWHERE:
        return [*public, ServerAddress(kind="network", url=url(settings.host))]
    wanted = [interface for interface in interfaces() if settings.host != "0.0.0.0" or ":" not in interface]
    near = [one for one in wanted if not is_loopback(one) and not _link_local(one)]
    return [
        *public,
        *(ServerAddress(kind="network", url=url(one)) for one in near),
        ServerAddress(kind="loopback", url=url("127.0.0.1" if settings.host != "::" else "::1")),
    ]


def _link_local(host: str) -> bool:
    return ipaddress.ip_address(host).is_link_local
