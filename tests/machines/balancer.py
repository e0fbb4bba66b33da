"""The nginx of examples/nginx-nodes.conf on 127.0.0.1, and a page's streams that go through it."""

import asyncio
import contextlib
import json
import shutil
import ssl
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import httpx
import msgspec
import pytest
from tests.machines.machines import Hub
from tests.waiting import PATIENCE
from websockets.asyncio.client import connect

from bascule.model.codec import Logged, decode_logged

EXAMPLE = Path(__file__).parents[2] / "examples" / "nginx-nodes.conf"
NOT_HERE = "nginx is not installed (Debian: apt install nginx-light)"


def nginx() -> str:
    """The installed one, or what `.ci/nginx` unpacked; the test is skipped where there is none."""
    found = shutil.which("nginx") or shutil.which("nginx", path=f"/usr/sbin:{sys.prefix}/nginx/usr/sbin")
    if found is None or shutil.which("openssl") is None:
        pytest.skip(NOT_HERE if found is None else "needs openssl to make a certificate")
    return found


def configured(folder: Path, port: int, nodes: list[Hub]) -> Path:
    """The example as it is, but for the places where everybody changes it: addresses and files."""
    words = ["openssl", "req", "-x509", "-nodes", "-days", "2", "-subj", "/CN=proxy", "-newkey", "ec"]
    words += ["-pkeyopt", "ec_paramgen_curve:prime256v1", "-keyout", str(folder / "key.pem")]
    subprocess.run([*words, "-out", str(folder / "cert.pem")], check=True, capture_output=True)
    own = f"daemon off; pid {folder}/pid; error_log {folder}/log;\nevents {{}}"
    temporary = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    folders = "".join(f"{one}_temp_path {folder}/{one};" for one in temporary)
    text = EXAMPLE.read_text()
    for old, new in (
        ("node-a:3333", urlsplit(nodes[0].url).netloc),
        ("node-b:3333", urlsplit(nodes[1].url).netloc),
        ("listen 8443 ssl", f"listen 127.0.0.1:{port} ssl"),
        ("/tls/cert.pem", f"{folder}/cert.pem"),
        ("/tls/key.pem", f"{folder}/key.pem"),
        ("events {}", own),
        ("http {", f"http {{ access_log off; {folders}"),
    ):
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    (folder / "nginx.conf").write_text(text)
    return folder / "nginx.conf"


class Through:
    """A page whose requests go through the proxy. `follow` ends when its connection does."""

    def __init__(self, url: str, token: str) -> None:
        self.url = url
        self.headers = {"authorization": f"Bearer {token}"}
        self.trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self.trusting.check_hostname, self.trusting.verify_mode = False, ssl.CERT_NONE

    def client(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(
            base_url=self.url, headers=self.headers, trust_env=False, timeout=PATIENCE, verify=self.trusting
        )


class News(msgspec.Struct):
    id: int = 0
    type: str = ""
    entries: list[msgspec.Raw] = []
    error: msgspec.Raw = msgspec.Raw(b"")


class BySocket(Through):
    """As a page does: with a ticket, which whichever node has made, and another may open."""

    async def follow(self, session: str, after: int = 0) -> AsyncIterator[Logged]:
        watch = {"id": 1, "type": "session:subscribe", "sessionId": session, "after": after}
        async with connect(
            f"{self.url.replace('http', 'ws', 1)}/ws?ticket={await self._ticket()}",
            origin=self.url,  # type: ignore[arg-type]
            ssl=self.trusting,
            max_size=None,
            proxy=None,
        ) as socket:
            await socket.send(json.dumps(watch))
            async for message in socket:
                news = msgspec.json.decode(message, type=News)
                if news.id and bytes(news.error):
                    raise ConnectionRefusedError(bytes(news.error).decode())
                for one in news.entries if news.type == "session:events" else ():
                    yield decode_logged(one)

    async def _ticket(self) -> str:
        try:
            async with self.client() as http:
                made = await http.post("/api/tickets", json={"purpose": "socket"})
        except httpx.TransportError as error:
            raise ConnectionResetError(str(error)) from error
        if made.status_code != 200:
            raise ConnectionRefusedError(made.text)
        return str(made.json()["ticket"])


class Numbered(NamedTuple):
    """An event of a stream, as far as its reader's position goes."""

    seq: int


class ByStream(Through):
    """Server-sent events; it comes back as a browser does, with the last id."""

    last_id = ""

    async def follow(self, session: str, after: int = 0) -> AsyncIterator[Numbered]:
        headers = {"last-event-id": self.last_id} if self.last_id else {}
        try:
            async with (
                self.client() as http,
                http.stream("GET", f"/api/sessions/{session}/stream", headers=headers) as answer,
            ):
                if answer.status_code != 200:
                    raise ConnectionResetError(answer.status_code)
                async for line in answer.aiter_lines():
                    if line.startswith("id: "):
                        self.last_id = line.removeprefix("id: ")
                        yield Numbered(int(self.last_id.partition("-")[0]))
        except httpx.TransportError as error:
            raise ConnectionResetError(str(error)) from error


@contextlib.asynccontextmanager
async def balanced(folder: Path, port: int, nodes: list[Hub]) -> AsyncIterator[str]:
    """The proxy before these two nodes; gives its address."""
    program = nginx()
    folder.mkdir(mode=0o700)
    config = await asyncio.to_thread(configured, folder, port, nodes)
    process = await asyncio.create_subprocess_exec(program, "-c", str(config), "-p", str(folder))
    try:
        async with asyncio.timeout(PATIENCE):
            while process.returncode is None:
                with contextlib.suppress(OSError):
                    _, writer = await asyncio.open_connection("127.0.0.1", port)
                    writer.close()
                    break
                await asyncio.sleep(0.02)
        assert process.returncode is None, (folder / "log").read_text()
        yield f"https://127.0.0.1:{port}"
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()
