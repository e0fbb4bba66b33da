"""A push service on loopback and the browser behind it, with P-256 and key derivation of their own."""

import asyncio
import contextlib
import hmac
import json
import secrets
from collections.abc import AsyncIterator
from hashlib import sha256
from typing import Any

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from bascule.notify.web_push import b64, unb64

P = 2**256 - 2**224 + 2**192 + 2**96 - 1
N = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
G = (
    0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
    0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
)
Point = tuple[int, int] | None


def add(a: Point, b: Point) -> Point:
    if a is None or b is None:
        return a or b
    if a[0] == b[0] and (a[1] + b[1]) % P == 0:
        return None
    slope = (
        (3 * a[0] * a[0] - 3) * pow(2 * a[1], -1, P) if a == b else (b[1] - a[1]) * pow(b[0] - a[0], -1, P)
    )
    x = (slope * slope - a[0] - b[0]) % P
    return x, (slope * (a[0] - x) - a[1]) % P


def times(number: int, point: Point) -> Point:
    total: Point = None
    while number:
        if number & 1:
            total = add(total, point)
        point, number = add(point, point), number >> 1
    return total


def point_of(data: bytes) -> Point:
    assert len(data) == 65
    assert data[0] == 4
    return int.from_bytes(data[1:33], "big"), int.from_bytes(data[33:], "big")


def bytes_of(point: Point) -> bytes:
    assert point is not None
    return b"\x04" + point[0].to_bytes(32, "big") + point[1].to_bytes(32, "big")


def hkdf(salt: bytes, secret: bytes, info: bytes, length: int) -> bytes:
    key = hmac.new(salt, secret, sha256).digest()
    return hmac.new(key, info + b"\x01", sha256).digest()[:length]


class BrowserKeys:
    """The two secrets of a subscription, which never leave the browser."""

    def __init__(self, private: int | None = None, auth: bytes | None = None) -> None:
        self.private = private or secrets.randbelow(N - 1) + 1
        self.auth = auth or secrets.token_bytes(16)
        self.public = bytes_of(times(self.private, G))

    @property
    def subscription(self) -> dict[str, str]:
        return {"p256dh": b64(self.public), "auth": b64(self.auth)}

    def decrypt(self, body: bytes) -> bytes:
        salt, size, length = body[:16], int.from_bytes(body[16:20], "big"), body[20]
        sender, sealed = body[21 : 21 + length], body[21 + length :]
        assert len(sealed) <= size
        shared = times(self.private, point_of(sender))
        assert shared is not None
        info = b"WebPush: info\0" + self.public + sender
        secret = hkdf(self.auth, shared[0].to_bytes(32, "big"), info, 32)
        key = hkdf(salt, secret, b"Content-Encoding: aes128gcm\0", 16)
        nonce = hkdf(salt, secret, b"Content-Encoding: nonce\0", 12)
        opened = Cipher(algorithms.AES(key), modes.GCM(nonce, sealed[-16:])).decryptor()
        plain = opened.update(sealed[:-16]) + opened.finalize()
        text, end, padding = plain.rpartition(b"\x02")
        assert end
        assert not padding.strip(b"\0")
        return text


def verified(token: str, key: bytes) -> dict[str, Any]:
    """The claims of a token that was signed with ES256 by the holder of this key."""
    text, _, signature = token.rpartition(".")
    assert json.loads(unb64(text.partition(".")[0])) == {"typ": "JWT", "alg": "ES256"}
    raw = unb64(signature)
    r, s = int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big")
    digest = int.from_bytes(sha256(text.encode()).digest(), "big")
    w = pow(s, -1, N)
    found = add(times(digest * w % N, G), times(r * w % N, point_of(key)))
    assert found is not None
    assert found[0] % N == r
    return json.loads(unb64(text.partition(".")[2]))


class Request:
    def __init__(self, path: str, headers: dict[str, str], body: bytes) -> None:
        self.path, self.headers, self.body = path, headers, body

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Receiver:
    """An HTTP server that keeps what it was sent, and answers as the test says, once `hold` is set."""

    def __init__(self) -> None:
        self.requests: asyncio.Queue[Request] = asyncio.Queue()
        self.answer = b"HTTP/1.1 201 Created\r\ncontent-length: 0\r\n\r\n"
        self.hold: asyncio.Event | None = None
        self.port = 0

    def answers(self, status: int, words: str = "", *headers: str) -> None:
        head = [f"HTTP/1.1 {status} Said", f"content-length: {len(words)}", *headers, "", words]
        self.answer = "\r\n".join(head).encode()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            headers = {
                name.lower(): value.strip() for name, _, value in (one.partition(":") for one in lines)
            }
            body = await reader.readexactly(int(headers["content-length"]))
            self.requests.put_nowait(Request(first.split(" ")[1], headers, body))
            if self.hold is not None:
                await self.hold.wait()
            writer.write(self.answer)
            await writer.drain()
        writer.close()


@contextlib.asynccontextmanager
async def receiver(port: int = 0) -> AsyncIterator[Receiver]:
    made = Receiver()
    server = await asyncio.start_server(made.serve, "127.0.0.1", port)
    made.port = server.sockets[0].getsockname()[1]
    try:
        yield made
    finally:
        if made.hold is not None:
            made.hold.set()
        server.close()
        await server.wait_closed()
