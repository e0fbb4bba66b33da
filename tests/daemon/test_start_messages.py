"""The message about a start that waits: to the webhook, at that address and no other, and by a command."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.daemon.gates import Gate
from tests.hub.running_hub import until
from tests.hub.scripted_device import START

from bascule.daemon.starts.start_notices import send_outside
from bascule.model.settings import StartsSettings

pytestmark = pytest.mark.anyio


class Receiver(BaseHTTPRequestHandler):
    """Takes what comes to /ok, answers nonsense at /odd, and sends everybody else elsewhere."""

    got: list[tuple[str, Any]]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.got.append((self.path, body))
        if self.path == "/odd":
            self.wfile.write(b"what?\r\n\r\n")
            return
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


@pytest.mark.row("R17")
@pytest.mark.parametrize("path", ["/moved", "/odd"])
async def test_a_webhook_that_is_dead_does_not_keep_the_command_from_being_run(
    hook: str, tmp_path: Path, path: str
) -> None:
    written = tmp_path / "mail"
    both = StartsSettings(webhook=hook + path, command=("tee", str(written)))
    assert await send_outside(both, START, "http://l/#approve=t", "Somebody asks") == ("webhook",)
    assert written.read_text() == "Somebody asks"
    other = StartsSettings(webhook=f"{hook}/ok", command=("false",))
    assert await send_outside(other, START, "l", "t") == ("command",)
    none = StartsSettings(webhook=hook + path, command=("false",))
    with pytest.raises(OSError, match=r"webhook: .*; command: false ended with status 1"):
        await send_outside(none, START, "l", "t")


@pytest.mark.row("R17")
async def test_who_waits_is_told_which_way_failed_while_another_took_the_message(
    hook: str, tmp_path: Path
) -> None:
    written = tmp_path / "mail"
    gate = Gate(tmp_path, approval="oob_confirm", webhook=f"{hook}/moved", command=("tee", str(written)))
    gate._send = send_outside  # type: ignore[method-assign]
    gate.make()
    await gate.start()
    await until(lambda: bool(gate.gate.state.waiting[0].message))
    assert gate.gate.state.waiting[0].message == (
        "The message to its owner was sent, but not by the webhook; its log says why."
    )
    assert "Approve, deny or block: http://l/#approve=" in written.read_text()
    await gate.gate.close()


@pytest.mark.row("R17", "S61")
async def test_a_webhook_gets_no_key_that_was_in_the_prompt(hook: str, tmp_path: Path) -> None:
    key = "sk-" + "ant-api03-MadeUpForThisTest0123456789"
    gate = Gate(tmp_path, approval="oob_confirm", webhook=f"{hook}/ok")
    gate._send = send_outside  # type: ignore[method-assign]
    gate.make()
    await gate.start(prompt=f"Deploy with {key} now")
    await until(lambda: bool(Receiver.got))
    [(_, body)] = Receiver.got
    assert body["start"]["words"] == "Deploy with [hidden] now"
    assert key not in json.dumps(body)
    await gate.gate.close()
