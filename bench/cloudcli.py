"""CloudCLI, installed from npm into a scratch folder, with our scripted agent in the place of Claude Code.

The folder is kept for the next run: `BENCH_PEERS` names it, else it is `bascule-bench-peers` in the system's
temporary folder. What is installed there is another project's program; it runs with an empty home.
"""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from contestants import EMITTER, Talk, end, free_port

PACKAGE, VERSION = "@cloudcli-ai/cloudcli", "1.37.3"
NATIVE = ("better-sqlite3", "bcrypt", "node-pty")  # the only ones whose install scripts are run
INSTALL_SECONDS = 900
START_SECONDS = 60


def peers_folder() -> Path:
    return Path(os.environ.get("BENCH_PEERS") or Path(tempfile.gettempdir()) / "bascule-bench-peers")


def install() -> Path | None:
    """The folder of its program, or None where it can't be installed."""
    npm, folder = shutil.which("npm"), peers_folder() / f"cloudcli-{VERSION}"
    program, done = folder / "node_modules" / PACKAGE, folder / "installed"
    if done.exists():
        return program
    if npm is None:
        return None
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    quiet = ["--no-audit", "--no-fund", "--loglevel=error", "--prefix", str(folder)]
    steps = (
        [npm, "install", *quiet, "--ignore-scripts", f"{PACKAGE}@{VERSION}"],
        [npm, "rebuild", *quiet, *NATIVE],
    )
    for step in steps:
        try:
            subprocess.run(step, cwd=folder, check=True, capture_output=True, timeout=INSTALL_SECONDS)
        except (subprocess.SubprocessError, OSError) as error:
            print(f"CloudCLI can't be installed: {error}")
            return None
    done.touch()
    return program


class CloudCli:
    name = "cloudcli"

    def __init__(self, program: Path) -> None:
        self._program = program
        self.folder = Path(tempfile.mkdtemp(prefix="bc-", dir="/tmp"))
        self.work, self.port = self.folder / "work", free_port()
        self.work.mkdir()
        agent = self.folder / "claude"
        agent.write_text(f"#!/bin/sh\nexec {' '.join(EMITTER)}\n")
        agent.chmod(0o700)
        self.process: subprocess.Popen[bytes] | None = None

    def launch(self) -> subprocess.Popen[bytes]:
        """Start the process and wait for nothing."""
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "NODE_ENV": "production",
            "HOST": "127.0.0.1",
            "SERVER_PORT": str(self.port),
            "DATABASE_PATH": str(self.folder / "auth.db"),
            "CLAUDE_CLI_PATH": str(self.folder / "claude"),
        }
        self.process = subprocess.Popen(
            ["node", "dist-server/server/index.js"],
            cwd=self._program,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        return self.process

    def __enter__(self) -> Self:
        try:
            self.launch()
            self._wait()
            self._talk = Talk(self.port)
            account = {"username": "bench", "password": "bench-bench"}
            self.token: str = self._talk("POST", "/api/auth/register", account)["token"]
            self._talk.headers["authorization"] = f"Bearer {self.token}"
        except BaseException:
            self.remove()
            raise
        return self

    def _wait(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
            except ConnectionRefusedError:
                time.sleep(0.05)
            else:
                return
        raise RuntimeError("CloudCLI did not start")

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._talk.close()
        self.remove()

    def remove(self) -> None:
        if self.process is not None:
            end(self.process)
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def pids(self) -> list[int]:
        assert self.process is not None
        return [self.process.pid]

    def create(self) -> str:
        body: dict[str, Any] = {"provider": "claude", "projectPath": str(self.work)}
        return self._talk("POST", "/api/providers/sessions", body)["data"]["sessionId"]
