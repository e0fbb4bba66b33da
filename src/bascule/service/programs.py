"""Runs the programs of the system that services are managed with."""

import subprocess
from collections.abc import Callable, Mapping

from msgspec import Struct

SECONDS = 120.0  # a stop may take systemd a minute and a half


class Ran(Struct, frozen=True):
    """How a program ended; `code` is None when it is not there or took too long."""

    code: int | None
    said: str

    @property
    def ok(self) -> bool:
        return self.code == 0


Run = Callable[[list[str]], Ran]


def run_program(argv: list[str], env: Mapping[str, str] | None = None, seconds: float = SECONDS) -> Ran:
    try:
        done = subprocess.run(argv, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds)
    except FileNotFoundError:
        return Ran(None, f"{argv[0]} is not installed")
    except (OSError, subprocess.TimeoutExpired) as error:
        return Ran(None, f"{argv[0]} failed: {error}")
    said = (done.stdout or done.stderr).decode("utf-8", "replace")
    return Ran(done.returncode, said.strip())
