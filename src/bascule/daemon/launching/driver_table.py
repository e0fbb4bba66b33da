"""The driver of each protocol, imported when the first session that speaks it starts."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from bascule.drivers.base import Driver, DriverLaunch

if TYPE_CHECKING:
    from bascule.drivers.acp.driver import AcpDriver
    from bascule.drivers.acp.state import Joining

TERMINAL = "terminal"
SHARED = frozenset({"acp"})  # protocols whose process serves several sessions
DRIVERS = {
    "stream_json": ("bascule.drivers.stream_json", "StreamJsonDriver"),
    "acp": ("bascule.drivers.acp.driver", "AcpDriver"),
    "codex": ("bascule.drivers.codex", "CodexDriver"),
    "plain": ("bascule.drivers.plain", "PlainDriver"),
}
# Its start options are all on the agent's command line.
WITHOUT_LAUNCH = frozenset({"stream_json"})


def begun(protocol: str, launch: DriverLaunch) -> Driver:
    driver = _class_of(protocol)
    return driver() if protocol in WITHOUT_LAUNCH else driver(launch)


def restored(protocol: str, state: bytes) -> Driver:
    """As it was when it gave this state."""
    return _class_of(protocol).restore(state)


def joined(launch: DriverLaunch, joining: "Joining") -> Driver:
    """On a process that others may use."""
    return _class_of("acp")(launch, joining=joining)


def shared(driver: Driver) -> "AcpDriver":
    """A driver of the only protocol that carries several sessions."""
    from bascule.drivers.acp.driver import AcpDriver  # noqa: PLC0415 - a session that speaks it has begun

    assert isinstance(driver, AcpDriver), "only this protocol carries several sessions"
    return driver


def _class_of(protocol: str) -> Any:
    """A driver's class; how it is made is no part of the `Driver` interface."""
    module, name = DRIVERS[protocol]
    return getattr(import_module(module), name)
