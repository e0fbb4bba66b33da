"""Terminals: throughput, echo and memory, beside a raw pty read and other servers, interleaved in one run.

The others are other projects' programs. terminado is installed into a temporary folder for the run, unless
`--terminado PYTHON` names an interpreter that has it; wetty is measured when `--wetty SCRIPT` names its
program (`npm install wetty`, then `node_modules/.bin/wetty`), ttyd when it is on PATH. `--base PYTHON` names
the interpreter of another checkout of Bascule, to compare a change with what was before it. All listen on
127.0.0.1 only. A ratio is made within a round; the middle of the rounds' ratios is shown.
"""

import argparse
import contextlib
import itertools
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import termios
import time
import venv
from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

import psutil
from streaming import Sizes
from table import Figure, spread
from terminal_peers import AnyTerminal, Bascule, RawPty, Server, Terminado, Ttyd, Wetty, Wire

MEGABYTES = 24
ROUNDS = 5
ECHOES = 400
IDLE, STEPS = 20, 4  # terminals that are opened at a time, and how often


def settle(terminal: AnyTerminal) -> None:
    """A shell that echoes nothing and has no prompt, so that all that comes is what is measured."""
    terminal.type(b"PS1=; stty -echo -onlcr; echo rea''dy\n")
    wait_for(terminal, b"ready")


def wait_for(terminal: AnyTerminal, text: bytes) -> None:
    seen = b""
    while text not in seen:
        seen += terminal.read()


def throughput(terminal: AnyTerminal, file: Path, pids: Sequence[int]) -> tuple[float, float]:
    """MB/s, and milliseconds of the server's own CPU for each MB."""
    settle(terminal)
    size = file.stat().st_size
    worked, began = cpu_seconds(pids), time.perf_counter()
    terminal.type(f"cat {file}\n".encode())
    got = 0
    while got < size:
        got += len(terminal.read())
    took = time.perf_counter() - began
    return size / took / 1e6, (cpu_seconds(pids) - worked) * 1000 / (size / 1e6)


def cpu_seconds(pids: Sequence[int]) -> float:
    return sum(sum(psutil.Process(pid).cpu_times()[:2]) for pid in pids)


def echo(terminal: AnyTerminal) -> list[float]:
    """Milliseconds from a key to its echo by the kernel's terminal."""
    settle(terminal)
    # From "begun" on the kernel echoes, whether cat has started or not.
    terminal.type(b"stty echo; echo beg''un; cat\n")
    wait_for(terminal, b"begun")
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
    """Kilobytes of the server's own processes for each idle terminal with a viewer.

    The middle of several steps: one of them may hold whatever else the server asked the system for just then.
    """

    def used() -> float:
        return sum(psutil.Process(pid).memory_full_info().uss for pid in server.pids()) / 1024

    terminals: list[AnyTerminal] = []

    def opened(count: int) -> float:
        new = [server.terminal() for _ in range(count)]
        terminals.extend(new)
        for one in new:
            settle(one)
        return used()

    sizes = [opened(3), *(opened(IDLE) for _ in range(STEPS))]
    for one in terminals:
        one.close()
    return statistics.median((after - before) / IDLE for before, after in itertools.pairwise(sizes))


def make_file(folder: Path) -> Path:
    path = folder / "text"
    line = b"the quick brown fox jumps over the lazy dog 0123456789 \x1b[32mgreen\x1b[0m\n"
    with path.open("wb") as file:
        for _ in range(MEGABYTES * 1_000_000 // len(line)):
            file.write(line)
    return path


def p99(values: list[float]) -> float:
    return sorted(values)[int(len(values) * 0.99) - 1]


def p50(values: list[float]) -> float:
    return statistics.median(values)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--terminado", metavar="PYTHON", default="")
    parser.add_argument("--wetty", metavar="SCRIPT", default="")
    parser.add_argument("--base", metavar="PYTHON", default="")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--only", choices=["throughput", "echo", "flood", "memory"])
    parser.add_argument("--drain", nargs=4)
    args = parser.parse_args()
    if args.drain:
        kind, port, token, path = args.drain
        drain(kind, int(port), token, path)
    with tempfile.TemporaryDirectory() as folder:
        servers = start(args, Path(folder))
        try:
            Measuring(servers, args.only, make_file(Path(folder))).run(args.rounds)
        finally:
            for server in servers.values():
                server.stop()


def start(args: argparse.Namespace, folder: Path) -> dict[str, Server]:
    servers: dict[str, Server] = {"bascule": Bascule()}
    if args.base:
        servers["base"] = Bascule(args.base)
    if terminado := args.terminado or install_terminado(folder / "terminado"):
        servers["terminado"] = Terminado(terminado)
    if args.wetty:
        servers["wetty"] = Wetty(args.wetty)
    if ttyd := shutil.which("ttyd"):
        servers["ttyd"] = Ttyd(ttyd)
    for name in ("terminado", "wetty", "ttyd"):
        if name not in servers:
            print(f"{name}: skipped, it is not here")
    return servers


def install_terminado(folder: Path) -> str:
    """The interpreter of a fresh environment with terminado; nothing when it can't be downloaded."""
    venv.create(folder, with_pip=True)
    python = str(folder / "bin" / "python")
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "terminado"]
    return python if subprocess.run(install, check=False, capture_output=True).returncode == 0 else ""


