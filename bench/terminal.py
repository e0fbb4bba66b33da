"""Terminals: throughput, echo and memory, beside a raw pty read and terminado, interleaved in one run.

terminado is another project's server; it is measured when `--terminado PYTHON` names an interpreter that
has it (`python -m venv x && x/bin/pip install terminado`). Everything listens on 127.0.0.1 only.
"""

import argparse
import base64
import contextlib
import json
import os
import pty
import secrets
import shutil
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil

MEGABYTES = 24
ROUNDS = 5
ECHOES = 300
IDLE = 20
SHELL_PROMPT_SECONDS = 10.0

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

    def __init__(self, port: int, path: str, token: str = "") -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), 30)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        key = base64.b64encode(secrets.token_bytes(16)).decode()
        bearer = f"Authorization: Bearer {token}\r\n" if token else ""
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
    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="b-", dir="/tmp")).resolve()
        (self.folder / "config").mkdir(mode=0o700)
        config = f'roots = ["{self.folder}"]\n[limits]\nsessions = 0\nspawns_per_minute = 100000\n'
        (self.folder / "config" / "config.toml").write_text(config)
        (self.folder / "config" / "config.toml").chmod(0o600)
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "SHELL": "/bin/sh"}
        environment["BASCULE_CONFIG_DIR"] = str(self.folder / "config")
        arguments = ["up", "--data", str(self.folder / "data"), "--port", "0", "--no-open"]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "bascule", *arguments], stdout=subprocess.PIPE, text=True, env=environment
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


AnyTerminal = RawPty | TerminadoTerminal | BasculeTerminal


def settle(terminal: AnyTerminal) -> None:
    """A shell that echoes nothing and has no prompt, so that all that comes is what is measured."""
    terminal.type(b"PS1=; stty -echo -onlcr; echo rea''dy\n")
    seen = b""
    while b"ready" not in seen:
        seen += terminal.read()


def throughput(terminal: AnyTerminal, file: Path) -> float:
    settle(terminal)
    size = file.stat().st_size
    began = time.perf_counter()
    terminal.type(f"cat {file}\n".encode())
    got = 0
    while got < size:
        got += len(terminal.read())
    return size / (time.perf_counter() - began) / 1e6


def echo(terminal: AnyTerminal) -> list[float]:
    """Milliseconds from a key to its echo by the kernel's terminal."""
    settle(terminal)
    terminal.type(b"stty echo; cat\n")
    time.sleep(0.3)  # the shell gives no sign that cat has begun; the echo itself needs none
    times: list[float] = []
    for _ in range(ECHOES):
        began = time.perf_counter()
        terminal.type(b"q")
        while b"q" not in terminal.read():
            pass
        times.append((time.perf_counter() - began) * 1000)
    return times


def drain(kind: str, port: int, token: str, path: str) -> None:
    """In a process of its own: flood one terminal and read what comes, until killed."""
    wire = Wire(port, path, token)
    if kind == "terminado":
        wire.send(json.dumps(["stdin", "yes 0123456789012345678901234567890123456789\n"]).encode(), 1)
    else:
        wire.send(b"yes 0123456789012345678901234567890123456789\n", 2)
    print("flooding", flush=True)
    while True:
        wire.receive()


