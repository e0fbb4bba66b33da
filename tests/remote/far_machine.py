"""Another machine for tests: a home of its own on this one, reached by an `ssh` that is a program of ours."""

import json
import os
import shlex
import signal
import sys
from pathlib import Path

from tests.live import FAKES


class FarMachine:
    """`folder` must be short: unix sockets live below it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.home, self.bin = folder / "far", folder / "far" / "home", folder / "bin"
        own = self.home / ".config" / "bascule"
        for made in (self.folder, self.home, self.bin):
            made.mkdir(mode=0o700)
        own.mkdir(mode=0o700, parents=True)
        (own / "config.toml").write_text("port = 0\nkeep_awake = false\n[launch]\nenabled = false\n")
        (own / "config.toml").chmod(0o600)
        program = self.bin / "ssh"
        words = shlex.join([sys.executable, "-E", "-S", str(FAKES / "fake_ssh.py")])
        program.write_text(f'#!/bin/sh\nexec {words} "$@"\n')
        program.chmod(0o755)

    @property
    def environ(self) -> dict[str, str]:
        return {"PATH": f"{self.bin}:{os.environ['PATH']}", "FAKE_SSH": str(self.folder)}

    @property
    def calls(self) -> list[str]:
        """The arguments of every ssh that was run."""
        return (self.folder / "calls").read_text().splitlines()

    @property
    def pids(self) -> list[int]:
        return [int(one) for one in (self.folder / "pids").read_text().split()]

    @property
    def state(self) -> Path:
        return self.home / ".local" / "state" / "bascule"

    @property
    def program(self) -> Path:
        return self.home / ".local" / "share" / "bascule"

    def end(self) -> None:
        """Whatever a test that failed has left running there."""
        for file in (self.state / "server.json", self.state / "keeper" / "keeper.lock"):
            try:
                os.kill(json.loads(file.read_text())["pid"], signal.SIGKILL)
            except (OSError, ValueError):
                continue
