"""The two that are compared, started and spoken to alike: the bare relay and the real `bascule up`."""

import contextlib
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

from wire import client_frame, upgrade

HERE = Path(__file__).resolve().parent
EMITTER = [sys.executable, "-I", "-S", str(HERE / "emitter.py")]
AGENT = "emitter"
WAIT_SECONDS = 60.0
TICKS = os.sysconf("SC_CLK_TCK")
REST_SECONDS, LOOK_SECONDS, AT_REST = 8.0, 0.25, 0.1  # a tenth of a core

CONFIG = """
roots = ["{folder}"]
[limits]
sessions = 0
spawns_per_minute = 1000000
inputs_per_minute = 1000000
output_bytes = 0
"""


def resident(pid: int) -> int:
    """Bytes of memory a process holds. Not its fair share of shared pages: that falls as agents start."""
    return _status(pid, "VmRSS")


def most_resident(pid: int) -> int:
    return _status(pid, "VmHWM")


def _status(pid: int, field: str) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"no {field} of process {pid}")


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def wait_for_rest(pids: list[int]) -> None:
    """Until these processes use next to nothing: what one puts off must not slow the turn of the next."""
    deadline = time.monotonic() + REST_SECONDS
    while time.monotonic() < deadline:
        before = sum(map(cpu_seconds, pids))
        time.sleep(LOOK_SECONDS)
        if sum(map(cpu_seconds, pids)) - before <= LOOK_SECONDS * AT_REST:
            return


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return listening.getsockname()[1]


def end(process: subprocess.Popen[Any]) -> None:
    """Ask it to stop, and insist after a while."""
    process.terminate()
    try:
        process.wait(15)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class Contestant(Protocol):
    name: str
    port: int

    @property
    def pid(self) -> int: ...
    def create(self) -> str: ...
    def send(self, session: str, text: str) -> None: ...
    def order(self, session: str) -> dict[str, Any]: ...


class Talk:
    """HTTP with JSON, over one kept connection."""

    def __init__(self, port: int, headers: dict[str, str] | None = None) -> None:
        self.headers = {"content-type": "application/json", **(headers or {})}
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT_SECONDS)

    def __call__(self, method: str, path: str, body: object = None) -> Any:
        status, said = self.raw(method, path, body)
        if status >= 300:
            raise RuntimeError(f"{method} {path}: {status} {said[:500]!r}")
        return json.loads(said)

    def raw(self, method: str, path: str, body: object = None) -> tuple[int, bytes]:
        data = None if body is None else json.dumps(body).encode()
        for last_try in (False, True):
            try:
                self._connection.request(method, path, data, self.headers)
                answer = self._connection.getresponse()
            except (http.client.RemoteDisconnected, BrokenPipeError):
                # The server let an idle connection go; the request was never taken.
                self._connection.close()
                if last_try:
                    raise
            else:
                return answer.status, answer.read()
        raise AssertionError

    def close(self) -> None:
        self._connection.close()


class Bare:
    name = "bare"

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="bb-", dir="/tmp"))
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "bare.py"), str(self.folder), *EMITTER], stdout=subprocess.PIPE
        )
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline())
        self._talk = Talk(self.port)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._talk.close()
        end(self.process)
        shutil.rmtree(self.folder)

    @property
    def pid(self) -> int:
        return self.process.pid

    def create(self) -> str:
        return self._talk("POST", "/sessions", {})["id"]

    def send(self, session: str, text: str) -> None:
        self._talk("POST", f"/sessions/{session}/send", {"text": text})

    def order(self, session: str) -> dict[str, Any]:
        subscribe = json.dumps({"id": 1, "type": "session:subscribe", "sessionId": session})
        return {"host": "127.0.0.1", "port": self.port, "path": "/ws", "headers": {}, "subscribe": subscribe}


def _agent_file() -> str:
    """The emitter as a user's own agent."""
    program, *words = (json.dumps(word) for word in EMITTER)
    args = ", ".join(words)
    return f"""
name = "{AGENT}"
title = "Emitter"
search = [{program}]
[version]
args = [{args}, "--version"]
[[drivers]]
name = "stream_json"
args = [{args}]
"""


