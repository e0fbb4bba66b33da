"""What a terminal's viewer says beside its keys."""

import msgspec
from msgspec import Struct

from bascule.hub.api.intake import decode_with


class Control(Struct, frozen=True, tag_field="type", forbid_unknown_fields=True):
    pass


class ResizeMessage(Control, frozen=True, tag="resize"):
    """My window has room for this."""

    cols: int
    rows: int


class AckMessage(Control, frozen=True, tag="ack"):
    """I have shown everything up to here. Whoever acks once is sent no more than a window ahead."""

    offset: int


class ClaimMessage(Control, frozen=True, tag="claim"):
    """I am the one who looks at it now: take my size, and my terminal's answers."""


AnyControl = ResizeMessage | AckMessage | ClaimMessage
_decoder = msgspec.json.Decoder[AnyControl](AnyControl)


def decode_control(text: str | bytes) -> AnyControl:
    return decode_with(text, _decoder)
