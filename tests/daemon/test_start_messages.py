"""The message about a start that waits, to a webhook: sent as JSON, to that address and no other."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from tests.hub.scripted_device import START

from bascule.daemon.start_notices import send_outside
from bascule.model.settings import StartsSettings

pytestmark = pytest.mark.anyio


class Receiver(BaseHTTPRequestHandler):
    """Takes what comes to /ok, and sends everybody else elsewhere."""

    got: list[tuple[str, Any]]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.got.append((self.path, body))
        self.send_response(200 if self.path == "/ok" else 302)
        self.send_header("location", "/ok")
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""


@pytest.fixture
def hook() -> Iterator[str]:
    Receiver.got = []
    server = HTTPServer(("127.0.0.1", 0), Receiver)
    serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, name="hook")
    serving.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        serving.join()
        server.server_close()


@pytest.mark.row("R17")
async def test_a_webhook_gets_text_link_and_start_and_is_not_followed_elsewhere(hook: str) -> None:
    await send_outside(StartsSettings(webhook=f"{hook}/ok"), START, "http://l/#approve=t", "Somebody asks")
    [(path, body)] = Receiver.got
    assert (path, body["text"], body["link"]) == ("/ok", "Somebody asks", "http://l/#approve=t")
    assert body["start"]["folder"] == "/tmp"
    with pytest.raises(OSError, match="302"):
        await send_outside(StartsSettings(webhook=f"{hook}/moved"), START, "l", "t")
    assert [path for path, _ in Receiver.got] == ["/ok", "/moved"]
