"""The terminals that `bench/terminal.py` compares: a raw pty, Bascule, terminado, wetty and ttyd."""

import base64
import json
import os
import pty
import re
import secrets
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path
from typing import Any

import psutil

TERMINADO = """
import sys, tornado.web, tornado.ioloop, terminado, asyncio
async def main():
    manager = terminado.UniqueTermManager(shell_command=["/bin/sh"], max_terminals=1000)
    app = tornado.web.Application([(r"/websocket", terminado.TermSocket, {"term_manager": manager})])
    server = app.listen(0, "127.0.0.1")
    print(next(iter(server._sockets.values())).getsockname()[1], flush=True)
    await asyncio.Event().wait()
asyncio.run(main())
"""


class Wire:
    """A WebSocket client that does as little as it can, so that the server is what is measured."""

    def __init__(self, port: int, path: str, token: str = "", protocol: str = "") -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), 30)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        key = base64.b64encode(secrets.token_bytes(16)).decode()
        bearer = f"Authorization: Bearer {token}\r\n" if token else ""
        bearer += f"Sec-WebSocket-Protocol: {protocol}\r\n" if protocol else ""
        request = (
            f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n{bearer}\r\n"
        )
        self.socket.sendall(request.encode())
        self.buffer = bytearray()
        while b"\r\n\r\n" not in self.buffer:
            self._more()
        head, _, rest = bytes(self.buffer).partition(b"\r\n\r\n")
        if b" 101 " not in head.split(b"\r\n")[0] + b" ":
            raise RuntimeError(head.decode())
        self.buffer = bytearray(rest)

    def _more(self) -> None:
        data = self.socket.recv(262144)
        if not data:
            raise EOFError
        self.buffer += data

    def receive(self) -> tuple[int, bytes]:
        while len(self.buffer) < 2:
            self._more()
        kind, size, start = self.buffer[0] & 15, self.buffer[1] & 127, 2
        if size == 126:
            while len(self.buffer) < 4:
                self._more()
            size, start = struct.unpack_from("!H", self.buffer, 2)[0], 4
        elif size == 127:
            while len(self.buffer) < 10:
                self._more()
            size, start = struct.unpack_from("!Q", self.buffer, 2)[0], 10
        while len(self.buffer) < start + size:
            self._more()
        payload = bytes(self.buffer[start : start + size])
        del self.buffer[: start + size]
        if kind == 9:
            self.send(payload, 10)
        return kind, payload

    def send(self, payload: bytes, kind: int) -> None:
        size = len(payload)
        short = struct.pack("!BB", 0x80 | kind, 0x80 | min(size, 126))
        head = short if size < 126 else short + struct.pack("!H", size)
        self.socket.sendall(head + bytes(4) + payload)  # a mask of zeros leaves the payload as it is

    def close(self) -> None:
        self.socket.close()


class RawPty:
    """The floor: a process that reads its own pty and does nothing else."""

    name = "raw pty read"

    def __init__(self) -> None:
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execv("/bin/sh", ["/bin/sh"])

    def type(self, data: bytes) -> None:
        os.write(self.fd, data)

    def read(self) -> bytes:
        return os.read(self.fd, 65536)

    def close(self) -> None:
        os.kill(self.pid, 9)
        os.waitpid(self.pid, 0)
        os.close(self.fd)


class TerminadoTerminal:
    name = "terminado"

    def __init__(self, server: "Terminado") -> None:
        self.wire = Wire(server.port, "/websocket")

    def type(self, data: bytes) -> None:
        self.wire.send(json.dumps(["stdin", data.decode()]).encode(), 1)

    def read(self) -> bytes:
        while True:
            _, payload = self.wire.receive()
            message = json.loads(payload)
            if message[0] == "stdout":
                return message[1].encode()

    def close(self) -> None:
        self.wire.close()


class BasculeTerminal:
    name = "bascule"

    def __init__(self, server: "Bascule", *, lag: int | None = 0) -> None:
        self.server = server
        self.session = server.post(
            "/api/sessions", {"agent": "shell", "driver": "terminal", "cwd": str(server.folder)}
        )["id"]
        query = "" if lag is None else f"&lag={lag}"
        self.wire = Wire(server.port, f"/ws/terminal/{self.session}?after=0{query}", server.token)

    def type(self, data: bytes) -> None:
        self.wire.send(data, 2)

    def read(self) -> bytes:
        while True:
            kind, payload = self.wire.receive()
            if kind == 2:
                return payload[8:]

    def close(self) -> None:
        self.wire.close()
        self.server.delete(f"/api/sessions/{self.session}")


