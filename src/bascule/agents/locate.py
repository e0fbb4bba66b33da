"""Finds an agent's program and version on this machine, never in the current folder."""

import asyncio
import os
import re
import shlex
import signal
import stat
import sys
import time
from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from bascule.agents.command import child_environment
from bascule.agents.interpreter import missing_interpreter
from bascule.agents.probes import MARK
from bascule.agents.spec import AgentSpec, DriverSpec, FoundProgram
from bascule.model.errors import AgentNotInstalled

SEARCH_SECONDS = 5.0
PROBE_SECONDS = 10.0
MAX_PROBE_OUTPUT = 64 * 1024


def locate(
    spec: AgentSpec,
    env: Mapping[str, str],
    driver: DriverSpec | None = None,
    *,
    seconds: float = SEARCH_SECONDS,
) -> FoundProgram:
    """The program for this way to talk to it. Raises `AgentNotInstalled`."""
    deadline = time.monotonic() + seconds
    given = env.get(driver.command, "").strip() if driver and driver.command else ""
    if driver is not None and driver.command and given:
        return _given(spec, driver.command, given, env, deadline)
    own = driver is not None and bool(driver.search)
    chosen = env.get(spec.override) if spec.override and not own else None
    if spec.override and chosen:
        path = _resolve(chosen, env, deadline)
        if path is None:
            raise AgentNotInstalled(
                f"{spec.override} names {chosen!r}, which is not a program that can be run.",
                agent=spec.name,
                variable=spec.override,
            )
        return FoundProgram(_startable(spec, path, env))
    places = driver.search if driver is not None and own else spec.search
    for place in places:
        path = _resolve(place, env, deadline)
        if path is not None:
            return FoundProgram(_startable(spec, path, env))
    for place in places:
        locked = next(
            (candidate for candidate in _candidates(place, env, deadline) if _is_file(candidate)), None
        )
        if locked is not None:
            message = f"{spec.title} is here as {locked}, but it may not be run: it is not executable."
            raise AgentNotInstalled(
                f"{message} Allow it with: chmod +x {shlex.quote(locked)}", agent=spec.name
            )
    install = (driver.install if driver is not None and own else "") or spec.install
    what = f"{spec.title}'s adapter for {driver.name}" if driver is not None and own else spec.title
    hint = f" Install it with: {install}" if install else ""
    message = f"{what} was not found on this machine. Check that it's installed.{hint}"
    raise AgentNotInstalled(message, agent=spec.name, install=install or None)


def _given(
    spec: AgentSpec, variable: str, given: str, env: Mapping[str, str], deadline: float
) -> FoundProgram:
    """A command line as a person would type it, cut into words as a shell would and given to none."""
    try:
        words = shlex.split(given)
    except ValueError as error:
        raise AgentNotInstalled(
            f"{variable} can't be read: {error}.", agent=spec.name, variable=variable
        ) from None
    path = _resolve(words[0], env, deadline) if words else None
    if path is None:
        raise AgentNotInstalled(
            f"{variable} begins with {words[0] if words else ''!r}, which is not a program that can be run.",
            agent=spec.name,
            variable=variable,
        )
    return FoundProgram(_startable(spec, path, env), args=tuple(words[1:]))


def _startable(spec: AgentSpec, path: str, env: Mapping[str, str]) -> str:
    """The path, unless what runs it is not there."""
    missing = missing_interpreter(path, env)
    if missing is None:
        return path
    message = f"{spec.title} is here as {path}, but {missing}, which runs it, was not found on this machine."
    raise AgentNotInstalled(f"{message} Install that, or install {spec.title} again.", agent=spec.name)


def _resolve(place: str, env: Mapping[str, str], deadline: float) -> str | None:
    if place == "{python}":
        return sys.executable
    candidates = _candidates(place, env, deadline)
    return next(
        (candidate for candidate in candidates if _is_file(candidate) and os.access(candidate, os.X_OK)), None
    )


def _candidates(place: str, env: Mapping[str, str], deadline: float) -> Iterator[str]:
    """Where a program of this name may be. Plain strings: a start looks at a thousand of them."""
    if place == "{shell}":
        shell = env.get("SHELL", "")
        if shell.startswith("/"):
            yield shell
    elif place.startswith("~/"):
        home = env.get("HOME", "")
        if home.startswith("/"):
            yield os.path.join(home, place[2:])
    elif "/" in place:
        if place.startswith("/"):
            yield place
    elif place != "{python}":
        for folder in env.get("PATH", os.defpath).split(os.pathsep):
            if time.monotonic() > deadline:
                return
            # An empty or relative entry means the current folder, which may be anybody's project.
            if folder.startswith("/"):
                yield os.path.join(folder, place)


def _is_file(path: str) -> bool:
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


async def find(
    spec: AgentSpec, env: Mapping[str, str], *, seconds: float = PROBE_SECONDS, mark: str = ""
) -> FoundProgram:
    """The program and its version; a program that does not tell its version is still found."""
    found = await asyncio.to_thread(locate, spec, env)
    said, _ = await ask([found.path, *spec.version.args], child_environment(spec, env), seconds, mark)
    match = re.search(spec.version.pattern, said)
    return replace(found, version=match.group(1) if match else None)


async def ask(argv: list[str], env: dict[str, str], seconds: float, mark: str = "") -> tuple[str, int | None]:
    """What a program prints and the code it ends with, within a bound; (`""`, None) when it does not.

    It runs in a process group of its own. With a `mark` it can be found and ended by who comes after us.
    """
    try:
        process = await asyncio.create_subprocess_exec(
            *argv,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env={**env, MARK: mark} if mark else env,
            cwd="/",
            start_new_session=True,
        )
    except OSError:
        return "", None
    assert process.stdout is not None
    try:
        async with asyncio.timeout(seconds):
            said = await process.stdout.read(MAX_PROBE_OUTPUT)
            code = await process.wait()
    except TimeoutError:
        said, code = b"", None
    finally:
        if process.returncode is None:
            _kill_group(process.pid)
            await process.wait()
    return said.decode("utf-8", "replace"), code


def _kill_group(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        return
