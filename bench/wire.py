"""The client's half of a WebSocket, as small as it can be: the viewer must never be what is measured."""

import base64
import os
from collections.abc import Iterator

PING, PONG, CLOSE = 9, 10, 8


def upgrade(host: str, port: int, path: str, headers: dict[str, str]) -> bytes:
    lines = [f"GET {path} HTTP/1.1", f"Host: {host}:{port}", "Upgrade: websocket", "Connection: Upgrade"]
    lines += [f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}", "Sec-WebSocket-Version: 13"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode()


def client_frame(opcode: int, payload: bytes) -> bytes:
    """Masked with zeros, which is allowed and leaves the payload as it is."""
    assert len(payload) < 65536
    size = bytes([0x80 | len(payload)]) if len(payload) < 126 else b"\xfe" + len(payload).to_bytes(2, "big")
    return bytes([0x80 | opcode]) + size + bytes(4) + payload


class Frames:
    """Cuts what a server sends into frames."""

    def __init__(self) -> None:
        self._kept = b""

    def feed(self, data: bytes) -> Iterator[tuple[int, bytes]]:
        """Opcode and payload of each frame that is whole."""
        if self._kept:
            data = self._kept + data
        at, end = 0, len(data)
        while end - at >= 2:
            size, begin = data[at + 1] & 0x7F, at + 2
            if size == 126:
                size, begin = int.from_bytes(data[at + 2 : at + 4], "big"), at + 4
            elif size == 127:
                size, begin = int.from_bytes(data[at + 2 : at + 10], "big"), at + 10
            if end < begin + size:
                break
            yield data[at] & 0x0F, data[begin : begin + size]
            at = begin + size
        self._kept = data[at:]
