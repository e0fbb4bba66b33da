"""Control messages of the terminal socket: what a viewer sends beside its keys."""

import msgspec
from msgspec import Struct

from bascule.hub.wire.intake import decode_with


class Control(Struct, frozen=True, tag_field="type", forbid_unknown_fields=True):
    pass


class ResizeMessage(Control, frozen=True, tag="resize"):
    """The viewer's window has this size."""

    cols: int
    rows: int


class AckMessage(Control, frozen=True, tag="ack"):
    """The viewer has shown everything up to `offset`. After its first ack it is sent at most 1 MiB ahead."""

    offset: int


class ClaimMessage(Control, frozen=True, tag="claim"):
    """The viewer wants its size and its terminal's answers to count, whatever the size policy."""


AnyControl = ResizeMessage | AckMessage | ClaimMessage
_decoder = msgspec.json.Decoder[AnyControl](AnyControl)


def decode_control(text: str | bytes) -> AnyControl:
    return decode_with(text, _decoder)