class Bascule:
    """The real thing in its own folder, which is short: a unix socket lives below it."""

    def __init__(
        self, data: Path | None = None, *, python: str = sys.executable, name: str = "bascule"
    ) -> None:
        self.name, self._python = name, python  # another interpreter has another version of Bascule installed
        self.folder = Path(tempfile.mkdtemp(prefix="bs-", dir="/tmp"))
        self.data = data or self.folder / "data"
        self.config, self.work, self.home = (self.folder / one for one in ("config", "work", "home"))
        for made in (self.config, self.config / "agents", self.work, self.home):
            made.mkdir(mode=0o700)
        self._write(self.config / "config.toml", CONFIG.format(folder=self.folder))
        self._write(self.config / "agents" / f"{AGENT}.toml", _agent_file())
        self.process: subprocess.Popen[bytes] | None = None
        self.command = "up"  # or hub: a server without agents
        self.environment: dict[str, str] = {}
        self.port = 0
        self._talk: Talk | None = None

    def _write(self, path: Path, text: str) -> None:
        path.write_text(text)
        path.chmod(0o600)

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.remove()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.remove()

    def remove(self) -> None:
        """Leave nothing behind: no process and no folder."""
        self.stop()
        self.end_keeper()
        shutil.rmtree(self.folder, ignore_errors=True)  # a keeper with many agents may still be at it

    def launch(self, port: int) -> subprocess.Popen[bytes]:
        """Start the process and wait for nothing."""
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "BASCULE_CONFIG_DIR": str(self.config),
            **self.environment,
        }
        command = [self._python, "-m", "bascule", self.command, "--data", str(self.data), "--port", str(port)]
        with (self.folder / "stderr.txt").open("ab") as errors:
            self.process = subprocess.Popen(
                [*command, "--no-open"], env=environment, stdout=subprocess.PIPE, stderr=errors
            )
        return self.process

    def start(self) -> None:
        """Until the line with the link."""
        process = self.launch(0)
        assert process.stdout is not None
        line = process.stdout.readline().decode().strip()
        if "#token=" not in line:
            raise RuntimeError(f"no link but {line!r}\n{(self.folder / 'stderr.txt').read_text()}")
        url, token = line.split("/#token=")
        self.port = int(url.rsplit(":", 1)[-1])
        self._talk = Talk(self.port, {"authorization": f"Bearer {token}"})

    def stop(self) -> None:
        if self._talk is not None:
            self._talk.close()
            self._talk = None
        if self.process is not None:
            end(self.process)
            if self.process.stdout is not None:
                self.process.stdout.close()
            self.process = None

    @property
    def talk(self) -> Talk:
        assert self._talk is not None
        return self._talk

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def keeper_pid(self) -> int | None:
        lock = self.data / "keeper" / "keeper.lock"
        with contextlib.suppress(OSError, ValueError, IndexError):
            text = lock.read_text()
            return int(json.loads(text)["pid"] if text.startswith("{") else text.split()[0])
        return None

    def end_keeper(self) -> None:
        """Stop the keeper, which ends its agents, and wait until it is gone."""
        pid = self.keeper_pid()
        if pid is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
            deadline = time.monotonic() + 30
            while Path(f"/proc/{pid}").exists() and time.monotonic() < deadline:
                time.sleep(0.02)

    def create(self) -> str:
        body = {"agent": AGENT, "cwd": str(self.work)}
        return self.talk("POST", "/api/sessions", body)["id"]

    def send(self, session: str, text: str) -> None:
        self.talk("POST", f"/api/sessions/{session}/send", {"text": text})

    def session(self, session: str) -> dict[str, Any]:
        return self.talk("GET", f"/api/sessions/{session}")

    def order(self, session: str) -> dict[str, Any]:
        after = self.session(session)["seq"]
        subscribe = json.dumps({"id": 1, "type": "session:subscribe", "sessionId": session, "after": after})
        return {
            "host": "127.0.0.1",
            "port": self.port,
            "path": "/ws",
            "headers": {"Authorization": self.talk.headers["authorization"]},
            "subscribe": subscribe,
        }


class Audience:
    """Viewers in a process of their own, and what they report."""

    def __init__(
        self,
        of: Contestant,
        session: str,
        *,
        viewers: int,
        markers: int,
        seconds: float,
        stamped: bool = False,
    ) -> None:
        order = of.order(session) | {
            "viewers": viewers,
            "markers": markers,
            "stamped": stamped,
            "seconds": seconds,
        }
        command = [sys.executable, str(HERE / "viewers.py"), json.dumps(order)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert self._process.stdout is not None
        self._out = self._process.stdout
        if self._out.readline() != b"ready\n":
            self._process.wait()
            raise RuntimeError("the viewers could not subscribe")

    def report(self) -> dict[str, Any]:
        said = json.loads(self._out.readline())
        self._out.close()
        self._process.wait()
        return said


def stalled_viewer(of: Contestant, session: str) -> socket.socket:
    """A viewer that subscribes and then never reads again."""
    order = of.order(session)
    line = socket.socket()
    line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16 * 1024)
    line.settimeout(WAIT_SECONDS)
    line.connect((order["host"], order["port"]))
    line.sendall(upgrade(order["host"], order["port"], order["path"], order["headers"]))
    said = b""
    while b"\r\n\r\n" not in said:
        said += line.recv(1)
    line.sendall(client_frame(1, order["subscribe"].encode()))
    while b'"ok"' not in said:
        said += line.recv(4096)
    return line
