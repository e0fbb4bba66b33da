"""Chooses the terminal to open, and says by which rule: a setting, $TERMINAL, the desktop, a known list."""

import configparser
import os
import shlex
import stat
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from bascule.launch.errors import LaunchError
from bascule.launch.terminals import KNOWN, terminal_name

ASKING_SECONDS = 2.0
LIST_NAME = "xdg-terminals.list"

Ask = Callable[[list[str], Mapping[str, str]], str]


class Terminal(Struct, frozen=True):
    """`program` is an absolute path, `options` a person's own words after it, `rule` what chose it."""

    name: str
    program: str
    options: tuple[str, ...]
    rule: str


def ask_program(argv: list[str], env: Mapping[str, str]) -> str:
    """What a program of the desktop prints; nothing when it fails or takes too long."""
    try:
        done = subprocess.run(
            argv, env=dict(env), stdin=subprocess.DEVNULL, capture_output=True, timeout=ASKING_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else ""


def choose(setting: str, env: Mapping[str, str], *, ask: Ask = ask_program) -> Terminal:
    """Raises `no_terminal_found` when a named one is missing, or when there is none at all."""
    if setting.strip():
        return _named(setting, env, "the setting launch.terminal")
    if env.get("TERMINAL", "").strip():
        return _named(env["TERMINAL"], env, "$TERMINAL")
    for rule, name in _offered(env, ask):
        program = find_program(name, env) if name else None
        if program is not None:
            return Terminal(terminal_name(program), program, (), rule)
    words = "No compatible terminal found. Install one of these, or set TERMINAL: "
    raise LaunchError("no_terminal_found", words + ", ".join(KNOWN) + ".")


def find_program(name: str, env: Mapping[str, str]) -> str | None:
    """An executable by its absolute path, or by its name in an absolute folder of PATH."""
    if name.startswith("/"):
        return name if _runs(name) else None
    if "/" in name or name in ("", ".", ".."):
        return None
    folders = env.get("PATH", os.defpath).split(os.pathsep)
    # An empty or relative entry means the current folder, which may be anybody's.
    places = (os.path.join(folder, name) for folder in folders if folder.startswith("/"))
    return next((place for place in places if _runs(place)), None)


def _runs(path: str) -> bool:
    try:
        return stat.S_ISREG(os.stat(path).st_mode) and os.access(path, os.X_OK)
    except (OSError, ValueError):
        return False


def _named(value: str, env: Mapping[str, str], rule: str) -> Terminal:
    """A terminal that a person named: its path, or a command line cut into words and given to no shell."""
    whole = value.strip()
    program = whole if whole.startswith("/") and _runs(whole) else None
    words = [whole]
    if program is None:
        try:
            words = shlex.split(whole)
        except ValueError as error:
            raise LaunchError("no_terminal_found", f"{_cap(rule)} can't be read: {error}.") from None
        program = find_program(words[0], env) if words else None
    if program is None:
        message = f"{_cap(rule)} names no program that can be run. Give the name or the path of a terminal."
        raise LaunchError("no_terminal_found", message)
    return Terminal(terminal_name(program), program, tuple(words[1:]), rule)


def _cap(rule: str) -> str:
    return rule[0].upper() + rule[1:]


def _offered(env: Mapping[str, str], ask: Ask) -> Iterator[tuple[str, str]]:
    """What the desktop prefers, then what is known; the desktop is asked only when it comes to that."""
    if _has_list(env):
        yield LIST_NAME, "xdg-terminal-exec"
    yield "GNOME's default terminal", _of_gnome(env, ask)
    yield "KDE's default terminal", _of_kde(env)
    yield "x-terminal-emulator", "x-terminal-emulator"
    for name in KNOWN:
        yield "the first known terminal found", name


def _has_list(env: Mapping[str, str]) -> bool:
    """Without a list xdg-terminal-exec falls back to an xterm that may be missing."""
    home = env.get("HOME", "")
    own = env.get("XDG_CONFIG_HOME") or f"{home}/.config"
    folders = [own, *(env.get("XDG_CONFIG_DIRS") or "/etc/xdg").split(":")]
    data = (env.get("XDG_DATA_DIRS") or "/usr/local/share:/usr/share").split(":")
    folders += [f"{one}/xdg-terminal-exec" for one in data]
    desktops = [one.lower() for one in env.get("XDG_CURRENT_DESKTOP", "").split(":") if one.isalnum()]
    names = [*(f"{desktop}-{LIST_NAME}" for desktop in desktops), LIST_NAME]
    return any(Path(folder, name).is_file() for folder in folders if folder.startswith("/") for name in names)


def _of_gnome(env: Mapping[str, str], ask: Ask) -> str:
    desktops = env.get("XDG_CURRENT_DESKTOP", "").split(":")
    program = find_program("gsettings", env) if "GNOME" in desktops else None
    if program is None:
        return ""
    schema = "org.gnome.desktop.default-applications.terminal"
    return ask([program, "get", schema, "exec"], env).strip().strip("'\"")


def _of_kde(env: Mapping[str, str]) -> str:
    folder = env.get("XDG_CONFIG_HOME") or f"{env.get('HOME', '')}/.config"
    settings = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        settings.read(os.path.join(folder, "kdeglobals"), encoding="utf-8")
        return settings.get("General", "TerminalApplication", fallback="")
    except (configparser.Error, OSError, UnicodeError):
        return ""  # somebody else's file, in a form that is not ours to judge
