"""The frames on the keeper's socket: a JSON object and an optional blob, each with its length and its cap."""

import json
import struct
from typing import Any, cast

HEADER = struct.Struct(">II")
MAX_JSON = 1024 * 1024
MAX_BLOB = 64 * 1024 * 1024

Message = dict[str, Any]

_to_json = json.JSONEncoder(separators=(",", ":")).encode


class FrameError(Exception):
    """The peer sent, or we were asked to send, something that is not a frame."""


def encode(message: Message, blob: bytes = b"") -> bytes:
    body = _to_json(message).encode()
    if len(body) > MAX_JSON or len(blob) > MAX_BLOB:
        raise FrameError(f"frame too large: json {len(body)} bytes, blob {len(blob)} bytes")
    return HEADER.pack(len(body), len(blob)) + body + blob


class FrameReader:
    """Takes bytes however they are cut; gives whole frames, or raises FrameError once and for all."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes | bytearray | memoryview) -> None:
        self._buffer += data

    def next(self) -> tuple[Message, bytes] | None:
        frame = self.next_packed()
        return frame and (decode(frame[0]), frame[1])

    def next_packed(self) -> tuple[bytes, bytes] | None:
        """The next frame's JSON as it came, and its blob."""
        if len(self._buffer) < HEADER.size:
            return None
        json_length, blob_length = HEADER.unpack_from(self._buffer)
        if json_length > MAX_JSON or blob_length > MAX_BLOB:
            raise FrameError(f"frame too large: json {json_length} bytes, blob {blob_length} bytes")
        body_end = HEADER.size + json_length
        end = body_end + blob_length
        if len(self._buffer) < end:
            return None
        body, blob = bytes(self._buffer[HEADER.size : body_end]), bytes(self._buffer[body_end:end])
        del self._buffer[:end]
        return body, blob


def decode(body: bytes) -> Message:
    try:
        message = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise FrameError(f"not JSON: {type(error).__name__}") from error
    if not isinstance(message, dict):
        raise FrameError("not a JSON object")
    return cast(Message, message)
