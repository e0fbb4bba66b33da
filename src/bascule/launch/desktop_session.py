"""The environment of the desktop session, in which a terminal can open its window."""

import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path

from bascule.agents.command import child_variables
from bascule.launch.choosing import Ask, ask_program, find_program
from bascule.launch.errors import LaunchError

# What a graphical program needs to know, besides what any program may see of our environment.
NAMES = (
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "DBUS_SESSION_BUS_ADDRESS",
    "DESKTOP_SESSION",
    "SSH_AUTH_SOCK",
    "XMODIFIERS",
    "GTK_IM_MODULE",
    "QT_IM_MODULE",
    "TERMINAL",
)
X_SOCKETS = "/tmp/.X11-unix"
NO_DESKTOP = (
    "No desktop session was found, so no terminal can be opened: neither DISPLAY nor WAYLAND_DISPLAY is set "
    "for the bridge or for this user's session. Log in at the desktop of this machine, then try again."
)

_QUOTED = re.compile(r"\\(x[0-9A-Fa-f]{2}|.)", re.DOTALL)


def session_environment(
    environ: Mapping[str, str], *, ask: Ask = ask_program, x_sockets: str = X_SOCKETS
) -> dict[str, str]:
    """Our own variables if they name a living display, else those of the user's session manager, asked now:
    a service that started before the desktop never saw them. Raises `no_terminal_found`."""
    own = {name: environ[name] for name in NAMES if environ.get(name)}
    base = child_variables(environ)
    base.pop("TERM", None)  # of the terminal that we were started in, not of the one we open
    if "XDG_RUNTIME_DIR" not in base and Path(f"/run/user/{os.getuid()}").is_dir():
        base["XDG_RUNTIME_DIR"] = f"/run/user/{os.getuid()}"
    if _has_display({**base, **own}, x_sockets):
        return {**base, **own}
    found = _of_session_manager(base, ask)
    if _has_display({**base, **found}, x_sockets):
        return {**base, **own, **found}
    socket = _wayland_socket(base.get("XDG_RUNTIME_DIR", ""))
    if socket:
        return {**base, **own, **found, "WAYLAND_DISPLAY": socket}
    raise LaunchError("no_terminal_found", NO_DESKTOP, reason="no_desktop_session")


def _has_display(env: Mapping[str, str], x_sockets: str) -> bool:
    """Whether a display is named whose socket is there; one on another machine is taken at its word."""
    wayland, display = env.get("WAYLAND_DISPLAY", ""), env.get("DISPLAY", "")
    if wayland and _is_socket(os.path.join(env.get("XDG_RUNTIME_DIR", ""), wayland)):
        return True
    local = re.fullmatch(r"(?:unix)?:(\d+)(?:\.\d+)?", display)
    if local:
        # A server may listen on the abstract socket only, which leaves no file.
        return _is_socket(f"{x_sockets}/X{local[1]}") or not os.path.isdir(x_sockets)
    return bool(display)


def _is_socket(path: str) -> bool:
    try:
        return stat.S_ISSOCK(os.stat(path).st_mode)
    except OSError:
        return False


def _of_session_manager(env: Mapping[str, str], ask: Ask) -> dict[str, str]:
    program = find_program("systemctl", env)
    if program is None:
        return {}
    printed = ask([program, "--user", "show-environment"], env)
    lines = (line.partition("=") for line in printed.splitlines())
    wanted = (*NAMES, "XDG_CURRENT_DESKTOP", "XDG_SESSION_TYPE", "XDG_DATA_DIRS", "XDG_CONFIG_DIRS")
    return {name: _unquoted(value) for name, _, value in lines if name in wanted and value}


def _unquoted(value: str) -> str:
    """systemctl writes $'…' around a value with special characters."""
    if not (value.startswith("$'") and value.endswith("'")):
        return value
    plain = {"n": "\n", "t": "\t", "r": "\r"}
    return _QUOTED.sub(
        lambda found: chr(int(found[1][1:], 16)) if len(found[1]) == 3 else plain.get(found[1], found[1]),
        value[2:-1],
    )


def _wayland_socket(folder: str) -> str:
    if not folder.startswith("/"):
        return ""
    found = sorted(one.name for one in Path(folder).glob("wayland-*") if not one.name.endswith(".lock"))
    return next((name for name in found if _is_socket(os.path.join(folder, name))), "")
