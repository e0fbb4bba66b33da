"""Why a hub takes no connection of a device, in the words that the device shows; and why there is none."""

from bascule.api.machine_answers import DeviceStatus
from bascule.link.frames import LineRefused
from bascule.model.errors import DeviceOffline

NO_DEVICE = "No device is connected: start its daemon and try again."
SLOW_RETRY = 600.0  # seconds to wait for what only a person can change

OTHER = LineRefused("INVALID_MESSAGE", "A connection is of one device for as long as it lasts.", 30.0)
LATE = LineRefused("SUPERSEDED", "A newer connection of this daemon is in use.", 30.0)
IN_USE = LineRefused(
    "IDENTITY_IN_USE",
    "Another machine is connected with this identity. If the state folder was copied from it, "
    "give this machine an identity of its own by pairing it again.",
    SLOW_RETRY,
)


def offline(status: DeviceStatus | None, successor: DeviceStatus | None) -> DeviceOffline:
    """The error for a command to a device that is not connected; `successor` is what replaced it."""
    if status is None:
        return DeviceOffline(NO_DEVICE)
    if status.replaced_by:
        return DeviceOffline(
            f"{status.name} was replaced by {successor.name if successor else 'another machine'}. "
            "Its sessions stay here to be read; begin a new one on the other machine.",
            device=status.device,
        )
    heard = f", last heard at {status.last_heard}" if status.last_heard else ""
    return DeviceOffline(
        f"{status.name} is not connected{heard}: start its daemon and try again.",
        device=status.device,
        lastHeard=status.last_heard,
    )
