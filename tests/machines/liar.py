"""A program: a machine with a valid grant that lies to its hub as fast as it can.

`python -m tests.machines.liar URL TOKEN DEVICE ROUNDS`, with the id of another machine's session on stdin.
"""

import asyncio
import contextlib
import sys
import zlib
from collections.abc import Iterator

from tests.security.test_hostile_machine import cut, row, text
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from bascule.link.frames import AgentsChanged, DaemonConnected, SessionOutput
from bascule.link.machine import AgentInfo
from bascule.link.wire import HEADER, Kind

PART = 60_000
AGENTS = tuple(AgentInfo(f"agent-{n}", f"Agent {n}", True) for n in range(10_000))


def lies(theirs: str) -> Iterator[list[str | bytes]]:
    """One connection's worth each: the hub ends it as soon as it has had enough."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    bomb = deflate.compress(bytes(64 * 1024 * 1024)) + deflate.flush()
    yield [text(SessionOutput(theirs, 2, (row(2),)))] * 4
    yield [text(SessionOutput("mine", 1, (row(1),))), *[text(SessionOutput("mine", 9, (row(9),)))] * 2000]
    yield [HEADER.pack(Kind.DEFLATED, 0, 1 << 30) + bomb[:PART]]
    yield [HEADER.pack(Kind.DEFLATED, 0, 1000) + bomb[:PART]]
    yield [HEADER.pack(Kind.PART, 1, n * PART) + bytes(PART) for n in range((1 << 30) // PART)]
    yield ['{"type":"ack","heads":{"s1":999999},"rows":999999}']
    yield [*cut(text(AgentsChanged(AGENTS)).encode())]
    yield ["not json"]


async def connected(url: str, token: str, device: str) -> ClientConnection:
    return await connect(
        url.replace("http", "ws", 1) + "/ws/daemon",
        additional_headers={"Authorization": f"Bearer {token}", "X-Bascule-Client-ID": device},
        subprotocols=["bascule.link.1"],  # type: ignore[list-item]
        compression=None,
        proxy=None,
        max_size=None,
    )


async def main(url: str, token: str, device: str, rounds: int, theirs: str) -> None:
    attempt = 0
    for _ in range(rounds):
        for said in lies(theirs):
            attempt += 1
            async with await connected(url, token, device) as socket:
                hello = DaemonConnected(device, "liar", "1", boot="b", attempt=attempt, store="theirs")
                await socket.send(text(hello))
                await socket.recv()
                with contextlib.suppress(ConnectionClosed):
                    for message in said:
                        await socket.send(message)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.stdin.readline().strip()))
