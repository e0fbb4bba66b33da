"""The connection of this machine to a hub: its state, and how a person joins or leaves."""

from typing import Literal, Protocol

from msgspec import Struct

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
