"""A program: takes connections from the network of whoever started it and leads them to a server of its own.

Its listening socket was made outside, and a socket stays in the network in which it was made.
"""

import asyncio
import contextlib
import socket
import sys


async def copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await source.read(65536):
            target.write(data)
            await target.drain()
    target.close()


async def main(listening: int, host: str, port: int) -> None:
    async def join(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            there, back = await asyncio.open_connection(host, port)
        except OSError:
            writer.close()
            return
        await asyncio.gather(copy(reader, back), copy(there, writer))

    loop = asyncio.get_running_loop()
    over = loop.create_future()
    loop.add_reader(sys.stdin.fileno(), lambda: over.done() or over.set_result(None))
    async with await asyncio.start_server(join, sock=socket.socket(fileno=listening)):
        await over


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
