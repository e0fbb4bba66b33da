"""Whether an agent is signed in, told by the names of things and never by what they hold."""

import os
import re
from collections.abc import Mapping
from typing import Literal

from bascule.agents.command import child_environment
from bascule.agents.locate import ask
from bascule.agents.spec import AgentSpec

STATUS_SECONDS = 10.0
SIGNED_IN, SIGNED_OUT = 0, 1

SignedIn = Literal["yes", "no", "unknown"]

_VARIABLE = re.compile(r"^\$([A-Za-z_][A-Za-z0-9_]*)/")


async def signed_in(
    spec: AgentSpec, path: str | None, env: Mapping[str, str], *, seconds: float = STATUS_SECONDS
) -> SignedIn | None:
    """None for an agent that needs no login. `path` is the program to ask, when there is one.

    Only the agent's own command can say no: a key may be in a keychain, or in a settings file that is not
    ours to read.
    """
    if spec.login is None:
        return None
    seen = child_environment(spec, env)
    if any(seen.get(name) for name in spec.login.variables):
        return "yes"
    if path is not None and spec.login.status:
        _, code = await ask([path, *spec.login.status], seen, seconds)
        if code in (SIGNED_IN, SIGNED_OUT):
            return "yes" if code == SIGNED_IN else "no"
    if any(_exists(place, seen) for place in spec.login.files):
        return "yes"
    return "unknown"


def _exists(place: str, env: Mapping[str, str]) -> bool:
    """Whether there is such a file; it is not opened. `$NAME/` counts only where that variable is set."""
    folder = _VARIABLE.match(place)
    if folder is not None:
        base, rest = env.get(folder.group(1), ""), place[folder.end() :]
    elif place.startswith("~/"):
        base, rest = env.get("HOME", ""), place[2:]
    else:
        base, rest = "/", place
    return base.startswith("/") and os.path.isfile(os.path.join(base, rest))
