"""Checks that the interpreter in a script's first line exists."""

import os
import shlex
from collections.abc import Mapping
from pathlib import Path

FIRST_LINE = 512


def missing_interpreter(path: str, env: Mapping[str, str]) -> str | None:
    """The name of the interpreter a script needs and this machine does not have; None when all is well."""
    try:
        with open(path, "rb") as file:
            line = file.read(FIRST_LINE).partition(b"\n")[0]
        words = shlex.split(line[2:].decode()) if line.startswith(b"#!") else []
    except (OSError, ValueError):
        return None  # not a script we can read: its start will tell
    if not words:
        return None
    if not os.path.exists(words[0]):
        return words[0] if words[0].startswith("/") else None
    if os.path.basename(words[0]) != "env":
        return None
    name = next((word for word in words[1:] if not word.startswith("-") and "=" not in word), None)
    return name if name is not None and not _on_path(name, env) else None


def _on_path(name: str, env: Mapping[str, str]) -> bool:
    if "/" in name:
        return os.path.exists(name)
    folders = env.get("PATH", os.defpath).split(os.pathsep)
    return any(os.access(Path(folder) / name, os.X_OK) for folder in folders if folder.startswith("/"))