@contextlib.contextmanager
def flood(server: "Terminado | Bascule") -> Iterator[None]:
    if isinstance(server, Terminado):
        words = ["terminado", str(server.port), "", "/websocket"]
        session = None
    else:
        session = server.post(
            "/api/sessions", {"agent": "shell", "driver": "terminal", "cwd": str(server.folder)}
        )["id"]
        words = ["bascule", str(server.port), server.token, f"/ws/terminal/{session}?after=0"]
    process = subprocess.Popen(
        [sys.executable, __file__, "--drain", *words], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout
    process.stdout.readline()
    time.sleep(0.5)
    try:
        yield
    finally:
        process.kill()
        process.wait()
        if session and isinstance(server, Bascule):
            server.delete(f"/api/sessions/{session}")


def memory(server: "Terminado | Bascule") -> float:
    """Kilobytes of the server's own processes for each idle terminal with a viewer."""

    def used() -> float:
        return sum(psutil.Process(pid).memory_full_info().uss for pid in server.pids()) / 1024

    warm = [server.terminal() for _ in range(3)]
    for one in warm:
        settle(one)
    before = used()
    terminals = [server.terminal() for _ in range(IDLE)]
    for one in terminals:
        settle(one)
    after = used()
    for one in [*warm, *terminals]:
        one.close()
    return (after - before) / IDLE


def make_file(folder: Path) -> Path:
    path = folder / "text"
    line = b"the quick brown fox jumps over the lazy dog 0123456789 \x1b[32mgreen\x1b[0m\n"
    with path.open("wb") as file:
        for _ in range(MEGABYTES * 1_000_000 // len(line)):
            file.write(line)
    return path


def middle(values: list[float]) -> float:
    return statistics.median(values)


def p99(values: list[float]) -> float:
    return sorted(values)[int(len(values) * 0.99) - 1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--terminado", metavar="PYTHON", default="")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--only", choices=["throughput", "echo", "flood", "memory"])
    parser.add_argument("--drain", nargs=4)
    args = parser.parse_args()
    if args.drain:
        kind, port, token, path = args.drain
        drain(kind, int(port), token, path)
    servers: dict[str, Terminado | Bascule] = {"bascule": Bascule()}
    if args.terminado:
        servers["terminado"] = Terminado(args.terminado)
    else:
        print("terminado: skipped, no --terminado PYTHON was given")
    try:
        measure(servers, args.rounds, args.only)
    finally:
        for server in servers.values():
            server.stop()


def measure(servers: "dict[str, Terminado | Bascule]", rounds: int, only: str | None) -> None:
    makers: dict[str, Callable[[], AnyTerminal]] = {"raw pty read": RawPty}
    makers |= {name: server.terminal for name, server in servers.items()}
    flows: dict[str, list[float]] = {name: [] for name in makers}
    echoes: dict[str, list[float]] = {name: [] for name in makers}
    flooded: dict[str, list[float]] = {name: [] for name in servers}
    with tempfile.TemporaryDirectory() as folder:
        file = make_file(Path(folder))
        for _ in range(rounds):
            for name, make in makers.items():
                if only in (None, "throughput"):
                    flows[name].append(with_terminal(make, lambda one: throughput(one, file)))
                if only in (None, "echo"):
                    echoes[name] += with_terminal(make, echo)
            for name, server in servers.items():
                if only in (None, "flood"):
                    with flood(server):
                        flooded[name] += with_terminal(server.terminal, echo)
    report(flows, echoes, flooded)
    if only in (None, "memory"):
        for name, server in servers.items():
            print(f"memory per idle terminal, {name}: {memory(server):.0f} KB")


def with_terminal(make: Callable[[], AnyTerminal], what: Callable[[AnyTerminal], Any]) -> Any:
    terminal = make()
    try:
        return what(terminal)
    finally:
        terminal.close()


def report(
    flows: dict[str, list[float]], echoes: dict[str, list[float]], flooded: dict[str, list[float]]
) -> None:
    for name, values in flows.items():
        if values:
            share = middle(values) / middle(flows["raw pty read"])
            runs = [round(value, 1) for value in values]
            print(f"throughput, {name}: {middle(values):.1f} MB/s ({share:.2f} of raw) {runs}")
    for title, found in (("echo idle", echoes), ("echo beside a flood", flooded)):
        for name, values in found.items():
            if values:
                print(f"{title}, {name}: p50 {middle(values):.3f} ms, p99 {p99(values):.3f} ms")


if __name__ == "__main__":
    assert termios  # a machine without terminals has nothing to measure
    main()
