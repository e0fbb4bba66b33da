"""Tunnels over ssh, by which machines reach a hub that they can't dial: their state and control."""

from typing import Literal, Protocol

from msgspec import Struct

TunnelState = Literal["connecting", "open", "failed"]


class TunnelStatus(Struct, frozen=True, rename="camel"):
    """`port` is on that machine's 127.0.0.1; what dials it reaches this hub. `message` says what is wrong."""

    host: str  # as ssh knows it
    port: int
    state: TunnelState = "connecting"
    message: str = ""


class TunnelControl(Protocol):
    def list(self) -> list[TunnelStatus]: ...

    async def open(self, host: str, port: int) -> TunnelStatus:
        """Keep a tunnel to this machine from now on, also after a restart; replaces an earlier one."""
        ...

    async def close(self, host: str) -> bool:
        """False when there was none."""
        ...
