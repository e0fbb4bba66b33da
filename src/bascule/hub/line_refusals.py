"""Why a hub does not take a connection of a device, in the words that the device shows."""

from bascule.link.frames import LineRefused

SLOW_RETRY = 600.0  # seconds to wait for what only a person can change

OTHER = LineRefused("INVALID_MESSAGE", "A connection is of one device for as long as it lasts.", 30.0)
LATE = LineRefused("SUPERSEDED", "A newer connection of this daemon is in use.", 30.0)
IN_USE = LineRefused(
    "IDENTITY_IN_USE",
    "Another machine is connected with this identity. If the state folder was copied from it, "
    "give this machine an identity of its own by pairing it again.",
    SLOW_RETRY,
)