class WettyTerminal:
    """Speaks as wetty's page does: Socket.IO's text frames, and a word for every piece that was shown."""

    name = "wetty"

    def __init__(self, server: "Wetty") -> None:
        self.wire = Wire(server.port, "/wetty/socket.io/?EIO=4&transport=websocket")
        self.wire.receive()
        self.wire.send(b"40", 1)
        while self.wire.receive()[1] != b'42["login"]':
            pass

    def type(self, data: bytes) -> None:
        self.wire.send(b"42" + json.dumps(["input", data.decode()]).encode(), 1)

    def read(self) -> bytes:
        while True:
            _, payload = self.wire.receive()
            if payload == b"2":
                self.wire.send(b"3", 1)
            elif payload.startswith(b"42"):
                event, *said = json.loads(payload[2:])
                if event == "data":
                    data = said[0].encode()
                    self.wire.send(b"42" + json.dumps(["commit", len(data)]).encode(), 1)
                    return data

    def close(self) -> None:
        self.wire.close()


class TtydTerminal:
    name = "ttyd"

    def __init__(self, server: "Ttyd") -> None:
        self.wire = Wire(server.port, "/ws", protocol="tty")
        self.wire.send(json.dumps({"AuthToken": "", "columns": 80, "rows": 24}).encode(), 2)

    def type(self, data: bytes) -> None:
        self.wire.send(b"0" + data, 2)

    def read(self) -> bytes:
        while True:
            _, payload = self.wire.receive()
            if payload.startswith(b"0"):
                return payload[1:]

    def close(self) -> None:
        self.wire.close()


class Terminado:
    def __init__(self, python: str) -> None:
        self.process = subprocess.Popen([python, "-c", TERMINADO], stdout=subprocess.PIPE, text=True)
        assert self.process.stdout
        self.port = int(self.process.stdout.readline())

    def terminal(self, **_: Any) -> TerminadoTerminal:
        return TerminadoTerminal(self)

    def pids(self) -> list[int]:
        return [self.process.pid]

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()


class Bascule:
    def __init__(self, python: str = sys.executable) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="b-", dir="/tmp")).resolve()
        (self.folder / "config").mkdir(mode=0o700)
        config = f'roots = ["{self.folder}"]\n[limits]\nsessions = 0\nspawns_per_minute = 100000\n'
        (self.folder / "config" / "config.toml").write_text(config)
        (self.folder / "config" / "config.toml").chmod(0o600)
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "SHELL": "/bin/sh"}
        environment["BASCULE_CONFIG_DIR"] = str(self.folder / "config")
        arguments = ["up", "--data", str(self.folder / "data"), "--port", "0", "--no-open"]
        self.process = subprocess.Popen(
            [python, "-m", "bascule", *arguments], stdout=subprocess.PIPE, text=True, env=environment
        )
        assert self.process.stdout
        url, self.token = self.process.stdout.readline().strip().split("/#token=")
        self.port = int(url.rsplit(":", 1)[1])
        lock = json.loads((self.folder / "data" / "keeper" / "keeper.lock").read_text())
        self.keeper = int(lock["pid"])

    def terminal(self, *, lag: int | None = 0) -> BasculeTerminal:
        return BasculeTerminal(self, lag=lag)

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        return self._ask("POST", path, json.dumps(body).encode())

    def delete(self, path: str) -> None:
        self._ask("DELETE", path, b"{}")

    def _ask(self, method: str, path: str, body: bytes) -> dict[str, Any]:
        headers = {"authorization": f"Bearer {self.token}", "content-type": "application/json"}
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", body, headers, method=method)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        return json.load(opener.open(request, timeout=30))

    def pids(self) -> list[int]:
        return [self.process.pid, self.keeper]

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()
        keeper = psutil.Process(self.keeper)
        keeper.terminate()
        keeper.wait(20)
        shutil.rmtree(self.folder)


class Program:
    """A peer that is one process, with a terminal for each connection."""

    process: subprocess.Popen[str]

    def pids(self) -> list[int]:
        return [self.process.pid]

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()


class Wetty(Program):
    def __init__(self, script: str) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = int(probe.getsockname()[1])
        words = ["--host", "127.0.0.1", "--port", str(self.port), "--base", "/wetty", "--command", "/bin/sh"]
        self.process = subprocess.Popen(
            ["node", script, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        assert self.process.stdout
        while "started" not in self.process.stdout.readline().lower():
            assert self.process.poll() is None, "wetty did not start"

    def terminal(self, **_: Any) -> WettyTerminal:
        return WettyTerminal(self)


class Ttyd(Program):
    def __init__(self, program: str) -> None:
        words = ["--interface", "127.0.0.1", "--port", "0", "--writable", "/bin/sh"]
        self.process = subprocess.Popen([program, *words], stderr=subprocess.PIPE, text=True)
        assert self.process.stderr
        found = None
        while found is None:
            found = re.search(r"port: (\d+)", self.process.stderr.readline())
        self.port = int(found[1])

    def terminal(self, **_: Any) -> TtydTerminal:
        return TtydTerminal(self)


AnyTerminal = RawPty | TerminadoTerminal | WettyTerminal | TtydTerminal | BasculeTerminal
Server = Bascule | Terminado | Wetty | Ttyd
