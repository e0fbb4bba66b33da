"""A program that runs on the other machine, with the Python that is there: looks, unpacks and removes.

Standard library only; its source is sent over ssh.
"""

import contextlib
import io
import json
import os
import platform
import shutil
import signal
import socket
import ssl
import sys
import sysconfig
import urllib.error
import urllib.request
import venv
import zipfile
from pathlib import Path

BASE = Path.home() / ".local" / "share" / "bascule"
VENV = BASE / "venv"
COMMAND = Path.home() / ".local" / "bin" / "bascule"
STATE = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "bascule"
FIRST_PORT, PORTS = 23400, 600


def facts() -> dict[str, object]:
    """What decides which files fit here, and what is here already."""
    return {
        "python": sys.executable,
        "version": list(sys.version_info[:2]),
        "implementation": sys.implementation.name,
        "system": platform.system(),
        "machine": platform.machine(),
        "libc": list(platform.libc_ver()),
        "release": platform.mac_ver()[0],
        "musl": "musl" in (sysconfig.get_config_var("HOST_GNU_TYPE") or ""),
        "installed": VENV.exists(),
        "state": STATE.exists(),
    }


def unpack() -> dict[str, object]:
    """Make the environment and put in what comes on stdin: an archive of its site-packages."""
    archive = zipfile.ZipFile(io.BytesIO(sys.stdin.buffer.read()))
    os.umask(0o077)
    venv.EnvBuilder(with_pip=False, symlinks=True, clear=True).create(VENV)
    site = VENV / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    archive.extractall(site)
    program = VENV / "bin" / "bascule"
    program.write_text(f'#!/bin/sh\nexec "{VENV}/bin/python" -m bascule "$@"\n')
    program.chmod(0o755)
    if not os.path.lexists(COMMAND):
        COMMAND.parent.mkdir(parents=True, exist_ok=True)
        COMMAND.symlink_to(program)
    return {"command": str(program)}


def remove(what: str) -> dict[str, object]:
    """Remove the program; with `all` the sessions, too, because they were not there before."""
    lock = STATE / "keeper" / "keeper.lock"
    if lock.exists():  # its sessions were ended before
        with contextlib.suppress(OSError, ValueError, KeyError):  # it may have ended by itself
            os.kill(json.loads(lock.read_text())["pid"], signal.SIGTERM)
    if os.path.islink(COMMAND) and os.readlink(COMMAND) == str(VENV / "bin" / "bascule"):
        COMMAND.unlink()
    shutil.rmtree(VENV, ignore_errors=True)
    if what == "all":
        shutil.rmtree(STATE, ignore_errors=True)
    if BASE.is_dir() and not any(BASE.iterdir()):
        BASE.rmdir()
    return {"left": VENV.exists()}


def reach(url: str) -> dict[str, object]:
    """Whether a hub answers at this address, from here."""
    local = urllib.request.ProxyHandler({}) if "://127." in url else urllib.request.ProxyHandler()
    try:
        with urllib.request.build_opener(local).open(f"{url}/healthz", timeout=10) as answer:
            return {"answers": answer.read(64) == b"ok", "why": "something else answers there"}
    except urllib.error.HTTPError as error:
        return {"answers": False, "why": f"it answers with status {error.code}"}
    except (OSError, ssl.SSLError) as error:
        return {"answers": False, "why": str(getattr(error, "reason", error))}


def port() -> dict[str, object]:
    """A port of 127.0.0.1 that nothing listens on, the same for a user each time if it can be."""
    for number in range(PORTS):
        wanted = FIRST_PORT + (os.getuid() + number) % PORTS
        with socket.socket() as trial:
            try:
                trial.bind(("127.0.0.1", wanted))
            except OSError:
                continue
            return {"port": wanted}
    raise SystemExit("There is no free port for the tunnel.")


def main(action: str, *words: str) -> None:
    actions = {"facts": facts, "unpack": unpack, "remove": remove, "reach": reach, "port": port}
    sys.stdout.write(f"\n{json.dumps(actions[action](*words))}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
