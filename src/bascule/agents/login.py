"""Detects whether an agent is signed in, from the existence of files and variables, not their contents."""

import asyncio
import os
import tomllib
from collections.abc import Mapping
from typing import Literal

from bascule.agents.command import child_environment
from bascule.agents.locate import ask
from bascule.agents.own_files import place_path
from bascule.agents.spec import AgentSpec, Login

STATUS_SECONDS = 10.0
MAX_SETTINGS = 256 * 1024
SIGNED_IN, SIGNED_OUT = 0, 1

SignedIn = Literal["yes", "no", "unknown"]


async def signed_in(
    spec: AgentSpec,
    path: str | None,
    env: Mapping[str, str],
    *,
    seconds: float = STATUS_SECONDS,
    mark: str = "",
) -> SignedIn | None:
    """None for an agent that needs no login. `path` is the program to ask, when there is one.

    Only the agent's own command can say no, and only of its own provider: a key may be in a keychain, or in a
    settings file that is not ours to read.
    """
    if spec.login is None:
        return None
    seen = child_environment(spec, env)
    if any(seen.get(name) for name in spec.login.variables):
        return "yes"
    if path is not None and spec.login.status:
        _, code = await ask([path, *spec.login.status], seen, seconds, mark)
        if code == SIGNED_IN:
            return "yes"
        if code == SIGNED_OUT:
            return "unknown" if await asyncio.to_thread(_other_provider, spec.login, seen) else "no"
    if any(_exists(place, seen) for place in spec.login.files):
        return "yes"
    return "unknown"


def _exists(place: str, env: Mapping[str, str]) -> bool:
    """Whether there is such a file; it is not opened."""
    path = place_path(place, env)
    return path is not None and os.path.isfile(path)


def _other_provider(login: Login, env: Mapping[str, str]) -> bool:
    """Whether the person's settings name another provider than the one this login is for."""
    if login.provider is None:
        return False
    for place in login.provider.files:
        path = place_path(place, env)
        if path is not None and os.path.isfile(path):
            return _named(path, login.provider.key) not in (None, login.provider.own)
    return False


def _named(path: str, key: str) -> str | None:
    """A word of a settings file, if it can be read and says it."""
    try:
        with open(path, "rb") as file:
            said = tomllib.loads(file.read(MAX_SETTINGS).decode()).get(key)
    except (OSError, ValueError, RecursionError):
        return None
    return said if isinstance(said, str) else None
