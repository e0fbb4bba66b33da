"""Frames to the messages of a WebSocket and back. docs/link.md describes both."""

import struct
import zlib
from enum import IntEnum
from typing import Any, Literal, Union, get_args

import msgspec
from msgspec import Struct

from bascule.link.frames import AnyFrame, Ask, DownFrame, UpFrame
from bascule.link.tape_frames import TapePiece
from bascule.link.wire_names import AskOnWire, UnknownAsk, from_wire, to_wire
from bascule.model.validation import in_words

SUBPROTOCOL = "bascule.link.1"
CLIENT_ID = "X-Bascule-Client-ID"  # the header in which a machine names itself; its grant must be for it
AHEAD = 16 * 1024  # bytes that may wait in a socket, a message: what is urgent is never far behind them
MAX_MESSAGE = 64 * 1024  # bytes of one message, its header included
MAX_FRAME = 64 * 1024 * 1024  # bytes of one frame's JSON
MAX_UNFINISHED = 2 * MAX_FRAME  # bytes of all frames of which parts are missing
MAX_STREAMS = 8  # frames of which parts are missing; we send one for each priority at a time
DEFLATE_LEAST = 1024
DEFLATE_MOST = 1024 * 1024  # more would hold up the event loop, and is mostly images, which do not deflate

Way = Literal["up", "down"]
Code = Literal[
    "NOT_JSON",
    "INVALID_FRAME",
    "WRONG_DIRECTION",
    "UNEXPECTED_FRAME",
    "MESSAGE_TOO_LARGE",
    "FRAME_TOO_LARGE",
    "BROKEN_PARTS",
    "BROKEN_DEFLATE",
    "UNKNOWN_KIND",
    "LINE_CLOSED",
]


