"""Places of an agent's own files: absolute, below `~/`, or below a variable that names a folder."""

import os
import re
from collections.abc import Mapping

_VARIABLE = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*)(/|$)")


def place_path(place: str, env: Mapping[str, str]) -> str | None:
    """`$NAME/` counts only where that variable is set."""
    folder = _VARIABLE.match(place)
    if folder is not None:
        base, rest = env.get(folder.group(1), ""), place[folder.end() :]
    elif place.startswith("~/"):
        base, rest = env.get("HOME", ""), place[2:]
    else:
        base, rest = "/", place
    return os.path.join(base, rest) if base.startswith("/") else None
