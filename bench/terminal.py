"""Terminals: throughput, echo and memory, beside a raw pty read and other servers, interleaved in one run.

The others are other projects' programs. terminado is measured when `--terminado PYTHON` names an interpreter
that has it (`python -m venv x && x/bin/pip install terminado`), wetty when `--wetty SCRIPT` names its program
(`npm install wetty`, then `node_modules/.bin/wetty`), ttyd when it is on PATH. All listen on 127.0.0.1 only.
"""

import argparse
import contextlib
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import psutil
from terminal_peers import AnyTerminal, Bascule, RawPty, Server, Terminado, Ttyd, Wetty, Wire

MEGABYTES = 24
ROUNDS = 5
ECHOES = 300
IDLE = 20


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
def flood(server: Terminado | Bascule) -> Generator[None]:
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


def memory(server: Server) -> float:
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
    parser.add_argument("--wetty", metavar="SCRIPT", default="")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--only", choices=["throughput", "echo", "flood", "memory"])
    parser.add_argument("--drain", nargs=4)
    args = parser.parse_args()
    if args.drain:
        kind, port, token, path = args.drain
        drain(kind, int(port), token, path)
    servers: dict[str, Server] = {"bascule": Bascule()}
    if args.terminado:
        servers["terminado"] = Terminado(args.terminado)
    if args.wetty:
        servers["wetty"] = Wetty(args.wetty)
    if ttyd := shutil.which("ttyd"):
        servers["ttyd"] = Ttyd(ttyd)
    for name in ("terminado", "wetty", "ttyd"):
        if name not in servers:
            print(f"{name}: skipped, it is not here")
    try:
        measure(servers, args.rounds, args.only)
    finally:
        for server in servers.values():
            server.stop()


def measure(servers: dict[str, Server], rounds: int, only: str | None) -> None:
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
                if only in (None, "flood") and isinstance(server, Bascule | Terminado):
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
