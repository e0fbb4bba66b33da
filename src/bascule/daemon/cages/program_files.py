"""Finds what an agent's program is run from: its package, its interpreter, and what its settings name."""

import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import urlsplit

FIRST_LINE = 512
MAX_LINKS = 16
_DEFAULT_PORTS = {"http": 80, "https": 443}
# Folders into which everything is installed: a program there has no folder of its own.
SHARED_PREFIXES = (
    "/usr",
    "/usr/local",
    "/opt",
    "/opt/homebrew",
    "/opt/local",
    "/run/current-system/sw",
)
SHARED_NAMES = (".local", ".nix-profile", ".linuxbrew")  # the same, wherever they are


def program_files(words: Sequence[str], env: Mapping[str, str]) -> tuple[str, ...]:
    """`words`: the program and the words of its agent file; never what came with the start."""
    found: list[str] = []
    for word in words:
        if word.startswith("/") and os.path.exists(word):
            found += _run_from(word, env)
    return tuple(dict.fromkeys(found))


def path_folders(env: Mapping[str, str]) -> tuple[str, ...]:
    """The folders in which programs are looked for. Not one that holds the whole home folder."""
    folders = env.get("PATH", "").split(os.pathsep)
    return tuple(folder for folder in folders if folder.startswith("/") and not holds_home(folder, env))


def named_ports(env: Mapping[str, str]) -> tuple[int, ...]:
    """The TCP ports of the addresses in an agent's variables: its model, its proxies."""
    ports: list[int] = []
    for value in env.values():
        if re.match(r"https?://[^\s/]", value):
            try:
                address = urlsplit(value)
                ports.append(address.port or _DEFAULT_PORTS[address.scheme])
            except (ValueError, KeyError):
                continue  # no address after all
    return tuple(dict.fromkeys(ports))


def _run_from(program: str, env: Mapping[str, str]) -> Iterator[str]:
    for path in _links(program):
        yield path
        yield from _package(path, env)
    for interpreter in _interpreters(program, env):
        for path in _links(interpreter):
            yield path
            yield from _package(path, env)


def _links(path: str) -> Iterator[str]:
    """The path, and every name that it leads to: a virtual environment is found by its link."""
    for _ in range(MAX_LINKS):
        yield path
        if not os.path.islink(path):
            break
        path = os.path.normpath(os.path.join(os.path.dirname(path), os.readlink(path)))
    yield os.path.realpath(path)


def _package(path: str, env: Mapping[str, str]) -> Iterator[str]:
    """The folder that a program was installed into with its libraries, if that is all it is for."""
    parts = path.split("/")
    if "node_modules" in parts:
        yield "/".join(parts[: parts.index("node_modules") + 1])
    elif len(parts) > 3 and parts[-2] == "bin":
        prefix = "/".join(parts[:-2])
        is_shared = prefix in SHARED_PREFIXES or os.path.basename(prefix) in SHARED_NAMES
        if not is_shared and not holds_home(prefix, env):
            yield prefix


def holds_home(folder: str, env: Mapping[str, str]) -> bool:
    home = env.get("HOME", "").rstrip("/") + "/"
    return home.startswith(folder.rstrip("/") + "/")


def _interpreters(program: str, env: Mapping[str, str]) -> list[str]:
    """What the kernel runs for a script: its first line's program and, behind `env`, the one on the PATH."""
    try:
        with open(program, "rb") as file:
            line = file.read(FIRST_LINE).partition(b"\n")[0]
        words = shlex.split(line[2:].decode()) if line.startswith(b"#!") else []
    except (OSError, ValueError):
        return []  # its start will tell
    if not words or os.path.basename(words[0]) != "env":
        return words[:1]
    name = next((word for word in words[1:] if not word.startswith("-") and "=" not in word), "")
    places = (os.path.join(folder, name) for folder in env.get("PATH", "").split(os.pathsep))
    return [words[0], *([next((place for place in places if os.access(place, os.X_OK)), "")] if name else [])]
