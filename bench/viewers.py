"""A process full of viewers: each counts the markers it is shown and how late they came.

The order is one JSON object as the only argument. "ready" is printed once all have subscribed,
and one JSON object with what they saw at the end.
"""

import asyncio
import json
import os
import re
import sys
import time
from typing import Any

import uvloop
from wire import CLOSE, PING, PONG, Frames, client_frame, upgrade

MARKER = "¶".encode()
STAMP = re.compile(MARKER + rb"(\d+) ")
BEGIN = re.compile("§".encode() + rb"(\d+)" + "§".encode())


class Viewer(asyncio.Protocol):
    """One socket. It looks at bytes only: JSON is never parsed here."""

    def __init__(self, order: dict[str, Any]) -> None:
        loop = asyncio.get_running_loop()
        self._order = order
        self._wanted: int = order["markers"]
        self._stamped: bool = order["stamped"]
        self._frames = Frames()
        self._head: bytes | None = b""
        self.ready: asyncio.Future[None] = loop.create_future()
        self.done: asyncio.Future[None] = loop.create_future()
        self.markers = self.messages = self.bytes = 0
        self.began = self.ended = 0
        self.late: list[int] = []
        self.closed = ""

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        order = self._order
        transport.write(upgrade(order["host"], order["port"], order["path"], order["headers"]))

    def data_received(self, data: bytes) -> None:
        now = time.monotonic_ns()
        if self._head is not None:
            data = self._upgraded(data)
        for opcode, payload in self._frames.feed(data):
            if opcode < 3:
                self._take(payload, now)
            elif opcode == PING:
                self._transport.write(client_frame(PONG, payload))
            elif opcode == CLOSE:
                self.closed = f"{int.from_bytes(payload[:2], 'big')} {payload[2:].decode(errors='replace')}"

    def _upgraded(self, data: bytes) -> bytes:
        assert self._head is not None
        head, end, rest = (self._head + data).partition(b"\r\n\r\n")
        if not end:
            self._head = head
            return b""
        if not head.startswith(b"HTTP/1.1 101"):
            raise RuntimeError(head.decode(errors="replace") + rest.decode(errors="replace"))
        self._head = None
        self._transport.write(client_frame(1, self._order["subscribe"].encode()))
        return rest

    def _take(self, payload: bytes, now: int) -> None:
        if not self.ready.done() and b'"id":1' in payload:
            if b'"ok"' not in payload:
                raise RuntimeError(payload.decode())
            self.ready.set_result(None)
        found = payload.count(MARKER)
        if not found:
            return
        self.messages += 1
        self.bytes += len(payload)
        if not self.began and (begin := BEGIN.search(payload)):
            self.began = int(begin[1])
        if self._stamped:
            self.late += [now - int(stamp) for stamp in STAMP.findall(payload)]
        self.markers += found
        if self.markers >= self._wanted and not self.done.done():
            self.ended = now
            self.done.set_result(None)

    def connection_lost(self, error: Exception | None) -> None:
        self.closed = self.closed or f"lost: {error}"
        for promise in (self.ready, self.done):
            if not promise.done():
                promise.set_exception(ConnectionError(self.closed))
                promise.exception()


async def watch(order: dict[str, Any]) -> dict[str, Any]:
    loop = asyncio.get_running_loop()
    viewers: list[Viewer] = []
    for _ in range(order["viewers"]):
        _, viewer = await loop.create_connection(lambda: Viewer(order), order["host"], order["port"])
        viewers.append(viewer)
    async with asyncio.timeout(30):
        await asyncio.gather(*(viewer.ready for viewer in viewers))
    print("ready", flush=True)
    # A viewer that was cut off is a figure too (`short`), not a reason to fall over.
    await asyncio.wait([viewer.done for viewer in viewers], timeout=order["seconds"])
    # A marker too many is a doubled event: give it a moment to show itself.
    await asyncio.sleep(0.05)
    return {
        "short": sum(viewer.markers < order["markers"] for viewer in viewers),
        "over": sum(viewer.markers > order["markers"] for viewer in viewers),
        "markers": sum(viewer.markers for viewer in viewers),
        "messages": sum(viewer.messages for viewer in viewers),
        "bytes": sum(viewer.bytes for viewer in viewers),
        "seconds": max((viewer.ended - viewer.began) / 1e9 if viewer.ended else 0.0 for viewer in viewers),
        "late": [one for viewer in viewers for one in viewer.late],
        "closed": sorted({viewer.closed for viewer in viewers if viewer.closed}),
    }


if __name__ == "__main__":
    report = memoryview(json.dumps(uvloop.run(watch(json.loads(sys.argv[1])))).encode() + b"\n")
    while report:  # after uvloop, `print` writes no more of a report than a pipe holds
        report = report[os.write(1, report) :]