def terminals(sizes: Sizes) -> Iterator[Figure]:
    """Beside terminado and, where it is installed, ttyd."""
    with tempfile.TemporaryDirectory() as folder:
        servers = start(argparse.Namespace(terminado="", wetty="", base=""), Path(folder))
        try:
            run = Measuring(servers, None, make_file(Path(folder)))
            for number in range(sizes.rounds):
                run.round(number)
        finally:
            for server in servers.values():
                server.stop()
    flows = {name: [flow[0] for flow in found] for name, found in run.flows.items()}
    echoes = {name: [p50(one) for one in found] for name, found in run.echoes.items()}
    flooded = {name: [p99(one) for one in found] for name, found in run.flooded.items() if found}
    yield _beside("echo idle p50, of terminado's", "terminado", echoes, " ms", most=0.8)
    yield _beside("echo beside a flood p99, of terminado's", "terminado", flooded, " ms", most=1.0)
    yield _beside("echo idle p50, of ttyd's", "ttyd", echoes, " ms", most=2.8)
    yield _beside("terminal MB/s, of ttyd's", "ttyd", flows, " MB/s", least=1.2)


def _beside(
    what: str,
    peer: str,
    found: dict[str, list[float]],
    unit: str,
    *,
    most: float | None = None,
    least: float | None = None,
) -> Figure:
    ours, theirs = found["bascule"], found.get(peer)
    if theirs is None:
        return Figure(what, 0.0, " ×", f"{spread(ours)}{unit}", most, least, absent=f"{peer} is not here")
    ratio = statistics.median(mine / yours for mine, yours in zip(ours, theirs, strict=True))
    return Figure(what, ratio, " ×", f"{spread(ours)}{unit} against {spread(theirs)}{unit}", most, least)


class Measuring:
    """All servers take turns within a round; each list holds one value for each round."""

    def __init__(self, servers: dict[str, Server], only: str | None, file: Path) -> None:
        self.servers = servers
        self.file = file
        self.only = only
        self.raw: list[float] = []
        self.flows: dict[str, list[tuple[float, float]]] = {name: [] for name in servers}
        self.echoes: dict[str, list[list[float]]] = {name: [] for name in servers}
        self.flooded: dict[str, list[list[float]]] = {name: [] for name in servers}

    def run(self, rounds: int) -> None:
        for number in range(rounds):
            self.round(number)
        self._report()
        if self._wants("memory"):
            for name, server in self.servers.items():
                print(f"memory per idle terminal, {name}: {memory(server):.0f} KB")

    def round(self, number: int) -> None:
        # Whoever comes first in a round differs, so that nobody always has the warmer machine.
        names = list(self.servers)
        self._round(names[number % len(names) :] + names[: number % len(names)])

    def _wants(self, what: str) -> bool:
        return self.only in (None, what)

    def _round(self, names: list[str]) -> None:
        if self._wants("throughput"):
            self.raw.append(with_terminal(RawPty, lambda one: throughput(one, self.file, ()))[0])
        for name in names:
            server = self.servers[name]
            if self._wants("throughput"):
                flow = with_terminal(
                    server.terminal, lambda one, s=server: throughput(one, self.file, s.pids())
                )
                self.flows[name].append(flow)
            if self._wants("echo"):
                self.echoes[name].append(with_terminal(server.terminal, echo))
        for name in names:
            server = self.servers[name]
            if self._wants("flood") and isinstance(server, Bascule | Terminado):
                with flood(server):
                    self.flooded[name].append(with_terminal(server.terminal, echo))

    def _report(self) -> None:
        if self.raw:
            print(f"throughput, raw pty read: {p50(self.raw):.1f} MB/s")
        self._tell("throughput, MB/s", {n: [one[0] for one in v] for n, v in self.flows.items()})
        self._tell("throughput, CPU ms/MB", {n: [one[1] for one in v] for n, v in self.flows.items()})
        for title, found in (("echo idle", self.echoes), ("echo beside a flood", self.flooded)):
            for figure, of in (("p50", p50), ("p99", p99)):
                self._tell(f"{title}, {figure} ms", {n: [of(one) for one in v] for n, v in found.items()})

    def _tell(self, title: str, found: dict[str, list[float]]) -> None:
        """The middle of the rounds, the least and most, and Bascule's ratio to it."""
        for name, values in found.items():
            if not values:
                continue
            ratios = [ours / theirs for ours, theirs in zip(found["bascule"], values, strict=True)]
            spread = f"({min(values):.3f}..{max(values):.3f})"
            print(f"{title}, {name}: {p50(values):.3f} {spread}; bascule is {p50(ratios):.2f} of it")


def with_terminal(make: Callable[[], AnyTerminal], what: Callable[[AnyTerminal], Any]) -> Any:
    terminal = make()
    try:
        return what(terminal)
    finally:
        terminal.close()


if __name__ == "__main__":
    assert termios  # a machine without terminals has nothing to measure
    main()
