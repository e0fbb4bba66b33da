"""The connection of this machine to a hub: its state, and how a person joins or leaves."""

from typing import Literal, Protocol
from urllib.parse import urlsplit

from msgspec import Struct

from bascule.model.errors import InvalidInput
from bascule.model.loopback import is_loopback

UplinkState = Literal["none", "connecting", "connected", "refused", "unreachable"]


class UplinkStatus(Struct, frozen=True, rename="camel", omit_defaults=False):
    """`message` says why it is not connected, and what to do. Times are seconds since 1970."""

    state: UplinkState = "none"
    url: str = ""
    hub: str = ""  # the hub's name
    since: float | None = None  # that it is in this state
    heard_at: float | None = None  # when the hub last said something
    message: str = ""
    may_widen: bool = False  # it may let agents here do more without asking


def check_encrypted(url: str, *, insecure: bool = False) -> None:
    """Nothing secret may cross a network in the clear, unless the machine's owner has said so."""
    parts = urlsplit(url)
    if parts.scheme != "https" and not insecure and not is_loopback(parts.hostname or ""):
        raise InvalidInput(
            f"{url} is not encrypted, and this machine's token would cross the network readable. Use https, "
            "or reach the hub by an ssh tunnel: ssh -L 3333:127.0.0.1:3333 HOST, then http://127.0.0.1:3333. "
            "On a network that encrypts by itself, put `insecure_hub = true` into this machine's config.toml."
        )


class UplinkControl(Protocol):
    """Where this machine is joined to."""

    @property
    def status(self) -> UplinkStatus: ...

    async def join(self, url: str, token: str, *, may_widen: bool = False) -> None:
        """Keep the address and connect from now on; an earlier hub is left."""
        ...

    def let_widen(self, may_widen: bool) -> None:
        """Whether the hub may let agents here do more without asking. Raises `InvalidInput` where the config
        file says otherwise."""
        ...

    async def leave(self) -> None: ...

    async def decided(self, seconds: float) -> UplinkStatus:
        """The state, once it is more than an attempt, or after so many seconds."""
        ...
