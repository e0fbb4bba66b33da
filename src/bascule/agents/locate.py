"""Finds an agent's program on this machine and its version, never trusting the folder we are in."""

import asyncio
import os
import re
import signal
import stat
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from bascule.agents.command import child_environment
from bascule.agents.spec import AgentSpec, Found
from bascule.model.errors import AgentNotInstalled

SEARCH_SECONDS = 5.0
PROBE_SECONDS = 10.0
MAX_PROBE_OUTPUT = 64 * 1024


def locate(spec: AgentSpec, env: Mapping[str, str], *, seconds: float = SEARCH_SECONDS) -> str:
    """The absolute path of the program. Raises `AgentNotInstalled`."""
    deadline = time.monotonic() + seconds
    chosen = env.get(spec.override) if spec.override else None
    if chosen:
        path = _resolve(chosen, env, deadline)
        if path is None:
            raise AgentNotInstalled(
                f"{spec.override} names {chosen!r}, which is not a program that can be run.",
                agent=spec.name,
                variable=spec.override,
            )
        return path
    for place in spec.search:
        path = _resolve(place, env, deadline)
        if path is not None:
            return path
    hint = f" Install it with: {spec.install}" if spec.install else ""
    raise AgentNotInstalled(f"{spec.title} was not found on this machine.{hint}", agent=spec.name)


def _resolve(place: str, env: Mapping[str, str], deadline: float) -> str | None:
    if place == "{python}":
        return sys.executable
    if place == "{shell}":
        shell = env.get("SHELL", "")
        return _runnable(Path(shell)) if shell.startswith("/") else None
    if place.startswith("~/"):
        home = env.get("HOME", "")
        return _runnable(Path(home) / place[2:]) if home.startswith("/") else None
    if "/" in place:
        return _runnable(Path(place)) if place.startswith("/") else None
    for folder in env.get("PATH", os.defpath).split(os.pathsep):
        # An empty or relative entry means the current folder, which may be anybody's project.
        if not folder.startswith("/"):
            continue
        if time.monotonic() > deadline:
            return None
        path = _runnable(Path(folder) / place)
        if path is not None:
            return path
    return None


def _runnable(path: Path) -> str | None:
    try:
        facts = path.stat()
    except (OSError, ValueError):
        return None
    return str(path) if stat.S_ISREG(facts.st_mode) and os.access(path, os.X_OK) else None


async def find(spec: AgentSpec, env: Mapping[str, str], *, seconds: float = PROBE_SECONDS) -> Found:
    """The program and its version; a program that does not tell its version is still found."""
    path = await asyncio.to_thread(locate, spec, env)
    said = await _first_words([path, *spec.version.args], child_environment(spec, env), seconds)
    match = re.search(spec.version.pattern, said)
    return Found(path, match.group(1) if match else None)


async def _first_words(argv: list[str], env: dict[str, str], seconds: float) -> str:
    try:
        process = await asyncio.create_subprocess_exec(
            *argv,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=env,
            cwd="/",
            start_new_session=True,
        )
    except OSError:
        return ""
    assert process.stdout is not None
    try:
        async with asyncio.timeout(seconds):
            said = await process.stdout.read(MAX_PROBE_OUTPUT)
            await process.wait()
    except TimeoutError:
        said = b""
    finally:
        if process.returncode is None:
            _kill_group(process.pid)
            await process.wait()
    return said.decode("utf-8", "replace")


def _kill_group(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        return