class LineError(Exception):
    """The far side breaks the rules of the link, or we would: the connection must be closed."""

    def __init__(self, code: Code, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class UnknownFrame(Struct, frozen=True):
    """A frame of a newer version, to be ignored."""

    type: str


Received = AnyFrame | UnknownFrame | UnknownAsk


class Kind(IntEnum):
    """What a binary message is; the first byte of its header."""

    TAPE = 1
    PART = 2  # of a message that is too large to be sent at once; more follow
    DEFLATED = 3
    LAST_PART = 4


HEADER = struct.Struct(">BIQ")  # kind, id, offset

UP: tuple[type[Struct], ...] = get_args(UpFrame)
DOWN: tuple[type[Struct], ...] = get_args(DownFrame)


def word(frame: type[Struct]) -> str:
    """How a frame is called on the wire."""
    return str(frame.__struct_config__.tag)


class _Typed(Struct):
    type: str


def _as_text(frames: tuple[type[Struct], ...]) -> Any:
    """The union of those that travel as JSON."""
    return Union[tuple(AskOnWire if frame is Ask else frame for frame in frames if frame is not TapePiece)]  # noqa: UP007


_encoder = msgspec.json.Encoder()
_type = msgspec.json.Decoder(_Typed)
_decoders: dict[Way, msgspec.json.Decoder[Any]] = {
    "up": msgspec.json.Decoder(_as_text(UP)),
    "down": msgspec.json.Decoder(_as_text(DOWN)),
}
_words: dict[Way, set[str]] = {"up": set(map(word, UP)), "down": set(map(word, DOWN))}


def encode(frame: AnyFrame) -> bytes:
    """A frame's JSON. A `TapePiece` has none: `tape_message`."""
    return _encoder.encode(to_wire(frame) if isinstance(frame, Ask) else frame)


def decode(data: bytes, way: Way) -> Received:
    """The frame that this JSON is. Raises `LineError`."""
    try:
        frame = _decoders[way].decode(data)
        return from_wire(frame) if type(frame) is AskOnWire else frame
    except msgspec.ValidationError as error:
        return _not_understood(data, way, error)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise LineError("NOT_JSON", f"A message is not JSON: {error}"[:200]) from None


def _not_understood(data: bytes, way: Way, error: msgspec.ValidationError) -> UnknownFrame:
    try:
        name = _type.decode(data).type
    except msgspec.ValidationError:
        raise LineError("INVALID_FRAME", "A message is not an object with a type.") from None
    except (msgspec.DecodeError, UnicodeError, RecursionError) as broken:
        raise LineError("NOT_JSON", f"A message is not JSON: {broken}"[:200]) from None
    if name in _words[way]:
        raise LineError("INVALID_FRAME", f"A frame {name!r} is not as it must be: {in_words(error)}")
    if name in _words["down" if way == "up" else "up"]:
        raise LineError("WRONG_DIRECTION", f"A frame {name!r} came from the side that never sends it.")
    return UnknownFrame(name[:80])


def tape_message(tape: int, offset: int, data: bytes) -> bytes:
    return HEADER.pack(Kind.TAPE, tape, offset) + data


def read_tape(message: bytes, way: Way) -> TapePiece:
    _, tape, offset = HEADER.unpack_from(message)
    if way != "up":
        raise LineError("WRONG_DIRECTION", "Terminal output came from the side that never sends it.")
    if offset + len(message) >= 2**63:
        raise LineError("INVALID_FRAME", "Terminal output came for an offset that cannot be.")
    return TapePiece(tape, offset, message[HEADER.size :])


def deflate(data: bytes) -> bytes | None:
    """The message of a frame's deflated JSON; None when that is not worth it."""
    if not DEFLATE_LEAST <= len(data) <= DEFLATE_MOST:
        return None
    packer = zlib.compressobj(1, zlib.DEFLATED, -zlib.MAX_WBITS)
    packed = packer.compress(data) + packer.flush()
    if len(packed) > len(data) * 0.9:
        return None
    return HEADER.pack(Kind.DEFLATED, 0, len(data)) + packed


def inflate(message: bytes) -> bytes:
    """The JSON in such a message; never more bytes than it announces, and never more than `MAX_FRAME`."""
    _, _, size = HEADER.unpack_from(message)
    if size > MAX_FRAME:
        raise LineError("FRAME_TOO_LARGE", f"A deflated frame of {size} bytes was announced.")
    unpacker = zlib.decompressobj(-zlib.MAX_WBITS)
    try:
        data = unpacker.decompress(memoryview(message)[HEADER.size :], size + 1)
    except zlib.error as error:
        raise LineError("BROKEN_DEFLATE", f"A deflated frame cannot be read: {error}") from None
    if len(data) != size or not unpacker.eof or unpacker.unused_data:
        raise LineError("BROKEN_DEFLATE", f"A deflated frame does not have the {size} bytes it announced.")
    return data


class Joining:
    """Frames that come in parts, until each has its last one."""

    def __init__(self) -> None:
        self._unfinished: dict[int, bytearray] = {}
        self._bytes = 0

    def add(self, message: bytes) -> bytes | None:
        """The whole message that was cut, once this was its last part."""
        kind, number, offset = HEADER.unpack_from(message)
        size = len(message) - HEADER.size
        begun = self._unfinished.get(number)
        if begun is None:
            if len(self._unfinished) >= MAX_STREAMS:
                raise LineError("BROKEN_PARTS", f"Parts of more than {MAX_STREAMS} frames came at a time.")
            begun = self._unfinished[number] = bytearray()
        if offset != len(begun) or size == 0:
            raise LineError("BROKEN_PARTS", "Parts of a frame came out of order.")
        if offset + size > MAX_FRAME or self._bytes + size > MAX_UNFINISHED:
            raise LineError("FRAME_TOO_LARGE", f"A frame is larger than {MAX_FRAME} bytes.")
        begun += memoryview(message)[HEADER.size :]
        self._bytes += size
        if kind == Kind.PART:
            return None
        del self._unfinished[number]
        self._bytes -= len(begun)
        return bytes(begun)


def read(message: bytes | str, way: Way, joining: Joining) -> Received | None:
    """The frame that a message brings, or None while parts of it are missing. Raises `LineError`."""
    if isinstance(message, str):
        try:
            data = message.encode()
        except UnicodeError:
            raise LineError("NOT_JSON", "A message is not text.") from None
        _check_size(data)
        return decode(data, way)
    _check_size(message)
    if len(message) < HEADER.size:
        raise LineError("UNKNOWN_KIND", "A binary message is shorter than its header.")
    match message[0]:
        case Kind.TAPE:
            return read_tape(message, way)
        case Kind.PART | Kind.LAST_PART:
            whole = joining.add(message)
            return None if whole is None else _read_whole(whole, way)
        case Kind.DEFLATED:
            return _read_whole(message, way)
        case kind:
            raise LineError("UNKNOWN_KIND", f"A binary message is of the unknown kind {kind}.")


def _read_whole(message: bytes, way: Way) -> Received:
    data = inflate(message) if message[0] == Kind.DEFLATED and len(message) >= HEADER.size else message
    try:
        str(data, "utf-8")  # as a text message is: the parts that nobody decodes here, too
    except UnicodeError:
        raise LineError("NOT_JSON", "A frame is not text.") from None
    return decode(data, way)


def _check_size(message: bytes) -> None:
    if len(message) > MAX_MESSAGE:
        raise LineError("MESSAGE_TOO_LARGE", f"A message has {len(message)} bytes; {MAX_MESSAGE} are taken.")
