"""A crowd of strangers on one port, as a program of its own, ours or another user's.

`python crowd.py PORT KIND COUNT self|other`: `idle` says nothing, `slow` sends a byte a second of a request
that never ends, `half` asks for a socket without a token and never closes, `cycle` opens and drops without
end. It prints `ready` when all of them were opened once, and ends when its stdin does. Only root can be
another user: for anybody else `other` fails.
"""

import asyncio
import contextlib
import os
import sys

NOBODY = 65534
UPGRADE = (
    b"GET /ws HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
)


async def stranger(port: int, kind: str, opened: asyncio.Semaphore) -> None:
    first = True
    while first or kind == "cycle":
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.01)
            continue
        if first:
            opened.release()
        first = False
        with contextlib.suppress(OSError, EOFError):
            if kind == "slow":
                while not writer.is_closing() and not reader.at_eof():
                    writer.write(b"G")
                    await writer.drain()
                    await asyncio.sleep(1)
            elif kind == "half":
                writer.write(UPGRADE % port)
                await reader.read()
            elif kind == "cycle":
                async with asyncio.timeout(0.2):
                    await reader.read()
            else:
                await reader.read()
        writer.close()


async def main(port: int, kind: str, count: int, whose: str) -> None:
    if whose == "other":
        os.setuid(NOBODY)
    opened = asyncio.Semaphore(0)
    crowd = [asyncio.create_task(stranger(port, kind, opened)) for _ in range(count)]
    for _ in range(count):
        await opened.acquire()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    over = asyncio.Event()
    asyncio.get_running_loop().add_reader(0, over.set)
    await over.wait()
    for one in crowd:
        one.cancel()
    os._exit(0)


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4]))
