"""Messages between two nodes: those of a link, with the machine they are for, and a few of their own."""

from typing import NamedTuple

import msgspec
from msgspec import Struct

from bascule.model.errors import Refusal

SUBPROTOCOL = "bascule.node.1"
NODE_HEADER = "X-Bascule-Node"  # names the node that connects
MAX_DEVICE = 255  # bytes of its id


class Leave(Struct, frozen=True, tag="leave"):
    """To the node that holds a machine: no page here shows it any more, or it has come to us."""

    device: str


class Gone(Struct, frozen=True, tag="gone"):
    """From that node: the machine's connection is over."""

    device: str


class Presence(Struct, frozen=True, tag="presence"):
    """Who views a session at the sender, and who types there."""

    session_id: str
    viewers: tuple[str, ...] = ()
    typing: tuple[str, ...] = ()


class AtThePage(Struct, frozen=True, tag="pages"):
    """Whether a user looks at a page of the sender."""

    somebody: bool


class Push(Struct, frozen=True, tag="push"):
    """News for every page, or for those that show one session, as they are sent to a page."""

    message: msgspec.Raw
    session_id: str | None = None


class Revoked(Struct, frozen=True, tag="revoked"):
    """A grant was revoked. The database says so too; this comes also while that can't be read."""

    grant_id: str


class Called(Struct, frozen=True, tag="call"):
    """A question about what only one node has in memory: a machine that waits to join, a one-time link."""

    n: int
    what: str
    body: msgspec.Raw


class Answered(Struct, frozen=True, tag="answer"):
    """The answer to `Called`: a result or a refusal."""

    n: int
    result: msgspec.Raw = msgspec.Raw(b"null")
    refusal: Refusal | None = None


Control = Leave | Gone | Presence | AtThePage | Push | Revoked | Called | Answered


class Enveloped(NamedTuple):
    """One message of the link to one machine."""

    device: str
    message: bytes | str


_controls: "msgspec.json.Decoder[Control]" = msgspec.json.Decoder(Control)


def enclose(device: str, message: bytes | str) -> bytes:
    """The length of the machine's id and the id, whether text or bytes follow, and those."""
    name = device.encode()
    if isinstance(message, str):
        return b"%c%bt%b" % (len(name), name, message.encode())
    return b"%c%bb%b" % (len(name), name, message)


def opened(data: bytes) -> Enveloped:
    """Raises `ValueError` when it is none."""
    if not data or len(data) < data[0] + 2:
        raise ValueError("A message between nodes is cut off.")
    end = data[0] + 1
    device, kind, rest = data[1:end].decode(), data[end], data[end + 1 :]
    return Enveloped(device, rest.decode() if kind == ord("t") else rest)


def control(text: str | bytes) -> Control:
    """Raises `msgspec.MsgspecError`, also for one that this version does not know."""
    return _controls.decode(text)
